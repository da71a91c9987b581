"""Tests of a distribution against SciPy's."""

import functools
import typing as tp
import unittest

import numpy as np

import chainer
from chainer.testing import array, attr

TARGETS = (
    'batch_shape',
    'cdf',
    'entropy',
    'event_shape',
    'icdf',
    'log_cdf',
    'log_prob',
    'log_survival',
    'mean',
    'prob',
    'sample',
    'stddev',
    'support',
    'survival',
    'variance',
)


def skip_not_in_test_target(test_target: str):
    """Decorator that skips a test unless ``test_targets`` has the name."""

    def decorate(test):
        @functools.wraps(test)
        def run(self, *args, **kwargs):
            if test_target not in self.test_targets:
                self.skipTest(f"'{test_target}' is not in test_targets")
            test(self, *args, **kwargs)

        return run

    return decorate


def _on_cpu_and_gpu(test_target: str):
    """Class attributes ``test_<target>_cpu`` and ``_gpu`` that call ``check_<target>``."""

    def make(is_gpu):
        def test(self):
            getattr(self, f'check_{test_target}')(is_gpu)

        return skip_not_in_test_target(test_target)(test)

    return make(False), attr.gpu(make(True))


class distribution_unittest(unittest.TestCase):
    """Base class of the tests of one distribution.

    A subclass defines ``setUp_configure``, which sets

    * ``dist``: the class; ``params``: its arguments, arrays by name;
    * ``scipy_dist`` and ``scipy_params``: the same in SciPy;
    * ``shape``: the shape of the batch; ``event_shape``, ``()`` if not set;
    * ``support``, ``'real'`` if not set; ``continuous``, True if not set;
    * ``test_targets``: the set of targets to test, of ``TARGETS``;
    * ``options``: further arguments of the class;
    * ``scipy_onebyone``: True if SciPy's distribution takes no batch;

    and, for targets that evaluate at points, ``sample_for_test()``, which returns the points. With
    ``is_variable`` the parameters are Variables; ``sample_shape`` is the shape of samples.
    """

    scipy_onebyone = False
    is_variable = False
    sample_shape: tuple[int, ...] = ()

    dist: tp.Any
    scipy_dist: tp.Any
    params: dict[str, tp.Any]
    scipy_params: dict[str, tp.Any]
    shape: tuple[int, ...]

    def setUp(self):
        self.support = 'real'
        if not hasattr(self, 'event_shape'):
            self.event_shape = ()
        self.continuous = True
        self.test_targets: set[str] = set()
        self.options = {}
        self.setUp_configure()
        unknown = sorted(set(self.test_targets) - set(TARGETS))
        if unknown:
            raise ValueError(f'test_targets has {unknown}, known are {TARGETS}')

    def test_dummy(self):
        """Passes if ``setUp`` does: an empty ``test_targets`` is no class without tests."""

    def setUp_configure(self):
        raise NotImplementedError('setUp_configure() is not implemented.')

    def sample_for_test(self):
        raise NotImplementedError('sample_for_test() is not implemented.')

    def _make_dist(self, device):
        params = {name: device.send(value) for name, value in self.params.items()}
        if self.is_variable:
            params = {name: chainer.Variable(value) for name, value in params.items()}
        return self.dist(**params, **self.options)

    @property
    def cpu_dist(self):
        """The distribution with its parameters as NumPy arrays."""
        return self._make_dist(chainer.get_device('@numpy'))

    @property
    def gpu_dist(self):
        """The distribution with its parameters as CuPy arrays."""
        return self._make_dist(chainer.get_device('@cupy:0'))

    def scipy_onebyone_params_iter(self):
        """The parameters of each element of the batch."""
        for index in np.ndindex(self.shape):
            yield {name: np.asarray(value)[index] for name, value in self.scipy_params.items()}

    def _expected(self, name, *points):
        """SciPy's answer; the points have the batch before the event at their end."""
        function = getattr(self.scipy_dist, name)
        if not self.scipy_onebyone:
            return function(*points, **self.scipy_params)
        # (..., batch, event) -> (batch elements, ..., event)
        events = len(self.event_shape) if points else 0
        split = []
        for x in points:
            lead = x.shape[: x.ndim - len(self.shape) - events]
            x = x.reshape((*lead, -1, *x.shape[x.ndim - events :]))
            split.append(np.moveaxis(x, len(lead), 0))
        values = [
            function(*(x[i] for x in split), **params)
            for i, params in enumerate(self.scipy_onebyone_params_iter())
        ]
        result = np.stack([np.asarray(value) for value in values])
        if points:
            result = np.moveaxis(result, 0, len(lead))
            return result.reshape((*lead, *self.shape, *result.shape[len(lead) + 1 :]))
        return result.reshape((*self.shape, *result.shape[1:]))

    def _dist(self, is_gpu):
        return self.gpu_dist if is_gpu else self.cpu_dist

    def _check_at_points(self, is_gpu, method, scipy_name, points=None):
        points = self.sample_for_test() if points is None else points
        device = chainer.get_device('@cupy:0' if is_gpu else '@numpy')
        actual = getattr(self._dist(is_gpu), method)(device.send(points))
        array.assert_allclose(actual.array, self._expected(scipy_name, points))

    def _check_property(self, is_gpu, name, scipy_name):
        actual = getattr(self._dist(is_gpu), name)
        array.assert_allclose(actual.array, self._expected(scipy_name))

    def check_batch_shape(self, is_gpu):
        assert self._dist(is_gpu).batch_shape == self.shape

    def check_event_shape(self, is_gpu):
        assert self._dist(is_gpu).event_shape == self.event_shape

    def check_support(self, is_gpu):
        assert self._dist(is_gpu).support == self.support

    def check_cdf(self, is_gpu):
        self._check_at_points(is_gpu, 'cdf', 'cdf')

    def check_log_cdf(self, is_gpu):
        self._check_at_points(is_gpu, 'log_cdf', 'logcdf')

    def check_survival(self, is_gpu):
        self._check_at_points(is_gpu, 'survival_function', 'sf')

    def check_log_survival(self, is_gpu):
        self._check_at_points(is_gpu, 'log_survival_function', 'logsf')

    def check_prob(self, is_gpu):
        self._check_at_points(is_gpu, 'prob', 'pdf' if self.continuous else 'pmf')

    def check_log_prob(self, is_gpu):
        self._check_at_points(is_gpu, 'log_prob', 'logpdf' if self.continuous else 'logpmf')

    def check_icdf(self, is_gpu):
        shape = self.sample_shape + self.shape + self.event_shape
        points = np.random.uniform(1e-5, 1 - 1e-5, shape).astype(np.float32)
        self._check_at_points(is_gpu, 'icdf', 'ppf', points)

    def check_entropy(self, is_gpu):
        self._check_property(is_gpu, 'entropy', 'entropy')

    def check_mean(self, is_gpu):
        self._check_property(is_gpu, 'mean', 'mean')

    def check_stddev(self, is_gpu):
        self._check_property(is_gpu, 'stddev', 'std')

    def check_variance(self, is_gpu):
        self._check_property(is_gpu, 'variance', 'var')

    def check_sample(self, is_gpu):
        sample = self._dist(is_gpu).sample(self.sample_shape)
        assert sample.shape == self.sample_shape + self.shape + self.event_shape
        # Many samples of both, compared by their first two moments.
        n = 100000
        actual = array._to_numpy(self._dist(is_gpu).sample((n,)))
        expected = self._scipy_samples(n)
        scale = expected.std(axis=0)
        difference = np.abs(actual.mean(axis=0) - expected.mean(axis=0))
        # Two means of n samples each: eight of their standard deviations are never seen by chance.
        np.testing.assert_array_less(difference, 8 * scale * (2 / n) ** 0.5 + 1e-6)
        array.assert_allclose(actual.std(axis=0), scale, atol=1e-6, rtol=0.1)

    def _scipy_samples(self, n):
        if self.scipy_onebyone:
            columns = [
                np.asarray(self.scipy_dist.rvs(size=n, **params))
                for params in self.scipy_onebyone_params_iter()
            ]
            return np.stack(columns, axis=1).reshape(n, *self.shape, *self.event_shape)
        return self.scipy_dist.rvs(size=(n, *self.shape), **self.scipy_params).reshape(
            n, *self.shape, *self.event_shape
        )


for _target in TARGETS:
    for _place, _test in zip(('cpu', 'gpu'), _on_cpu_and_gpu(_target), strict=True):
        _test.__name__ = f'test_{_target}_{_place}'
        setattr(distribution_unittest, _test.__name__, _test)

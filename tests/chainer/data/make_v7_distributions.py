"""Records values and seeded samples of all distributions in Chainer v7.8.1.

Run it where Chainer 7.8.1, numpy < 1.24 and SciPy are installed:

    python tests/chainer/data/make_v7_distributions.py       # writes v7_distributions.npz here

`test_distributions.py` imports this module, computes the same here, and compares.
"""

import pathlib
import sys
import warnings

import chainer
import chainer.distributions as D
import numpy as np

PATH = pathlib.Path(__file__).with_name('v7_distributions.npz')
if (_parent := str(PATH.parents[1])) not in sys.path:
    sys.path.append(_parent)

from distributions.distribution_cases import CASES  # noqa: E402

FUNCTIONS = ('log_prob', 'prob', 'cdf', 'log_cdf', 'survival_function', 'log_survival_function')
PROPERTIES = ('entropy', 'mean', 'mode', 'stddev', 'variance', 'covariance')


def values_of(case, send=lambda x: x, dtype='float32'):
    """Results by name; attributes that do not exist are left out."""

    def make(params):
        params = {name: send(np.array(value, dtype)) for name, value in params.items()}
        return getattr(D, case.cls)(**params)

    dist = make(case.params)
    points = np.array(case.points, None if case.cls == 'Categorical' else dtype)
    np.random.seed(7)
    found = {'sample': lambda: dist.sample((5, 2)), 'sample_n': lambda: dist.sample_n(3)}
    for name in FUNCTIONS:
        found[name] = lambda name=name: getattr(dist, name)(send(points))
    levels = np.array([[0.01], [0.5], [0.9]], dtype)
    found['icdf'] = lambda: dist.icdf(send(np.broadcast_to(levels, (3, *dist.batch_shape)).copy()))
    for name in PROPERTIES:
        found[name] = lambda name=name: getattr(dist, name)
    if case.other is not None:
        found['kl'] = lambda: chainer.kl_divergence(dist, make(case.other))
    result = {}
    for name, call in found.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                value = call()
        except NotImplementedError:
            continue
        result[name] = value.array
    return result


if __name__ == '__main__':
    assert chainer.__version__ == '7.8.1', chainer.__version__
    np.savez_compressed(
        PATH,
        **{f'{case}/{name}': x for case in CASES for name, x in values_of(case).items()},
    )

"""State that functions update besides their results is updated once per call of the user.

Transforms and `F.forget` call a function again for its derivatives; running statistics and vectors
of spectral normalization are then left alone, and results that depend on them are the same.
"""

import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as cx
import numpy as np
import pytest
from chainer.link_hooks import SpectralNormalization
from chainerx import func

X = np.random.RandomState(0).standard_normal((4, 2))
V = np.random.RandomState(1).standard_normal((4, 2))


class OfChainerx:
    """`chainerx.batch_norm` with running statistics."""

    def __init__(self):
        self.mean, self.var = cx.zeros(2, 'float64'), cx.ones(2, 'float64')

    def __call__(self, x):
        one, zero = cx.ones(2, 'float64'), cx.zeros(2, 'float64')
        return cx.batch_norm(x, one, zero, self.mean, self.var, 2e-5, 0.5)

    def state(self):
        return [cx.to_numpy(self.mean), cx.to_numpy(self.var)]


class OfLink:
    """A link of chainer with running statistics."""

    def __init__(self, make, names, **kwargs):
        with chainer.using_config('dtype', np.float64):
            self.link = make()
        self.link.to_device('native:0')
        self.names = names
        self.kwargs = kwargs

    def __call__(self, x):
        return self.link(chainer.Variable(x), **self.kwargs).chx_array

    def state(self):
        cpu = chainer.get_device('@numpy')
        values = [getattr(self.link, name) for name in self.names]
        return [v if isinstance(v, int) else cpu.send(v).copy() for v in values]


def make_spectral():
    np.random.seed(0)
    return L.Linear(2, 2).add_hook(SpectralNormalization())


MEAN_AND_VAR = ('avg_mean', 'avg_var', 'N')
MOVED = {
    'chainerx': OfChainerx,
    'batch': lambda: OfLink(lambda: L.BatchNormalization(2, decay=0.5), MEAN_AND_VAR),
    'lazy': lambda: OfLink(lambda: L.BatchNormalization(axis=0, decay=0.5), MEAN_AND_VAR),
    'finetuned': lambda: OfLink(lambda: L.BatchNormalization(2), MEAN_AND_VAR, finetune=True),
    'renormalized': lambda: OfLink(
        lambda: L.BatchRenormalization(2, rmax=3, dmax=3, decay=0.5), MEAN_AND_VAR
    ),
    'decorrelated': lambda: OfLink(
        lambda: L.DecorrelatedBatchNormalization(2, 1, decay=0.5, dtype=np.float64),
        ('avg_mean', 'avg_projection', 'N'),
    ),
    'spectral': lambda: OfLink(make_spectral, ('W_u',)),
}


def loss_of(f):
    return lambda x: cx.sum(f(x) ** 3)


def with_aux(f):
    return lambda x: (f(x), 'aux')


TRANSFORMS = {
    'grad': lambda f, x, v: func.grad(loss_of(f))(x),
    'vjp': lambda f, x, v: [*map(func.vjp(f, x)[1], (v, x))],
    'jvp': lambda f, x, v: func.jvp(f, (x,), (v,)),
    'linearize': lambda f, x, v: func.linearize(f, x)[1](v),
    'hvp': lambda f, x, v: func.hvp(loss_of(f), (x,), (v,)),
    'jacrev': lambda f, x, v: func.jacrev(f)(x),
    'jacfwd': lambda f, x, v: func.jacfwd(f)(x),
    'jacfwd in chunks': lambda f, x, v: func.jacfwd(f, chunk_size=3)(x),
    'jacrev in chunks': lambda f, x, v: func.jacrev(f, chunk_size=3)(x),
    'jacfwd, aux': lambda f, x, v: func.jacfwd(with_aux(f), has_aux=True)(x),
    'jacrev, aux': lambda f, x, v: func.jacrev(with_aux(f), has_aux=True)(x),
    'jacfwd by two': lambda f, x, v: func.jacfwd(lambda a, b: f(a + b), (0, 1))(
        x, cx.zeros_like(x)
    ),
    'hessian': lambda f, x, v: func.hessian(loss_of(f))(x),
    'hessian, aux': lambda f, x, v: func.hessian(with_aux(loss_of(f)), has_aux=True)(x),
    'jacfwd of jacfwd': lambda f, x, v: func.jacfwd(func.jacfwd(loss_of(f)))(x),
    'checkpoint': lambda f, x, v: func.grad(loss_of(func.checkpoint(f)))(x),
    'hessian of checkpoint': lambda f, x, v: func.hessian(loss_of(func.checkpoint(f)))(x),
}


@pytest.mark.filterwarnings('ignore::chainerx.func.BatchingWarning')
@pytest.mark.parametrize('transform', TRANSFORMS)
@pytest.mark.parametrize('moved', MOVED)
def test_once_in_each_transform(moved, transform):
    f, expected = MOVED[moved](), MOVED[moved]()
    x, v = cx.array(X), cx.array(V)
    for _ in range(2):
        TRANSFORMS[transform](f, x, v)
        expected(x)
        for a, b in zip(f.state(), expected.state(), strict=True):
            np.testing.assert_allclose(a, b, 1e-12, 1e-12)


def test_all_directions_go_at_once():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        x = cx.array(X)
        for jacobian in (func.jacrev, func.jacfwd):
            np.testing.assert_allclose(
                cx.to_numpy(jacobian(OfChainerx())(x)),
                cx.to_numpy(func.jacrev(lambda x: cx.batch_norm(x, *parameters()))(x)),
                1e-9,
                1e-9,
            )


def parameters():
    return cx.ones(2, 'float64'), cx.zeros(2, 'float64'), None, None


@pytest.mark.filterwarnings('ignore::chainerx.func.BatchingWarning')
def test_a_failed_batch_of_directions_counts_once():
    f, expected = OfChainerx(), OfChainerx()

    def one_by_one(x):
        y = f(x)
        assert y.strides  # which batched arrays lack
        return y

    x = cx.array(X)
    func.jacfwd(one_by_one)(x)
    expected(x)
    for a, b in zip(f.state(), expected.state(), strict=True):
        np.testing.assert_allclose(a, b, 1e-12)


def test_a_batch_that_is_refused_moves_nothing():
    f = OfChainerx()
    with pytest.raises(cx.ChainerxError, match='another one for each example of a vmap'):
        func.vmap(f)(cx.array(np.stack([X, X])))
    assert f.state()[0].tolist() == [0, 0]


def test_statistics_of_the_function_itself_are_moved_in_each_call():
    """Statistics created by the function itself are updated in each of its calls."""

    def function(x):
        mean, var = cx.zeros(2, 'float64'), cx.ones(2, 'float64')
        y = cx.batch_norm(x, cx.ones(2, 'float64'), cx.zeros(2, 'float64'), mean, var)
        return cx.sum(y * mean * x)

    x = cx.array(X)
    expected = func.grad(function)(x)
    assert abs(expected).max() > 1e-3
    found = func.grad(lambda x: func.checkpoint(function)(x))(x)
    np.testing.assert_allclose(cx.to_numpy(found), cx.to_numpy(expected), 1e-9)


FORGOTTEN = {
    'batch': lambda: L.BatchNormalization(2, decay=0.5),
    'renormalized': lambda: L.BatchRenormalization(2, rmax=3, dmax=3, decay=0.5),
    'decorrelated': lambda: L.DecorrelatedBatchNormalization(2, 1, decay=0.5, dtype=np.float64),
    'spectral': make_spectral,
}


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
@pytest.mark.parametrize('name', FORGOTTEN)
def test_forget_computes_with_the_statistics_of_the_first_call(name, device):
    """forget recomputes with the first call's statistics, though they were updated since."""
    device = chainer.get_device(device)
    results = []
    for forgets in (False, True):
        with chainer.using_config('dtype', np.float64):
            link = FORGOTTEN[name]().to_device(device)
        link.cleargrads()
        xs = [chainer.Variable(device.send(a)) for a in (X * 3 + 1, V)]
        ys = [F.forget(link, x) if forgets else link(x) for x in xs]
        F.sum((ys[0] + ys[1]) ** 3).backward()
        values = [x.grad for x in xs] + [p.grad for p in link.params()]
        values += [getattr(link, name) for name in sorted(link._persistent)]
        results.append(
            [chainer.get_device('@numpy').send(v) for v in values if hasattr(v, 'dtype')]
        )
    assert len(results[0]) >= 3
    for plain, again in zip(*results, strict=True):
        np.testing.assert_allclose(again, plain, 1e-10, 1e-12)


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_forget_of_functions_moves_statistics_once(device):
    send = chainer.get_device(device).send
    means = []
    for forgets in (False, True):
        mean, var, one, zero = (send(np.full(2, v)) for v in (0.0, 1.0, 1.0, 0.0))

        def function(x):
            return F.batch_normalization(x, one, zero, running_mean=mean, running_var=var)  # noqa: B023

        x = chainer.Variable(send(X))
        y = F.forget(function, x) if forgets else function(x)
        F.sum(y**2).backward()
        means.append(chainer.get_device('@numpy').send(mean).tolist())
    assert means[0] == means[1] != [0, 0]


def test_a_result_that_hangs_on_no_argument_is_warned_of():
    x, v = cx.array(X), cx.array(V)
    for transform in (
        lambda f: func.grad(f)(x),
        lambda f: func.jvp(f, (x,), (v,)),
    ):
        with pytest.warns(UserWarning, match='hangs on no argument'):
            transform(lambda x: cx.sum(cx.array(cx.to_numpy(x))))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        func.hessian(lambda x: cx.sum(x))(x)  # its gradient is constant, which is correct
        func.grad(lambda x: cx.sum(func.grad(cx.sum)(x)))(x)
        func.hvp(lambda x: cx.sum(x * 2), (x,), (v,))
        func.jvp(cx.argmax, (x,), (v,))

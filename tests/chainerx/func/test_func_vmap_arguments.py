"""func.vmap: arguments of routines, positional and by keyword; methods; NumPy's functions."""

import inspect
import operator
import warnings

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func
from chainerx.func import _batch

V = chx.array([1.0, 2.0, 3.0], dtype='float64')
X = chx.array([[1.0, 2.0, 4.0], [3.0, 5.0, 4.0]], dtype='float64')
PLACES = chx.array([[1, 0, 2], [2, 1, 1]])


def leaves(y):
    return y if isinstance(y, (list, tuple)) else [y]


def check(f, *xs):
    """Checks that vmap equals a loop, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        found = func.vmap(lambda *a: tuple(leaves(f(*a))))(*xs)
    rows = [leaves(f(*[x[i] for x in xs])) for i in range(len(xs[0]))]
    for y, *expected in zip(found, *rows, strict=True):
        assert y.dtype == expected[0].dtype
        np.testing.assert_allclose(to_numpy(y), np.stack([to_numpy(e) for e in expected]))


def written(write):
    """The contents of a copy after a write to it."""

    def f(x, *rest):
        y = x.copy()
        write(y, *rest)
        return y

    return f


# ---- places and names ---------------------------------------------------------------------------

ARGUMENTS = {
    # lists have axes, too
    'where': lambda x, i: chx.where([[True], [False]], x, 0),
    'add where': lambda x, i: chx.add(x, x, where=np.array([[True], [False]])),
    'sum where': lambda x, i: chx.sum(x, where=[True, False, True]),
    'choose': lambda x, i: chx.choose([[0, 1, 1], [1, 0, 0]], [x, V]),
    'select': lambda x, i: chx.select([[[True], [False]]], [x], V),
    'cumsum': lambda x, i: chx.cumsum(x, 0, None, None),
    'cumprod': lambda x, i: chx.cumprod(x, 0, None, None),
    'nancumsum': lambda x, i: chx.nancumsum(x, 0, None, None),
    'method': lambda x, i: x.cumsum(0, None, None),
    'argmax': lambda x, i: chx.argmax(x, 0, None),
    'ptp': lambda x, i: chx.ptp(x, 0, None, True),
    'concatenate': lambda x, i: chx.concatenate([x, V], 0, None),
    'stack': lambda x, i: chx.stack([x, V], 1, None, dtype='float32'),
    'dot': lambda x, i: chx.dot(x, V, None),
    'matmul': lambda x, i: chx.matmul(x, V, None),
    'outer': lambda x, i: chx.outer(x, V, None),
    'compress': lambda x, i: chx.compress(V > 1, x, 0, None),
    'trace': lambda x, i: chx.trace(chx.outer(x, x), 0, 0, 1, None, None),
    'fft': lambda x, i: chx.fft.fft(x, None, -1, None, None),
    'unravel_index': lambda x, i: chx.unravel_index(i, shape=(2, 2)),
    'array': lambda x, i: chx.array(object=[x, x]),
    'flip': lambda x, i: chx.flip(x, axis=0),
    'atleast_1d': lambda x, i: chx.atleast_1d(x, V[0], i[0]),
    'atleast_2d': lambda x, i: chx.atleast_2d(x, V),
    'modf': lambda x, i: chx.modf(x / 2, out=(x.copy(), x.copy())),
    'modf to one': lambda x, i: chx.modf(V / 2, out=(x.copy(), None)),
    'frexp': lambda x, i: chx.frexp(x, out=(x.copy(), i.astype('int32'))),
    'divmod': lambda x, i: chx.divmod(x, 2, out=(x.copy(), x.copy())),
    'dx': lambda x, i: chx.trapezoid(x, dx=x[0]),
    'dx of what is the same for all': lambda x, i: chx.trapezoid(V, dx=x[0]),
    'many dx': lambda x, i: chx.trapezoid(x, dx=x[:2]),
    'dx along another axis': lambda x, i: chx.trapezoid(chx.stack([x, V]), None, x[0], 0),
    'dx beside x': lambda x, i: chx.trapezoid(x, V, x[0]),
    'roll': lambda x, i: chx.roll(x, i[0]),
    'roll of what is the same for all': lambda x, i: chx.roll(V, i[0], 0),
    'roll several times': lambda x, i: chx.roll(chx.outer(x, V), i),
    'roll axes': lambda x, i: chx.roll(chx.outer(x, V), i[:2], (0, 1)),
    'roll axes by one': lambda x, i: chx.roll(chx.outer(x, V), i[0], (0, -1)),
    'roll by a tuple': lambda x, i: chx.roll(chx.outer(x, V), (i[0], 1), (0, 1)),
    'roll one axis by a tuple': lambda x, i: chx.roll(x, (i[0], 1), 0),
    'roll by an array': lambda x, i: chx.roll(x, chx.array([1, 1]), 0),
    'roll all by an array': lambda x, i: chx.roll(x, chx.array([1, 1])),
    'roll nothing': lambda x, i: chx.roll(x[:0], i[0]),
}


@pytest.mark.parametrize('name', ARGUMENTS)
def test_arguments(name):
    check(ARGUMENTS[name], X, PLACES)


def test_rolls_of_several_vmaps():
    y = func.vmap(lambda i: func.vmap(lambda x: chx.roll(x, i[0]))(X))(PLACES)
    for k in range(2):
        for n in range(2):
            assert y[k, n].tolist() == chx.roll(X[n], PLACES[k, 0]).tolist()


REFUSED = {
    'out': (lambda x: chx.cumsum(x, 0, None, V), chx.NotImplementedError, 'not write to `out`'),
    'out of ptp': (lambda x: chx.ptp(x, 0, V[0]), chx.NotImplementedError, 'ptp of a batch does'),
    'out for all': (lambda x: chx.add(x, x, out=V), chx.ChainerxError, 'the same for all'),
    'outs for all': (lambda x: chx.modf(x, out=(V, V)), chx.ChainerxError, 'the same for all'),
    'repeat': (lambda x: chx.repeat(x, x.astype('int64')), TypeError, 'results of other shapes'),
    'repeat by method': (lambda x: V.repeat(x.astype('int64')), TypeError, 'of other shapes'),
    'pad': (lambda x: chx.pad(x, 1, constant_values=x[0]), TypeError, 'must be a number'),
    'pad of all': (lambda x: chx.pad(V, 1, constant_values=x[0]), TypeError, 'must be a number'),
    'ramp': (lambda x: chx.pad(x, 1, 'linear_ramp', end_values=(0, x[0])), TypeError, 'a number'),
    'roll': (lambda x: chx.roll(V, x[0]), TypeError, 'expected integers'),
    'put': (lambda x: V.put(chx.array(0), x[0]), chx.ChainerxError, 'put would write'),
    'fill': (lambda x: V.copy().fill(x[0]), chx.ChainerxError, 'fill would write'),
    'fill with a vector': (lambda x: x.copy().fill(x), TypeError, 'value must be a number'),
    'real': (lambda x: setattr(x, 'real', chx.ones((1, 3))), chx.DimensionError, 'into one of'),
    'imag': (lambda x: setattr(x, 'imag', x), TypeError, 'has none to set'),
    'array': (lambda x: np.multiply(np.ones(3), x), TypeError, 'one operand is a numpy.ndarray'),
    'left array': (lambda x: np.ones(3) < x, TypeError, 'one operand is a numpy.ndarray'),
    'hook': (lambda x: x.register_hook(id), chx.ChainerxError, 'register_hook is not there'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_what_is_refused(name):
    f, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        func.vmap(f)(X)
    assert V.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    'f',
    [
        lambda x: chx.as_strided(x, (2,), (0,)),
        lambda x: chx.compress(x > 2, x[:3])[:1],
        lambda x: V.compress(x > 3.5)[:1],
        lambda x: chx.extract(x != 4, x),
    ],
)
def test_functions_that_run_example_by_example(f):
    x = chx.array([[1.0, 5.0, 4.0], [3.0, 5.0, 4.0]], dtype='float64')[:, ::1]
    x = x.at[0, 0].set(3.0)
    with pytest.warns(func.BatchingWarning) as warned:
        y = func.vmap(f)(x)
    assert y.tolist() == [f(row).tolist() for row in x]
    assert {w.filename for w in warned} == {__file__}


def test_why_some_arguments_run_example_by_example():
    with pytest.warns(func.BatchingWarning, match='gradient has no .*spacings that are a batch'):
        func.vmap(lambda x: chx.gradient(x, x[0]))(X)


# ---- methods ------------------------------------------------------------------------------------


def test_methods_have_the_rules_of_their_functions():
    """Otherwise a method of an array that gets a batch would run once for each example."""
    methods = [
        name
        for name in dir(chx.ndarray)
        if name in _batch.RULES and inspect.ismethoddescriptor(getattr(chx.ndarray, name))
    ]
    assert len(methods) > 30
    missing = {n for n in methods if n not in _batch.MIRRORS and f'ndarray.{n}' not in _batch.RULES}
    assert missing == set()


METHODS = {
    'take': lambda x, i: V.take(i),
    'take by names': lambda x, i: V.take(indices=i, axis=0),
    'clip': lambda x, i: V.clip(x[0], x[1]),
    'dot': lambda x, i: V.dot(x),
    'choose': lambda x, i: chx.array([0, 1, 1]).choose([x, V]),
    'searchsorted': lambda x, i: V.searchsorted(x),
    'put': written(lambda y, i: y.put(i[:1], 7.0)),
    'put by names': written(lambda y, i: y.put(indices=i, values=y[:1], mode='clip')),
    'fill': written(lambda y, i: y.fill(y[0])),
    'real': written(lambda y, i: setattr(y, 'real', y[0])),
    'stopped': lambda x, i: x.as_grad_stopped() + x.as_grad_stopped(copy=True),
}


@pytest.mark.parametrize('name', METHODS)
def test_methods_of_arrays_with_batches(name):
    check(METHODS[name], X, PLACES)


def test_parts_of_complex_numbers_can_be_set():
    z = X.astype('complex128')
    check(written(lambda y: setattr(y, 'imag', y.real * 2)), z)
    check(written(lambda y: setattr(y, 'imag', 3)), z)
    y = func.vmap(func.vmap(written(lambda y: setattr(y, 'imag', y.real))))(z)
    assert y.tolist() == (z * (1 + 1j)).tolist()


def test_gradients_stop():
    x = X[0]
    for f in (
        lambda a: a * chx.sum(a).as_grad_stopped(),
        lambda a: a * chx.sum(a).as_grad_stopped(True),
    ):
        expected = np.eye(3) * 7
        np.testing.assert_array_equal(to_numpy(func.jacrev(f)(x)), expected)
        np.testing.assert_array_equal(to_numpy(func.jacfwd(f)(x)), expected)
        h = func.hessian(lambda a, f=f: chx.sum(a * f(a)))(x)
        np.testing.assert_array_equal(to_numpy(h), expected * 2)
        g = func.vmap(func.grad(lambda a, f=f: chx.sum(f(a))))(X)
        np.testing.assert_array_equal(to_numpy(g), [[7] * 3, [12] * 3])


def test_batches_know_whether_they_are_in_a_graph():
    seen = []

    def f(a):
        seen.append(a.is_backprop_required())
        return a

    func.vmap(f)(X)
    func.vmap(func.vmap(f))(X.copy().require_grad())
    assert seen == [False, True]


# ---- NumPy --------------------------------------------------------------------------------------


@pytest.mark.parametrize('number', [np.float64(2), np.int64(2), np.float32(2)])
@pytest.mark.parametrize('name', ['lt', 'le', 'gt', 'ge', 'eq', 'ne', 'add', 'mul', 'truediv'])
def test_numbers_of_numpy_on_the_left(number, name):
    op = getattr(operator, name)
    expected = op(float(number), to_numpy(X))
    np.testing.assert_array_equal(to_numpy(op(number, X)), expected)
    np.testing.assert_array_equal(to_numpy(func.vmap(lambda a: op(number, a))(X)), expected)
    with pytest.raises(TypeError, match=r'is a numpy\.ndarray'):
        op(np.ones(3), V)


def test_functions_of_numpy():
    check(np.exp, X)
    check(lambda x: np.add(V, x) + np.multiply(x, V), X)
    check(np.sum, X)
    check(np.add.reduce, X)
    check(lambda x: np.where(V > 1, x, V), X)
    check(lambda x: np.stack([x, V]), X)


# ---- functions that call functions --------------------------------------------------------------


def pieces(a):
    return chx.piecewise(a, [a > 2.5, a > 3.5], [lambda z: chx.log(z), lambda z, k=2: z**k, 5])


def test_piecewise():
    with pytest.warns(func.BatchingWarning, match='piecewise has no .*conditions pick other'):
        y = func.vmap(pieces)(X)
    assert y.tolist() == [pieces(row).tolist() for row in X]
    with pytest.warns(func.BatchingWarning):
        y = func.vmap(lambda a: chx.piecewise(a, [a > 2], [lambda z, k: z * k, a[0]], a[1]))(X)
    assert y.tolist() == [[1, 1, 8], [15, 25, 20]]
    x = X[1]
    slopes = np.diag([1 / 3, 10, 8])
    for jacobian in (func.jacrev, func.jacfwd):
        with pytest.warns(func.BatchingWarning):
            j = jacobian(pieces)(x)
        np.testing.assert_allclose(to_numpy(j), slopes)
    with pytest.warns(func.BatchingWarning):
        h = func.hessian(lambda a: chx.sum(pieces(a)))(x)
    np.testing.assert_allclose(to_numpy(h), np.diag([-1 / 9, 2, 2]))
    # If the conditions are the same for all examples, functions may use any arrays.
    check(lambda a: chx.piecewise(V, [V > 1], [lambda z: z * a[0], 0]), X)
    with (
        pytest.warns(func.BatchingWarning),
        pytest.raises(chx.ChainerxError, match='give that as an argument'),
    ):
        func.vmap(lambda a: chx.piecewise(a, [a > 2], [lambda z: z * a[0], 0]))(X)


def test_functions_along_axes():
    check(lambda a: chx.apply_along_axis(lambda row: row * chx.sum(row), 0, a), X)
    check(lambda a: chx.apply_over_axes(chx.sum, a, 0), X)


def test_limits_that_are_batches():
    a = chx.array([[1.0, 0.0], [0.0, 0.5]], dtype='float64')
    limits = chx.array([0.1, 0.9])
    assert func.vmap(lambda r: chx.linalg.matrix_rank(a, rtol=r))(limits).tolist() == [2, 1]
    inverses = func.vmap(lambda r: chx.linalg.pinv(a, rtol=r))(limits)
    assert inverses.tolist() == [[[1, 0], [0, 2]], [[1, 0], [0, 0]]]


def test_a_number_among_each():
    found = func.vmap(lambda t: chx.isin(1, t))(chx.array([[1, 2], [3, 4]]))
    assert found.tolist() == [True, False]

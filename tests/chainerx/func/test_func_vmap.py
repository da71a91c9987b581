"""func.vmap: axes, trees, indexing, random numbers, functions without a rule, errors.

The rows of the table are in test_func_rows.py.
"""

import operator
import threading
import warnings

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func


def array(*shape, seed=0):
    return chx.array(np.random.default_rng(seed).normal(size=shape))


def loop(f, *xs):
    ys = [f(*[x[i] for x in xs]) for i in range(xs[0].shape[0])]
    return np.stack([to_numpy(y) for y in ys])


def check(f, *xs):
    """Checks that vmap of a function of arrays equals a loop, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        y = func.vmap(f)(*xs)
    e = loop(f, *xs)
    assert y.shape == e.shape
    np.testing.assert_allclose(to_numpy(y), e, rtol=1e-12, atol=1e-14)
    return y


# ---- axes and trees -----------------------------------------------------------------------------


@pytest.mark.parametrize('axis', [0, 1, 2, -1, -3])
@pytest.mark.parametrize('out', [0, 1, 2, -1, -2])
def test_axes(axis, out):
    x = array(2, 3, 4)
    y = func.vmap(lambda x: x * 2, in_axes=axis, out_axes=out)(x)
    e = np.moveaxis(np.moveaxis(to_numpy(x), axis, 0) * 2, 0, out)
    np.testing.assert_array_equal(to_numpy(y), e)


def test_some_arguments_are_the_same_for_all():
    a, b = array(5, 3), array(3, seed=1)
    for axes in ((0, None), [0, None]):
        y = func.vmap(lambda a, b: chx.sum(a * b), in_axes=axes)(a, b)
        np.testing.assert_allclose(to_numpy(y), to_numpy(a) @ to_numpy(b))
    y = func.vmap(lambda a, k: a * k, in_axes=(0, None))(a, 3)
    np.testing.assert_allclose(to_numpy(y), to_numpy(a) * 3)
    y = func.vmap(lambda a, *, b, flag: a * b if flag else a)(a, b=array(5, seed=2), flag=True)
    np.testing.assert_allclose(to_numpy(y), to_numpy(a) * to_numpy(array(5, seed=2))[:, None])


def test_trees():
    p = {'w': array(4, 2), 'b': [array(3, 4, seed=1), None]}

    def f(p, x):
        return {'y': p['w'] * x, 'z': (p['b'][0], x)}

    y = func.vmap(f, ({'w': 0, 'b': [1, None]}, None), {'y': 0, 'z': (-1, None)})(
        p, array(2, seed=2)
    )
    assert y['y'].shape == (4, 2)
    assert y['z'][0].shape == (3, 4)
    assert y['z'][1].shape == (2,)


def test_what_an_example_looks_like():
    def f(x):
        assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
        assert (x.dtype.name, x.itemsize, x.nbytes) == ('float64', 8, 48)
        assert x.device is chx.get_default_device()
        assert isinstance(x, chx.ndarray)
        assert x.T.shape == (3, 2)
        assert [row.shape for row in x] == [(3,), (3,)]
        assert 'batch of 4 arrays of shape (2, 3)' in repr(x)
        with pytest.raises(AttributeError, match='no attribute'):
            _ = x.no_such_thing
        return x

    func.vmap(f)(array(4, 2, 3))


def test_arrays_like_a_batch():
    x = array(3, 2)
    check(lambda x: chx.zeros_like(x) + chx.ones_like(x) * chx.full_like(x, 3), x)
    check(lambda x: chx.ones_like(x, dtype='float32', shape=(4, 1)), x)
    check(lambda x: chx.zeros_like(x, shape=4), x)


def test_a_batch_of_none():
    assert func.vmap(lambda x: chx.sum(chx.exp(x) @ x))(chx.ones((0, 3))).shape == (0,)


# ---- operators, methods, indexing ---------------------------------------------------------------

OPERATORS = [
    'add',
    'sub',
    'mul',
    'truediv',
    'floordiv',
    'mod',
    'pow',
    'lt',
    'le',
    'gt',
    'ge',
    'eq',
    'ne',
]


@pytest.mark.parametrize('name', OPERATORS)
def test_operators(name):
    op = getattr(operator, name)
    a = chx.absolute(array(5, 2, 3)) + 0.5
    b = chx.absolute(array(5, 3, seed=1)) + 0.5
    check(op, a, b)
    check(lambda a: op(a, 2), a)
    check(lambda a: op(2.5, a), a)
    check(lambda b: op(b, a[0]), b)
    check(lambda b: op(a[0], b), b)


def test_more_operators():
    i = chx.array([[1, 2], [3, 4]])
    for op in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
        check(lambda x, op=op: op(x, x[::-1]), i)
    x = array(3, 2, 2)
    check(lambda x: -x + +x - abs(x), x)
    check(lambda x: ~x, i)
    check(lambda x: x @ x, x)
    check(lambda x: x @ x[0], x)
    check(lambda x: divmod(x, 0.75)[1] + divmod(0.75, x)[0], x)
    with pytest.raises(TypeError, match='unsupported operand'):
        func.vmap(lambda x: x + 'a')(x)


def test_methods():
    x = array(3, 2, 4)
    for f in (
        lambda x: (
            x.sum(0) + x.mean(axis=0) + x.max(-2) - x.min(0) + x.prod(0) + x.std(0) + x.var(0)
        ),
        lambda x: x.reshape(4, 2).transpose() + x.reshape((2, -1)) + x.T.transpose((1, 0)),
        lambda x: x.ravel() + x.flatten() + x.reshape(-1),
        lambda x: x.swapaxes(0, 1).squeeze().astype('float32'),
        lambda x: x.cumsum(1) + x.cumprod(0) + x.clip(-1, 1) + x.copy() + x.view(),
        lambda x: x.take(chx.array([1, 0]), 1) + x.repeat(2, 1)[:, ::4],
        lambda x: x.argmax(0) + x.argmin(0) + x.all().astype(int) + x.any().astype(int),
        lambda x: x.dot(x.T),
    ):
        y = func.vmap(f)(x)
        np.testing.assert_allclose(to_numpy(y), loop(f, x), rtol=1e-6)


INDICES = {
    'int': 1,
    'negative': -1,
    'slice': slice(None, None, -2),
    'none': (None, 1),
    'ellipsis': (..., 1),
    'both': (0, ..., slice(1)),
    'list': [1, 0, 1],
    'array': chx.array([[1, 0]]),
    'second': (slice(None), chx.array([2, 0])),
    'apart': (chx.array([1, 0]), slice(None), chx.array([2, 0])),
    'together': (slice(None), chx.array([[1], [0]]), chx.array([2, 0])),
    'int and array': (0, slice(None), chx.array([2, 0])),
    'mask': chx.array([True, False]),
    'mask of two': chx.array([[True, False, True], [False, True, True]]),
    'mask behind': (..., chx.array([True, False, True, False])),
}


@pytest.mark.parametrize('name', INDICES)
def test_index(name):
    check(lambda x: x[INDICES[name]], array(5, 2, 3, 4))


@pytest.mark.parametrize(
    'f',
    [
        lambda x, i: x[i],
        lambda x, i: x[:, i],
        lambda x, i: x[i, :, i],
        lambda x, i: x[:, i, i],
        lambda x, i: x[chx.array([1, 0]), i],
        lambda x, i: x[..., i, None],
        lambda x, i: x[0, i],
        lambda x, i: x[i[0]],
        lambda x, i: x[:, i[:, None], i],
        lambda x, i: chx.take(x, i, 1),
        lambda x, i: chx.take(x, i, None),
        lambda x, i: chx.take(x, i + 7, 1, mode='wrap'),
        lambda x, i: chx.take(x, i - 7, 2, mode='clip'),
    ],
)
def test_index_by_batches(f):
    x = array(5, 2, 3, 4)
    i = chx.array(np.random.default_rng(0).integers(-2, 2, (5, 2)))
    check(f, x, i)
    same = x[0]
    check(lambda i: f(same, i), i)
    g = func.grad(lambda x: chx.sum(func.vmap(f)(x, i) ** 2))(x)
    e = np.stack(
        [to_numpy(func.grad(lambda x, k=k: chx.sum(f(x, i[k]) ** 2))(x[k])) for k in range(5)]
    )
    np.testing.assert_allclose(to_numpy(g), e, rtol=1e-12)


@pytest.mark.parametrize(
    'f',
    [
        lambda x, i, v: x.at[i].get(),
        lambda x, i, v: x.at[0].set(v[0]),
        lambda x, i, v: x.at[:, 1].add(v[0, :3]),
        lambda x, i, v: x.at[i].subtract(1.0),
        lambda x, i, v: x.at[i].multiply(v),
        lambda x, i, v: x.at[[0, 2]].max(v),
        lambda x, i, v: x.at[1].apply(lambda y: y * v[0]),
        lambda x, i, v: x.at[i, i].power(v[:, 0]),
        lambda x, i, v: x.at[x > 0.5].set(v[0, 0]),
    ],
)
def test_changed_copies_of_unbatched_arrays(f):
    x, v = array(3, 4), array(5, 2, 4, seed=1)
    i = chx.array(np.random.default_rng(0).integers(-3, 3, (5, 2)))
    check(lambda i, v: f(x, i, v), i, v)
    # Two levels; the index belongs to one of them, the values to the other.
    y = func.vmap(lambda i: func.vmap(lambda v: f(x, i, v))(v))(i)
    e = np.stack([np.stack([to_numpy(f(x, i[k], v[n])) for n in range(5)]) for k in range(5)])
    np.testing.assert_array_equal(to_numpy(y), e)


UPDATES = ['set', 'add', 'subtract', 'multiply', 'divide', 'power', 'min', 'max']


@pytest.mark.parametrize('name', UPDATES)
def test_masks_of_each_example(name):
    x = abs(array(5, 3, 4)) + 0.1
    x = x.at[:, 0, 0].set(0.0)  # powers have infinite derivatives there
    masks = {
        'all': chx.array(np.random.default_rng(1).integers(0, 2, (5, 3, 4)) > 0),
        'none': chx.zeros((5, 3, 4), 'bool'),
        'rows': chx.array(np.random.default_rng(2).integers(0, 2, (5, 3)) > 0),
        'one': chx.array([True, False, True, True, False]),
    }
    masks['all'] = masks['all'].at[:, 0, 0].set(False)
    v, w = chx.array([0.5, 2.0, 1.0, 3.0, -1.0], dtype='float64'), array(5, 4, seed=3)

    def by(y, at, value):
        return getattr(y.at[at], name)(value)

    def written(y, at, value):
        y = y.copy()
        y[at] = value
        return y

    for f in (by, written) if name == 'set' else (by,):
        for mask in masks.values():
            check(lambda x, m, f=f: f(x, m, 2.0), x, mask)
            if f is by:
                check(lambda m: by(x[0], m, 3), mask)
            check(f, x, mask, v)
            check(lambda x, m, v, f=f: f(x, m, v.reshape(1)), x, mask, v)
            check(lambda x, m, f=f: f(x, (..., m) if m.ndim == 2 else m, [2.0]), x, mask)
        check(f, x, masks['rows'], w)
        check(f, x, masks['one'], w)
        columns = chx.array([[True, False, False, True]] * 5)
        check(lambda x, m, f=f: f(x, (slice(None), m), 2.0), x, columns)
    mask = masks['all']
    for a, value in ((x, v), (x[0], v)):
        g = func.grad(
            lambda a, v: chx.sum(
                func.vmap(by, (0 if a.ndim == 3 else None, 0, 0))(a, mask, v) ** 2
            ),
            (0, 1),
        )(a, value)
        e = func.grad(
            lambda a, v: sum(
                chx.sum(by(a[k] if a.ndim == 3 else a, mask[k], v[k]) ** 2) for k in range(5)
            ),
            (0, 1),
        )(a, value)
        for found, expected in zip(g, e, strict=True):
            np.testing.assert_allclose(to_numpy(found), to_numpy(expected), rtol=1e-12)
    # Masks of an outer vmap, and of both vmaps.
    y = func.vmap(lambda m: func.vmap(lambda v: by(x[0], m, v))(v))(mask)
    z = func.vmap(lambda v: func.vmap(lambda m: by(x[0], m, v))(mask))(v)
    for k in range(5):
        np.testing.assert_array_equal(to_numpy(y[:, k]), to_numpy(z[k]))
    whole = chx.array([[1, 2, 3], [4, 5, 6]])
    flags = chx.array([[True, False, True], [False, False, True]])
    check(lambda x, m: by(x, m, 2), whole, flags)
    if name in ('set', 'max'):
        check(lambda x, m: by(x.astype('uint8'), m, 200), whole, flags)
    with pytest.raises(chx.DtypeError, match=r'cannot write 2\.5 into an array of int64'):
        func.vmap(lambda x, m: by(x, m, 2.5))(whole, flags)


def test_masks_of_each_example_that_are_refused():
    x, m = array(2, 3), chx.array([[True, False, True], [False, False, True]])
    y = array(2, 3, 3)

    def write(x, m, v):
        x = x.copy()
        x[m] = v
        return x

    for f, error, text in (
        (lambda x, m: x.at[m].set(x[:2]), TypeError, r'at\[\].set: values of shape \(2,\) would'),
        (lambda x, m: write(x, m, x[:2]), TypeError, r'setitem: values of shape \(2,\) would be'),
        (lambda x, m: x.at[m].get(), TypeError, 'selects other numbers of elements'),
        (lambda x, m: x.at[m].apply(chx.sin), TypeError, 'selects other numbers of elements'),
        (lambda x, m: x.at[m[:2]].set(1.0), IndexError, r'of shape \(2,\) does not .* \(3,\)'),
    ):
        with pytest.raises(error, match=text):
            func.vmap(f)(x, m)
    with pytest.raises(TypeError, match='selects other numbers of elements'):
        func.vmap(lambda y, m: y.at[0, m].set(1.0))(y, m)


def test_writes_in_place():
    x, y = array(3, 2, 2), array(3, 2, seed=1)

    def f(x, y):
        z = x.copy()
        z += y
        z[0] = 5
        z[:, 1] = y
        z *= 2
        return z

    check(f, x, y)
    with pytest.raises(chx.ChainerxError, match='the same for all'):
        func.vmap(lambda x: func.vmap(lambda y: operator.iadd(x, y))(y))(x)


@pytest.mark.parametrize(
    'write',
    [
        operator.iadd,
        operator.isub,
        operator.imul,
        operator.itruediv,
        operator.ifloordiv,
        operator.imod,
        lambda x, y: operator.setitem(x, 0, y[0]),
        lambda x, y: operator.setitem(x, ..., [y[0], y[1]]),
        lambda x, y: operator.setitem(x, [0, 1], y),
        lambda x, y: operator.setitem(x, y.astype('int64') * 0, 1),
        lambda x, y: operator.setitem(x, (y.astype('int64') * 0,), 1),
    ],
)
def test_writes_to_unbatched_arrays(write):
    """Python would evaluate x += y as x + y, and the array that others see would be unchanged."""
    x, y = chx.ones(2, 'float64'), array(3, 2)
    with pytest.raises(chx.ChainerxError, match='the same for all of them; compute a new one'):
        func.vmap(lambda y: write(x, y))(y)
    with pytest.raises((chx.ChainerxError, TypeError), match=r'in-place|NoneType'):
        func.jacfwd(lambda y: write(chx.zeros(2, 'float64')[:2], y) + y)(y[0])
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize('name', ['iand', 'ior', 'ixor', 'ilshift', 'irshift'])
def test_writes_of_integers_to_unbatched_arrays(name):
    x = chx.array([1, 2])
    with pytest.raises(chx.ChainerxError, match='the same for all of them'):
        func.vmap(lambda y: getattr(operator, name)(x, y))(chx.array([[1, 2]]))
    assert x.tolist() == [1, 2]


# ---- what has no rule ---------------------------------------------------------------------------


def test_without_a_rule_each_example_runs():
    x = array(4, 5, 3)
    b = chx.ones(5, 'float64')

    def f(x):
        return chx.linalg.lstsq(x, b)[0]

    with pytest.warns(func.BatchingWarning, match=r'lstsq has no .*\(the shape .* 4 examples'):
        y = func.vmap(f)(x)
    np.testing.assert_allclose(to_numpy(y), loop(f, x), rtol=1e-12)
    with pytest.warns(func.BatchingWarning):
        g = func.grad(lambda x: chx.sum(func.vmap(f)(x) ** 3))(x)
    assert np.abs(to_numpy(g)).max() > 0
    with (
        pytest.warns(func.BatchingWarning),
        pytest.raises(chx.NotImplementedError, match='nothing to run'),
    ):
        func.vmap(f)(x[:0])


def test_running_statistics_are_those_of_each_example():
    x, gamma, beta = array(4, 5, 3), chx.ones(3, 'float64'), chx.zeros(3, 'float64')
    mean, var = chx.zeros((4, 3), 'float64'), chx.ones((4, 3), 'float64')
    expected = [chx.zeros(3, 'float64'), chx.ones(3, 'float64')]

    def f(x, mean, var):
        return chx.batch_norm(x, gamma, beta, mean, var)

    y = func.vmap(f)(x, mean, var)
    for i in range(4):
        m, v = expected[0].copy(), expected[1].copy()
        np.testing.assert_allclose(to_numpy(y[i]), to_numpy(f(x[i], m, v)), rtol=1e-12)
        np.testing.assert_allclose(to_numpy(mean[i]), to_numpy(m), rtol=1e-12)
        np.testing.assert_allclose(to_numpy(var[i]), to_numpy(v), rtol=1e-12)
    with pytest.raises(chx.ChainerxError, match='running_mean would become another one'):
        func.vmap(lambda x: f(x, mean[0], var[0]))(x)


def test_attention_asks_before_it_drops():
    q = array(3, 2, 4, 4)

    def f(q):
        return chx.scaled_dot_product_attention(q, q, q, dropout_p=0.5)

    with pytest.raises(chx.ChainerxError, match='randomness'):
        func.vmap(f)(q)
    assert func.vmap(f, randomness='different')(q).shape == q.shape


def test_results_of_different_shapes():
    with (
        pytest.warns(func.BatchingWarning),
        pytest.raises(chx.DimensionError, match=r'nonzero have shapes \(1,\) and \(2,\)'),
    ):
        func.vmap(lambda x: chx.nonzero(x)[0])(chx.array([[1, 0], [1, 1]]))


def test_a_pull_from_outside():
    x = array(3)
    _, pull = func.vjp(lambda x: x * x, x)
    with pytest.warns(func.BatchingWarning, match='function that vjp returned'):
        j = func.vmap(lambda u: pull(u)[0])(chx.eye(3, dtype='float64'))
    np.testing.assert_allclose(to_numpy(j), np.diag(2 * to_numpy(x)))
    _, push = func.linearize(lambda x: x * x, x)
    with pytest.warns(func.BatchingWarning, match='function that linearize returned'):
        j = func.vmap(push)(chx.eye(3, dtype='float64'))
    np.testing.assert_allclose(to_numpy(j), np.diag(2 * to_numpy(x)))


# ---- control flow and errors --------------------------------------------------------------------

REFUSED = {
    'if': lambda x: x if x > 0 else -x,
    'float': lambda x: float(x),
    'int': lambda x: int(x),
    'index': lambda x: [1, 2, 3][x],
    'range': lambda x: range(x),
    'in': lambda x: 1 in x,
    'item': lambda x: x.item(),
    'tolist': lambda x: x.tolist(),
    'numpy': lambda x: np.asarray(x),
    'to_numpy': lambda x: chx.to_numpy(x),
    'complex': lambda x: complex(x),
    'pickle': lambda x: __import__('pickle').dumps(x),
}


@pytest.mark.parametrize('name', REFUSED)
def test_values_are_not_known(name):
    with pytest.raises(TypeError, match='is not known while the function runs'):
        func.vmap(REFUSED[name])(chx.array([1, 2, 3]))


X = chx.ones((3, 2))
ERRORS = {
    'sizes': (
        lambda: func.vmap(operator.add)(X, chx.ones(4)),
        ValueError,
        r'3 \(argument leaf 0\) and 4 \(argument leaf 1\) examples',
    ),
    'nothing': (lambda: func.vmap(operator.neg, None)(X), ValueError, 'no argument is mapped'),
    'axis': (
        lambda: func.vmap(operator.neg, 2)(X),
        chx.DimensionError,
        r'2 for an array of shape \(3',
    ),
    'number': (lambda: func.vmap(operator.add)(X, 3), TypeError, '0 for an argument of type int'),
    'form': (
        lambda: func.vmap(operator.add, (0,))(X, X),
        TypeError,
        r'in_axes is \(\*,\), which does',
    ),
    'out': (lambda: func.vmap(operator.neg, 0, 2)(X), chx.DimensionError, 'out_axes has 2'),
    'out none': (lambda: func.vmap(operator.neg, 0, None)(X), ValueError, 'another one for each'),
    'result': (lambda: func.vmap(lambda x: 3)(X), TypeError, 'result of the function has a leaf'),
    'randomness': (lambda: func.vmap(operator.neg, randomness='x'), ValueError, "is 'x', expected"),
    'chunk': (lambda: func.vmap(operator.neg, chunk_size=0), ValueError, 'chunk_size is 0'),
    'grad': (
        lambda: func.vmap(lambda x: x.require_grad())(X),
        chx.ChainerxError,
        'ndarray.require_grad',
    ),
    'reduction': (
        lambda: func.vmap(lambda x: x.sum(1))(X),
        chx.DimensionError,
        'sum: axis 1 is out of',
    ),
    'negative': (
        lambda: func.vmap(lambda x: x.sum(-2))(X),
        chx.DimensionError,
        'axis -2 is out of',
    ),
    'product': (
        lambda: func.vmap(lambda x: x @ chx.ones(3))(X),
        chx.DimensionError,
        r'x1.shape\[0\] is 2, but x2.shape\[0\] is 3',
    ),
    'reshape': (
        lambda: func.vmap(lambda x: x.reshape(3))(X),
        chx.DimensionError,
        r'shape \(2,\) into \(3,\)',
    ),
    'index': (lambda: func.vmap(lambda x: x[0, 0])(X), IndexError, ''),
    'mask': (lambda: func.vmap(lambda x: x[x > 0])(X), TypeError, 'use chainerx.where'),
}


@pytest.mark.parametrize('name', ERRORS)
def test_errors(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text or None):
        call()


def add_in_place(x, y):
    x = x.copy()
    x += y
    return x


def set_item(x, index, value):
    x = x.copy()
    x[index] = value
    return x


@pytest.mark.parametrize(
    'f',
    [
        lambda x: x + chx.ones(4),
        lambda x: chx.maximum(x, chx.ones(4)),
        lambda x: chx.where(x > 0, x, chx.ones(4)),
        lambda x: add_in_place(x, chx.ones(4)),
        lambda x: x[5],
        lambda x: x[0, 0],
        lambda x: x[x.astype('int64') + 7],
        lambda x: chx.take(x, x.astype('int64') + 7),
        lambda x: set_item(x, 5, 1.0),
        lambda x: set_item(x, slice(2), chx.ones(3)),
        lambda x: x.at[7].set(1.0),
        lambda x: chx.concatenate([x, chx.ones((2, 2))]),
        lambda x: chx.stack([x, chx.ones(4)]),
        lambda x: chx.broadcast_to(x, (4,)),
        lambda x: chx.linalg.solve(chx.outer(x, x), chx.ones(4)),
        lambda x: chx.linear(x[None], chx.ones((2, 4))),
        lambda x: chx.squeeze(x, 0),
        lambda x: chx.sum(x, 1),
        lambda x: x @ chx.ones(4),
        lambda x: chx.sin(x, 5, 6, 7),
    ],
)
def test_errors_are_those_of_an_example(f):
    x = chx.ones((2, 3))
    with pytest.raises((chx.ChainerxError, IndexError, TypeError)) as plain:
        f(x[0])
    for call in (
        lambda: func.vmap(f)(x),
        lambda: func.vmap(func.vmap(f))(x[None]),
        lambda: func.vmap(func.jacrev(lambda y: f(y.as_grad_stopped())))(x),
    ):
        with pytest.raises(type(plain.value)) as found:
            call()
        assert str(found.value) == str(plain.value)


def test_errors_of_later_examples():
    x, i = chx.ones((3, 4)), chx.array([0, 1, 9])
    with pytest.raises(IndexError, match=r'^getitem: index 9 is .* length 4: indices\[0'):
        func.vmap(lambda x, i: x[i])(x, i)
    called = []

    def by_hand(v):
        called.append(1)
        raise IndexError('of a function')

    with pytest.raises(IndexError, match='of a function'):
        func.vmap(lambda x: chx.apply_along_axis(by_hand, 0, x))(x)
    assert len(called) == 1


def test_a_batch_outside_of_its_function():
    kept = []
    func.vmap(lambda x: kept.append(x) or x)(X)
    for f in (lambda: kept[0] + 1, lambda: chx.sum(kept[0]), lambda: X[kept[0]]):
        with pytest.raises(chx.ChainerxError, match='used outside of the function'):
            f()


def test_lists_as_indices_on_another_device():
    """They are on no device, so they are copied to that of the array."""
    x = chx.arange(24, dtype='float32', device='native:1').reshape(2, 3, 4)

    def f(a):
        b = a.copy()
        b[[0, 1]] = 5
        return a[[0, 2]], a[[0, 2], [1, 3]], a[[True, False, True]], a.at[[0, 0]].add(1.0), b

    for y, *rows in zip(func.vmap(f)(x), *map(f, x), strict=True):
        np.testing.assert_array_equal(chx.to_numpy(y), np.stack([chx.to_numpy(r) for r in rows]))


def test_a_bool_beside_arrays_as_indices():
    assert func.vmap(lambda a: a[True])(X).shape == (len(X), 1, *X.shape[1:])
    with pytest.raises(chx.NotImplementedError, match='a bool beside arrays'):
        func.vmap(lambda a: a[True, [0, 1]])(X)


def test_errors_leave_nothing_behind():
    kept = []
    with pytest.raises(ZeroDivisionError):
        func.vmap(lambda x: kept.append(x) or 1 // 0)(X)
    with pytest.raises(chx.ChainerxError, match='used outside of the function'):
        kept[0] + 1
    chx.random.normal(size=2)  # outside of any vmap
    with pytest.raises(TypeError, match='got str'):
        chx.sum('x')


def test_threads():
    """A vmap belongs to its thread."""
    results = []

    def work(k):
        for _ in range(20):
            y = func.vmap(lambda x: x * k + chx.random.uniform(), randomness='different')(X)
            results.append(bool((chx.min(y) >= k).item() and (chx.max(y) < k + 1).item()))
            assert chx.random.normal(size=3).shape == (3,)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 80


# ---- inside one another -------------------------------------------------------------------------


def test_chunks():
    x = array(7, 3)
    for chunk in (1, 2, 7, 10):
        y = func.vmap(lambda x: (chx.sum(x), x), out_axes=(0, 1), chunk_size=chunk)(x)
        np.testing.assert_allclose(to_numpy(y[0]), to_numpy(x).sum(1))
        np.testing.assert_allclose(to_numpy(y[1]), to_numpy(x).T)


def test_gradients_by_unbatched_arrays():
    w, x = array(3), array(5, 3, seed=1)

    def loss(w, x):
        return chx.sum(chx.tanh(w * x) @ w)

    found = func.vmap(func.grad(loss), in_axes=(None, 0))(w, x)
    e = np.stack([to_numpy(func.grad(loss)(w, x[i])) for i in range(5)])
    np.testing.assert_allclose(to_numpy(found), e, rtol=1e-12)
    # Captured by a closure instead of passed as an argument.
    found = func.vmap(lambda x: func.grad(lambda w: loss(w, x))(w))(x)
    np.testing.assert_allclose(to_numpy(found), e, rtol=1e-12)
    mean = func.grad(lambda w: chx.mean(func.vmap(loss, (None, 0))(w, x)))(w)
    np.testing.assert_allclose(to_numpy(mean), e.mean(0), rtol=1e-12)


def test_a_small_network():
    params = [(array(4, 3), array(4, seed=1)), (array(1, 4, seed=2), array(1, seed=3))]
    x, t = array(6, 3, seed=4), array(6, seed=5)

    def predict(params, x):
        for w, b in params[:-1]:
            x = chx.tanh(chx.linear(x[None], w, b)[0])
        w, b = params[-1]
        return (w @ x + b)[0]

    def loss(params, x, t):
        return (predict(params, x) - t) ** 2

    def total(params):
        return chx.mean(func.vmap(loss, (None, 0, 0))(params, x, t))

    g = func.grad(total)(params)
    each = func.vmap(func.grad(loss), (None, 0, 0))(params, x, t)
    for (gw, gb), (ew, eb) in zip(g, each, strict=True):
        np.testing.assert_allclose(to_numpy(gw), to_numpy(ew).mean(0), rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(to_numpy(gb), to_numpy(eb).mean(0), rtol=1e-10, atol=1e-14)
    h = func.vmap(func.hessian(predict, 1), (None, 0))(params, x)
    e = np.stack([to_numpy(func.hessian(predict, 1)(params, x[i])) for i in range(6)])
    np.testing.assert_allclose(to_numpy(h), e, rtol=1e-10, atol=1e-14)


def test_pairwise():
    x, y = array(4, 3), array(5, 3, seed=1)

    def distance(a, b):
        return chx.sqrt(chx.sum((a - b) ** 2))

    d = func.vmap(func.vmap(distance, (None, 0)), (0, None))(x, y)
    e = np.linalg.norm(to_numpy(x)[:, None] - to_numpy(y)[None], axis=-1)
    np.testing.assert_allclose(to_numpy(d), e, rtol=1e-12)

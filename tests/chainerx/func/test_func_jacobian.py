"""func.jacrev, jacfwd, hessian, and features shared with hvp and linearize: all but values."""

import gc
import re
import threading
import warnings
import weakref

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func

X = chx.array([1.0, 2.0], dtype='float64')
V = chx.array([3.0, -1.0], dtype='float64')
BOTH = pytest.mark.parametrize('jacobian', [func.jacrev, func.jacfwd])
ALL = pytest.mark.parametrize('transform', [func.jacrev, func.jacfwd, func.hessian])


def equal(x, y):
    assert x.dtype == y.dtype
    np.testing.assert_allclose(to_numpy(x), to_numpy(y), rtol=1e-12)


def test_jacobian_is_jacrev():
    assert func.jacobian is func.jacrev


# ---- random numbers -----------------------------------------------------------------------------


def noise(a):
    return a * chx.random.normal(size=2)


RANDOM = {
    'dropout': (lambda a: chx.dropout(a * chx.ones(50), 0.5), (chx.array(2.0),)),
    'dropout of a vector': (lambda a: chx.dropout(a * a, 0.5), (chx.ones(50),)),
    'a number': (lambda a: chx.sum(chx.dropout(a * a, 0.5)), (chx.ones(50),)),
    'twice': (lambda a: (noise(a), noise(a) * noise(a)), (X,)),
    'parameters': (lambda a: chx.random.normal(a, chx.exp(a)) * a, (X,)),
    'permutation': (lambda a: chx.random.permutation(a * a), (X,)),
    'numpy': (lambda a: a * a * np.random.normal(), (X,)),
}


def seed():
    chx.random.seed(3)
    np.random.seed(3)


@BOTH
@pytest.mark.parametrize('chunk', [None, 1])
@pytest.mark.parametrize('name', RANDOM)
def test_random_numbers_are_the_same_for_all_rows(name, chunk, jacobian):
    f, args = RANDOM[name]
    seed()
    found = jacobian(f, chunk_size=chunk)(*args)
    after = chx.random.get_state()
    seed()
    result, pull = func.vjp(f, *args)
    if jacobian is func.jacrev:
        assert chx.random.get_state() == after  # drawn once
    ys, js = ([y] if isinstance(y, chx.ndarray) else y for y in (result, found))
    for k, (y, j) in enumerate(zip(ys, js, strict=True)):
        rows = j.reshape(-1, *args[0].shape)
        for i, row in enumerate(rows):
            unit = chx.zeros(y.size, y.dtype).at[i].set(1.0).reshape(y.shape)
            units = unit if y is result else tuple(unit if n == k else None for n in range(len(ys)))
            equal(row, pull(units)[0])


def test_random_numbers_of_hessians_and_aux():
    def f(a):
        kept = chx.dropout(a, 0.5)
        return chx.sum(kept**3), kept

    x = chx.ones(50)
    h, kept = func.hessian(f, has_aux=True)(x)
    equal(h, chx.diag(6 * kept * 4))
    for jacobian in (func.jacrev, func.jacfwd):
        j, kept = jacobian(f, has_aux=True)(x)
        equal(j, 3 * kept**2 * 2)


def test_random_numbers_in_vmap():
    def f(a):
        return func.jacrev(noise)(a)

    with pytest.raises(chx.ChainerxError, match='say randomness'):
        func.vmap(f)(chx.ones((3, 2)))
    y = func.vmap(f, randomness='different')(chx.ones((3, 2)))
    assert len(set(to_numpy(y).diagonal(axis1=1, axis2=2).ravel().tolist())) == 6
    y = func.vmap(f, randomness='same')(chx.ones((3, 2)))
    assert (y == y[0]).all()


# ---- arguments ----------------------------------------------------------------------------------


@ALL
def test_keywords_are_handed_on(transform):
    equal(
        transform(lambda a, *, k: chx.sum(a**3) * k)(X, k=2.0),
        transform(lambda a: chx.sum(2 * a**3))(X),
    )


@ALL
def test_aux(transform):
    def f(a):
        return chx.sum(a**3), {'twice': a * 2, 'word': 'w'}

    found, aux = transform(f, has_aux=True)(X)
    equal(found, transform(lambda a: f(a)[0])(X))
    equal(aux['twice'], X * 2)
    assert aux['word'] == 'w'
    g = func.grad(lambda a: chx.sum(transform(f, has_aux=True)(a)[1]['twice']))(X)
    assert g.tolist() == [2, 2]
    with pytest.raises(TypeError, match=rf'{transform.__name__}: with has_aux .* pair'):
        transform(lambda a: chx.sum(a), has_aux=True)(X)


def test_aux_of_products_and_linear_functions():
    def f(a):
        return chx.sum(a**3), a * 2

    products, aux = func.hvp(f, (X,), (V,), has_aux=True)
    equal(products[0], 6 * X * V)
    equal(aux, X * 2)
    y, push, aux = func.linearize(f, X, has_aux=True)
    equal(y, f(X)[0])
    equal(push(V), chx.sum(3 * X**2 * V))
    equal(aux, X * 2)


# ---- dtypes -------------------------------------------------------------------------------------


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
@pytest.mark.parametrize('other', ['float32', 'float64'])
@pytest.mark.parametrize(
    'f',
    [
        lambda a, b: a * b,
        lambda a, b: (a * b).astype('float16'),
        lambda a, b: chx.argsort(a * b),
        lambda a, b: a > b,
        lambda a, b: a * b * 1j,
        lambda a, b: a,
    ],
)
def test_matrices_have_the_dtypes_of_arguments(dtype, other, f):
    args = chx.array([1, 2], dtype), chx.array([3, 4], other)
    backward = func.jacrev(f, argnums=(0, 1))(*args)
    forward = func.jacfwd(f, argnums=(0, 1))(*args)
    for x, b, w in zip(args, backward, forward, strict=True):
        assert b.dtype == w.dtype
        assert b.dtype == x.dtype or b.dtype.kind == 'c'
        np.testing.assert_allclose(
            to_numpy(b.astype('complex64')), to_numpy(w.astype('complex64')), rtol=1e-2
        )


COMPLEX = {
    'real': lambda z: chx.abs(z) ** 2,
    'holomorphic': lambda z: z * z[::-1] * (1 + 1j) + chx.exp(z),
    'mixed': lambda z: chx.conj(z) * z * z[::-1],
    'conjugate': chx.conj,
    'imaginary': lambda z: chx.imag(z * z),
    'a sum': lambda z: chx.sum(z * chx.conj(z)),
    'integers': lambda z: chx.argsort(chx.abs(z)),
    'asks': lambda z: chx.conj(z) * z if float(abs(z[0])) > 0 else z,
}


@pytest.mark.parametrize('name', COMPLEX)
@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_by_complex_numbers(name, dtype):
    f, z = COMPLEX[name], chx.array([1 + 2j, -0.5 + 1j], dtype)

    def difference(direction):
        """The change of the real part."""
        by = []
        for k in range(2):
            t = np.zeros(2, 'complex128')
            t[k] = 1e-6 * direction
            w = to_numpy(z).astype('complex128')
            high, low = (to_numpy(f(chx.array(w + h))) for h in (t, -t))
            by.append((high - low).real / 2e-6)
        return np.stack(by, -1)

    expected = difference(1) - 1j * difference(1j)
    for chunk_size in (None, 1):
        backward = func.jacrev(f, chunk_size=chunk_size)(z)
        forward = func.jacfwd(f, chunk_size=chunk_size)(z)
        assert backward.dtype == forward.dtype == dtype
        for found in (backward, forward):
            np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-5, atol=1e-5)
    second = func.jacfwd(func.jacfwd(f))(z), func.jacrev(func.jacrev(f))(z), func.hessian(f)(z)
    for found in second[1:]:
        np.testing.assert_allclose(to_numpy(found), to_numpy(second[0]), rtol=1e-5, atol=1e-5)


@BOTH
def test_by_real_and_complex_numbers_at_once(jacobian):
    def f(p):
        return {'r': p['x'] * chx.abs(p['z']) ** 2, 'c': p['x'] * p['z'], 'n': (p['x'] > 0) * 1}

    z = chx.array([1 + 2j, 3 - 1j])
    found = jacobian(f)({'x': X, 'z': z})
    equal(found['r']['x'], chx.diag(chx.abs(z) ** 2))
    equal(found['r']['z'], chx.diag(2 * X * chx.conj(z)))
    equal(found['c']['x'], chx.diag(z))
    equal(found['c']['z'], chx.diag(X.astype('complex128')))
    assert [d.dtype.name for d in found['n'].values()] == ['float64', 'complex128']
    ys = func.vmap(jacobian(lambda z: chx.abs(z) ** 2))(chx.stack([z, 2 * z]))
    equal(ys, chx.stack([chx.diag(2 * chx.conj(z)), chx.diag(4 * chx.conj(z))]))


# ---- functions that look at values --------------------------------------------------------------


def root(a):
    """A root by Newton's method, until the step is small."""
    y = chx.ones_like(a)
    while float(abs(y * y - a).max()) > 1e-14 * float(a.max()):
        y = (y + a / y) / 2
    return y


W = chx.array([1.0, -2.0, 3.0], dtype='float64')
ASK = {
    'if': lambda a: a * a if a.sum() > 0 else a,
    'float': lambda a: float(a[0] > 0) * a**2,
    'int': lambda a: a[int(chx.argmax(a))] * a,
    'item': lambda a: a[0].item() * a**3,
    'format': lambda a: float(f'{a[2]:.2f}') * a**2,
    'text': lambda a: len(str(a)) * len(repr(a)) * a**2,
    'list': lambda a: a.tolist()[1] * a**2,
    'numpy': lambda a: float(chx.to_numpy(a).sum()) * a**2,
    'as numpy': lambda a: float(np.asarray(a).sum()) * a**2,
    'flat': lambda a: a.flat[0] * a,
    'strides': lambda a: a.strides[0] * a**2,
    'a mask': lambda a: a[a > 0] ** 2,
    'a mask and an axis': lambda a: chx.outer(a, a)[1, a > 0],
    'compress': lambda a: chx.compress(a > 0, a**2),
    'nonzero': lambda a: a[chx.nonzero(a > 0)] ** 2,
    'a changed copy': lambda a: a.at[a < 0].set(0.0) ** 2,
    'a place in a constant': lambda a: (lambda w: (w.__setitem__(chx.argmax(a), 2.0), w * a**2)[1])(
        chx.ones(3, 'float64')
    ),
    'max': lambda a: max(a) * a,
    'Newton': lambda a: root(a + 3),
    'two results': lambda a: (a**2, a[a > 0] ** 3),
}


def rows_of(f, x):
    """The matrix computed by pullbacks only."""
    y, pull = func.vjp(f, x)
    ys = y if isinstance(y, tuple) else (y,)
    matrices = []
    for k, part in enumerate(ys):
        rows = []
        for unit in chx.eye(part.size, dtype=part.dtype):
            unit = unit.reshape(part.shape)
            parts = tuple([unit if i == k else None for i in range(len(ys))])
            rows.append(pull(parts if isinstance(y, tuple) else unit)[0])
        matrices.append(chx.stack(rows).reshape((*part.shape, *x.shape)))
    return tuple(matrices)


@pytest.mark.filterwarnings('error::chainerx.func.BatchingWarning')
@pytest.mark.parametrize('chunk_size', [None, 2])
@pytest.mark.parametrize('name', ASK)
def test_functions_that_ask_for_values(name, chunk_size):
    f = ASK[name]
    expected = rows_of(f, W)
    for transform in (func.jacrev, func.jacfwd):
        found = transform(f, chunk_size=chunk_size)(W)
        for a, b in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
            equal(a, b)
    if name == 'two results':
        return
    total = rows_of(lambda a: rows_of(f, a)[0], W)[0]
    for second in (func.hessian(f, chunk_size=chunk_size), func.jacrev(func.jacrev(f))):
        found = second(W)
        np.testing.assert_allclose(to_numpy(found), to_numpy(total), rtol=1e-12, atol=1e-15)
    by_gradient = func.jacrev(func.grad(lambda a: chx.sum(f(a))))(W)
    np.testing.assert_allclose(to_numpy(by_gradient), to_numpy(total.sum(0)), atol=1e-13)


@BOTH
def test_several_arguments_of_a_function_that_asks(jacobian):
    def f(p, b):
        return {'y': p['a'] * b if float(b.sum()) > 0 else b}, 'aux'

    found, aux = jacobian(f, argnums=(0, 1), has_aux=True)({'a': X}, X * 2)
    assert aux == 'aux'
    equal(found['y'][0]['a'], chx.diag(X * 2))
    equal(found['y'][1], chx.diag(X))
    empty = jacobian(lambda a: a * a if float(a.sum()) > 0 else a * 3)(chx.ones((0, 2)))
    assert empty.shape == (0, 2, 0, 2)
    z = chx.array([1 + 2j, 3 - 1j])
    equal(jacobian(lambda z: z * z if float(z.real[0]) > 0 else z)(z), chx.diag(2 * z))


@BOTH
def test_batched_values_are_still_refused(jacobian):
    with pytest.raises(TypeError, match='is not known while the function runs'):
        func.vmap(jacobian(lambda a: a if a.sum() > 0 else -a))(chx.ones((3, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with pytest.raises(TypeError, match='mask that is another one for each example'):
            func.vmap(jacobian(lambda a: a[a > 0]))(chx.ones((3, 2)))
    y = func.vmap(jacobian(lambda a: a * (1.0 if chx.ones(1) > 0 else 2.0)))(chx.ones((3, 2)))
    assert y.tolist() == [[[1, 0], [0, 1]]] * 3


@BOTH
def test_numbers_that_are_arguments_keep_their_derivatives(jacobian):
    """The library asks a batch for its number, too, and must not get one."""
    for f in (
        lambda a: chx.array([a[0] * a[1], 2.0]),
        lambda a: chx.full(2, a[0]) * a,
        lambda a: chx.where(chx.array([True, False]), a[1], 3.0),
        lambda a: chx.clip(chx.ones(2, 'float64') * 5, 0.0, a[1]),
        lambda a: chx.maximum(a[0], 2.0) * chx.ones(2, 'float64'),
    ):
        equal(jacobian(f)(X), rows_of(f, X)[0])


@BOTH
@pytest.mark.parametrize('has_aux', [False, True])
def test_random_numbers_of_functions_that_ask(jacobian, has_aux):
    def f(a):
        kept = chx.dropout(a * np.random.normal(), 0.5)
        y = kept * a if float(a.sum()) > 0 else kept
        return (y, (kept, chx.random.normal(size=2))) if has_aux else y

    x = chx.ones(50)
    found = jacobian(f, has_aux=has_aux)(x)
    if has_aux:
        found, (kept, _) = found
        equal(found, chx.diag(2 * kept))
    else:
        assert (found == chx.diag(chx.diag(found))).all()
        assert len(set(chx.diag(found).tolist())) == 2


@BOTH
def test_how_often_the_function_is_called(jacobian):
    calls = []

    def f(a):
        calls.append(1)
        return a * a

    jacobian(f)(W)
    assert len(calls) == (2 if jacobian is func.jacrev else 1)
    calls.clear()
    jacobian(lambda a: f(a) if a.sum() > 0 else a)(W)
    assert len(calls) == 1  # the batch does not reach this call


@BOTH
def test_other_reasons_for_loops_are_reported(jacobian):
    def f(a):
        if type(a) is not chx.ndarray:
            raise KeyError('no batch')
        return a * a

    with pytest.warns(func.BatchingWarning, match=r"KeyError: 'no batch'.*one by one") as warned:
        equal(jacobian(f)(X), chx.diag(2 * X))
    assert warned[0].filename == __file__


def test_hooks_see_one_row_at_a_time():
    seen = []

    def f(a):
        y = a * 2
        y.register_hook(lambda g: (seen.append(g.tolist()), g * 10)[1])
        return y * a

    equal(func.jacrev(f)(X), chx.diag(X * 22))
    assert seen == [[1, 0], [0, 2]]
    equal(func.jacfwd(f)(X), chx.diag(X * 4))
    assert len(seen) == 2
    found = func.hessian(lambda a: chx.sum(f(a)))(X)
    equal(found, chx.eye(2, dtype='float64') * 22)
    equal(func.jacfwd(func.grad(lambda a: chx.sum(f(a))))(X), found)
    equal(func.jacrev(func.grad(lambda a: chx.sum(f(a))))(X), found)


# ---- errors -------------------------------------------------------------------------------------


def tree(a):
    return a[0] * a[1]


ERRORS = {
    **{
        f'{name}, chunks': (
            lambda name=name: getattr(func, name)(chx.sum, chunk_size=0),
            ValueError,
            f'{name}: chunk_size is 0',
        )
        for name in ('jacrev', 'jacfwd', 'hessian', 'vmap')
    },
    'vjp': (lambda: func.vjp(3, X), TypeError, 'vjp: fun is a int'),
    'linearize': (lambda: func.linearize(3, X), TypeError, 'linearize: fun is a int'),
    'jvp': (lambda: func.jvp(3, (X,), (X,)), TypeError, 'jvp: fun is a int'),
    'hvp': (lambda: func.hvp(3, (X,), (X,)), TypeError, 'hvp: fun is a int'),
    'hvp axes': (
        lambda: func.hvp(lambda a: a, (X,), (V,)),
        chx.DimensionError,
        'hvp: the function',
    ),
    'hvp shape': (lambda: func.hvp(chx.sum, (X,), (V[0],)), chx.GradientError, 'hvp: tangents'),
    'hvp count': (lambda: func.hvp(chx.sum, (X,), ()), TypeError, 'hvp: 0 tangents, expected 1'),
    'hvp form': (lambda: func.hvp(chx.sum, X, V), TypeError, 'hvp: primals is a ndarray'),
    'jacrev result': (lambda: func.jacrev(lambda a: 3)(X), TypeError, 'jacrev: the result of the'),
    'jacfwd result': (lambda: func.jacfwd(lambda a: 3)(X), TypeError, 'jacfwd: the result of the'),
    'hessian dtype': (
        lambda: func.hessian(chx.sum)(chx.ones(2, 'int32')),
        chx.DtypeError,
        'hessian',
    ),
    'a tuple for a list': (
        lambda: func.jvp(tree, ([X, X],), ((X, X),)),
        TypeError,
        r'tangents[0] is (*, *), expected the structure [*, *]',
    ),
    'a list for a tuple': (
        lambda: func.vjp(lambda a: (a, a), X)[1]([X, X]),
        TypeError,
        'cotangents is [*, *], expected the structure (*, *)',
    ),
}


@pytest.mark.parametrize('name', ERRORS)
def test_errors(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error, match='^.*' + re.escape(text)):
        call()


# ---- what stays ---------------------------------------------------------------------------------


def test_derivatives_do_not_keep_their_function():
    """An object that keeps the derivative of its method is freed with its last reference."""

    class Layer:
        def twice(self, x):
            return x * 2

        def forward(self, x, transform):
            y, self.derivative = transform(self.twice, x)
            return y

    gc.disable()
    try:
        for transform in (func.vjp, func.linearize):
            layer = Layer()
            layer.forward(X, transform)
            assert layer.derivative(V) is not None
            gone = weakref.ref(layer)
            del layer
            assert gone() is None
        for _ in range(200):
            Layer().forward(X, func.vjp)
    finally:
        gc.enable()


@ALL
@pytest.mark.parametrize('chunk_size', [None, 2])
def test_a_generator_draws_once(transform, chunk_size):
    x = chx.arange(1, 6, dtype='float64')

    def scaled(generator):
        return lambda a: generator.normal(size=5) * a**2

    generator, other = chx.random.Generator(3), chx.random.Generator(3)
    matrix = transform(scaled(generator), chunk_size=chunk_size)(x)
    z = to_numpy(other.normal(size=5))
    expected = np.diag(2 * z * to_numpy(x))
    if transform is func.hessian:
        expected = np.zeros((5, 5, 5))
        expected[range(5), range(5), range(5)] = 2 * z
    np.testing.assert_allclose(to_numpy(matrix), expected)
    # A single draw, even if other code draws from the same generator meanwhile.
    assert generator.get_state() == other.get_state()


def test_other_threads_draw_on():
    generator, seen = chx.random.Generator(7), []

    def draw():
        for _ in range(300):
            seen.append(generator.normal(size=2).tolist()[0])

    thread = threading.Thread(target=draw)
    thread.start()
    x = chx.arange(3, dtype='float64')
    for _ in range(30):
        matrix = to_numpy(func.jacfwd(lambda a: generator.normal(size=3) * a)(x))
        seen.extend(np.diag(matrix).tolist()[:1])
    thread.join()
    assert len(set(seen)) == len(seen)

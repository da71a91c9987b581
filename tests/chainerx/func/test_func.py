"""chainerx.func: forms of arguments, nested derivatives, errors; test_func_rows.py has the rows."""

import collections
import gc

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func


def array(*values, dtype='float64'):
    return chx.array(values, dtype=dtype)


def values(tree):
    """The same tree with lists of numbers."""
    if isinstance(tree, dict):
        return {k: values(v) for k, v in tree.items()}
    if isinstance(tree, (tuple, list)):
        return type(tree)(map(values, tree)) if type(tree) in (tuple, list) else tree
    return tree.tolist()


def cube(x):
    return chx.sum(x * x * x)


# ---- arguments and results ----------------------------------------------------------------------


def test_value_and_grad():
    x = array(1.0, 2.0)
    value, gradient = chx.value_and_grad(cube)(x)
    assert value.tolist() == 9
    assert gradient.tolist() == [3, 12]
    assert func.grad(cube)(x).tolist() == [3, 12]
    assert not any(v.is_backprop_required(chx.anygraph) for v in (value, gradient))
    assert not x.is_backprop_required(chx.anygraph)


def test_argnums():
    def f(a, b, *, scale):
        return chx.sum(a * b) * scale

    a, b = array(1.0, 2.0), array(3.0, 4.0)
    assert func.grad(f, 1)(a, b, scale=2).tolist() == [2, 4]
    assert func.grad(f, -1)(a, b, scale=2).tolist() == [2, 4]
    assert values(func.grad(f, (1, 0))(a, b, scale=2)) == ([2, 4], [6, 8])
    assert values(func.grad(f, [0])(a, b, scale=1)) == ([3, 4],)


def test_trees():
    Point = collections.namedtuple('Point', 'x y')

    def f(p, t):
        total = chx.sum(p['w'][0] * p['at'].x) + 2 * chx.sum(p['w'][1]) + chx.sum(p['at'].y * t)
        return total

    p = {'w': [array(1.0), array(2.0)], 'at': Point(array(3.0), array(4.0)), 'none': None}
    g = func.grad(f)(p, array(5.0))
    assert list(g) == ['w', 'at', 'none']
    assert values(g['w']) == [[3], [2]]
    assert type(g['at']) is Point
    assert g['at'].x.tolist() == [1]
    assert g['at'].y.tolist() == [5]
    assert g['none'] is None


def test_aux():
    def f(x):
        y = x * x
        return chx.sum(y), {'y': y, 'name': 'square', 'n': 3}

    (value, aux), g = func.value_and_grad(f, has_aux=True)(array(3.0))
    assert (value.tolist(), g.tolist(), aux['y'].tolist()) == (9, [6], [9])
    assert (aux['name'], aux['n']) == ('square', 3)
    (aux['y'] * 2).sum()  # aux is in no graph that has been released
    g, aux = func.grad(f, has_aux=True)(array(3.0))
    assert (g.tolist(), aux['name']) == ([6], 'square')
    y, pull, aux = func.vjp(f, array(3.0), has_aux=True)
    assert (values(pull(chx.ones((), 'float64'))), aux['n']) == (([6],), 3)
    y, t, aux = func.jvp(f, (array(3.0),), (array(1.0),), has_aux=True)
    assert (y.tolist(), t.tolist(), aux['y'].tolist()) == (9, 6, [9])


def test_derivatives_of_independent_outputs_are_zero():
    a, b = array(1.0, 2.0), chx.ones((2, 1), 'float32')
    g = func.grad(lambda a, b: chx.sum(a), (0, 1))(a, b)
    assert values(g) == ([1, 1], [[0], [0]])
    assert [x.dtype.name for x in g] == ['float64', 'float32']
    y, t = func.jvp(lambda a: chx.ones(3), (a,), (a,))
    assert (y.tolist(), t.tolist(), t.dtype.name) == ([1, 1, 1], [0, 0, 0], 'float32')
    assert func.grad(lambda a: chx.ones(()))(a).tolist() == [0, 0]


def test_vjp_and_linearize_can_be_called_again():
    calls = []

    def f(x, y):
        calls.append(1)
        return x * y, chx.sum(x)

    x, y = array(1.0, 2.0), array(3.0, 4.0)
    out, pull = func.vjp(f, x, y)
    for k in (1.0, 10.0):
        gx, gy = pull((chx.full(2, k, 'float64'), chx.ones((), 'float64')))
        assert gx.tolist() == [3 * k + 1, 4 * k + 1]
        assert gy.tolist() == [k, 2 * k]
    assert values(pull((None, chx.ones((), 'float64')))) == ([1, 1], [0, 0])
    assert values(pull(None)) == ([0, 0], [0, 0])
    again, push = func.linearize(f, x, y)
    assert values(again) == values(out)
    assert values(push(x, None)) == ([3, 8], 3)
    assert values(push(None, y)) == ([3, 8], 0)
    assert len(calls) == 2


def test_a_pull_that_outlives_other_graphs():
    x = array(2.0).require_grad()
    _, pull = func.vjp(lambda a: a * a, x)
    del x
    gc.collect()
    assert values(pull(array(1.0))) == ([4],)


def test_integers():
    x, i = array(1.0, 2.0), chx.array([3, 4])
    _, t = func.jvp(lambda x, i: (x * i, i + 1, x > 1), (x, i), (x, None))
    assert values(t) == ([3, 8], [0, 0], [False, False])
    _, pull = func.vjp(lambda x, i: (x * i, i + 1), x, i)
    assert values(pull((x, None))) == ([3, 8], [0, 0])
    assert values(func.jvp(lambda x, i: x * i, (x, i), (x, i))[1]) == [3, 8]


def test_views_and_writes():
    """Writes outside of the graph take effect; a write to an array that backward needs fails."""

    def f(x):
        y = x[::-1].reshape(2, 1).T[0]
        c = chx.zeros(2, 'float64')
        c += 3
        z = y * c
        c += 100  # after its use
        return z + y[0:1]

    x, t = array(1.0, 2.0), array(1.0, 10.0)
    with pytest.raises(chx.GradientError, match='written in place'):
        func.jvp(f, (x,), (t,))
    with pytest.raises(chx.GradientError, match='written in place'):
        func.grad(lambda x: chx.sum(f(x)))(x)

    def g(x):
        c = chx.ones(2, 'float64')
        y = x[::-1] + c  # the value of c is not needed
        c += 100
        return y

    assert func.jvp(g, (x,), (t,))[1].tolist() == [10, 1]


def test_a_function_that_gives_its_argument():
    x = array(1.0, 2.0)
    _, t = func.jvp(lambda x: (x, x[0], x), (x,), (array(3.0, 4.0),))
    assert values(t) == ([3, 4], 3, [3, 4])
    _, pull = func.vjp(lambda x: (x, x), x)
    assert values(pull((x, x))) == ([2, 4],)


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_complex(dtype):
    x = chx.array([1 + 2j, -1j], dtype=dtype)
    t = chx.array([2 - 1j, 3], dtype=dtype)

    def f(x):
        return x * x * (1 + 1j), chx.real(x), chx.imag(x) * chx.real(x), chx.conj(x), chx.exp(x)

    eps = 1e-3 if dtype == 'complex64' else 1e-6
    _, changes = func.jvp(f, (x,), (t,))
    for found, high, low in zip(changes, f(x + eps * t), f(x - eps * t), strict=True):
        expected = (to_numpy(high) - to_numpy(low)) / (2 * eps)
        np.testing.assert_allclose(to_numpy(found), expected, atol=3e-3 if eps > 1e-5 else 1e-7)


def test_lists_of_arrays():
    def f(x):
        return chx.array([x[0] * x[1], 2.0, chx.sin(x[1])])

    def g(x):
        return chx.asarray([[x, x * x], (chx.ones_like(x), [x[0], 3.0])], dtype='float64')

    x = array(0.5, 2.0)
    expected = [[2, 0.5], [0, 0], [0, np.cos(2)]]
    for jacobian in (func.jacrev(f), func.jacfwd(f)):
        np.testing.assert_allclose(to_numpy(jacobian(x)), expected)
    expected = np.zeros((2, 2, 2, 2))
    expected[0] = np.eye(2), np.diag([1, 4])
    expected[1, 1, 0, 0] = 1
    np.testing.assert_allclose(to_numpy(func.jacrev(g)(x)), expected)
    np.testing.assert_array_equal(to_numpy(g(x)), [[[0.5, 2], [0.25, 4]], [[1, 1], [0.5, 3]]])
    y = chx.array([x.require_grad(), [1.0, 2.0]], dtype='float32')
    assert (y.shape, y.dtype, y.is_backprop_required()) == ((2, 2), 'float32', True)
    with pytest.raises(ValueError, match='inhomogeneous'):
        chx.array([x, [1.0]])
    xs = chx.array([[0.5, 2.0], [1.0, 3.0]])
    for h in (f, func.jacrev(f), g):
        np.testing.assert_array_equal(
            to_numpy(func.vmap(h)(xs)), to_numpy(chx.stack([h(x) for x in xs]))
        )


def test_complex_results_of_real_arguments():
    x = array(1.0, 2.0, 3.0)

    def f(x):
        return chx.exp(1j * x[:2]) * x[1:], chx.sum(x) * (2 + 1j)

    for result, expected in zip(func.jacrev(f)(x), func.jacfwd(f)(x), strict=True):
        assert result.dtype == expected.dtype == 'complex128'
        np.testing.assert_allclose(to_numpy(result), to_numpy(expected), rtol=1e-12)
    z = x * (1 - 1j)
    by_x, by_z = func.jacrev(lambda x, z: x * z, argnums=(0, 1))(x, z)
    np.testing.assert_array_equal(to_numpy(by_x), np.diag(to_numpy(z)))
    np.testing.assert_array_equal(to_numpy(by_z), np.diag(to_numpy(x)))
    with pytest.raises(chx.DtypeError, match=r'grad: .* returned dtype complex128.* jacrev'):
        func.grad(lambda x: chx.sum(x * 1j))(x)
    assert func.grad(lambda z: chx.sum(z * z))(z).tolist() == (2 * z).tolist()


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_dtypes(dtype):
    x = chx.array([1.0, 2.0], dtype=dtype)
    value, g = func.value_and_grad(cube)(x)
    _, t = func.jvp(cube, (x,), (x,))
    assert {value.dtype.name, g.dtype.name, t.dtype.name} == {dtype}
    assert g.astype('float32').tolist() == [3, 12]
    mixed = func.jvp(lambda x: x * array(2.0, 3.0), (x,), (x,))[1]
    assert (mixed.dtype.name, mixed.tolist()) == ('float64', [2, 6])


# ---- inside one another -------------------------------------------------------------------------


def test_all_pairs():
    """All ways to second derivatives agree."""
    x, v = array(0.3, -1.2, 2.0), array(1.0, 2.0, -0.5)

    def f(x):
        return chx.sum(chx.sin(x) * chx.exp(x) * x[::-1]) + chx.prod(x)

    e = to_numpy(func.hvp(f, (x,), (v,))[0])
    ways = {
        'jvp of grad': func.jvp(func.grad(f), (x,), (v,))[1],
        'grad of jvp': func.grad(lambda x: func.jvp(f, (x,), (v,))[1])(x),
        'grad of grad': func.grad(lambda x: chx.sum(func.grad(f)(x) * v))(x),
        'vjp of grad': func.vjp(func.grad(f), x)[1](v)[0],
        'hessian': func.hessian(f)(x) @ v,
        'jacrev of jacfwd': func.jacrev(func.jacfwd(f))(x) @ v,
        'jacfwd of jacfwd': func.jacfwd(func.jacfwd(f))(x) @ v,
        'jacrev of jacrev': func.jacrev(func.jacrev(f))(x) @ v,
        'vmap of jvp of grad': func.vmap(lambda v: func.jvp(func.grad(f), (x,), (v,))[1])(
            chx.stack([v, v])
        )[1],
        'grad of linearize': func.grad(lambda x: func.linearize(f, x)[1](v))(x),
    }
    for name, found in ways.items():
        np.testing.assert_allclose(to_numpy(found), e, rtol=1e-11, err_msg=name)
    twice = func.jvp(lambda x: func.jvp(f, (x,), (v,))[1], (x,), (v,))[1]
    np.testing.assert_allclose(to_numpy(twice), e @ to_numpy(v), rtol=1e-11)


def test_third_derivatives():
    x = chx.array(2.0, dtype='float64')
    d = func.grad(func.grad(func.grad(lambda x: x**5)))(x)
    assert d.tolist() == pytest.approx(60 * 4)
    one = chx.ones((), 'float64')

    def push(f):
        return lambda x: func.jvp(f, (x,), (one,))[1]

    assert push(push(push(lambda x: x**5)))(x).tolist() == pytest.approx(60 * 4)
    assert push(func.grad(push(lambda x: x**5)))(x).tolist() == pytest.approx(60 * 4)


def test_arguments_of_outer_functions():
    """Inner and outer derivatives are not confused."""
    x = chx.array(3.0, dtype='float64')
    inner = func.grad(lambda x: x * func.grad(lambda y: x + y)(x))
    assert inner(x).tolist() == 1
    assert func.grad(lambda x: func.grad(lambda y: x * y * y)(x))(x).tolist() == 12
    t = func.jvp(lambda x: x * func.jvp(lambda y: x + y, (x,), (x * 0 + 1,))[1], (x,), (x * 0 + 1,))
    assert t[1].tolist() == 1


def test_pulls_and_pushes_are_differentiable():
    x, u = array(1.0, 2.0), array(5.0, 7.0)
    _, pull = func.vjp(lambda x: x**3, x)
    _, push = func.linearize(lambda x: x**3, x)
    for linear in (lambda u: chx.sum(pull(u)[0] ** 2), lambda t: chx.sum(push(t) ** 2)):
        np.testing.assert_allclose(to_numpy(func.grad(linear)(u)), [2 * 9 * 5, 2 * 144 * 7])
        np.testing.assert_allclose(
            func.jvp(linear, (u,), (u,))[1].tolist(), 2 * (9 * 25 + 144 * 49)
        )


def test_with_arrays_that_have_require_grad():
    w = array(2.0).require_grad()
    value, g = func.value_and_grad(lambda x: chx.sum(x * x * w))(array(3.0))
    assert g.tolist() == [12]
    (value + chx.sum(g)).backward()
    assert w.grad.tolist() == [9 + 6]
    w.cleargrad()
    _, t = func.jvp(lambda x: x * w, (array(3.0),), (array(5.0),))
    t.backward()
    assert w.grad.tolist() == [5]


def test_in_no_backprop_mode():
    with chx.no_backprop_mode():
        assert func.grad(cube)(array(2.0)).tolist() == [12]
        assert func.jvp(func.grad(cube), (array(2.0),), (array(1.0),))[1].tolist() == [12]

    def stopped(x):
        with chx.no_backprop_mode():
            y = x * 2
        return chx.sum(x * y)

    assert func.grad(stopped)(array(3.0)).tolist() == [6]


def test_unchained():
    def f(x):
        return chx.sum(x * (x * x).as_grad_stopped())

    assert func.grad(f)(array(3.0)).tolist() == [9]
    assert func.jvp(f, (array(3.0),), (array(1.0),))[1].tolist() == 9


# ---- Jacobians ----------------------------------------------------------------------------------


def test_jacobians_of_trees():
    def f(p, q):
        return {'a': p['x'] * q, 'b': (chx.sum(p['x']),)}

    p, q = {'x': array(1.0, 2.0)}, array(3.0, 4.0)
    for jacobian in (func.jacrev, func.jacfwd):
        j = jacobian(f, (0, 1))(p, q)
        assert values(j['a'][0]['x']) == [[3, 0], [0, 4]]
        assert values(j['a'][1]) == [[1, 0], [0, 2]]
        assert values(j['b'][0][0]['x']) == [1, 1]
        assert values(j['b'][0][1]) == [0, 0]
        assert values(jacobian(f)(p, q)['a']['x']) == [[3, 0], [0, 4]]


def test_jacobian_shapes():
    x = chx.array(np.random.default_rng(0).normal(size=(2, 3)))
    w = chx.array(np.random.default_rng(1).normal(size=(3, 4)))
    for jacobian in (func.jacrev, func.jacfwd):
        for chunk in (None, 1, 3):
            j = jacobian(lambda w: chx.tanh(x @ w), chunk_size=chunk)(w)
            assert j.shape == (2, 4, 3, 4)
            y = np.tanh(to_numpy(x) @ to_numpy(w))
            e = np.einsum('ij,ik,jl->ijkl', 1 - y * y, to_numpy(x), np.eye(4))
            np.testing.assert_allclose(to_numpy(j), e, rtol=1e-12, atol=1e-14)
    h = func.hessian(lambda w: chx.sum(chx.tanh(x @ w)))(w)
    assert h.shape == (3, 4, 3, 4)
    np.testing.assert_allclose(
        to_numpy(h), to_numpy(h).transpose(2, 3, 0, 1), rtol=1e-12, atol=1e-14
    )


# ---- errors -------------------------------------------------------------------------------------

X = array(1.0, 2.0)
ERRORS = {
    'integers': (lambda: func.grad(cube)(chx.array([1, 2])), chx.DtypeError, 'has dtype int64'),
    'a number': (lambda: func.grad(cube)(3.0), TypeError, 'argument 0 has a leaf of type float'),
    'numpy': (
        lambda: func.grad(cube)(np.ones(2)),
        TypeError,
        'a leaf of type ndarray, expected a c',
    ),
    'argnums': (lambda: func.grad(cube, 1)(X), ValueError, 'has 1, but there are 1 positional'),
    'argnum twice': (
        lambda: func.grad(lambda a, b: chx.sum(a * b), (1, -1))(X, X),
        ValueError,
        r'argnums has \(1, -1\), one argument twice',
    ),
    **{
        name: (
            lambda name=name: getattr(func, name)(chx.ones(2)),
            TypeError,
            f'^{name}: fun is a ndarray, expected a function',
        )
        for name in ('value_and_grad', 'grad', 'checkpoint', 'jacrev', 'jacfwd', 'hessian', 'vmap')
    },
    'no argnum': (lambda: func.grad(cube, 'x')(X), TypeError, "argnums has 'x'"),
    'axes': (lambda: func.grad(lambda x: x)(X), chx.DimensionError, r'shape \(2,\), expected \(\)'),
    'no array': (lambda: func.grad(lambda x: 3.0)(X), TypeError, 'a leaf of type float'),
    'a pair': (lambda: func.grad(lambda x: (x[0], x))(X), TypeError, r'structure \(\*, \*\)'),
    'no pair': (lambda: func.grad(cube, has_aux=True)(X), TypeError, r'pair \(result, aux\)'),
    'integer result': (
        lambda: func.grad(lambda x: chx.sum(x > 0))(X),
        chx.DtypeError,
        'returned dtype int64, expected a floating point one',
    ),
    'jvp shape': (
        lambda: func.jvp(cube, (X,), (array(1.0),)),
        chx.GradientError,
        r'has shape \(1,\), expected \(2,\)',
    ),
    'jvp dtype': (
        lambda: func.jvp(cube, (X,), (chx.ones(2, 'float32'),)),
        chx.GradientError,
        'has dtype float32, expected float64',
    ),
    'jvp count': (lambda: func.jvp(cube, (X,), ()), TypeError, '0 tangents, expected 1'),
    'jvp form': (lambda: func.jvp(cube, X, X), TypeError, 'primals is a ndarray, expected a tuple'),
    'jvp tree': (
        lambda: func.jvp(lambda p: p['a'], ({'a': X},), ({'b': X},)),
        TypeError,
        r"tangents\[0\] has keys \['b'\], expected \['a'\]",
    ),
    'jvp device': (
        lambda: func.jvp(cube, (X,), (X.to_device('native:1'),)),
        chx.GradientError,
        r'on native:1, primals\[0\] on native:0',
    ),
    'vjp shape': (
        lambda: func.vjp(cube, X)[1](X),
        chx.GradientError,
        r'has shape \(2,\), expected \(\)',
    ),
    'vjp form': (
        lambda: func.vjp(lambda x: (x, x), X)[1](X),
        TypeError,
        r'cotangents is a ndarray, expected the structure \(\*, \*\)',
    ),
    'of the function': (lambda: func.grad(lambda x: 1 // 0)(X), ZeroDivisionError, 'by zero'),
}


@pytest.mark.parametrize('name', ERRORS)
def test_errors(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


def test_graphs_end():
    """The ids of graphs, which are few, are released; after errors, too."""
    for _ in range(200):
        func.grad(cube)(X)
        with pytest.raises(ZeroDivisionError):
            func.jvp(lambda x: 1 // 0, (X,), (X,))
        with pytest.raises(KeyError):
            func.grad(lambda x: func.grad(lambda y: {}['x'])(x))(X)
    pulls = [func.vjp(cube, X)[1] for _ in range(20)]
    assert [values(p(chx.ones((), 'float64'))) for p in pulls] == [([3, 12],)] * 20


def test_too_many_graphs():
    pulls = [func.vjp(cube, X)[1] for _ in range(62)]  # the limit in docs/transforms.md
    for transform in (
        func.grad(cube),
        lambda x: func.vjp(cube, x),
        lambda x: func.jvp(cube, (x,), (x,)),
    ):
        with pytest.raises(
            chx.ChainerxError, match=r'^(grad|vjp|jvp): too many .* 62 .*vjp and linearize'
        ):
            transform(X)
    pulls.pop()
    # A jvp needs one more graph.
    with pytest.raises(chx.ChainerxError, match=r'^jvp: too many .* 62'):
        func.jvp(chx.linalg.det, (chx.eye(2),), (chx.eye(2),))
    del pulls
    func.grad(cube)(X)


def test_nothing_stays():
    chx._core._set_leak_tracking(True)
    try:
        func.hvp(cube, (X,), (X,))
        gc.collect()
        before = chx._core._live_counts()
        for _ in range(5):
            func.hvp(cube, (X,), (X,))
            func.vmap(func.grad(cube))(chx.stack([X, X]))
            func.linearize(cube, X)[1](X)
        gc.collect()
        assert chx._core._live_counts() == before
    finally:
        chx._core._set_leak_tracking(False)

"""Operators of `chainerx.ndarray`: values and dtypes, in place, and their errors."""

import operator

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import filled, same
from cases._harness import to_numpy

BINARY = {
    '+': operator.add,
    '-': operator.sub,
    '*': operator.mul,
    '/': operator.truediv,
    '//': operator.floordiv,
    '%': operator.mod,
    '**': operator.pow,
}
BITS = {'&': operator.and_, '|': operator.or_, '^': operator.xor}
SHIFTS = {'<<': operator.lshift, '>>': operator.rshift}
COMPARE = {'==': operator.eq, '!=': operator.ne, '<': operator.lt, '<=': operator.le}
COMPARE |= {'>': operator.gt, '>=': operator.ge}
IN_PLACE = {'+': operator.iadd, '-': operator.isub, '*': operator.imul, '/': operator.itruediv}
IN_PLACE |= {'//': operator.ifloordiv, '%': operator.imod, '&': operator.iand, '|': operator.ior}
IN_PLACE |= {'^': operator.ixor, '<<': operator.ilshift, '>>': operator.irshift}


@pytest.mark.parametrize('symbol', BINARY | BITS | SHIFTS | COMPARE)
def test_binary_operators(symbol):
    function = (BINARY | BITS | SHIFTS | COMPARE)[symbol]
    dtype = 'int32' if symbol in BITS | SHIFTS else 'float64'
    n1, n2 = np.array([[5, 1, 4]] * 2, dtype), np.array([2, 3, 4], dtype)
    x1, x2 = chx.array(n1), chx.array(n2)
    same(function(x1, x2), function(n1, n2))
    same(function(x2, x1), function(n2, n1))
    same(function(x1, 3), function(n1, 3))
    if symbol not in SHIFTS:
        same(function(7, x2), function(7, n2))
        same(function(x1, np.int64(3)), function(n1, 3))
    if dtype == 'float64':
        same(function(x1, 2.5), function(n1, 2.5))
        same(function(2.5, x2), function(2.5, n2))
        same(function(x1, np.float64(2.5)), function(n1, 2.5))
    else:
        with pytest.raises(chx.DtypeError):
            function(x1, 2.5)
    if symbol == '<<':
        same(2 << x2, 2 << n2)


@pytest.mark.parametrize('symbol', IN_PLACE)
def test_in_place_operators(symbol):
    function = IN_PLACE[symbol]
    dtype = 'int32' if symbol in ['&', '|', '^', '<<', '>>'] else 'float64'
    n, m = np.array([[5, 1, 4]] * 2, dtype), np.array([2, 3, 1], dtype)
    for operand in (chx.array(m), 2):
        x, expected = chx.array(n), n.copy()
        view = x[:]
        result = function(x, operand)
        assert result is x
        same(x, function(expected, m if isinstance(operand, chx.ndarray) else operand))
        same(view, to_numpy(x))
    base, expected = chx.array(n), n.copy()
    part, expected_part = base[:, ::-2], expected[:, ::-2]
    function(part, chx.array(m[:2]))
    function(expected_part, m[:2])
    same(base, expected)
    with pytest.raises(chx.DimensionError):
        function(chx.array(n), chx.array(m[:2]))
    with pytest.raises(chx.DimensionError):  # the result would be larger than the target
        function(chx.array(m), chx.array(n))


def test_in_place_rules_of_dtypes():
    i4, f2, b = chx.array([4], 'int32'), chx.array([4], 'float16'), chx.array([True])
    for bad in (2.5, chx.array([2.5]), f2):
        with pytest.raises(chx.DtypeError):
            i4 += bad
    with pytest.raises(chx.DtypeError):
        i4 /= 2
    for bad in (1, True, chx.array([1]), b):
        with pytest.raises(chx.DtypeError):
            b += bad
    b *= b
    same(b, [True])
    i4 += chx.array([2**40 + 1], 'int64')  # wraps
    same(i4, [5])
    f2 += chx.array([1.0], 'float64')
    assert f2.dtype == 'float16'
    same(f2, [5])


def test_overlapping_operands():
    for step in (1, -1):
        n = np.arange(100.0)
        x = chx.array(n)
        a, b = (x[1:], x[:-1]) if step == 1 else (x[:-1], x[1:])
        a += b
        na, nb = (n[1:], n[:-1]) if step == 1 else (n[:-1], n[1:])
        na += nb.copy()
        same(x, n)
    n = np.arange(16.0).reshape(4, 4)
    x = chx.array(n)
    x *= x.T
    same(x, n * n.T)
    x = chx.array(n)
    x[...] = x[::-1]
    same(x, n[::-1])


def test_power_in_place_rebinds():
    x = y = chx.array([2.0, 3.0])
    x **= 2
    same(x, [4, 9])
    same(y, [2, 3])


POWERS = [2, 2.0, 1, 1.0, 0.5, -1, -1.0, np.float64(2)]


@pytest.mark.parametrize('exponent', POWERS, ids=repr)
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_powers_have_the_bits_of_numpy(dtype, exponent):
    """NumPy has special cases for these: (-0.0) ** 0.5 is -0.0, and (-inf) ** 0.5 is nan."""
    n = np.array([0.0, -0.0, 1, -1, 2.5, 3, 7, np.inf, -np.inf, np.nan, 3e-5, 1e4], dtype)
    x = chx.array(n)
    with np.errstate(all='ignore'):
        expected = n ** float(exponent)
    for y in (x**exponent, chx.power(x, exponent)):
        assert y.dtype == dtype
        assert to_numpy(y).tobytes() == expected.tobytes()


def test_powers_of_integers():
    n = np.array([-3, 0, 2, 127], 'int8')
    x = chx.array(n)
    for exponent in (1, 2):
        y = x**exponent
        assert y.dtype == 'int8'
        same(y, n**exponent)
    same(x**-1, [0, 0, 0, 0])
    for exponent in (2.0, 0.5, -1.0):
        y = x**exponent
        assert y.dtype == 'float32'
        with np.errstate(all='ignore'):
            np.testing.assert_allclose(to_numpy(y), n.astype('float32') ** exponent, rtol=1e-6)
    for exponent in (2, 2.0, 0.5):
        with pytest.raises(chx.DtypeError, match=r'power|bool'):
            chx.array([True]) ** exponent
    with pytest.raises(chx.DtypeError):
        x**True


@pytest.mark.parametrize('exponent', POWERS, ids=repr)
def test_powers_have_all_derivatives(exponent):
    x = chx.array([0.5, 1.25, 3.0]).require_grad()
    (e,) = [float(exponent)]
    y, factor = x**exponent, 1.0
    for order in range(1, 4):
        (y,) = chx.grad([y], [x], enable_double_backprop=True)
        factor *= e - order + 1
        expected = factor * to_numpy(x) ** (e - order)
        if y is None:  # no longer connected: the derivative of a constant
            assert factor == 0
            break
        np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-12)
    gy = chx.array([1.0, -2.0, 0.5]).require_grad()
    chx.check_double_backward(lambda xs: xs[0] ** exponent, [x], [gy], [chx.ones_like(x)], 1e-4)


def test_unary_operators():
    x = chx.array([[-1.5, 2.0]])
    same(-x, [[1.5, -2.0]])
    same(abs(x), [[1.5, 2.0]])
    same(+x, [[-1.5, 2.0]])
    with pytest.raises(chx.DtypeError):
        -chx.array([True])


def test_matmul_operator():
    x, n = filled(2, 3)
    same(x @ x.T, n @ n.T)
    same(x @ chx.array([1, 2, 3], 'float32'), n @ [1, 2, 3])
    with pytest.raises(chx.DimensionError):
        x @ x
    with pytest.raises(TypeError):
        x @ 2


def test_comparison_with_non_arrays():
    x = chx.array([1.0, 2.0])
    assert (x == None) is False  # noqa: E711
    assert (x != 'text') is True
    with pytest.raises(TypeError):
        x < 'text'  # noqa: B015
    assert x is not None


OPERATORS = [*BINARY.values(), *COMPARE.values(), operator.matmul]


@pytest.mark.parametrize('function', OPERATORS, ids=lambda f: f.__name__)
def test_numpy_operands_are_refused_with_the_fix(function):
    x, n = chx.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2))
    for a, b in ((x, n), (n, x)):
        with pytest.raises(TypeError, match=r'chainerx\.array'):
            function(a, b)
    before = to_numpy(x)
    if function in BINARY.values() and function is not operator.pow:
        with pytest.raises(TypeError, match=r'chainerx\.array'):
            IN_PLACE[next(s for s, f in BINARY.items() if f is function)](x, n)
    same(x, before)
    with pytest.raises(TypeError, match=r'chainerx\.array'):
        np.add(n, x)


@pytest.mark.parametrize('function', [operator.add, operator.mul, operator.sub, operator.matmul])
def test_operators_refuse_other_objects(function):
    x = chx.array([1.0])
    for other in (None, 'x', [1.0], (1.0,), object(), {}):
        with pytest.raises(TypeError):
            function(x, other)
        with pytest.raises(TypeError):
            function(other, x)

    class Other:
        __array_priority__ = 1000

        def __radd__(self, x):
            return 'mine'

    assert x + Other() == 'mine'


def test_scalars_out_of_range():
    x = chx.array([1, 2], 'int32')
    for value in (-(2**63) - 1, 2**64, 2**70, -(2**70)):
        with pytest.raises((chx.ChainerxError, OverflowError, ValueError)):
            x + value
    same(x, [1, 2])


WIDER = [
    ('int8', 'int16', 100, 300),
    ('int8', 'int64', -7, 2**40),
    ('int32', 'int64', 7, 2**32 + 2),
    ('uint8', 'uint16', 200, 257),
    ('float16', 'float32', 1, 1e6),
    ('float16', 'float32', 6e4, 1e5),
    ('float16', 'float32', 6e4, 1e-5),
    ('float32', 'float64', 1, 1e300),
    ('complex64', 'complex128', 1 + 1j, 1e300),
]


@pytest.mark.parametrize('symbol', IN_PLACE)
@pytest.mark.parametrize(('dtype', 'wider', 'a', 'b'), WIDER)
def test_in_place_with_values_beyond_the_target(symbol, dtype, wider, a, b):
    """The result is cast to the dtype of the target, the operand is not."""
    n, m = np.array([a, a], dtype), np.array([[b, 3]], wider)
    x, y = chx.array(n), chx.array(m)[0]
    f = IN_PLACE[symbol]
    try:
        with np.errstate(all='ignore'):
            n = f(n, m[0])
    except TypeError:
        with pytest.raises(chx.DtypeError):
            f(x, y)
        return
    before = x
    x = f(x, y)
    assert x is before
    np.testing.assert_array_equal(chx.to_numpy(x), n)

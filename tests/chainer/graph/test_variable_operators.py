"""Operators of Variable with numbers and arrays of each kind, and their errors."""

import collections.abc
import decimal
import fractions
import operator

import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer.utils import type_check
from devices import assert_equal, to_numpy

A = np.arange(6, dtype='f').reshape(2, 3) + 1


OPERATORS = {
    'add': lambda x, y: x + y,
    'sub': lambda x, y: x - y,
    'mul': lambda x, y: x * y,
    'div': lambda x, y: x / y,
    'floordiv': lambda x, y: x // y,
    'pow': lambda x, y: x**y,
}


@pytest.mark.parametrize('op', OPERATORS.values(), ids=OPERATORS)
def test_operators(make, op):
    a, b = A, A[::-1] / 2
    x, y = make(a), make(b)
    expected = op(a, b)
    for left, right in ((Variable(x), Variable(y)), (Variable(x), y), (x, Variable(y))):
        z = op(left, right)
        assert type(z) is Variable
        assert z.dtype == np.float32
        np.testing.assert_allclose(to_numpy(z.array), expected, rtol=1e-5)
    for scalar in (2, 2.0, np.float32(2), np.int64(2)):
        for z, e in ((op(Variable(x), scalar), op(a, 2)), (op(scalar, Variable(x)), op(2, a))):
            assert z.dtype == np.float32
            np.testing.assert_allclose(to_numpy(z.array), e, rtol=1e-5)
    for bad in (None, [1.0], 'x', object()):
        with pytest.raises(TypeError):
            op(Variable(x), bad)
        with pytest.raises(TypeError):
            op(bad, Variable(x))


@pytest.mark.parametrize('dtypes', [('float32', 'float64'), ('float64', 'float16'), ('f', 'int32')])
@pytest.mark.parametrize('op', [*OPERATORS.values(), operator.matmul], ids=[*OPERATORS, 'matmul'])
def test_a_bare_array_takes_the_dtype_of_the_variable(make, op, dtypes):
    a, b = np.array([[1, 2], [3, 4]], dtypes[0]), np.array([[2, 1], [1, 3]], dtypes[1])
    x, wide = Variable(make(a)), b.astype('float64')
    for y, expected in ((op(x, make(b)), op(a, wide)), (op(make(b), x), op(wide, a))):
        assert (type(y), y.dtype) == (Variable, a.dtype)
        np.testing.assert_allclose(to_numpy(y.array), expected, rtol=1e-5)
        if y.creator is not None:
            x.cleargrad()
            F.sum(y).backward()
            assert x.grad.dtype == a.dtype


@pytest.mark.parametrize('name', ['iadd', 'isub', 'imul', 'itruediv', 'ifloordiv', 'ipow'])
def test_in_place_operators_keep_the_dtype_of_the_variable(make, name):
    op = getattr(operator, name)
    a, b = np.array([1, 2, 3], 'float32'), np.array([2, 1, 1.5])
    x = y = Variable(make(a))
    y = op(y, make(b))
    assert y is not x
    assert y.dtype == np.float32
    np.testing.assert_allclose(to_numpy(y.array), op(a.astype('float64'), b), rtol=1e-6)


@pytest.mark.parametrize('true', [True, np.True_])
def test_bool_constants_are_numbers(make, true):
    x = Variable(make(A))
    for y, expected in (
        (x + true, A + 1), (true + x, A + 1), (x - true, A - 1), (true - x, 1 - A), (x * true, A),
        (true * x, A), (x / True, A), (true / x, 1 / A), (x**true, A), (true**x, A ** 0),
        (x // true, A // 1), (true // x, 1 // A),
    ):  # fmt: skip
        assert y.dtype == np.float32
        np.testing.assert_allclose(to_numpy(y.array), expected, rtol=1e-6)
    # chainerx accepts a bool here, so the label is v7's.
    assert (x * true).creator.label == '_ * True'


def test_addgrad_without_dimensions(make):
    x, y = Variable(make(1.0)), Variable(make(2.0))
    x.grad, y.grad = make(3.0), make(4.0)
    x.addgrad(y)  # NumPy's sums are not arrays here
    assert_equal(x.grad, 7)


def test_numpy_takes_it_for_a_sequence(make):
    x = Variable(make(A))
    y = np.sum(x)
    assert type(y) is Variable
    assert_equal(y, A.sum())
    y.backward()
    assert_equal(x.grad, np.ones_like(A))
    assert np.asarray(x).shape == A.shape  # of variables
    assert np.asarray(x[0, 0]).shape == ()
    assert np.asarray(Variable(make(A[:0]))).shape == (0,)
    assert_equal(np.dot(x, x.T)[1, 0], A[1] @ A[0])
    for z in (np.float32(2) * x, x * np.int64(2)):
        assert type(z) is Variable
        assert_equal(z, 2 * A)
    with pytest.raises(TypeError):
        x[0] + [1]


def test_reversed(make):
    x = Variable(make(A))
    assert_equal(F.stack(list(reversed(x))), A[::-1])
    assert list(reversed(Variable(make(A[:0])))) == []


def test_inplace_operators_make_new_variables(make):
    a = make(A)
    x = y = Variable(a)
    x += 1
    assert x is not y
    assert_equal(a, A)


def test_more_operators(make):
    x = Variable(make(-A))
    assert_equal((-x).array, A)
    assert_equal(abs(x).array, A)
    assert_equal((x @ x.T).array, A @ A.T)
    assert_equal(x.reshape(3, 2).array, -A.reshape(3, 2))
    assert_equal(x.reshape((6,)).array, -A.ravel())
    assert_equal(x.transpose(1, 0).array, -A.T)
    assert_equal(x.transpose().array, -A.T)
    assert_equal(x.transpose(None).array, -A.T)
    assert_equal(x[0].array, -A[0])
    assert_equal(x[1, ..., None].array, -A[1, ..., None])
    assert [to_numpy(row.array).tolist() for row in x] == (-A).tolist()
    np.testing.assert_allclose(to_numpy(x.mean().array), -A.mean())
    np.testing.assert_allclose(to_numpy(x.mean(axis=0).array), -A.mean(axis=0))
    with pytest.raises(IndexError):
        x[2]


def test_numpy_arrays_yield_to_variables():
    for y in (A + Variable(A), A * Variable(A), np.float32(2) * Variable(A)):
        assert isinstance(y, Variable)
    assert Variable.__array_priority__ == 200


def test_mixed_kinds():
    x, y = Variable(A), Variable(chainerx.array(A))
    for call in (lambda: x + y, lambda: y * x, lambda: y + A, lambda: x - chainerx.array(A)):
        with pytest.raises(TypeError, match='mixed'):
            call()


def test_mixed_devices():
    x = Variable(chainerx.array(A, device='native:0'))
    y = Variable(chainerx.array(A, device='native:1'))
    with pytest.raises(chainerx.DeviceError):
        x + y


def test_mixed_dtypes():
    x, y = A, A.astype('d')
    with pytest.raises(type_check.InvalidType, match=r'float32 != float64'):
        Variable(x) + Variable(y)
    z = Variable(chainerx.array(x)) + Variable(chainerx.array(y))
    assert z.dtype == np.float64


def test_shapes_that_do_not_broadcast(make):
    x = Variable(make(A))
    with pytest.raises(ValueError if x.xp is chainerx else type_check.InvalidType):
        x + Variable(make(A.T))


@pytest.mark.parametrize(
    'number', [np.float16(3), np.float32(3), np.float64(3), np.int8(3), 3, 3.0]
)
def test_division_by_a_number_is_as_exact_as_the_variable(number, make):
    for dtype, rtol in (('float64', 1e-15), ('float32', 1e-7), ('float16', 1e-3)):
        x = Variable(make(A.astype(dtype)))
        y = x / number
        assert y.dtype == dtype
        np.testing.assert_allclose(to_numpy(y.array), A.astype(dtype) / 3, rtol=rtol)


def test_division_by_zero():
    x = Variable(A)
    with pytest.raises(ZeroDivisionError):
        x / 0
    with np.errstate(divide='ignore'):
        assert np.isinf((x / np.float32(0)).array).all()


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'int32'])
def test_raw_arrays_are_constants_of_the_dtype_of_the_variable(dtype):
    x = Variable(A)
    for raw in (A.T.astype(dtype), np.ones(3, dtype)):
        for y in (x @ raw, raw.T @ x.T):
            assert y.dtype == np.float32
    for raw in (A.astype(dtype), np.ones(3, dtype)):
        for y in (x + raw, raw - x, x * raw, raw / x):
            assert y.dtype == np.float32
    x = Variable(A.astype('float64'))
    assert (x @ np.ones(3, 'float32')).dtype == np.float64


def test_a_variable_is_iterated_by_its_items(make):
    x = Variable(make(np.array([[1, 2], [3, 4]], 'float32')))
    assert not isinstance(x, collections.abc.Iterable)
    assert [row.array.tolist() for row in x] == [[1, 2], [3, 4]]
    assert [row.array.tolist() for row in reversed(x)] == [[3, 4], [1, 2]]


def test_a_variable_without_axes_has_no_items(make):
    x = Variable(make(np.array(2, 'float32')))
    assert (list(x), (*x,), set(x), list(zip(x, strict=True))) == ([], (), set(), [])
    assert all(x)
    assert not any(x)
    assert 1 not in x
    with pytest.raises(TypeError, match='len'):
        len(x)
    with pytest.raises(IndexError):
        x[0]


def test_other_numbers_are_constants(make):
    x = Variable(make(A))
    half, three = fractions.Fraction(1, 2), decimal.Decimal(3)
    for y, expected in (
        (x + half, A + 0.5), (half - x, 0.5 - A), (x * three, A * 3), (three / x, 3 / A),
        (x**half, A**0.5), (three**x, 3**A), (x // three, A // 3),
    ):  # fmt: skip
        assert y.dtype == np.float32
        np.testing.assert_allclose(to_numpy(y.array), expected, rtol=1e-6)


def test_unsigned_integers_minus_a_number_wrap_around(make):
    x = Variable(make(np.array([1, 2, 200], 'uint8')))
    for two in (2, np.int64(2)):
        y = x - two
        assert y.dtype == np.uint8
        assert_equal(y, [255, 0, 198])
    with pytest.raises(OverflowError):
        Variable(make(np.array([1], 'int8'))) - 1000

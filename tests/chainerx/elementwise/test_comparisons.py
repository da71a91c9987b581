"""Comparisons of all dtypes, and with numbers, equal NumPy's: no cast hides a difference."""

import operator

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._promotion import BOOL, COMPLEX, FLOATS, INTS, category
from cases._table import np_dtype

ORDERED = [operator.lt, operator.le, operator.gt, operator.ge]
OPERATORS = [operator.eq, operator.ne, *ORDERED]
DTYPES = BOOL + INTS + FLOATS + COMPLEX


def values_of(dtype):
    """Numbers at which a dtype rounds or ends, and their neighbours."""
    if dtype == 'bool':
        return np.array([False, True])
    if dtype in INTS:
        info = np.iinfo(dtype)
        points = [0, 1, 2, -1, 127, 255, 256, 257, 2048, 2049, 2**24, 2**24 + 1, 2**31, 2**53]
        points += [2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63) + 1, info.min, info.max]
        points += [info.max - 1, info.min + 1]
        return np.array([v for v in points if info.min <= v <= info.max], dtype)
    reals = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 0.1, 127.0, 255.5, 256.0, 2048.0, 65504.0, 2.0**24]
    reals += [2.0**31, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**64, 1e-7, 3e38]
    reals += [np.inf, -np.inf, np.nan]
    with np.errstate(over='ignore'):
        if dtype in FLOATS:
            return np.array(reals).astype(np_dtype(dtype))
        values = np.array([complex(r, 0) for r in reals] + [1 + 1j, 1 - 1j, complex(0, np.nan)])
        return values.astype(dtype)


def for_numpy(values):
    """NumPy promotes bfloat16 differently; float32 represents all its values."""
    return values.astype('float32') if values.dtype == np_dtype('bfloat16') else values


def operators_for(*dtypes):
    return OPERATORS[:2] if any(d in COMPLEX for d in dtypes) else OPERATORS


def check(found, expected, where):
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(to_numpy(found), expected, err_msg=where)


@pytest.mark.parametrize('d2', DTYPES)
@pytest.mark.parametrize('d1', DTYPES)
def test_arrays(d1, d2, device):
    if (d1 == 'bool') != (d2 == 'bool'):
        with pytest.raises(chx.DtypeError, match='bool goes with bool only'):
            _ = chx.zeros(2, d1) == chx.zeros(2, d2)
        return
    n1, n2 = values_of(d1), values_of(d2)
    x1, x2 = chx.array(n1[:, None], device=device), chx.array(n2, device=device)
    m1, m2 = for_numpy(n1)[:, None], for_numpy(n2)
    with np.errstate(invalid='ignore'):
        for op in operators_for(d1, d2):
            check(op(x1, x2), op(m1, m2), f'{op.__name__} of {d1} and {d2}')
            check(op(x1.T, x2[:1]), op(m1.T, m2[:1]), f'{op.__name__} of {d1} and {d2}, strided')
            check(op(x1[:0], x2), op(m1[:0], m2), f'{op.__name__} of nothing')
    if any(d in COMPLEX for d in (d1, d2)):
        for op in ORDERED:
            with pytest.raises(chx.DtypeError):
                op(x1, x2)


NUMBERS = [True, False, 0, 1, -1, 2, 255, 256, -129, 65505, 2**24 + 1, 2**31, 2**53 + 1]
NUMBERS += [2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70, -(2**63), -(2**63) - 1, -(2**70)]
NUMBERS += [0.0, -0.0, 0.5, 1.0, 1.5, -0.5, 2.5, 0.1, 255.5, 70000.0, 2.0**53, 2.0**63, 2.0**64]
NUMBERS += [1e300, -1e300, 1e-300, 1e400, -1e400, float('nan')]
NUMBERS += [1 + 0j, 1 + 1j, 2.5 + 0j, complex(float('nan'), 0), complex(2**53, 0)]


def reference(op, values, number, dtype):
    if isinstance(number, int) and category(dtype) < 2:  # bool is an int
        return np.array([op(v, number) for v in values.tolist()], bool)
    if dtype == 'bfloat16' and not isinstance(number, complex):
        with np.errstate(over='ignore'):
            number = np.array(float(number)).astype(np_dtype(dtype)).astype('float32')
    with np.errstate(invalid='ignore', over='ignore'):
        return op(for_numpy(values), number)


@pytest.mark.parametrize('number', NUMBERS, ids=repr)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.filterwarnings('ignore:overflow encountered')
def test_numbers(dtype, number, device):
    values = values_of(dtype)
    x = chx.array(values, device=device)
    is_complex = isinstance(number, complex) or dtype in COMPLEX
    for op in OPERATORS[:2] if is_complex else OPERATORS:
        where = f'{op.__name__} of {dtype} and {number!r}'
        check(op(x, number), reference(op, values, number, dtype), where)
        mirrored = {'lt': 'gt', 'gt': 'lt', 'le': 'ge', 'ge': 'le'}.get(op.__name__, op.__name__)
        other = getattr(operator, mirrored)
        check(op(number, x), reference(other, values, number, dtype), f'{where}, reflected')
    if is_complex:
        for op in ORDERED:
            with pytest.raises(chx.DtypeError):
                op(x, number)
            with pytest.raises(chx.DtypeError):
                op(number, x)


def test_functions_take_numbers_as_operators_do():
    x = chx.array([0, 1, 2])
    assert chx.greater_equal(x, 0.5).tolist() == [False, True, True]
    assert chx.equal(2.5, x).tolist() == [False] * 3
    assert chx.logical_and(x, 0.5).tolist() == [False, True, True]
    assert chx.logical_or(chx.array([False, True]), 1e-300).tolist() == [True, True]
    assert 2.5 not in x
    assert 2 in x
    assert chx.array([True]).__contains__(0.5) is False


def test_integers_that_no_float_holds():
    """NumPy refuses to compare them with floats; after a cast they would equal infinity."""
    x = chx.array([1.0, float('inf')])
    for number in (10**400, -(10**400)):
        with pytest.raises(OverflowError, match='too large'):
            _ = x == number
        assert (chx.array([1, 2]) < number).tolist() == [number > 0] * 2
    assert (x < 2**1000).tolist() == [True, False]


def test_logical_functions_of_mixed_dtypes():
    x1, x2 = chx.array([-1, 0], 'int64'), chx.array([0, 2**63], 'uint64')
    assert chx.logical_and(x1, x2).tolist() == [False, False]
    assert chx.logical_xor(x1, x2).tolist() == [True, True]
    assert chx.logical_or(x1, chx.array([0, 1e-7], 'float16')).tolist() == [True, True]
    assert chx.logical_or(chx.array([2**40]), chx.array([0.0], 'float16')).tolist() == [True]


def test_lists_are_refused():
    """Python would silently take NotImplemented for "not equal"."""
    x = chx.array([1.0, 2.0])
    for other in ([1.0, 2.0], (1.0, 2.0)):
        for compare in (operator.eq, operator.ne):
            with pytest.raises(TypeError, match=r'equal: one operand is a list or a tuple'):
                compare(x, other)
            with pytest.raises(TypeError, match=r'equal: one operand is a list or a tuple'):
                compare(other, x)


@pytest.mark.parametrize('number', [-1, 1000, 2**40])
def test_integers_are_close_to_values_beyond_their_dtype(number):
    x = chx.array([1, 2], 'uint8')
    assert chx.isclose(x, number).tolist() == [False, False]
    assert chx.isclose(number, x).tolist() == [False, False]
    assert not chx.allclose(x, number)
    assert chx.isclose(chx.array([1, 2**40]), number).tolist() == [False, number == 2**40]


@pytest.mark.parametrize('op', OPERATORS)
@pytest.mark.parametrize('kind', ['float64', 'int64', 'float32', 'bool_'])
def test_scalars_of_numpy_on_the_left(op, kind):
    """NumPy passes them as arrays without dimensions, which are not numbers elsewhere."""
    x = chx.array([0.0, 1.0, 2.0])
    number = getattr(np, kind)(1)
    np.testing.assert_array_equal(to_numpy(op(number, x)), op(1, np.arange(3)))
    np.testing.assert_array_equal(to_numpy(op(x, number)), op(np.arange(3), 1))
    with pytest.raises(TypeError, match=r'is a numpy\.ndarray'):
        op(np.ones(3), x)

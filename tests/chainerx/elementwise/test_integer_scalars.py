"""Python integers beside arrays whose dtype can't represent them, compared with NumPy 2."""

import operator

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

INTS = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']

ARITHMETIC = {  # name in the message -> function
    'add': operator.add,
    'subtract': operator.sub,
    'multiply': operator.mul,
    'floor_divide': operator.floordiv,
    'remainder': operator.mod,
    'power': operator.pow,
    'bitwise_and': operator.and_,
    'bitwise_or': operator.or_,
    'bitwise_xor': operator.xor,
    'maximum': lambda x1, x2: chx.maximum(x1, x2),
    'minimum': lambda x1, x2: chx.minimum(x1, x2),
    'fmod': lambda x1, x2: chx.fmod(x1, x2),
}
IN_PLACE = {
    'add': operator.iadd,
    'subtract': operator.isub,
    'multiply': operator.imul,
    'floor_divide': operator.ifloordiv,
    'remainder': operator.imod,
    'bitwise_and': operator.iand,
    'bitwise_or': operator.ior,
    'bitwise_xor': operator.ixor,
    'left_shift': operator.ilshift,
    'right_shift': operator.irshift,
}
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def beyond(dtype):
    """The nearest numbers outside of the range of the dtype, and distant ones."""
    info = np.iinfo(dtype)
    near = [int(info.min) - 1, int(info.max) + 1]
    return [*near, -(2**63) - 1, 2**64, 10**30, -(10**400)]


def extremes(dtype, device='native:0'):
    info = np.iinfo(dtype)
    n = np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype)
    return chx.array(n, device=device), n


def message(name, dtype):
    return rf'{name}: (-?[0-9e+.]+|-?inf) does not fit in {dtype}'


def edges(dtype):
    """Numbers around each power of two, the critical ones for division by multiplication."""
    info = np.iinfo(dtype)
    near = {2**k + d for k in range(info.bits) for d in (-1, 0, 1)} | {3, 5, 7, 10, info.max // 3}
    return [v for v in sorted(near | {-v for v in near}) if info.min <= v <= info.max]


@pytest.mark.parametrize('dtype', INTS)
@pytest.mark.parametrize('name', ['floor_divide', 'remainder'])
def test_division_by_one_number(name, dtype, device):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    some = rng.integers(info.min, info.max, 100, dtype, endpoint=True)
    n = np.concatenate([np.array(edges(dtype), dtype), some])
    x = chx.array(n, device=device)
    spread = chx.array(np.repeat(n, 2), device=device)[::2]
    for divisor in [*edges(dtype), *map(int, some[:30])]:
        with np.errstate(all='ignore'):
            expected = getattr(np, name)(n, np.array(divisor, dtype)) if divisor else 0 * n
        for a in (x, spread, x[:1], x[:-3]):
            got = to_numpy(getattr(chx, name)(a, divisor))
            np.testing.assert_array_equal(got, expected[: a.size], f'by {divisor}')


@pytest.mark.parametrize('dtype', INTS)
@pytest.mark.parametrize('name', ARITHMETIC)
def test_arithmetic_refuses(name, dtype, device):
    x, n = extremes(dtype, device)
    for value in beyond(dtype):
        for args in [(x, value), (value, x)]:
            with pytest.raises(OverflowError, match=message(name, dtype)):
                ARITHMETIC[name](*args)
    np.testing.assert_array_equal(to_numpy(x), n)


@pytest.mark.parametrize('dtype', INTS)
@pytest.mark.parametrize('name', IN_PLACE)
def test_in_place_arithmetic_refuses(name, dtype, device):
    x, n = extremes(dtype, device)
    for value in beyond(dtype):
        with pytest.raises(OverflowError, match=message(name, dtype)):
            IN_PLACE[name](x, value)
    np.testing.assert_array_equal(to_numpy(x), n)


@pytest.mark.parametrize('dtype', INTS)
@pytest.mark.parametrize('compare', COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons_are_right(compare, dtype, device):
    x, n = extremes(dtype, device)
    info = np.iinfo(dtype)
    for value in [*beyond(dtype), int(info.min), int(info.max), 0, 1]:
        expected = np.array([compare(int(i), value) for i in n])
        np.testing.assert_array_equal(to_numpy(compare(x, value)), expected)
        np.testing.assert_array_equal(
            to_numpy(compare(value, x)), np.array([compare(value, int(i)) for i in n])
        )
        assert (value in x) == (value in n.tolist())


@pytest.mark.parametrize('value', [float('inf'), -float('inf'), float('nan'), 1e30, -1e30])
@pytest.mark.parametrize('compare', COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons_with_floats_beyond(compare, value, device):
    x, n = extremes('int16', device)
    np.testing.assert_array_equal(to_numpy(compare(x, value)), compare(n, value))
    np.testing.assert_array_equal(to_numpy(compare(value, x)), compare(value, n))


@pytest.mark.parametrize('compare', COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons_of_bool(compare, device):
    x = chx.array([[True], [False]], device=device)
    for value in (-1, 0, 1, 2, 2**70, True, False):
        assert compare(x, value).tolist() == [[compare(1, value)], [compare(0, value)]]


@pytest.mark.parametrize('name', ['logical_and', 'logical_or', 'logical_xor'])
@pytest.mark.parametrize('dtype', ['int8', 'uint64', 'bool', 'float32'])
def test_logic_asks_for_nonzero_only(name, dtype, device):
    n = np.array([0, 1, 1], dtype)
    x = chx.array(n, device=device)
    for value in (0, 1, 256, -1, 2**70, 0.5, 1e-60):
        expected = getattr(np, name)(n, bool(value))
        np.testing.assert_array_equal(to_numpy(getattr(chx, name)(x, value)), expected)
        np.testing.assert_array_equal(to_numpy(getattr(chx, name)(value, x)), expected)


@pytest.mark.parametrize('dtype', INTS)
def test_what_writes_a_number_refuses(dtype, device):
    x, n = extremes(dtype, device)
    for value in beyond(dtype):
        for name, call in [
            ('where', lambda v=value: chx.where(x > 0, x, v)),
            ('where', lambda v=value: chx.where(x > 0, v, x)),
            ('fill', lambda v=value: x.fill(v)),
            ('setitem', lambda v=value: operator.setitem(x, 0, v)),
            ('setitem', lambda v=value: operator.setitem(x, [0, 1], v)),
            ('full', lambda v=value: chx.full((2,), v, dtype, device=device)),
            ('full', lambda v=value: chx.full_like(x, v)),
        ]:
            with pytest.raises(OverflowError, match=f'{name}.*does not fit in') as info:
                call()
            assert isinstance(info.value, (ValueError, chx.ChainerxError))
    np.testing.assert_array_equal(to_numpy(x), n)


@pytest.mark.parametrize('dtype', INTS)
def test_clip_ignores_bounds_that_nothing_crosses(dtype, device):
    x, n = extremes(dtype, device)
    low, high = int(np.iinfo(dtype).min) - 1, int(np.iinfo(dtype).max) + 1
    for bounds in [(low, high), (low, 1), (1, high), (None, 2**70), (-(2**70), None)]:
        np.testing.assert_array_equal(to_numpy(chx.clip(x, *bounds)), n.clip(*bounds))
    for bounds in [(high, None), (None, low)]:
        with pytest.raises(OverflowError, match=r'does not fit in'):
            chx.clip(x, *bounds)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'complex64'])
def test_floats_take_any_integer(dtype, device):
    n = np.array([1, 2.5], dtype)
    x = chx.array(n, device=device)
    for value in (2**40, -(2**63), 2**64 - 1, 2**70):
        with np.errstate(over='ignore', invalid='ignore'):
            expected = n + np.array(value, np.float64).astype(dtype)
        np.testing.assert_array_equal(to_numpy(x + value), expected)
        assert not to_numpy(x == value).any()


def test_routines_of_other_compute_dtypes(device):
    """True division and transcendental functions of integers compute in floats."""
    x, n = extremes('int8', device)
    np.testing.assert_allclose(to_numpy(x / 1000), n / 1000, rtol=1e-6)
    np.testing.assert_allclose(to_numpy(chx.arctan2(x, 1000)), np.arctan2(n, 1000.0), rtol=1e-6)


def test_numpy_scalars_are_as_weak(device):
    x, _ = extremes('uint8', device)
    with pytest.raises(OverflowError, match=message('add', 'uint8')):
        x + np.int64(256)


@pytest.mark.parametrize(
    ('args', 'number'), [((0, 201, 100), 200), ((-200, 0, 100), -200), ((2**31, 2**31 + 1), 2**31)]
)
def test_arange_refuses(args, number, device):
    dtype = 'int32' if number == 2**31 else 'int8'
    with pytest.raises(OverflowError, match=message('arange', dtype)):
        chx.arange(*args, dtype=dtype, device=device)
    assert chx.arange(*args, dtype='int64', device=device).tolist() == list(range(*args))


@pytest.mark.parametrize(
    'args',
    [
        (2**63, 2**63 + 3),
        (2**63 - 2, 2**63 + 2),
        (2**63 + 2, 2**63 - 2, -1),
        (2**63, 2**64 - 1, 2**62),
        (0, 2**64 - 1, 2**63),
        (0, 5, 2**64 - 1),
    ],
)
def test_arange_counts_beyond_int64(args, device):
    assert chx.arange(*args, dtype='uint64', device=device).tolist() == list(range(*args))
    expected = [float(i) for i in range(*args)]
    assert chx.arange(*args, dtype='float64', device=device).tolist() == expected
    if max(range(*args)) > 0:
        with pytest.raises(OverflowError, match=message('arange', 'int64')):
            chx.arange(*args, dtype='int64', device=device)


@pytest.mark.parametrize('args', [(2**63,), (-5, 2**63), (0, 2**64 - 1)])
def test_arange_of_too_many(args, device):
    with pytest.raises((OverflowError, chx.DimensionError), match='arange: '):
        chx.arange(*args, device=device)
    with pytest.raises(chx.DimensionError, match=r'arange: (\d+ elements|shape )'):
        chx.arange(*args, dtype='uint64' if args[0] >= 0 else 'int64', device=device)


def test_arange_of_none_between_signs(device):
    assert chx.arange(0, -10, 2**63, device=device).tolist() == []
    assert chx.arange(2**63, 0, dtype='uint64', device=device).tolist() == []


def test_arange_may_end_beyond(device):
    assert chx.arange(100, 200, 50, dtype='uint8', device=device).tolist() == [100, 150]
    assert chx.arange(0, 128, 64, dtype='int8', device=device).tolist() == [0, 64]


FILLS = {
    'fill': lambda x, v: x.fill(v),
    'full': lambda x, v: chx.full(x.shape, v, x.dtype, device=x.device),
    'full_like': lambda x, v: chx.full_like(x, v, device=x.device),
}


@pytest.mark.parametrize('dtype', INTS)
@pytest.mark.parametrize('name', FILLS)
def test_floats_that_fill_integers(name, dtype, device):
    """Fractions are truncated, as by NumPy's full; values outside of the range are refused."""
    info = np.iinfo(dtype)
    x = chx.zeros(2, dtype, device=device)
    ends = (2.0 * (info.max // 2 + 1), min(2.0 * info.min, -1.0))
    for value in (float('nan'), float('inf'), -float('inf'), 1e300, *ends):
        with pytest.raises(OverflowError, match=f'{name.removesuffix("_like")}: .* in {dtype}'):
            FILLS[name](x, value)
    assert x.tolist() == [0, 0]
    y = FILLS[name](x, 2.75)
    assert (x if y is None else y).tolist() == [2, 2]


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'complex64', 'complex128'])
@pytest.mark.parametrize('name', FILLS)
def test_any_integers_fill_floats(name, dtype, device):
    x = chx.zeros(2, dtype, device=device)
    for value in (10**30, 2**64, -(2**63) - 1):
        y = FILLS[name](x, value)
        np.testing.assert_array_equal(to_numpy(x if y is None else y), np.full(2, value, dtype))
    with pytest.raises(OverflowError, match='does not fit in 64 bits'):
        FILLS[name](x, 10**400)

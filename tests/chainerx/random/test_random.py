"""The generator of chainerx.random: known answers, and reproducibility from its state."""

import chainerx as chx
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def keep_state():
    state = chx.random.get_state()
    yield
    chx.random.set_state(state)


def test_philox_known_answer():
    """Philox4x32-10 of counter 0 and key 0, from the test vectors of Random123."""
    words = np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], np.uint32)
    chx.random.set_state((0, 0))
    x = chx.to_numpy(chx.random.uniform(size=4, dtype='float32'))
    np.testing.assert_array_equal(x, (words >> 8).astype('f4') * np.float32(2**-24))


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('name', ['uniform', 'normal'])
def test_elements_do_not_depend_on_the_size(name, dtype):
    draws = []
    for size in (1, 7, 33, 5000):
        chx.random.seed(11)
        draws.append(chx.to_numpy(getattr(chx.random, name)(size=size, dtype=dtype)))
    for draw in draws:
        np.testing.assert_array_equal(draw, draws[-1][: len(draw)])


def test_state_is_restored():
    chx.random.seed(5)
    chx.random.normal(size=3)
    state = chx.random.get_state()
    assert state == (5, 1)
    first = chx.random.integers(0, 1 << 40, size=8).tolist()
    chx.random.set_state(state)
    assert chx.random.integers(0, 1 << 40, size=8).tolist() == first


@pytest.mark.parametrize('dtype', ['int32', 'uint32', 'int64'])
def test_integers_of_short_ranges_take_a_word(dtype):
    """Word 1 or 3 of a block times the range; biased numbers are drawn again from another word."""
    n, last = 1_000_000, 1_047_553  # one in 4100 numbers of this range is rejected and drawn again
    word = draw_at((9, 4), 0, 1 << 32, n // 2, 'int64').astype('uint64')
    for low, high in [(0, last), (-3, 4), (5, 6), (0, 1 << 20)]:
        if low < 0 and dtype[0] == 'u':
            continue
        x = draw_at((9, 4), low, high, n, dtype)[1::2]
        product = word * np.uint64(high - low)
        favoured = (product & np.uint64(0xFFFFFFFF)) < 2**32 % (high - low)
        expected = (product >> np.uint64(32)).astype(dtype) + np.array(low, dtype)
        np.testing.assert_array_equal(x[~favoured], expected[~favoured])
        assert favoured.sum() == (123 if high == last else 0)
        assert (x[favoured] != expected[favoured]).sum() >= 0.99 * favoured.sum()
        assert x.min() >= low
        assert x.max() < high
        np.testing.assert_array_equal(draw_at((9, 4), low, high, 77_777, dtype)[1::2], x[:38_888])


def draw_at(state, low, high, n, dtype):
    chx.random.set_state(state)
    return chx.to_numpy(chx.random.integers(low, high, size=n, dtype=dtype))


LEAST, MOST, ALL = -(2**63), 2**63, 2**64


@pytest.mark.parametrize(
    ('low', 'high', 'dtype'),
    [
        (0, MOST, 'int64'),
        (LEAST, MOST, 'int64'),
        (LEAST, LEAST + 1, 'int64'),
        (MOST - 2, MOST, 'int64'),
        (0, ALL, 'uint64'),
        (MOST, MOST + 5, 'uint64'),
        (MOST - 3, MOST + 3, 'uint64'),
        (ALL - 1, ALL, 'uint64'),
    ],
)
def test_integers_up_to_the_ends_of_64_bits(low, high, dtype):
    """With scalar or array bounds, exclusive or inclusive: the same numbers."""

    def draw(*ends, **kwargs):
        rng = chx.random.default_rng(5)
        return chx.to_numpy(rng.integers(*ends, size=2000, dtype=dtype, **kwargs))

    x = draw(low, high)
    values = [int(v) for v in x]
    assert low <= min(values) <= max(values) < high
    if high - low <= 6:
        assert set(values) == set(range(low, high))
    else:
        # The mean of that many is within five of its standard deviations.
        spread = (high - low) / 12**0.5 / 2000**0.5
        assert abs(sum(values) / 2000 - (low + high) / 2) < 5 * spread
    np.testing.assert_array_equal(draw(low, high - 1, endpoint=True), x)
    ends = [chx.array(np.array([v], dtype)) for v in (low, high - 1)]
    np.testing.assert_array_equal(draw(*ends, endpoint=True), x)
    np.testing.assert_array_equal(draw(low, ends[1], endpoint=True), x)
    several = chx.full((2000,), high - 1, dtype)
    each = [int(v) for v in draw(ends[0], several, endpoint=True)]
    assert low <= min(each) <= max(each) < high


def test_integers_beyond_64_bits():
    u64 = chx.array(np.array([5, MOST + 5], 'uint64'))
    rng = chx.random.default_rng(0)
    for low, high, kwargs, match in [
        (0, ALL + 1, {'dtype': 'uint64'}, f'high is {ALL + 1}, beyond what any'),
        (LEAST - 1, 0, {}, f'low is {LEAST - 1}, beyond what any'),
        (0, MOST + 1, {}, f'last number {MOST}, beyond what int64'),
        (-1, MOST + 1, {'dtype': 'uint64'}, 'low is -1 .* beyond what uint64'),
        (MOST + 1, MOST, {'dtype': 'uint64'}, 'no less'),
        (MOST, 5, {'dtype': 'uint64'}, 'no less'),
        (0, 256, {'dtype': 'uint8', 'endpoint': True}, 'last number 256, beyond what uint8'),
        # An unsigned 64-bit number must not become a negative signed one.
        (0, u64, {'size': 2}, r'high\[1\] is 9223372036854775808, expected what the dtype holds'),
        (u64, MOST - 1, {'size': 2}, r'high\[1\] is .* expected a number above low'),
        (u64, MOST + 9, {'size': 2}, r'high\[0\] is .* expected what the dtype holds'),
        (u64, u64, {'size': 2, 'dtype': 'uint64'}, r'high\[0\] is 5, expected a number above'),
    ]:
        with pytest.raises(ValueError, match=match):
            rng.integers(low, high, **kwargs)
    assert chx.to_numpy(rng.integers(u64, u64, dtype='uint64', endpoint=True)).tolist() == [
        5,
        MOST + 5,
    ]


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_uniform_excludes_its_end(dtype):
    x = chx.random.uniform(-1.0, -0.5, size=200_000, dtype=dtype)
    values = chx.to_numpy(x).astype('f8')
    assert values.min() >= -1
    assert values.max() < -0.5


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
@pytest.mark.parametrize(('low', 'high'), [(1.0, -3.0), (-2.0, -3.0), (5.0, 0.0)])
def test_uniform_from_the_upper_end(low, high, dtype):
    """As in NumPy: the first bound is included, the second is not, whichever is larger."""
    x = chx.random.uniform(low, high, 200_000, dtype)
    values = (low - chx.to_numpy(x).astype('f8')) / (low - high)
    assert values.min() >= 0
    assert values.max() < 1
    assert abs(values.mean() - 0.5) < 0.01
    assert abs(values.var() - 1 / 12) < 0.002


def test_bad_arguments():
    with pytest.raises(ValueError, match='low is 5 and high is 5'):
        chx.random.integers(5, 5)
    with pytest.raises(ValueError, match=r'300.*uint8'):
        chx.random.integers(0, 300, size=2, dtype='uint8')
    with pytest.raises(ValueError, match=r'scale is -1'):
        chx.random.normal(scale=-1.0)
    with pytest.raises(chx.DtypeError, match='int32'):
        chx.random.uniform(size=2, dtype='int32')
    for call, text in (
        (lambda: chx.random.permutation(-1), 'permutation: x is -1'),
        (lambda: chx.random.bytes(-1), 'bytes: length is -1'),
        (lambda: chx.random.random(-1), r'^random: size is \(-1,\)'),
        (lambda: chx.random.choice(3, (2, -1)), r'choice: size is \(2, -1\)'),
        (lambda: chx.random.multinomial(5, chx.array([])), r'multinomial: pvals has shape \(0,\)'),
    ):
        with pytest.raises(chx.DimensionError, match=text):
            call()
    p = chx.array([0.5, -0.5])
    with pytest.raises(ValueError, match=r'choice: p\[1\] is -0.5'):
        chx.random.choice(2, p=p)
    with pytest.raises(ValueError, match=r'multinomial: pvals\[1\] is -0.5'):
        chx.random.multinomial(5, p)
    with pytest.raises(ValueError, match=f'seed: seed is {2**70}, expected'):
        chx.random.seed(2**70)
    with pytest.raises(TypeError, match='state'):
        chx.random.set_state(3)


@pytest.mark.parametrize('draw', [chx.random.uniform, chx.random.normal])
def test_numbers_of_a_key_leave_the_generator_alone(draw):
    state = chx.random.get_state()
    x, again, other = (chx.to_numpy(draw(size=100, key=key)) for key in (7, 7, 2**64 - 1))
    assert (x == again).all()
    assert (x != other).all()
    assert chx.random.get_state() == state
    with pytest.raises(ValueError, match='key'):
        draw(size=1, key=2**64)

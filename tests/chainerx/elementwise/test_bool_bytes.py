"""A bool is the byte 0 or 1; foreign memory may hold other bytes."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

BYTES = np.array([0, 1, 2, 255, 0, 128, 3], np.uint8)
TRUTH = BYTES != 0


def odd(n=1):
    return np.tile(BYTES, n).view(bool)


def check(x, truth):
    """Checks operations for which other bytes would have wrong results."""
    assert x.dtype == 'bool'
    assert int(x.sum()) == int(truth.sum())
    as_bytes = np.frombuffer(to_numpy(x).tobytes(), np.uint8)
    np.testing.assert_array_equal(as_bytes, truth.ravel().astype(np.uint8))
    right = chx.array(truth.astype('int8')).astype('bool').to_device(x.device)
    assert bool((x == right).all())
    np.testing.assert_array_equal(to_numpy(x & right), truth)
    np.testing.assert_array_equal(to_numpy(x ^ right), np.zeros_like(truth))
    np.testing.assert_array_equal(to_numpy(x.astype('int32')), truth.astype('int32'))
    np.testing.assert_array_equal(to_numpy(~x), ~truth)


class Capsule:
    """NumPy's capsule, of either version of the protocol."""

    def __init__(self, array, versioned):
        self.array = array
        self.versioned = versioned

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, max_version=None, copy=None):
        return self.array.__dlpack__(max_version=(1, 0) if self.versioned else None)


COPIES = {
    'array': chx.array,
    'array with dtype': lambda n: chx.array(n, dtype='bool'),
    'array of a memoryview': lambda n: chx.array(memoryview(n)),
    'from_dlpack': lambda n: chx.from_dlpack(n, copy=True),
    'from_dlpack, version 0': lambda n: chx.from_dlpack(Capsule(n, False), copy=True),
    'from_dlpack, other device': lambda n: chx.from_dlpack(n, device='native:1'),
    'setitem': lambda n: assigned(n),
    'index': lambda n: chx.arange(n.size).reshape(n.shape)[n] * 0 == 0,
}


def assigned(n):
    x = chx.zeros(n.shape, 'bool')
    x[...] = n
    return x


@pytest.mark.parametrize('make', COPIES.values(), ids=COPIES)
@pytest.mark.parametrize('layout', ['plain', 'reversed', 'matrix', 'large', 'empty'])
def test_copies_are_normalized(make, layout):
    n = {
        'plain': odd(),
        'reversed': odd()[::-1],
        'matrix': odd(6).reshape(6, 7).T,
        'large': odd(20_000),
        'empty': odd()[:0],
    }[layout]
    before = n.view(np.uint8).copy()
    x = make(n)
    check(
        x,
        before.astype(bool)
        if make is not COPIES['index']
        else np.ones(int(before.astype(bool).sum()), bool),
    )
    np.testing.assert_array_equal(n.view(np.uint8), before)


SHARES = {
    'asarray': chx.asarray,
    'asanyarray': chx.asanyarray,
    'ascontiguousarray': chx.ascontiguousarray,
    'array without copy': lambda n: chx.array(n, copy=False),
    'array of a buffer': lambda n: chx.array(memoryview(n), copy=False),
    'from_dlpack': chx.from_dlpack,
    'from_dlpack without copy': lambda n: chx.from_dlpack(n, copy=False),
    'from_dlpack, version 0': lambda n: chx.from_dlpack(Capsule(n, False)),
    'frombuffer': lambda n: chx.frombuffer(n, 'bool'),
}


@pytest.mark.parametrize('make', SHARES.values(), ids=SHARES)
def test_shared_memory_is_refused(make):
    for n in (odd(), odd(20_000)):
        with pytest.raises(ValueError, match=r'bytes other than 0 and 1.*copy'):
            make(n)
        n.view(np.uint8)[...] %= 2
        truth = n.copy()
        x = make(n)
        check(x, truth)
        assert np.shares_memory(np.asarray(x), n)


def test_file(tmp_path):
    path = tmp_path / 'bools'
    BYTES.tofile(path)
    check(chx.fromfile(path, 'bool'), TRUTH)


def test_uninitialized_bools_are_bools():
    """Reused memory may hold any bytes."""
    for n in (40, 4000, 300_000):
        for make in (
            lambda n: chx.empty(n, 'bool'),
            lambda n: chx.empty_like(chx.zeros(n, 'bool')),
            lambda n: chx.ndarray(n, 'bool'),
        ):
            for _ in range(5):
                garbage = chx.full((n,), 7, 'uint8')
                del garbage
                x = make(n)
                assert np.asarray(x).view(np.uint8).max() <= 1

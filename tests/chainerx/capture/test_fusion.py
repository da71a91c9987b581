"""Fused chains: the bits of one kernel after the other, and what may be moved into a chain."""

import dataclasses

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import Prepared, as_list, each
from cases._table import ALL, seeded
from chainerx.testing import force_algorithm

ELEMENTWISE = [c for c in CASES if c.elastic]
OTHERS = ('bitwise_count', 'real', 'imag')  # have a kernel of another kind, or views


@pytest.fixture(autouse=True)
def on_device(device):
    """All tests are about the device under test."""
    return device


@pytest.fixture
def tiny():
    """Chains of arrays of any size, in blocks of a few elements."""
    with force_algorithm('fuse', 'tiny'):
        yield


def bits(x):
    x = chx.to_numpy(x)
    return x.dtype, x.shape, x.tobytes()


def numbers(*shape, seed=0, dtype='float32'):
    return chx.array(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def check(f, *makers, calls=5, **options):
    """Calls a function as it is and captured, and returns what has been recorded."""
    step = chx.capture(f, **options)
    for i in range(calls):
        expected = [bits(y) for y in as_list(f(*(make(i) for make in makers)))]
        assert [bits(y) for y in as_list(step(*(make(i) for make in makers)))] == expected
    (variant,) = step.info()
    assert variant.replays == calls - 3, variant.reason
    return variant


def names_of(step, *args):
    with chx.profile() as profile:
        step(*args)
    return [r.name for r in profile.rows]


@each(ELEMENTWISE)
@pytest.mark.parametrize('dtype', ALL)
def test_rows(case, dtype, tiny):
    """Each elementwise operation, between two others, on whole rows and on what is broadcast."""
    if dtype not in case.dtypes or any(
        a.dtype not in (None, dtype) for a in case.calls[0].arrays()
    ):
        return
    op = case.resolve(chx)
    rng = seeded(case.name, dtype)
    for layout in ('contiguous', 'transposed', 'reversed', 'strided'):
        for second in ((5, 7), (7,), (5, 1), ()):
            spec = case.calls[0]
            first = next(spec.arrays())
            spec = spec.map(
                lambda a, first=first, second=second: dataclasses.replace(
                    a, shape=(5, 7) if a is first else second
                )
            )
            prepared = Prepared(case, spec, dtype, layout)

            def f(*arrays):
                given = iter(arrays)
                spec = case.calls[0].map(lambda _: chx.copy(next(given)))
                return [chx.copy(y) for y in as_list(spec.run(op))]

            with np.errstate(all='ignore'):
                step = chx.capture(f)
                for _ in range(4):
                    expected = f(*prepared.arrays)
                    got = step(*prepared.arrays)
                    for y, e in zip(got, expected, strict=True):
                        assert bits(y) == bits(e), f'{layout} {second}'
            if layout == 'contiguous' and case.name not in OTHERS:
                assert step.info()[0].fused > 1
            if rng.random() < 0.5:
                break


REDUCTIONS = ['sum', 'prod', 'mean', 'var', 'std', 'max', 'min', 'all', 'any', 'count_nonzero']
REDUCTIONS += ['nansum', 'nanmax', 'nanmin', 'logsumexp']


@pytest.mark.parametrize('name', REDUCTIONS)
@pytest.mark.parametrize('dtype', ALL)
def test_reductions_of_rows(name, dtype, tiny):
    """The number of rows of a block has no influence on the order of additions."""
    reduce = getattr(chx, name)
    rng = np.random.default_rng(0)
    for shape, axes in [
        ((9, 32), 1),
        ((2, 3, 40), 2),
        ((3, 5, 40), (1, 2)),
        ((2, 1030), 1),
        ((3, 16000), 1),
    ]:
        x = chx.array(rng.normal(size=shape) * 3).astype(dtype)

        def f(x, axes=axes):
            y = x.reshape(x.shape) if x.dtype == 'bool' else x + x
            z = reduce(y, axis=axes, keepdims=True)
            return z, chx.copy(chx.broadcast_to(z, x.shape))

        try:
            f(x)
        except chx.DtypeError:
            return
        assert check(f, lambda _, x=x: x, calls=4).fused > 1, shape


def norm(x, gamma, beta):
    d = x - x.mean(axis=1, keepdims=True)
    v = (d * d).mean(axis=1, keepdims=True)
    return d / chx.sqrt(v + 1e-5) * gamma + beta


def test_chain_is_one_kernel_without_temporaries():
    makers = [lambda i, s=s: numbers(*s, seed=i) for s in ((300, 64), (64,), (64,))]
    variant = check(norm, *makers)
    assert (variant.kernels, variant.fused) == (1, 9)
    plain = check(norm, *makers, fuse=False)
    assert (plain.kernels, plain.fused) == (9, 0)
    if variant.graph:  # which has memory of its own
        assert variant.nbytes < plain.nbytes
    else:
        assert 0 < variant.nbytes < 300 * 64 * 4 * chx.get_num_threads()  # blocks
        assert plain.nbytes > 0


def test_profile_names_the_calls():
    def f(x):
        return chx.tanh(x * 2 + 1)

    x = numbers(100, 200)
    step = chx.capture(f)
    for _ in range(4):
        step(x)
    assert names_of(step, x) == ['Fused[Multiply, Add, Tanh]']


@pytest.mark.parametrize('threads', [1, 2, 5])
@pytest.mark.parametrize('dtype', ['float32', 'float16', 'int64', 'complex64'])
def test_several_threads(threads, dtype):
    before = chx.get_num_threads()
    chx.set_num_threads(threads)
    try:
        for shape in ((700, 130), (3, 5, 9001), (100_003,)):
            w = numbers(shape[-1]).astype(dtype)
            s = numbers(*shape[:-1], 1).astype(dtype)

            def f(x, w=w, s=s):
                y = (x * 3 + w) * s - x
                return y, chx.where(y == x, y * y, x - w), (y * x).sum(axis=-1, keepdims=True) + s

            variant = check(f, lambda i, d=shape: (numbers(*d, seed=i) * 9).astype(dtype))
            assert variant.fused >= 7
    finally:
        chx.set_num_threads(before)


def test_other_addresses_in_each_call(tiny):
    """Arguments and results move, and so do the blocks."""
    w = numbers(6, 8)

    def f(x, y):
        z = x * 2 + y
        w_ = w.as_grad_stopped()
        w_ += z
        return z * w, z

    plain, state = [], chx.copy(w)
    for i in range(6):
        plain.append([bits(a) for a in f(numbers(6, 8, seed=i), numbers(8, seed=i))])
    w[...] = state
    step = chx.capture(f)
    kept = []
    for i in range(6):
        kept.append(step(numbers(6, 8, seed=i), numbers(8, seed=i)))
    assert [[bits(a) for a in row] for row in kept] == plain
    assert step.info()[0].fused == 4


def test_results_that_nobody_reads_are_dropped():
    def f(x):
        chx.exp(chx.tanh(x))
        return x + 1

    variant = check(f, lambda i: numbers(3, seed=i))
    assert (variant.kernels, variant.fused) == (1, 0)


def test_small_arrays(device):
    """They stay as they are on a CPU, whose cache has them; on a GPU launches are saved."""
    variant = check(lambda x: chx.tanh(x * 2) + 1, lambda i: numbers(100, seed=i))
    is_cpu = device.backend.name == 'native'
    assert (variant.kernels, variant.fused) == ((3, 0) if is_cpu else (1, 3))
    variant = check(lambda x: chx.tanh(x * 2) + 1, lambda i: numbers(seed=i))
    assert (variant.kernels, variant.fused) == ((3, 0) if is_cpu else (1, 3))


def test_order_of_writes(tiny):
    """What reads memory stays before what writes to it, and the other way round."""
    state = numbers(8, 6)

    def f(x):
        before = state * 2  # is collected
        total = state.cumsum(axis=1)  # is not
        state[...] = x  # must not come before these two
        after = state * 2
        state[::-1] *= 3
        last = state + after
        return before, total, after, last + before

    step = chx.capture(f)
    seen = []
    for g in (f, step):
        state[...] = numbers(8, 6)
        seen.append([[bits(y) for y in g(numbers(8, 6, seed=i))] for i in range(5)])
    assert seen[0] == seen[1]
    assert step.info()[0].fused > 3


def test_other_places_of_one_array(tiny):
    """An element that another place of the frame writes is not read in the same chain."""

    def f(x):
        y = x * 2
        reversed_ = y[::-1] + 1
        turned = y.T + x
        y[1:] += y[:-1] * 1
        y[0] = y[-1]
        shared = chx.broadcast_to(y[0], y.shape) + y
        return y, reversed_, turned, shared

    check(f, lambda i: numbers(9, 9, seed=i))


def test_gradients_are_added_to_what_is_there(tiny):
    x = numbers(5, 40).require_grad()
    w = numbers(40).require_grad()

    def f(scale):
        y = norm(x, w, w * 2) * scale
        (y * y).sum().backward()
        return y

    step = chx.capture(f)
    seen = []
    for g in (f, step):
        x.cleargrad()
        w.cleargrad()
        seen.append([])
        for i in range(7):
            y = g(numbers(5, 40, seed=i))
            seen[-1].append([bits(a) for a in (y, x.grad, w.grad)])
            if i == 5:
                x.cleargrad()
                w.cleargrad()
    assert seen[0] == seen[1]
    assert sum(v.replays for v in step.info()) > 0


def test_overlapping_arrays_of_numpy(tiny, device):
    """Two arrays over the same memory are not known to be one by their buffers."""
    if device.backend.name != 'native':
        return  # NumPy has no arrays there
    memory = np.arange(41, dtype='f')
    a = chx.from_dlpack(memory[:40])
    b = chx.from_dlpack(memory[1:])

    def f(x):
        a[...] = a + x
        y = b * 2
        return y + x

    plain = []
    for i in range(5):
        plain.append(bits(f(numbers(40, seed=i))))
    memory[:] = np.arange(41)
    step = chx.capture(f)
    assert [bits(step(numbers(40, seed=i))) for i in range(5)] == plain

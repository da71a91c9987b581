"""Fused chains on GPUs: one kernel for several calls, with the bits of one after the other."""

import pathlib

import pytest

COMMON = """
import ctypes
import os
import sys

import numpy as np
import chainerx as chx
from chainerx import cuda

DEVICE = 'cuda:0'
chx.set_default_device(DEVICE)
test_driver = ctypes.CDLL(os.environ['CHAINERX_CUDA_TEST_DRIVER'] + '/libcuda.so.1')
test_driver.cx_test_calls.restype = ctypes.c_ulonglong

def loaded():
    return test_driver.cx_test_calls(b'cuModuleLoadData')

def numbers(*shape, seed=0, dtype='float32'):
    return chx.array(np.random.default_rng(seed).normal(size=shape) * 3).astype(dtype)

def bits(y):
    y = chx.to_numpy(y, copy=True)
    return y.dtype, y.shape, y.tobytes()

def check(f, *arrays, kernels=1, calls=4, **options):
    '''Runs a function as it is and captured, and returns what has been recorded.'''
    step = chx.capture(f, **options)
    for _ in range(calls):
        copies = [chx.copy(x) if x.is_contiguous else x for x in arrays]
        want = f(*arrays)
        want = [bits(y) for y in (*(want if isinstance(want, tuple) else [want]), *arrays)]
        for x, copy in zip(arrays, copies):
            if copy is not x:
                x[...] = copy
        got = step(*arrays)
        got = [bits(y) for y in (*(got if isinstance(got, tuple) else [got]), *arrays)]
        assert got == want, (f.__name__, [(x.shape, x.strides, x.dtype) for x in arrays])
    (row,) = step.info()
    assert row.graph and row.reason == '', row
    assert kernels is None or row.kernels == kernels, row
    return row
"""

PROGRAMS = {
    'layouts': """
def f(a, b):
    return (a * 2 + b) * a - b, a > b

a, b = numbers(6, 7), numbers(6, 7, seed=1)
flat, other = numbers(1200), numbers(1200, seed=1)
check(f, a, b)
check(f, a.T, b.T)
check(f, a.T, numbers(7, 6))
check(f, a[::-1, ::-2], b[:, ::2])
check(f, flat[:42].reshape(6, 7), other[43:85].reshape(6, 7))  # not aligned to packs
check(f, flat[1:1025], other[3:1027])
check(f, flat[::-1], other)
check(f, a, b[0])
check(f, a, b[:, :1])
check(f, a, b[:1, :1])
check(f, a, b[0, 0])
check(f, numbers(2, 3, 4, 5)[:, ::2], numbers(3, 1, 5)[::2])
check(f, numbers(2, 3, 4, 5).transpose(3, 1, 0, 2), numbers(5, 3, 2, 4))
""",
    'single numbers and none': """
def f(a, b):
    return chx.tanh(a + 1) * b

assert check(f, numbers(), numbers(seed=1)).fused == 3
assert check(f, numbers(1, 1), numbers(1)).fused == 3
for a, b in ((numbers(0, 3), numbers(3)), (numbers(0), numbers(0))):
    step = chx.capture(f)
    for _ in range(5):
        assert bits(step(a, b)) == bits(f(a, b))

def g(a, b):
    s = a * 2 + 1
    return s, b * s - s

check(g, numbers(), numbers(5, 6), kernels=2)
""",
    'rows': """
def norm(x, g):
    d = x - x.mean(axis=1, keepdims=True)
    v = (d * d).mean(axis=1, keepdims=True)
    return d / chx.sqrt(v + 1e-5) * g

def softmax(x, g):
    e = chx.exp(x - x.max(axis=1, keepdims=True))
    s = e.sum(axis=1, keepdims=True)
    return e / s, s

def others(x, g):
    s = x.std(axis=1, keepdims=True)
    return (x - x.var(axis=1, keepdims=True)) / s, chx.logsumexp(x * g, axis=1, keepdims=True) + s

def changes(x, g):
    x *= 2
    m = (x * g).sum(axis=1, keepdims=True)
    x -= m
    return m * 2

for f in norm, softmax, others, changes:
    for rows, columns in ((5, 32), (9, 100), (3, 1025), (2, 16384)):
        check(f, numbers(rows, columns), numbers(columns, seed=1))
""",
    'rows of several axes, and without reductions': """
def several(x, w):
    y = x * w
    return y - y.sum(axis=(2, 3), keepdims=True), y.max(axis=(2, 3), keepdims=True)

check(several, numbers(2, 3, 5, 9), numbers(3, 1, 1))
check(several, numbers(2, 3, 5, 9), numbers(5, 1))

def scaled(x, w):
    w *= 1.5
    s = chx.tanh(w) + 1
    return x * s

for columns in (2, 3, 70, 1000):
    check(scaled, numbers(7, columns), numbers(7, 1))
    check(scaled, numbers(columns, 7).T, numbers(7, 1))
    check(scaled, numbers(4, 3, columns), numbers(4, 3, 1))

def updated(x, w):
    w += (x * w).sum(axis=1, keepdims=True)
    return x - w

check(updated, numbers(6, 64), numbers(6, 1))
""",
    'chains are cut': """
arrays = [numbers(2, 3, 2, 3, 2, 4, seed=i)[:, ::2, :, ::2, :, ::2] for i in range(60)]

def many(*arrays):
    y = arrays[0]
    for x in arrays[1:]:
        y = y * 0.5 + x
    return y

assert 1 < check(many, *arrays, kernels=None).kernels < 20

def long(x):
    for i in range(150):
        x = x * (1 + i / 100) - 0.25
    return x

assert check(long, numbers(5, 9), kernels=None).kernels == 5

def centered(x):
    for _ in range(12):
        x = x - x.mean(axis=1, keepdims=True)
    return x

assert 1 < check(centered, numbers(5, 40), kernels=None).kernels < 6
""",
    'other numbers and shapes have the same text': """
def run(number, rows, columns):
    check(lambda x: chx.tanh(x * number) + (x + number).sum(axis=1, keepdims=True),
          numbers(rows, columns))

run(2, 40, 64)
before = loaded()
run(3, 7, 1000)  # both have reductions by the same kernel, too
assert loaded() == before
""",
    'options, profiles, streams': """
def f(x):
    return chx.tanh(x * 2 + 1)

x = numbers(30, 40)
assert check(f, x, kernels=3, fuse=False).fused == 0
step = chx.capture(f)
for _ in range(5):
    step(x)
with chx.profile() as profile:
    y = step(x)
assert [row.name for row in profile.rows] == ['Fused[Multiply, Add, Tanh]'], profile.rows
assert bits(y) == bits(f(x))
side = cuda.Stream(DEVICE)
side.wait_stream(cuda.current_stream())
with side:
    z = step(x)
cuda.current_stream().wait_stream(side)
assert bits(z) == bits(y)
""",
}

DTYPES = """
def f(x, y):
    z = chx.where(x == y, x, y)
    if x.dtype == 'bool':
        return z & ~x
    z = z * 3 - x
    if x.dtype.kind == 'c':
        return z, abs(z), chx.conj(z * x), z.real * 2
    if x.dtype.kind in 'iu':
        return z // y, (z % (y + 1)) ** 2, (z & x) | 5, z.astype('float32') / 3
    return chx.clip(z, -2, 2), chx.exp(z).astype('int32') + 1, z.astype('float16') * 3

def rows(x, w):
    m = x.mean(axis=1, keepdims=True)
    y = x - m.astype(x.dtype)
    return y * w, y.sum(axis=1), m * 2, (x != 0).all(axis=1)

x, y = numbers(9, 11, dtype=DTYPE), numbers(9, 11, seed=1, dtype=DTYPE)
check(f, x, y, kernels=None)
check(f, x[:, ::-1], y, kernels=None)
if DTYPE != 'bool':
    check(rows, numbers(3, 1500, dtype=DTYPE), numbers(1500, dtype=DTYPE))
"""

RANDOM = """
sys.path.insert(0, TESTS)
from test_fused_programs import run
fused = 0
with np.errstate(all='ignore'):
    for seed in SEEDS:
        want, _ = run(seed, False)
        got, n = run(seed, True)
        fused += n
        assert got == want, seed
assert fused > 0
"""

TESTS = pathlib.Path(__file__).parents[1] / 'chainerx' / 'capture'


ALL = [f'{kind}{bits}' for kind in ('int', 'uint') for bits in (8, 16, 32, 64)]
ALL += ['bool', 'float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128']
END = "\nprint('done')\n"


@pytest.mark.parametrize('name', PROGRAMS)
def test_chains(run, name):
    assert run(COMMON + PROGRAMS[name] + END).endswith('done\n')


@pytest.mark.parametrize('order', ['reverse', 'random:3'])
@pytest.mark.parametrize(
    'name', ['layouts', 'rows', 'rows of several axes, and without reductions']
)
def test_accesses(run, name, order):
    """No thread reads what another one writes meanwhile, or what is outside of arrays."""
    assert run(COMMON + PROGRAMS[name] + END, CHECKED=1, ORDER=order).endswith('done\n')


@pytest.mark.parametrize('dtype', ALL)
def test_dtypes(run, dtype):
    assert run(f'{COMMON}\nDTYPE = {dtype!r}\n{DTYPES}{END}').endswith('done\n')


@pytest.mark.parametrize('start', range(0, 12, 2))
def test_programs(run, start):
    """A few of the random programs of which the CPU runs thousands: each has texts of its own."""
    seeds = [start, start + 1]
    constants = f'TESTS = {str(TESTS)!r}\nSEEDS = {seeds}\n'
    assert run(COMMON + constants + RANDOM + END).endswith('done\n')


def test_frames_above_2_31_elements(run, tmp_path):
    """Kernels do not run here: but they are compiled, and launched with all blocks."""
    program = """
x = chx.empty(2**31 + 64, 'int8')
row = chx.empty((2**21, 1025), 'int8')
with chx.profile():
    for f, a in ((lambda x: ~x * 3, x), (lambda x: ~x * 3, x[::-1]),
                 (lambda x: x.max(axis=1, keepdims=True) - x, row)):
        step = chx.capture(f)
        for _ in range(4):
            step(a)
        assert step.info()[0].fused == 2, step.info()
"""
    run(COMMON + program, EMPTY=1, MEMORY=64 << 30, SOURCES=tmp_path)
    texts = [path.read_text() for path in tmp_path.glob('Fused*')]
    assert len(texts) == 3
    assert sum('uint64_t' in text for text in texts) == 2  # packs have 64 bits always

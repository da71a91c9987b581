"""Captured steps on GPUs: one launch of a graph, with the bits of the step, in processes."""

import pytest

COMMON = """
import concurrent.futures
import ctypes
import gc
import os

import numpy as np
import pytest
import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
from chainer import optimizers
from chainerx import cuda

DEVICE = 'cuda:0'
chx.set_default_device(DEVICE)
test_driver = ctypes.CDLL(os.environ['CHAINERX_CUDA_TEST_DRIVER'] + '/libcuda.so.1')
test_driver.cx_test_calls.restype = ctypes.c_ulonglong
LAUNCHES = 'cuLaunchKernelEx', 'cuGraphLaunch', 'cuMemcpyHtoDAsync_v2', 'cuMemcpyDtoDAsync_v2'

def count(*names):
    return [test_driver.cx_test_calls(name.encode()) for name in names or LAUNCHES]

def counted(f, *args):
    before = count()
    y = f(*args)
    return y, [b - a for a, b in zip(before, count())]

def numbers(*shape, seed=0, dtype='float32'):
    return chx.array(np.random.default_rng(seed).normal(size=shape).astype(dtype), device=DEVICE)

def host(x):
    if isinstance(x, np.ndarray):
        return x
    return chx.to_numpy(getattr(x, 'array', x), copy=True)

def same(a, b, message=''):
    np.testing.assert_array_equal(host(a), host(b), message)

def make(rule='SGD', dropout=False, accumulate=False):
    rng = np.random.default_rng(0)
    layers = [L.Linear(6, 8), F.relu, *([F.dropout] if dropout else []), L.Linear(8, 3)]
    model = chainer.Sequential(*layers)
    for p in model.params():
        p.array = rng.normal(size=p.shape).astype('f')
    model.to_device(DEVICE)
    optimizer = getattr(optimizers, rule)().setup(model)

    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        if not accumulate:
            model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return model, optimizer, step

def batch(seed, n=4):
    t = np.random.default_rng(seed).integers(0, 3, size=n).astype('i')
    return numbers(n, 6, seed=seed), chx.array(t, device=DEVICE)

def compare(model, other):
    for (path, p), (_, q) in zip(model.namedparams(), other.namedparams(), strict=True):
        same(p.array, q.array, path)
        same(p.grad, q.grad, path)

def check_graph(captured):
    for row in captured.info():
        assert row.graph and row.reason == '', row
"""

PROGRAMS = {
    'training': """
for rule in 'SGD', 'Adam':
    for options in {}, {'dropout': True}, {'accumulate': True}:
        model, optimizer, step = make(rule, **options)
        other, other_optimizer, plain = make(rule, **options)
        captured = chx.capture(step)
        for m in (model, other) if 'accumulate' in options else ():
            for p in m.params():
                p.grad = chx.zeros_like(p.array)
        data = [batch(i) for i in range(9)]
        losses, launches = [], []

        def run(f, optimizer):
            np.random.seed(1)
            for i, (x, t) in enumerate(data):
                if i == 6:
                    setattr(optimizer, 'alpha' if rule == 'Adam' else 'lr', 0.02)
                y, n = counted(f, x, t)
                losses.append(y)
                launches.append(n)

        run(captured, optimizer)
        run(plain, other_optimizer)
        for y, z in zip(losses[:9], losses[9:]):
            same(y, z, (rule, options))
        compare(model, other)
        check_graph(captured)
        assert captured.info()[0].replays == 6
        # Arguments in, the graph, results out; and once the new rate.
        assert launches[4:9] == [[2, 1, int(i == 6), 0] for i in range(4, 9)], launches
""",
    'results are kept': """
step = chx.capture(lambda x: (x + 1, x * 2))
xs = [numbers(5, seed=i) for i in range(8)]
kept = [step(x) for x in xs]
for x, (y, z) in zip(xs, kept):
    same(y, x + 1)
    same(z, x * 2)
kept[5][0][...] = 0
same(step(xs[0])[0], xs[0] + 1)
check_graph(step)
""",
    'gradients are kept': """
model, _, step = make()
other, _, plain = make()
captured = chx.capture(step)
kept = []
for i in range(14):
    captured(*batch(i))
    plain(*batch(i))
    compare(model, other)
    kept.append([(p.grad, host(p.grad)) for p in model.params()])
for grads in kept:
    for grad, value in grads:
        same(grad, value)
check_graph(captured)
_, launches = counted(captured, *batch(20))
assert launches == [2, 1, 0, 0], launches
""",
    'an argument is written': """
@chx.capture
def step(x, y):
    x += y
    return x * 2

for i in range(8):
    x, y = numbers(40, seed=i), numbers(40, seed=i + 1)
    want = x + y
    z = step(x, y)
    same(x, want)
    same(z, want * 2)
check_graph(step)

@chx.capture
def strided(x, y):
    x[::2] += y

for i in range(6):
    x, y = numbers(40, seed=i), numbers(20, seed=i + 1)
    want = x.copy()
    want[::2] += y
    strided(x, y)
    same(x, want)

@chx.capture
def gaps(x, y):
    x += y

for i in range(6):
    x, y = numbers(40, seed=i), numbers(20, seed=i + 1)
    want = x.copy()
    want[::2] += y
    gaps(x[::2], y)
    same(x, want)
(row,) = gaps.info()
assert not row.graph and 'not contiguous' in row.reason and row.replays == 3, row
""",
    'arguments are aligned differently': """
w = numbers(16, 16)
step = chx.capture(lambda x, i: x.dot(w).take(i, axis=0) + x.take(i, axis=0))
base, index = numbers(4000), chx.array(np.arange(100) % 4, device=DEVICE)
wants, gots = [], []
for i in range(40):
    x, j = base[i * 16 + i // 20 : i * 16 + i // 20 + 64].reshape(4, 16), index[i : i + 3]
    gots.append(step(x, j))
    wants.append((x.dot(w)).take(j, axis=0) + x.take(j, axis=0))
for got, want in zip(gots, wants):
    same(got, want)
check_graph(step)
assert count('cuGraphLaunch')[0] > 10
""",
    'constants and keys of the host': """
from chainer import functions

@chx.capture
def step(x):
    a = chx.array(np.arange(6, dtype='f'), device=DEVICE)
    b = chx.array(np.arange(6, dtype='f') + 10, device=DEVICE)
    b += x
    return functions.dropout(x).array * a + b

def plain(x):
    a = chx.array(np.arange(6, dtype='f'), device=DEVICE)
    b = chx.array(np.arange(6, dtype='f') + 10, device=DEVICE)
    b += x
    return functions.dropout(x).array * a + b

xs = [numbers(6, seed=i) for i in range(9)]
np.random.seed(2)
gots = [step(x) for x in xs]
np.random.seed(2)
for x, got in zip(xs, gots):
    same(got, plain(x))
check_graph(step)
_, launches = counted(step, xs[0])
assert launches == [2, 1, 0, 0], launches
""",
    'generators': """
for seed in 3, 4:
    step = chx.capture(lambda x: x + chx.random.uniform(0, 1, size=70000))
    x = chx.zeros(70000, 'float32')
    chx.random.seed(seed)
    gots = [step(x) for _ in range(7)]
    chx.random.seed(seed)
    for got in gots:
        same(got, x + chx.random.uniform(0, 1, size=70000))
    check_graph(step)
""",
    'two captures in turn, and steps without': """
model, _, step = make('Adam')
other, _, plain = make('Adam')
first, second = chx.capture(step), chx.capture(lambda x, t: step(x, t))
for i in range(16):
    (first, second, step)[i % 3 if i > 8 else i % 2](*batch(i))
    plain(*batch(i))
compare(model, other)
check_graph(first)
check_graph(second)
""",
    'streams': """
w = numbers(64, 64)

def f(x):
    y = x
    for _ in range(5):
        y = chx.tanh(y.dot(w)) + y.sum(axis=0)
    return y, y.sum()

step = chx.capture(f)
streams = cuda.Stream(), cuda.Stream(), cuda.current_stream()
inputs = [host(numbers(64, 64, seed=i)) for i in range(16)]
wants = [[host(y) for y in f(chx.array(x, device=DEVICE))] for x in inputs]
for _ in range(4):
    step(numbers(64, 64))
cuda.synchronize()
gots = []
for i, x in enumerate(inputs):
    stream = streams[i % 3]
    with stream:
        x = chx.array(x, device=DEVICE)
    with streams[(i + i // 5) % 3] as other:
        other.wait_stream(stream)
        gots.append((other, step(x)))
        del x
    with stream:  # takes the memory of the argument if that is free
        chx.full((64, 64), 7, 'float32', device=DEVICE)
cuda.synchronize()
for (stream, got), want in zip(gots, wants):
    for y, z in zip(got, want):
        with stream:
            same(y, z)
""",
    'threads': """
step = chx.capture(lambda x, i: (x * 2).take(i, axis=0) + 1)
x, i = numbers(8, 3), chx.array([1, 2, 3], device=DEVICE)
for _ in range(5):
    step(x.copy(), i.copy())
check_graph(step)
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    def bad():
        chx.set_default_device(DEVICE)
        step(x.copy(), i + 7)
        with pytest.raises(IndexError, match='9|10|8'):
            cuda.synchronize()
    for _ in range(4):
        pool.submit(bad).result()
        cuda.synchronize()  # the errors of the other thread are none of ours
        same(step(x.copy(), i.copy()), (x * 2).take(i, axis=0) + 1)
    before = count('cuGraphLaunch')[0]
    def good():
        chx.set_default_device(DEVICE)
        for _ in range(6):
            same(step(x.copy(), i.copy()), (x * 2).take(i, axis=0) + 1)
    pool.submit(good).result()
    assert count('cuGraphLaunch')[0] >= before + 4  # the graph is that of this thread now

def synchronize():
    for _ in range(300):
        cuda.synchronize()

with concurrent.futures.ThreadPoolExecutor(1) as pool:
    busy = pool.submit(synchronize)
    for k in range(20):
        one = chx.capture(lambda x: x + k)
        for _ in range(5):
            one(x)
        check_graph(one)
    busy.result()
""",
    'errors of values': """
step = chx.capture(lambda x, i: x.take(i, axis=0) * 2)
x = numbers(8, 3)
for k in range(8):
    i = chx.array([k, 9 if k in (4, 6) else 1], device=DEVICE)
    y = step(x.copy(), i)
    if k in (4, 6):
        with pytest.raises(IndexError, match='9'):
            cuda.synchronize()
    else:
        same(y, x.take(i, axis=0) * 2)
check_graph(step)
""",
    'what a replay would lack is refused': """
square = cuda.elementwise('T x', 'T y', 'y = x * x', 'square')
pinned = cuda.empty_pinned(8, 'float32')
steps = {
    'a kernel of the program is launched|handed out': lambda x: square(x),
    'memory is copied': lambda x: cuda.copy_async(x, pinned),
    'is handed out': lambda x: x.__cuda_array_interface__ and None,
    'the memory of an array': lambda x: x.data_ptr and None,
    'all_reduce is called': lambda x: cuda.all_reduce([x]),
    'values are read': lambda x: x + float(x.sum()),
}
for reason, f in steps.items():
    step = chx.capture(f)
    step(numbers(8))
    with pytest.raises(chx.CaptureError, match=reason):
        step(numbers(8))

for reason, f in {'cuFFT': chx.fft.fft, 'cuSOLVER': lambda x: chx.linalg.svd(x)[1]}.items():
    step = chx.capture(f)
    for i in range(6):
        x = numbers(80, 80, seed=i)
        same(step(x), f(x))
    (row,) = step.info()
    assert not row.graph and reason in row.reason and row.replays == 3, row
""",
    'hooks see the calls': """
step = chx.capture(lambda x: chx.tanh(x) + 1)
x = numbers(8)
for _ in range(5):
    step(x.copy())
with chx.profile() as profile:
    y, launches = counted(step, x.copy())
same(y, chx.tanh(x) + 1)
assert launches[1] == 0
assert 'Fused[Tanh, Add]' in {row.name for row in profile.rows}
assert counted(step, x.copy())[1][1] == 1
""",
    'settings': """
step = chx.capture(lambda x: x.dot(x))
for _ in range(5):
    step(numbers(8, 8))
recorded = count('cuStreamBeginCapture_v2')[0]
cuda.allow_tf32(True)
for i in range(4):
    same(step(numbers(8, 8)), numbers(8, 8).dot(numbers(8, 8)))
assert count('cuStreamBeginCapture_v2')[0] == recorded + 1
check_graph(step)
""",
    'failures': """
def check(plan, reason, graph=False, n=6):
    step = chx.capture(lambda x: chx.tanh(x) * x.sum())
    for i in range(n):
        if i == 3:
            test_driver.cx_test_fail(plan)
        y = step(numbers(30, seed=i))
        test_driver.cx_test_fail(b'')
        same(y, chx.tanh(numbers(30, seed=i)) * numbers(30, seed=i).sum())
    (row,) = step.info()
    assert row.graph == graph and reason in row.reason and row.replays == n - 3, (plan, row)
    assert (row.reason == '') == graph

check(b'', '', True)
check(b'cuStreamBeginCapture_v2:1', 'one by one: cuda: cuStreamBeginCapture')
check(b'cuStreamEndCapture:1', 'cuStreamEndCapture')
check(b'cuGraphInstantiateWithFlags:1', 'cuGraphInstantiate')
check(b'cuGraphInstantiateWithFlags:1:2', '', True)  # there is memory after what is cached
check(b'cuGraphInstantiateWithFlags:1+:2', 'MEMORY')
check(b'cuStreamCreateWithPriority:1+', 'cuStreamCreate')
check(b'', '', True)
check(b'cuStreamCreateWithPriority:1+', '', True)  # the stream that records is used again

step = chx.capture(lambda x: chx.tanh(x) * 2)
for i in range(8):
    if i == 5:
        test_driver.cx_test_fail(b'cuGraphLaunch:1+:2')
    same(step(numbers(30, seed=i)), chx.tanh(numbers(30, seed=i)) * 2)
    test_driver.cx_test_fail(b'')
(row,) = step.info()
assert not row.graph and 'MEMORY' in row.reason and row.replays == 5, row
""",
    'the end while it runs': """
w = numbers(64, 64)
for k in range(12):
    step = chx.capture(lambda x: chx.tanh(x.dot(w)).dot(w).sum(axis=0))
    x = numbers(64, 64, seed=k)
    for _ in range(5):
        y = step(x.copy())
    del step
    gc.collect()
    chx.full((64, 64), 7, 'float32', device=DEVICE)  # perhaps in its memory
    cuda.empty_cache()
    same(y, chx.tanh(x.dot(w)).dot(w).sum(axis=0))
""",
    'memory stays with the graph': """
w = numbers(100, 300)
step = chx.capture(lambda x: (x.dot(w).sum(), x.sum(axis=0), x.var(axis=1)))
x = numbers(5000, 100)
for k in range(8):
    y = step(x.copy())
    cuda.empty_cache()
    z = [chx.full((n,), 7, 'float32', device=DEVICE) for n in (100, 1000, 10000, 100000)]
    for a, b in zip(step(x.copy()), (x.dot(w).sum(), x.sum(axis=0), x.var(axis=1))):
        same(a, b)
check_graph(step)
held = chx.memory_stats(DEVICE)['in_use']
del step
gc.collect()
assert chx.memory_stats(DEVICE)['in_use'] < held
""",
}


@pytest.mark.parametrize('name', PROGRAMS)
def test_graph(run, name):
    assert run(COMMON + PROGRAMS[name] + "\nprint('done')\n").endswith('done\n')


@pytest.mark.parametrize('name', ['training', 'streams'])
def test_graph_late(run, name):
    run(COMMON + PROGRAMS[name], DELAY=300)

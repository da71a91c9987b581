"""Several GPUs in one process: copies between them, sums over all, models on each."""

import pytest

PRELUDE = """
import ctypes, os
import numpy as np
import pytest
import chainerx as chx
from chainerx import cuda

library = ctypes.CDLL(os.environ['CHAINERX_CUDA_TEST_DRIVER'] + '/libcuda.so.1')
library.cx_test_calls.restype = ctypes.c_uint64
WAITS = ('cuStreamSynchronize', 'cuCtxSynchronize', 'cuEventSynchronize')

def count(*names):
    return [library.cx_test_calls(name.encode()) for name in names]
"""

COPIES = """
values = np.arange(70000, dtype='float32').reshape(100, 700)
x = chx.array(values, device='cuda:0')
dtypes = [chx.array(values > 3, device='cuda:0'), x.astype('bfloat16'), x.astype('complex128')]
layouts = [x.T, x[::-2, 3:], x[5:5], x[3, 4], chx.broadcast_to(x[0], (3, 700)), *dtypes]
want = [chx.to_numpy(y.astype('complex128')) for y in layouts]
chx.ones(3, 'float32', device='cuda:1').sum()
cuda.synchronize('cuda:0')
before = count(*WAITS)
found = []
for _ in range(5):
    y = (x * 2).to_device('cuda:1')
    x += 1  # after it was read
    x -= 1
    # Blocks go back to the pools of both at once.
    z = (y + 1).to_device('cuda:0') * 2
    del y
    found.append(z)
moved = [layout.to_device('cuda:1') for layout in layouts]
target = chx.zeros((100, 700), 'float32', device='cuda:1')
cuda.copy_async(x, target)
assert count(*WAITS) == before
for z in found:
    np.testing.assert_array_equal(chx.to_numpy(z), values * 4 + 2)
for y, layout, w in zip(moved, layouts, want):
    assert y.device.name == 'cuda:1' and (y.shape, y.dtype) == (layout.shape, layout.dtype)
    np.testing.assert_array_equal(chx.to_numpy(y.astype('complex128')), w)
np.testing.assert_array_equal(chx.to_numpy(target), values)
with pytest.raises(chx.DimensionError, match='dst is not contiguous'):
    cuda.copy_async(x, chx.empty((700, 100), 'float32', device='cuda:1').T)

# On streams of their own.
first, second = cuda.Stream('cuda:0'), cuda.Stream('cuda:1')
first.wait_stream(cuda.current_stream('cuda:0'))
with first, second:
    y = (x * 3).to_device('cuda:1') + 1
    first.synchronize()
    second.synchronize()
    np.testing.assert_array_equal(chx.to_numpy(y), values * 3 + 1)
del x, y, z, found, moved, layout, layouts, dtypes, target
for device in ('cuda:0', 'cuda:1'):
    cuda.empty_cache(device)
    assert cuda.memory_stats(device)['in_use'] == 0
print(*count('cuMemcpyDtoDAsync_v2', 'cuMemcpyPeerAsync'))
"""

#: Gradients of two orders, through two devices.
GRADIENTS = """
a = chx.array([1.0, 2.0, 3.0], device='cuda:0').require_grad()
b = chx.array([2.0, 4.0, 8.0], device='cuda:1').require_grad()
y = ((a * a).to_device('cuda:1') * b).to_device('cuda:0') * a
chx.backward(y.sum(), enable_double_backprop=True)
assert a.grad.device.name == 'cuda:0' and b.grad.device.name == 'cuda:1'
np.testing.assert_array_equal(chx.to_numpy(a.grad), [6, 48, 216])
np.testing.assert_array_equal(chx.to_numpy(b.grad), [1, 8, 27])
gb = b.grad
b.cleargrad()
a.cleargrad()
chx.backward(gb.sum())
np.testing.assert_array_equal(chx.to_numpy(a.grad), [3, 12, 27])
print('done')
"""

SUMS = """
FLOATS = ('float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128')
INTS = ('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64')
OPS = {'sum': np.sum, 'mean': np.mean, 'max': np.max, 'min': np.min}
values = np.arange(18).reshape(3, 2, 3) * np.array([1, 2, 3])[:, None, None] % 7

def on_all(dtype, change=lambda x: x):
    return [change(chx.array(values[i], dtype, device=f'cuda:{i}')) for i in range(3)]

def check(arrays, want):
    for x in arrays:
        np.testing.assert_allclose(chx.to_numpy(x.astype('complex128')).real, want, 1e-2)

before = count(*WAITS)
kept = []
for dtype in (*FLOATS, *INTS, 'bool'):
    for op, reduce in OPS.items():
        arrays = on_all(dtype)
        is_order = op in ('max', 'min')
        refused = (op == 'mean' and dtype in (*INTS, 'bool')) or (op == 'sum' and dtype == 'bool')
        if refused or (is_order and dtype.startswith('complex')):
            with pytest.raises(chx.DtypeError, match=f'of dtype {dtype} have no {op}'):
                cuda.all_reduce(arrays, op)
        else:
            cuda.all_reduce(arrays, op)
            kept.append((arrays, reduce((values != 0) if dtype == 'bool' else values, 0)))
    arrays = on_all(dtype)
    cuda.broadcast(arrays, 1)
    kept.append((arrays, (values != 0)[1] if dtype == 'bool' else values[1]))
assert count(*WAITS) == before
for arrays, want in kept:
    check(arrays, want)

# Lists, other layouts, nothing.
lists = [[chx.full((), i + 1.0, device=f'cuda:{i}'), chx.ones((2, 3), device=f'cuda:{i}'),
          chx.ones((0, 3), device=f'cuda:{i}')] for i in range(3)]
lists[1][1] = chx.ones((3, 2), device='cuda:1').T
reversed = chx.ones((2, 6), device='cuda:2')
lists[2][1] = reversed[:, ::-2]
cuda.all_reduce(lists)
check([x for x, *_ in lists], 6)
check([x for _, x, *_ in lists], np.full((2, 3), 3))
np.testing.assert_array_equal(chx.to_numpy(reversed), [[1, 3] * 3] * 2)
cuda.broadcast([[chx.broadcast_to(chx.ones(3, device='cuda:0'), (2, 3))], lists[1][1:2]])
check([lists[1][1]], np.ones((2, 3)))
cuda.all_reduce(lists[:1])
cuda.all_reduce([[], []])
cuda.all_reduce(on_all('float32')[2:0:-1])

# Streams of each device.
streams = [cuda.Stream(f'cuda:{i}') for i in range(2)]
with streams[0], streams[1]:
    arrays = [chx.full(70000, i + 1.0, device=f'cuda:{i}') for i in range(2)]
    cuda.all_reduce(arrays)
    total = [x.sum() for x in arrays]
    assert [float(t) for t in total] == [210000] * 2

x0, x1 = (chx.ones(3, 'float32', device=f'cuda:{i}') for i in range(2))
for arrays, error, text in [
    ([], ValueError, 'there are no arrays'),
    ([x0, x0 + 1], chx.DeviceError, r'arrays\\[0\\] and arrays\\[1\\] are both on cuda:0'),
    ([x0, chx.ones(3)], chx.DeviceError, r'arrays\\[1\\] is on native:0, expected a device of'),
    ([chx.ones(3), x0], chx.DeviceError, 'native:0 is no device of the backend cuda'),
    ([[x0, x1], [x1, x0]], chx.DeviceError, 'all_reduce: .*cuda:0 and cuda:1'),
    ([[x0], [x1, x1]], ValueError, r'arrays\\[1\\] has 2 arrays, and arrays\\[0\\] has 1'),
    ([x0, x1[:2]], chx.DimensionError, r'arrays\\[1\\] has shape \\(2,\\), and arrays\\[0\\] has'),
    ([x0, x1.astype('float64')], chx.DtypeError, r'arrays\\[1\\] has dtype float64, and arrays'),
    ([x0, chx.broadcast_to(x1[0], 3)], ValueError, r'an array of arrays\\[1\\] is read-only'),
    ([x0, np.ones(3)], TypeError, 'all_reduce'),
]:
    with pytest.raises(error, match=text):
        cuda.all_reduce(arrays)
with pytest.raises(ValueError, match="op is 'prod', expected one of sum, mean, max, min"):
    cuda.all_reduce([x0, x1], 'prod')
with pytest.raises(IndexError, match='root is 2, and there are 2 GPUs'):
    cuda.broadcast([x0, x1], 2)
np.testing.assert_array_equal(chx.to_numpy(x0), np.ones(3))
print('done')
"""


@pytest.mark.parametrize('peers', [0, 1])
@pytest.mark.parametrize('order', ['forward', 'random:3'])
def test_copies(run, peers, order):
    direct, by_driver = map(int, run(PRELUDE + COPIES, PEERS=peers, ORDER=order).split())
    assert direct > 15 if peers else direct == 0
    assert by_driver == 0 if peers else by_driver > 15


def test_gradients_through_copies(run):
    assert run(PRELUDE + GRADIENTS) == 'done\n'


@pytest.fixture
def without_nccl(driver, tmp_path):
    """The driver for tests without NCCL."""
    for path in driver.iterdir():
        if path.name != 'libnccl.so.2':
            (tmp_path / path.name).symlink_to(path)
    return {'CHAINERX_CUDA_TEST_DRIVER': tmp_path}


def test_sums_by_nccl(run):
    assert run(PRELUDE + SUMS, DEVICES=3) == 'done\n'


def test_sums_by_copies(run):
    environment = {'CHAINERX_CUDA_ALL_REDUCE': 'copies'}
    assert run(PRELUDE + SUMS, DEVICES=3, environment=environment) == 'done\n'


TWO_SUMS = """
x, y = (chx.ones(3, device=f'cuda:{i}') for i in range(2))
cuda.all_reduce([x, y])
cuda.all_reduce([x, y])
assert float(y.sum()) == 12
"""
FORCED_SUM = """
import chainerx.testing
arrays = [chx.ones(3, device=f'cuda:{i}') for i in range(2)]
with chx.testing.force_algorithm('cuda_all_reduce', 'nccl'):
    cuda.all_reduce(arrays)
"""


def test_missing_nccl_is_said_once(run, without_nccl):
    said = run(PRELUDE + TWO_SUMS, check=False, environment=without_nccl)
    assert said.count('NCCL was not found') == 1
    assert 'nvidia-nccl-cu13' in said
    assert 'Error' not in said
    said = run(PRELUDE + FORCED_SUM, check=False, environment=without_nccl)
    assert 'NCCL, which computes sums over several GPUs, was not found' in said


def test_failures_of_nccl(run):
    environment = {'CHAINERX_CUDA_TEST_FAIL_NCCL': '1'}
    said = run(PRELUDE + TWO_SUMS, check=False, environment=environment)
    assert 'failed with status 1 (unhandled cuda error); NCCL_DEBUG=WARN says more' in said


MODELS = """
import chainer
import chainer.functions as F, chainer.links as L
from chainer import iterators, optimizers, training
from chainer.datasets import TupleDataset

rng = np.random.RandomState(0)
DATA = TupleDataset(rng.rand(24, 4).astype('f'), rng.randint(0, 3, 24).astype('i'))

class Net(chainer.Chain):
    def __init__(self, size):
        super().__init__()
        with self.init_scope():
            self.norm = L.BatchNormalization(4)
            self.l1 = L.Linear(size, 70)
            self.l2 = L.Linear(70, 3)
            self.unused = L.Linear(2, 2)
            self.scale = chainer.Parameter(np.ones(70, 'f'))
            self.shift = chainer.Parameter(np.zeros(70, 'f'))
        self.add_persistent('seen', 0)

    def forward(self, x):
        self.seen += len(x)
        self.norm(x)  # for its persistent arrays
        # The gradients of both parameters are one array.
        return self.l2(F.relu(self.l1(x)) + (self.scale + self.shift))

def make(device, size=4, batch=6, data=DATA, **kwargs):
    np.random.seed(0)
    model = L.Classifier(Net(size))
    optimizer = optimizers.MomentumSGD(0.1).setup(model)
    iterator = iterators.SerialIterator(data, batch, shuffle=False, repeat=True)
    if isinstance(device, str):
        model.to_device(device)
        return training.updaters.StandardUpdater(iterator, optimizer, device=device), model
    updater = training.updaters.ParallelUpdater(iterator, optimizer, devices=device, **kwargs)
    return updater, model

def values(model):
    return {path: chainer.cuda.to_cpu(p.array).astype('d') for path, p in model.namedparams()
            if p.array is not None}

def check(model, other, tolerance=1e-5):
    mine, others = values(model), values(other)
    assert mine.keys() == others.keys()
    for path in mine:
        np.testing.assert_allclose(mine[path], others[path], tolerance, tolerance, err_msg=path)

TWO = {'main': 'cuda:0', 'second': 'cuda:1'}
"""

PARALLEL = """
for size in (4, None):
    want, alone = make('cuda:0', size)
    updater, model = make(TWO, size, reduce='mean')
    second = updater._models['second']
    for step in range(4):
        np.random.seed(1)  # for what the first step initializes
        want.update()
        np.random.seed(1)
        if step == 2:
            for device in TWO.values():
                cuda.synchronize(device)
            before = count(*WAITS, 'cuMemcpyDtoHAsync_v2')
        updater.update()
    assert count(*WAITS, 'cuMemcpyDtoHAsync_v2') == before  # of the steps 2 and 3
    check(model, alone)
    check(second, model, 0)
    assert {p.device.name for p in second.params()} == {'cuda:1'}
    assert second.predictor.seen == model.predictor.seen == 12
    means = [m.predictor.norm.avg_mean for m in (model, second)]
    assert [mean.device.name for mean in means] == list(TWO.values())
    np.testing.assert_array_equal(*map(chx.to_numpy, means))
print('done')
"""

#: Half precision, three GPUs, minibatches too small, parts of other devices.
OTHER_PARALLELS = """
three = TWO | {'third': 'cuda:2'}
with chainer.using_config('dtype', chainer.mixed16):
    data = TupleDataset(rng.rand(24, 4).astype('e'), rng.randint(0, 3, 24))
    want, alone = make('cuda:0', data=data)
    updater, model = make(three, data=data, reduce='mean')
    for _ in range(2):
        want.update()
        updater.update()
    assert model.predictor.l1.W.dtype == np.float16
    check(model, alone, 1e-2)
    check(updater._models['third'], model, 0)
for devices in (three, {'main': 'cuda:1', 'second': 'native:0'}, {'main': '@numpy', 'b': 'cuda:0'},
                {'main': 'cuda:0', 'second': 'cuda:0'}):
    want, alone = make('cuda:0', batch=2)
    updater, model = make(devices, batch=2, reduce='mean')
    for _ in range(2):
        want.update()
        updater.update()
    check(model, alone)
    for other in updater._models.values():
        check(other, model, 0)
print('done')
"""


@pytest.mark.parametrize('nccl', [True, False])
def test_parallel_updater(run, without_nccl, nccl):
    assert run(PRELUDE + MODELS + PARALLEL, environment={} if nccl else without_nccl) == 'done\n'


def test_parallel_updater_of_other_kinds(run):
    assert run(PRELUDE + MODELS + OTHER_PARALLELS, DEVICES=3) == 'done\n'


#: Parameters with two paths, of copies that share them or do not; links with own addgrads().
SHARED_PARAMETERS = """
class Tied(chainer.Chain):
    def __init__(self, cls, is_tied=True):
        super().__init__()
        with self.init_scope():
            self.a = cls(4, 4, initialW=0.5, nobias=True)
            self.b = cls(4, 4, initialW=0.5, nobias=True)
        if is_tied:
            self.b.W = self.a.W

    def forward(self, x):
        return F.sum(self.b(F.tanh(self.a(x))) ** 2)

class Own(L.Linear):
    calls = []

    def addgrads(self, link):
        self.calls.append('addgrads')
        super().addgrads(link)

    def copyparams(self, link, copy_persistent=True):
        self.calls.append('copyparams')
        super().copyparams(link, copy_persistent)

ROWS = rng.randn(12, 4).astype('f')

def train(cls, devices, is_tied=True):
    models = {name: Tied(cls, is_tied or name == 'main') for name in devices}
    optimizer = optimizers.SGD(0.01).setup(models['main'])
    iterator = iterators.SerialIterator(ROWS, 4, shuffle=False)
    updater = training.updaters.ParallelUpdater(
        iterator, optimizer, devices=devices, models=models)
    for _ in range(3):
        updater.update()
    return models['main']

for cls in (L.Linear, Own):
    want = train(cls, {'main': '@numpy'})
    for devices in (TWO, {'main': '@numpy', 'b': '@numpy'}, {'main': 'cuda:0', 'b': 'native:0'}):
        for is_tied in (True, False) if cls is L.Linear else (False,):
            Own.calls.clear()
            check(train(cls, devices, is_tied), want)
            assert set(Own.calls) == ({'addgrads', 'copyparams'} if cls is Own else set())
print('done')
"""


def test_parallel_updater_with_shared_parameters(run):
    assert run(PRELUDE + MODELS + SHARED_PARAMETERS) == 'done\n'


#: A copy of memory of another library, before a GPU has memory of ours.
FOREIGN_FIRST = """
p = ctypes.c_uint64()
cuda.mem_info('cuda:1')
assert library.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(4096)) == 0

class Foreign:
    __cuda_array_interface__ = {
        'shape': (16,), 'typestr': '<f4', 'data': (p.value, False), 'version': 3}

x = chx.asarray(Foreign())
assert x.device.name == 'cuda:1'
x.to_device('cuda:0')
assert count('cuMemcpyDtoDAsync_v2', 'cuMemcpyPeerAsync') == [0, 1]
assert float(chx.ones(16, device='cuda:1').to_device('cuda:0').sum()) == 16
assert count('cuMemcpyDtoDAsync_v2', 'cuMemcpyPeerAsync') == [1, 1]
print('done')
"""


def test_foreign_memory_first(run):
    assert run(PRELUDE + FOREIGN_FIRST) == 'done\n'


#: Whoever reads values that came from another GPU is told of the errors in their making.
SENT_ERRORS = """
import threading

def gather(device, index=9):
    return chx.arange(3, device=device).take(chx.array([0, index], device=device), axis=0)

def told(call, index):
    with pytest.raises(IndexError, match=f'take: .*{index}'):
        call()

x = gather('cuda:2')
cuda.synchronize('cuda:0')  # nothing came from there
told(lambda: cuda.synchronize('cuda:2'), 9)

y = gather('cuda:1').to_device('cuda:0')
told(lambda: chx.to_numpy(y), 9)
cuda.synchronize('cuda:1')

z = gather('cuda:2', 8).to_device('cuda:1').to_device('cuda:0')
told(lambda: float(z.sum()), 8)

arrays = [gather(f'cuda:{i}', 2 if i else 7).astype('float32') for i in range(3)]
cuda.all_reduce(arrays)
told(lambda: cuda.synchronize('cuda:2'), 7)

# An error is its thread's.
def work():
    kept.append(gather('cuda:1', 5))
    made.set()
    seen.wait(60)
    try:
        cuda.synchronize('cuda:1')
    except IndexError as error:
        kept.append(str(error))

kept, made, seen = [], threading.Event(), threading.Event()
thread = threading.Thread(target=work)
thread.start()
assert made.wait(60)
cuda.synchronize('cuda:0')
seen.set()
thread.join()
assert '5' in kept[1]
print('done')
"""


def test_errors_come_with_the_values(run):
    assert run(PRELUDE + SENT_ERRORS, DEVICES=3) == 'done\n'


#: The eighth example is the second one of the second GPU in the second minibatch.
WRONG_LABEL = """
labels = np.arange(24, dtype='i') % 3
labels[9] = 11
data = TupleDataset(np.ones((24, 4), 'f'), labels)
updater, model = make(TWO, data=data)
updater.update()
cuda.synchronize('cuda:0')
updater.update()
with pytest.raises(IndexError, match='softmax_cross_entropy: .*11'):
    chx.to_numpy(model.predictor.l1.W.array)
print('done')
"""


def test_wrong_label_on_the_second_gpu(run):
    assert run(PRELUDE + MODELS + WRONG_LABEL) == 'done\n'


WRITTEN_ON_THE_SECOND = """
import pickle
updater, model = make('cuda:1')
trainer = training.Trainer(updater, (2, 'iteration'), out=FOLDER)
trainer.extend(training.extensions.snapshot(filename='trainer'))
trainer.run()
chainer.serializers.save_npz(FOLDER + '/trainer', trainer)
with open(FOLDER + '/pickle', 'wb') as file:
    pickle.dump(model, file)
print({path: x.tolist() for path, x in values(model).items()})
"""
READ_WHERE_IT_IS_NOT = """
import pickle
updater, model = make(DEVICE)
trainer = training.Trainer(updater, (2, 'iteration'), out=FOLDER)
chainer.serializers.load_npz(FOLDER + '/trainer', trainer)
print({path: x.tolist() for path, x in values(model).items()})
assert {p.device.name for p in model.params()} == {DEVICE}
assert updater.iteration == 2
updater.update()
with open(FOLDER + '/pickle', 'rb') as file, chainer.using_device(DEVICE):
    copy = pickle.load(file)
assert copy.device.name == DEVICE and {p.device.name for p in copy.params()} == {DEVICE}
with pytest.raises((IndexError, chx.BackendError), match='cuda'):
    copy.to_device('cuda:1')
"""


@pytest.mark.parametrize('device', ['cuda:0', 'native:0'])
def test_snapshot_of_a_gpu_that_is_not_there(run, tmp_path, device):
    prelude = PRELUDE + MODELS + f'FOLDER, DEVICE = {str(tmp_path)!r}, {device!r}\n'
    written = run(prelude + WRITTEN_ON_THE_SECOND)
    assert run(prelude + READ_WHERE_IT_IS_NOT, DEVICES=1 if device == 'cuda:0' else 0) == written


PROCESSES = """
COLUMNS = [np.stack(column) for column in zip(*DATA[:])]

def part(i):
    return iterators.SerialIterator(TupleDataset(*(column[i::2] for column in COLUMNS)), 3,
                                    shuffle=False)

np.random.seed(0)
model = L.Classifier(Net(4))
optimizer = optimizers.MomentumSGD(0.1).setup(model)
updater = training.updaters.MultiprocessParallelUpdater(
    [part(0), part(1)], optimizer, devices=['cuda:0', 'cuda:1'], reduce='mean')
want, alone = make('cuda:0')
for _ in range(3):
    updater.update()
    want.update()
check(model, alone)
assert {p.device.name for p in model.params()} == {'cuda:0'}
updater.finalize()
print('done')
"""


def test_processes_with_a_gpu_each(run, tmp_path):
    # Their own module, for they import what they unpickle.
    (tmp_path / 'models.py').write_text(PRELUDE + MODELS)
    program = f'import sys\nsys.path.insert(0, {str(tmp_path)!r})\nfrom models import *\n'
    assert run(program + PROCESSES) == 'done\n'

"""The doctor on programs with and without the usual mistakes of users of GPUs."""

import json
import math
import pathlib

import chainerx
import pytest
from chainer._diagnostics.doctor import gpu
from chainerx import profiler

PROGRAM = """
import contextlib, io, json, sys
import chainer, chainerx as chx, numpy as np
import chainer.functions as F, chainer.links as L

ITERATIONS = 10
X = np.random.RandomState(0).rand(8, 4).astype('f')
T = np.arange(8, dtype='i') % 3
BIG = np.zeros((300, 100), 'f')

class Training:
    def __init__(self, device='cuda:0', dtype=np.float32, n_in=4):
        with chainer.using_config('dtype', dtype):
            self.model = chainer.Sequential(L.Linear(n_in, 5), F.tanh, L.Linear(5, 3))
        self.model.to_device(device)
        self.optimizer = chainer.optimizers.Adam().setup(self.model)
        self.x, self.t = self.model.device.send((X.astype(dtype), T))
        self.total = 0
        self.n = 0

    def step(self):
        self.n += 1
        self.model.cleargrads()
        loss = F.softmax_cross_entropy(self.model(self.x), self.t)
        loss.backward()
        self.optimizer.update()
        self.total = self.total + loss.array
        return loss

def examine(step):
    with chainer.Doctor(ITERATIONS) as doctor, contextlib.redirect_stdout(io.StringIO()):
        for _ in range(ITERATIONS):
            step()
    assert doctor.iterations == ITERATIONS
    return [{one.kind: one.text for one in found} for found in (doctor.findings, doctor.hints)]

found = {}
def case(make):
    training = Training()
    found[make.__name__] = examine(lambda: make(training, training.step()))
"""

CASES = """
@case
def nothing(training, loss): pass

@case
def number(training, loss): float(loss.array)

@case
def item(training, loss): loss.array.item()

@case
def text(training, loss): print(loss)

@case
def choice(training, loss):
    if loss.array > 1e9: pass

@case
def mask(training, loss): training.x[training.x > 0.5]

@case
def copy(training, loss): chainer.cuda.to_cpu(training.model[0].W.array)

@case
def wait(training, loss): chx.cuda.synchronize()

@case
def seldom(training, loss):
    if training.n % 5 == 0: float(loss.array)

@case
def pageable(training, loss): training.model.device.send(BIG)

@case
def small(training, loss): training.model.device.send(X)

@case
def pinned(training, loss):
    memory = chx.cuda.pinned(BIG)
    chx.cuda.to_gpu(memory)
    training.kept = memory

@case
def evaluation(training, loss):
    with chainer.using_config('train', False): training.model(training.x)

@case
def evaluation_without_graph(training, loss):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        training.model(training.x)

@case
def gradient_of_an_input(training, loss):
    with chainer.using_config('train', False):
        x = chainer.Variable(training.x)
        chainer.grad([F.sum(training.model(x))], [x])

@case
def double(training, loss): F.exp(training.x.astype('float64'))

@case
def double_number(training, loss): F.exp(training.x[0, 0].astype('float64'))

@case
def new_kernels(training, loss):
    chx.cuda.elementwise('T x', 'T y', f'y = x + {training.n}', f'plus_{training.n}')(training.x)

@case
def a_kernel(training, loss):
    chx.cuda.elementwise('T x, int32 k', 'T y', 'y = x + k', 'plus')(training.x, training.n)

@case
def many_kernels(training, loss):
    for _ in range(300): training.x + 1

@case
def state(training, loss):
    rule = training.model[0].W.update_rule
    rule.state['other'] = chx.ones(3, device='native:0')

training = Training(dtype=np.float64)
found['double_model'] = examine(training.step)
training = Training('native:0')
found['native'] = examine(lambda: float(training.step().array))

for name, move in (('numpy', lambda x: X), ('native', lambda x: x.to_device('native:0'))):
    training = Training()
    training.x = move(training.x)
    try:
        with chainer.Doctor() as doctor:
            training.step()
    except Exception as error:
        assert doctor.has_explained(error)
    found[f'wrong_{name}'] = [{one.kind: one.text for one in doctor.findings}, {}]

from chainer import iterators, training as trainings
from chainer.training import extensions
def train(folder, iterator, trigger):
    one = Training(n_in=396)
    model = L.Classifier(one.model).to_device('cuda:0')
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    data = chainer.datasets.TupleDataset(np.tile(X, (99, 99)), np.tile(T, 99))
    iterator = iterator(data, 50)
    updater = trainings.StandardUpdater(iterator, optimizer, device='cuda:0')
    trainer = trainings.Trainer(updater, (ITERATIONS, 'iteration'), out=folder)
    trainer.extend(extensions.LogReport(trigger=trigger))
    with chainer.Doctor(ITERATIONS) as doctor:
        trainer.run()
    return [{one.kind: one.text for one in some} for some in (doctor.findings, doctor.hints)]

found['trainer'] = train(FOLDER, lambda data, n: iterators.SerialIterator(data, n), (1, 'epoch'))
found['log'] = train(FOLDER, lambda data, n: iterators.SerialIterator(data, n), (1, 'iteration'))
found['ahead'] = train(FOLDER, lambda data, n: iterators.DevicePrefetchIterator(
    iterators.SerialIterator(data, n), 'cuda:0'), (1, 'epoch'))
print(json.dumps(found))
"""

WAITS = 'waits for the GPU'
#: Faults and hints of each case, with what their text has.
EXPECTED = {
    'nothing': ({}, {}),
    'number': ({WAITS: 'float(loss.array)'}, {}),
    'item': ({WAITS: 'loss.array.item()'}, {}),
    'text': ({WAITS: 'print(loss)'}, {}),
    'choice': ({WAITS: 'if loss.array > 1e9'}, {}),
    'mask': ({WAITS: 'training.x[training.x > 0.5]'}, {}),
    'copy': ({WAITS: 'to_cpu('}, {}),
    'wait': ({WAITS: 'chx.cuda.synchronize()'}, {}),
    'seldom': ({}, {}),
    'pageable': ({}, {'batches are not sent ahead': '117 KiB at '}),
    'small': ({}, {}),
    'pinned': ({}, {}),
    'evaluation': ({'graph of an evaluation': 'training.model(training.x)'}, {}),
    'evaluation_without_graph': ({}, {}),
    'gradient_of_an_input': ({}, {}),
    'double': ({'float64': 'input 0 of exp, of shape (8, 4): '}, {}),
    'double_number': ({}, {}),
    'double_model': ({}, {}),
    'new_kernels': ({'kernels compiled in each iteration': 'plus_'}, {}),
    'a_kernel': ({}, {}),
    'many_kernels': ({}, {'many small kernels': '301 Add'}),
    'state': ({'state on another device': "/0/W is on cuda:0, its 'other' on native:0"}, {}),
    'native': ({}, {}),
    'wrong_numpy': ({'arrays on different devices': 'self.model(self.x)'}, {}),
    'wrong_native': ({'arrays on different devices': 'self.model(self.x)'}, {}),
    'trainer': ({}, {'batches are not sent ahead': ', in StandardUpdater: trainer.run()'}),
    'ahead': ({}, {}),
}


@pytest.fixture(scope='module')
def found(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp('doctor')
    # Lines of a program are known only if it is a file.
    path = folder / 'program.py'
    path.write_text(f'FOLDER = {str(folder)!r}\n{PROGRAM}{CASES}')
    printed = run(f"""
import runpy, sys
sys.argv = [{str(path)!r}]
runpy.run_path({str(path)!r}, run_name='__main__')
""")
    return json.loads(printed.splitlines()[-1])


@pytest.mark.parametrize('name', EXPECTED)
def test_programs(found, name):
    for expected, texts in zip(EXPECTED[name], found[name], strict=True):
        assert list(expected) == list(texts), texts
        for kind, part in expected.items():
            assert part in texts[kind]


def test_every_case_is_expected(found):
    assert set(found) == {*EXPECTED, 'log'}
    faults, hints = found['log']
    assert faults == {}
    assert 'in LogReport: trainer.run()' in hints['extensions wait for the GPU']


@pytest.mark.parametrize(
    'arguments',
    [
        ['digits_chainer.py', '--epochs', '1', '--no-plots'],
        ['train_digits.py', '--net', 'mlp', '--epochs', '1'],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_false_alarm_on_examples(run, tmp_path, arguments):
    pytest.importorskip('sklearn')
    path = pathlib.Path(__file__).parents[2] / 'examples' / arguments[0]
    options = ['doctor', '--json', '--iterations', '6', str(path), *arguments[1:]]
    printed = run(f"""
import os, sys
from chainer import _command
os.chdir({str(tmp_path)!r})
sys.exit(_command.main({[*options, '--device', 'cuda:0']!r}))
""")
    result = json.loads(printed[printed.index('{') :])
    assert result == {'iterations': 6, 'findings': [], 'hints': [], 'failure': None}


@pytest.mark.parametrize(
    ('n', 'dtype', 'allowed', 'expected'),
    [
        (512, 'float32', False, ['float32 without TF32']),
        (512, 'float32', True, []),
        (500, 'float32', False, []),
        (512, 'float16', False, []),
    ],
)
def test_large_products_of_float32(n, dtype, allowed, expected):
    one = gpu.Gpu()
    one._iterations = 10
    one._rows = [
        profiler.Row(
            *('Matmul[tiles]', 'gemm', 3, 1.0, 1.0, 1.0, 0, 0, 'cuda:0'),
            *(('x1', 'x2', 'out'), ((n, n),) * 3, (dtype,) * 3),
        )
    ]
    before = chainerx.cuda.allow_tf32(allowed)
    try:
        assert [hint.kind for hint in one.hints()] == expected
    finally:
        chainerx.cuda.allow_tf32(before)
    assert math.prod(one._rows[0].shapes[0]) == n * n


THREADS = """
import sys, threading
import numpy as np
import chainer.links as L, chainerx as chx
from chainer import optimizers
from chainer._diagnostics.doctor.doctor import Doctor

sys.setswitchinterval(1e-6)
text = '\\n'.join(f'def f{i}(x): return float(x)' for i in range(5000))
lines = {}
exec(compile(text, '/program.py', 'exec'), lines)
model = L.Classifier(L.Linear(4, 3)).to_device('cuda:0')
optimizer = optimizers.SGD(0.1).setup(model)
x, t = chx.ones((5, 4), 'float32', device='cuda:0'), chx.zeros(5, 'int32', device='cuda:0')
is_done = threading.Event()

def wait_elsewhere():
    number, i = chx.ones((), device='cuda:0'), 0
    while not is_done.is_set():
        lines[f'f{i % 5000}'](number)
        i += 1

thread = threading.Thread(target=wait_elsewhere)
with Doctor(iterations=200):
    thread.start()
    try:
        for _ in range(150):
            optimizer.update(model, x, t)
    finally:
        is_done.set()
        thread.join()
print('done')
"""


def test_another_thread_waits(run):
    assert run(THREADS) == 'done\n'


def test_other_errors_of_devices_are_not_explained():
    with pytest.raises(chainerx.DeviceError) as caught:
        chainerx.cuda.current_stream('native:0')
    assert gpu.explain(caught.value) is None

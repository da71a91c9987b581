"""`chainer.Doctor` and ``chainer doctor`` on programs with and without faults."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import threading

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer._diagnostics.doctor.growth import Growth
from devices import DEVICES

X = np.random.RandomState(0).rand(8, 4).astype('f')
T = np.arange(8, dtype='i') % 3


class Net(chainer.Chain):
    def __init__(self, cut=lambda h: h, n_units=5):
        super().__init__()
        self.cut = cut
        with self.init_scope():
            self.a = L.Linear(4, n_units)
            self.b = L.Linear(n_units, 3)

    def forward(self, x):
        return self.b(self.cut(F.tanh(self.a(x))))


def examine(step, iterations=12):
    """The findings of a doctor while a step is repeated."""
    np.random.seed(0)
    with chainer.Doctor(iterations) as doctor:
        for _ in range(iterations):
            step()
    assert doctor.iterations == iterations
    return {one.kind: str(one) for one in doctor.findings}, str(doctor)


def make(net=None, optimizer=None, device='@numpy'):
    """A step of a training without faults, and its parts."""
    model = (net or Net()).to_device(device)
    optimizer = (optimizer or chainer.optimizers.SGD(0.1)).setup(model)
    x, t = model.device.send((X, T))

    def step():
        model.cleargrads()
        loss = F.softmax_cross_entropy(model(x), t)
        loss.backward()
        optimizer.update()
        return loss

    return step, model, optimizer


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize(
    'optimizer',
    [
        lambda: chainer.optimizers.SGD(0.1),
        chainer.optimizers.Adam,
        lambda: chainer.optimizers.MomentumSGD(0.1),
    ],
)
def test_nothing_is_wrong(device, optimizer):
    step, _, _ = make(optimizer=optimizer(), device=device)
    found, text = examine(step)
    assert found == {}
    assert text == '12 iterations: nothing wrong was found.'


@pytest.mark.parametrize('device', DEVICES)
def test_a_part_that_is_cut_off(device):
    step, _, _ = make(Net(lambda h: h.array), device=device)
    found, _ = examine(step)
    text = found.pop('missing gradients')
    assert found == {}
    assert '2 of 4 parameters get no gradient' in text
    assert '/a/W: it is not in the graph of the loss' in text
    assert 'beside /b/W' in text  # where it ends


def test_a_link_that_is_not_used():
    net = Net()
    with net.init_scope():
        net.c = L.Linear(None, 2)
    step, _, _ = make(net)
    assert (
        '/c/W: it is not initialized; the link was never called'
        in examine(step)[0]['missing gradients']
    )


def test_a_part_that_is_used_now_and_then():
    net = Net()
    count = [0]

    def cut(h):
        count[0] += 1
        return h.array if count[0] % 2 else h

    net.cut = cut
    assert examine(make(net)[0])[0] == {}


@pytest.mark.parametrize('how', ['array', 'no_backprop_mode'])
def test_a_loss_without_a_graph(how):
    _, model, optimizer = make()

    def step():
        model.cleargrads()
        if how == 'array':
            loss = chainer.Variable(F.softmax_cross_entropy(model(X), T).array)
        else:
            with chainer.no_backprop_mode():
                loss = F.softmax_cross_entropy(model(X), T)
        loss.backward()
        optimizer.update()

    found, _ = examine(step)
    assert 'no parameter gets a gradient: the loss has no graph' in found.pop('detached graph')
    assert found == {}


def test_no_backward():
    _, model, optimizer = make()

    def step():
        model.cleargrads()
        F.softmax_cross_entropy(model(X), T)
        optimizer.update()

    assert 'there was no backward' in examine(step)[0]['detached graph']


def test_gradients_that_are_never_cleared():
    _, model, optimizer = make()

    def step():
        F.softmax_cross_entropy(model(X), T).backward()
        optimizer.update()

    with chainer.Doctor() as doctor:
        step()
        with pytest.raises(RuntimeError, match='NaN') as error:
            step()
        doctor.__exit__(None, error.value, None)
    first, second = doctor.findings
    assert first.kind == 'gradients not cleared'
    assert 'so are NaN, of /a/W, /a/b, /b/W, /b/b' in first.text
    assert second.kind == 'not finite'


def test_gradients_that_are_not_cleared():
    _, model, optimizer = make(optimizer=chainer.optimizers.SGD(1e-4))
    model.cleargrads()

    def step():
        F.softmax_cross_entropy(model(X), T).backward()
        optimizer.update()

    found, _ = examine(step)
    assert '/a/W' in found.pop('gradients not cleared')
    assert found == {}


@pytest.mark.parametrize('how', ['after', 'zerograds', 'accumulate', 'lossfun'])
def test_other_ways_to_clear_gradients(how):
    _, model, optimizer = make()
    model.cleargrads()

    def step():
        if how == 'lossfun':
            optimizer.update(lambda: F.softmax_cross_entropy(model(X), T))
            return
        if how == 'zerograds':
            with pytest.warns(DeprecationWarning, match='zerograds'):
                model.zerograds()
        for _ in range(2 if how == 'accumulate' else 1):
            F.softmax_cross_entropy(model(X), T).backward()
        optimizer.update()
        if how != 'zerograds':
            model.cleargrads()

    assert examine(step)[0] == {}


def test_two_optimizers():
    """As in a GAN, each backward leaves gradients in the other model, too."""
    generator, critic = Net(), L.Linear(3, 1)
    first = chainer.optimizers.SGD(0.01).setup(generator)
    second = chainer.optimizers.SGD(0.01).setup(critic)
    generator.critic = critic  # not trained with it

    def step():
        fake = generator(X)
        generator.cleargrads()
        F.mean(F.softplus(-critic(fake))).backward()
        first.update()
        critic.cleargrads()
        loss = F.mean(F.softplus(critic(fake.array)))
        (loss + F.mean(F.softplus(-critic(X[:, :3])))).backward()
        second.update()

    assert examine(step)[0] == {}


@pytest.mark.parametrize(
    ('hold', 'path'),
    [
        (lambda net, layer: layer, '/held'),
        (lambda net, layer: [layer], '/held[0]'),
        (lambda net, layer: {'x': {'y': (1, layer)}}, "/held['x']['y'][1]"),
        (lambda net, layer: [net, [net], layer], '/held[2]'),
    ],
)
def test_links_that_are_not_registered(hold, path):
    class Forgetful(Net):
        def __init__(self):
            super().__init__()
            layer = L.Linear(3, 3)
            self.held, self.apply = hold(self, layer), lambda x: layer(x)
            if isinstance(self.held, list):
                self.held.append(self.held)  # which holds itself

        def forward(self, x):
            return self.apply(super().forward(x))

    found, _ = examine(make(Forgetful())[0])
    text = found.pop('parameters not registered')
    assert f'{path}, a Linear' in text
    assert found == {}


def test_a_model_without_parameters():
    model = chainer.Chain()
    optimizer = chainer.optimizers.SGD().setup(model)
    found, _ = examine(lambda: optimizer.update(lambda: F.sum(X)))
    assert 'the model stays as it is: it has no parameters' in found.pop('nothing to train')
    assert found == {}


def test_a_model_that_is_frozen():
    step, model, _ = make()
    model.disable_update()
    found, _ = examine(step)
    assert 'all parameters are disabled' in found.pop('nothing to train')
    assert found == {}
    step, model, _ = make()
    model.a.disable_update()  # as one does
    assert examine(step)[0] == {}


def test_a_training_in_another_thread():
    """A training in another thread continues after the last examined iteration."""
    step, _, _ = make()
    done = []

    def run():
        for i in range(5):
            step()
            done.append(i)

    with chainer.Doctor(iterations=3) as doctor:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert done == list(range(5))
    assert str(doctor) == '3 iterations: nothing wrong was found.'
    assert not chainer.config.debug


def test_units_that_never_fire():
    net = Net(lambda h: F.relu(h - 10))
    found, _ = examine(make(net)[0])
    assert '/a/W' in found.pop('zero gradients')
    assert found == {}


def test_gradients_that_explode():
    model = L.Linear(4, 1, initialW=1)
    optimizer = chainer.optimizers.SGD(3.0).setup(model)

    def step():
        model.cleargrads()
        F.mean_squared_error(model(X), np.zeros((8, 1), 'f')).backward()
        optimizer.update()

    found, _ = examine(step)
    assert 'SGD of Linear: the norm of the gradient was' in found.pop('exploding gradients')
    assert found == {}
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
    model.W.array[...] = 1
    assert 'exploding gradients' not in examine(step)[0]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('backward', [False, True])
def test_not_finite(device, backward):
    """The report names the function and the line."""
    bad = (lambda h: F.sqrt(h * 0)) if backward else (lambda h: F.log(h - 10))
    step, _, _ = make(Net(bad), device=device)
    with pytest.raises(RuntimeError, match='is detected on'), chainer.Doctor() as doctor:
        step()
    (found,) = doctor.findings
    assert found.kind == 'not finite'
    assert 'iteration 1: ' in found.text
    assert ('sqrt' if backward else 'log') in found.text
    assert pathlib.Path(__file__).name in found.text
    assert chainer.config.debug is False


def test_a_loss_scale_that_adapts_may_overflow():
    _, model, optimizer = make()
    optimizer.loss_scaling()
    optimizer._loss_scale = 1e38

    def scaled():
        optimizer.update(lambda: F.softmax_cross_entropy(model(X) * 1e3, T))

    with pytest.warns(UserWarning, match='Non finite'):
        assert 'not finite' not in examine(scaled)[0]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('holder', ['list', 'sum', 'attribute', 'numpy'])
def test_memory_that_is_kept(holder, device):
    step, model, _ = make(device=device)
    losses, kept = [], []
    total = 0
    model.history = []

    def keep():
        nonlocal total
        loss = step()
        if holder == 'list':
            losses.append(loss)
        elif holder == 'sum':
            total = total + loss
        elif holder == 'attribute':
            model.history.append((0, loss))
        else:
            kept.append(np.zeros(5000))

    def run():
        np.random.seed(0)
        with chainer.Doctor(12) as doctor:
            for _ in range(12):
                keep()
        return doctor.findings

    (found,) = run()
    assert found.kind == 'memory growth'
    name = {
        'list': '`losses` in ',
        'sum': '`total` in ',
        'attribute': 'attribute `history` of a Net',
        'numpy': '`kept` in ',
    }[holder]
    assert f'kept by {name}' in found.text, found.text
    if holder != 'sum':
        assert 'a list that grows by 1 in each iteration' in found.text
        assert f'made at {__file__}' in found.text
    if holder == 'numpy':
        assert 'np.zeros(5000)' in found.text
        assert 'operations of graphs' not in found.text


@pytest.mark.parametrize('cut', [False, True])
def test_a_state_whose_graph_grows(cut):
    class Recurrent(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.lstm = L.LSTM(4, 3)

        def forward(self, x):
            return self.lstm(x)

    model = Recurrent()
    optimizer = chainer.optimizers.SGD(0.01).setup(model)

    def step():
        loss = F.softmax_cross_entropy(model(X), T)
        model.cleargrads()
        loss.backward()
        if cut:
            loss.unchain_backward()
        optimizer.update()

    found, _ = examine(step)
    if not cut:
        assert 'attribute `lstm/h` of `model` in ' in found.pop('memory growth')
    assert found == {}


@pytest.mark.parametrize('holder', ['numbers', 'last', 'window'])
def test_memory_that_is_not_kept(holder):
    step, _, _ = make()
    kept = []

    def keep():
        loss = step()
        if holder == 'numbers':
            kept.append(float(loss.array))
        elif holder == 'last':
            kept[:] = [loss]
        else:
            kept[:] = [*kept[-2:], loss]

    assert examine(keep)[0] == {}


def test_a_trainer(tmp_path):
    from chainer import training
    from chainer.training import extensions

    data = chainer.datasets.TupleDataset(X, T)
    model = L.Classifier(Net())
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = chainer.iterators.SerialIterator(data, 4)
    test = chainer.iterators.SerialIterator(data, 4, repeat=False, shuffle=False)
    updater = training.StandardUpdater(iterator, optimizer, device='native:0')
    trainer = training.Trainer(updater, (30, 'iteration'), out=tmp_path)
    trainer.extend(extensions.Evaluator(test, model, device='native:0'))
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.snapshot(), trigger=(5, 'iteration'))
    with chainer.Doctor(30) as doctor:
        trainer.run()
    assert doctor.findings == []
    assert doctor.iterations == 30


def test_all_is_as_before(tmp_path):
    """Everything is as before afterwards, even after an error and for concurrent training."""
    from chainer import optimizer as optimizer_module
    from chainerx._core import engine

    before = chainer.GradientMethod.update, engine.backward
    results = []
    for watched in (False, True):
        np.random.seed(0)
        step, model, _ = make()
        if watched:
            with chainer.Doctor(5):
                for _ in range(10):
                    step()
                assert (optimizer_module.GradientMethod.update, engine.backward) == before
        else:
            for _ in range(10):
                step()
        results.append([p.array.tobytes() for p in model.params()])
    assert results[0] == results[1]
    doctor = chainer.Doctor()
    with pytest.raises(TypeError), doctor:
        step('wrong')
    assert (chainer.GradientMethod.update, engine.backward) == before
    with chainer.Doctor(), pytest.raises(RuntimeError, match='another one'):
        chainer.Doctor().__enter__()
    with pytest.raises(ValueError, match='iterations must be positive, not 0'):
        chainer.Doctor(0)


def test_no_update():
    with chainer.Doctor() as doctor:
        pass
    assert [one.kind for one in doctor.findings] == ['no update']
    assert list(Growth(20).findings()) == []


# ---- the command ----

PROGRAM = """
import sys
import numpy as np
import chainer, chainer.functions as F, chainer.links as L

FAULT = sys.argv[1]
model = L.Linear(4, 2)
optimizer = chainer.optimizers.SGD(0.1).setup(model)
x, t = np.ones((3, 4), 'f'), np.zeros(3, 'i')
losses = []
print('begins')
for i in range(1000):
    if FAULT == 'error' and i == 3:
        raise KeyError('three')
    if FAULT == 'exit' and i == 3:
        sys.exit(4)
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    if FAULT == 'keeps':
        losses.append(loss)
    if FAULT == 'nan' and i == 5:
        model.W.array[...] = np.nan
print('ends')
"""


def doctor(folder, *arguments):
    (folder / 'train.py').write_text(PROGRAM)
    files = (str(folder / a) if a.endswith('.py') else a for a in arguments)
    command = [sys.executable, '-m', 'chainer', 'doctor', *files]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ('fault', 'texts'),
    [
        ('none', ['12 iterations: nothing wrong was found.']),
        ('keeps', ['1 fault\nmemory growth: ', '`losses` of train.py', 'train.py:']),
        ('nan', ['not finite: iteration 7: NaN is detected', 'model(x)']),
        ('error', ["the program raised KeyError: 'three'"]),
        ('exit', ['the program ended with 4']),
    ],
)
def test_command(fault, texts, tmp_path):
    done = doctor(tmp_path, '--iterations', '12', 'train.py', fault)
    assert done.returncode == (0 if fault == 'none' else 1), done.stderr
    for text in texts:
        assert text in done.stdout, done.stdout
    assert 'begins' in done.stdout
    assert 'ends' not in done.stdout
    assert ('Traceback' in done.stderr) == (fault == 'error')


def test_command_json(tmp_path):
    done = doctor(tmp_path, '--json', 'train.py', 'keeps')
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert result['iterations'] == 20
    assert [one['kind'] for one in result['findings']] == ['memory growth']
    assert 'begins' in done.stderr


def test_command_mistakes(tmp_path):
    done = doctor(tmp_path, 'nothing.py')
    assert (done.returncode, "nothing.py' is no file" in done.stderr) == (1, True)
    assert doctor(tmp_path, '--iterations', '0', 'train.py', 'none').returncode == 1

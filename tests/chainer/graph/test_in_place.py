"""In-place writes to arrays that a graph needs, to broadcast arrays, and to shared memory."""

import contextlib

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import optimizers
from chainerx._core import engine
from devices import DEVICES, maker, to_numpy

RNG = np.random.default_rng(4)
# CuPy's arrays have no read-only flag.
WITH_FLAG = [d for d in DEVICES if not d.startswith('@cupy')]


def is_ours(device):
    """Whether chainerx notices writes to arrays of a device."""
    return not device.startswith('@')


LABELLED = {
    'softmax_cross_entropy': (F.softmax_cross_entropy, (5, 3), (5,)),
    'softmax_cross_entropy, not reduced': (
        lambda x, t: F.sum(F.softmax_cross_entropy(x, t, reduce='no')),
        (5, 3),
        (5,),
    ),
    'softmax_cross_entropy of images': (F.softmax_cross_entropy, (2, 3, 4), (2, 4)),
    'sigmoid_cross_entropy': (F.sigmoid_cross_entropy, (5,), (5,)),
    'hinge': (F.hinge, (5, 3), (5,)),
    'select_item': (lambda x, t: F.sum(F.select_item(x, t)), (5, 3), (5,)),
    'embed_id': (lambda w, i: F.sum(F.embed_id(i, w)), (3, 4), (5,)),
    'get_item': (lambda x, i: F.sum(F.get_item(x, i)), (5, 3), (4,)),
    'permutate': (lambda x, i: F.sum(F.permutate(x, i, axis=1)), (5, 3), (3,)),
    'permutate back': (
        lambda x, i: F.sum(F.permutate(x, i, axis=1, inv=True)),
        (5, 3),
        (3,),
    ),
}


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize(('f', 'x_shape', 't_shape'), LABELLED.values(), ids=LABELLED)
@pytest.mark.parametrize('beyond', [10**9, -(10**9)])
def test_labels_are_written(f, x_shape, t_shape, beyond, device):
    """Overwritten labels never cause out-of-bounds access, whoever wrote them."""
    array = maker(device)
    x = chainer.Parameter(array(RNG.normal(size=x_shape), 'float32'))
    values = RNG.permutation(3) if 'permutate' in str(f.__code__.co_names) else None
    t = array(RNG.integers(0, 2, t_shape) if values is None else values, 'int64')
    y = f(x, t)
    t += beyond
    if not is_ours(device):
        with contextlib.suppress(IndexError):
            y.backward()
    else:
        with pytest.raises(chainerx.GradientError, match=r'of shape .* written in place'):
            y.backward()
        assert x.grad is None


class Double(chainer.FunctionNode):
    """x * 2, which retains its input or its output."""

    def __init__(self, what):
        self.what = what

    def forward(self, inputs):
        if self.what == 'input':
            self.retain_inputs((0,))
        elif self.what == 'output':
            self.retain_outputs((0,))
        return (inputs[0] * 2,)

    def backward(self, indexes, gys):
        kept = (*self.get_retained_inputs(), *self.get_retained_outputs())
        return (gys[0] * sum([F.sum(x) for x in kept], 1.0),)


class OldDouble(chainer.Function):
    def __init__(self, what):
        self.what = what

    def forward(self, inputs):
        if self.what == 'output':
            self.retain_inputs(())
            self.retain_outputs((0,))
        return (inputs[0] * 2,)

    def backward(self, inputs, gys):
        return (gys[0] * 2,)


@pytest.mark.parametrize('make', [lambda w: lambda x: Double(w).apply((x,))[0], OldDouble])
@pytest.mark.parametrize('what', ['input', 'output'])
def test_retained_array_is_written(make, what):
    array = maker('native:0')
    data = array([1.0, 2.0], 'float32')
    x = chainer.Variable(data)
    y = make(what)(x)
    loss = F.sum(y)
    target = data if what == 'input' else y.array
    target += 1
    with pytest.raises(chainerx.GradientError, match=rf'Double: {what} 0, of shape \(2,\)'):
        loss.backward()
    assert x.grad is None
    x = chainer.Variable(array([1.0, 2.0], 'float32'))
    (y,) = Double('none').apply((x,))
    loss = F.sum(y)
    y.array[...] = 0  # backward does not read it
    loss.backward()
    assert x.grad.tolist() == [1, 1]


def test_saved_array_of_a_variable_is_written():
    a = maker('native:0')([1.0, 2.0], 'float32')
    x = chainer.Parameter(maker('native:0')([3.0, 4.0], 'float32'))
    v = chainer.Variable(a)
    y = F.sum(x * v)
    a += 1
    with pytest.raises(chainerx.GradientError, match='multiply: input 1'):
        y.backward()
    assert v.grad is None
    assert x.grad is None
    y = F.sum(x * v)  # the current graph
    y.backward()
    assert x.grad.tolist() == [2, 3]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('make', [optimizers.SGD, optimizers.Adam, optimizers.MomentumSGD])
def test_updates_do_no_harm(make, device):
    """Updates between complete steps are allowed; the old graph uses the new values."""
    link = chainer.Sequential(chainer.links.Linear(3, 4), F.tanh, chainer.links.Linear(4, 2))
    link.to_device(device)
    optimizer = make().setup(link)
    x = maker(device)(RNG.normal(size=(5, 3)), 'float32')
    t = maker(device)([0, 1, 1, 0, 1], 'int32')
    for _ in range(3):
        loss = F.softmax_cross_entropy(link(x), t)
        link.cleargrads()
        loss.backward()
        optimizer.update()
    loss.backward()
    optimizer.update(lambda: F.softmax_cross_entropy(link(x), t))


class OwnRule(chainer.optimizer.UpdateRule):
    """A user's rule: it works in place on any kind of array."""

    def update_core(self, param):
        param.array -= 0.01 * param.grad


class NumPyRule(chainer.optimizer.UpdateRule):
    """A rule of a v7 user, written before chainerx existed."""

    def update_core_cpu(self, param):
        param.array -= 0.01 * param.grad

    update_core_gpu = update_core_cpu


class Own(chainer.GradientMethod):
    def __init__(self, rule):
        super().__init__()
        self.rule = rule

    def create_update_rule(self):
        return self.rule()


MAKERS = {
    'SGD': optimizers.SGD,
    'Adam': optimizers.Adam,
    'MSVAG': lambda: optimizers.MSVAG(lr=0.01),
    'rule': lambda: Own(OwnRule),
    'rule for NumPy': lambda: Own(NumPyRule),
}


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('hooked', [False, True])
@pytest.mark.parametrize('dtype', ['float32', 'float16'])
@pytest.mark.parametrize('make', MAKERS)
def test_a_generator_learns_after_its_judge(make, dtype, hooked, device):
    """As in v7, the generator's gradients use the discriminator's updated parameters."""
    with chainer.using_config('dtype', np.dtype(dtype)):
        generator, judge = chainer.links.Linear(3, 4), chainer.links.Linear(4, 2)
    of_both = []
    for link in (judge, generator):
        link.to_device(device)
        of_both.append(MAKERS[make]().setup(link))
        if dtype == 'float16':
            of_both[-1].use_fp32_update()
        if hooked:
            of_both[-1].add_hook(chainer.optimizer_hooks.WeightDecay(0.01))
    x = maker(device)(RNG.normal(size=(5, 3)), dtype)
    for _ in range(3):
        y = judge(generator(x))
        of_both[0].update(lambda: -F.sum(y * y))  # noqa: B023
        gy = (2 * to_numpy(y.array).astype('f')) @ to_numpy(judge.W.array).astype('f')
        generator.cleargrads()
        F.sum(y * y).backward()
        expected = gy.T @ to_numpy(x).astype('f')
        found = to_numpy(generator.W.grad)
        np.testing.assert_allclose(
            found, expected, rtol=1e-4 if dtype == 'float32' else 0.03, atol=1e-2
        )
        of_both[1].update()


@pytest.mark.parametrize('device', [d for d in DEVICES if is_ours(d)])
def test_other_writes_to_parameters_spoil_their_graphs(device):
    """Other writes to parameters invalidate their graphs, even between forward and update."""
    link = chainer.links.Linear(3, 4)
    link.to_device(device)
    optimizer = Own(OwnRule).setup(link)
    x = chainer.Variable(maker(device)(RNG.normal(size=(5, 3)), 'float32'))
    y = F.sum(link(x))
    y.backward()
    link.W.array[...] *= 2
    optimizer.update()
    with pytest.raises(chainerx.GradientError, match='written in place'):
        y.backward()


@pytest.mark.parametrize('device', WITH_FLAG)
def test_broadcast_arrays_are_read_only(device):
    x = chainer.Parameter(maker(device)([1.0, 2.0, 3.0], 'float32'))
    for y in (
        F.broadcast_to(x, (4, 3)),
        F.broadcast(x, chainer.Variable(maker(device)(np.zeros((4, 3)), 'float32')))[0],
        F.expand_dims(F.broadcast_to(x, (4, 3)), 0),
    ):
        with pytest.raises((ValueError, chainerx.ChainerxError), match='read-only'):
            y.array += 1
        with pytest.raises((ValueError, chainerx.ChainerxError), match='read-only'):
            y.array[0] = 1
        assert x.array.tolist() == [1, 2, 3]
        total = F.sum(y * y)
        x.cleargrad()
        total.backward()
        np.testing.assert_array_equal(to_numpy(x.grad), [8, 16, 24])
    x.cleargrad()
    F.sum(x).backward()
    x.grad[...] *= 2  # broadcast inside the function, but with its own memory here
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('make', [optimizers.SGD, optimizers.Adam, optimizers.MomentumSGD])
def test_update_of_shared_memory(make, device):
    """Updates of shared memory equal one-by-one updates, also if a gradient is a parameter."""
    results = []
    for fused in (True, False):
        memory = np.linspace(1, 2, 6, dtype='float32')
        link = chainer.Link()
        with link.init_scope():
            wrap = (lambda n: n) if not is_ours(device) else chainerx.asarray
            link.a = chainer.Parameter(wrap(memory[:4]))
            link.b = chainer.Parameter(wrap(memory[2:]))
            link.c = chainer.Parameter(wrap(np.ones(4, 'float32')))
        optimizer = make().setup(link)
        if not fused:
            for p in link.params():
                p.update_rule.add_hook(lambda rule, param: None)
        for _ in range(3):
            for name, p in link.namedparams():
                p.grad = p.device.send(np.full(4, 0.5 if name == '/a' else 1.5, 'float32'))
            link.c.grad = link.a.array
            optimizer.update()
        results.append([memory.copy(), to_numpy(link.c.array).copy()])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_call_updates_no_shared_memory():
    """Shared memory is not updated in one call, where threads would write concurrently."""
    memory = np.ones(6, 'float32')
    a, b = chainer.Parameter(memory[:4]), chainer.Parameter(memory[3:])
    with pytest.raises(ValueError, match='share memory'):
        engine.UpdatePlan('sgd', (), [(a, {}), (b, {})])
    b = chainer.Parameter(memory[4:])
    plan = engine.UpdatePlan('sgd', (), [(a, {}), (b, {})])
    a.grad, b.grad = np.ones(4, 'float32'), memory[2:4]
    assert not plan.step(1, (0.5,))
    b.grad = np.ones(2, 'float32')
    assert plan.step(1, (0.5,))
    assert memory.tolist() == [0.5] * 6


def test_odd_bools_of_numpy_are_refused():
    mask = np.array([0, 1, 2], 'uint8').view(bool)
    with pytest.raises(ValueError, match='bytes other than 0 and 1'):
        F.where(mask, np.ones(3, 'float32'), np.zeros(3, 'float32'))

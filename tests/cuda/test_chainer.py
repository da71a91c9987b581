"""Programs for v7 on "cuda:0", in processes of their own."""

import importlib.util

import pytest

TRAIN = """
import chainer, chainerx, numpy as np
import chainer.functions as F, chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.datasets import TupleDataset
from chainer.training import extensions

def trainer(device, epochs):
    np.random.seed(0)
    net = chainer.Sequential(L.Linear(4, 5), L.BatchNormalization(5), F.relu, L.Linear(None, 3))
    model = L.Classifier(net).to_device(device)
    optimizer = optimizers.Adam(0.01).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1))
    rng = np.random.RandomState(1)
    data = TupleDataset(rng.rand(12, 4).astype('f'), rng.randint(0, 3, 12).astype('i'))
    updater = training.StandardUpdater(iterators.SerialIterator(data, 4), optimizer, device=device)
    result = training.Trainer(updater, (epochs, 'epoch'), out=FOLDER)
    test = iterators.SerialIterator(data, 6, repeat=False, shuffle=False)
    result.extend(extensions.Evaluator(test, model, device=device))
    result.extend(extensions.LogReport(trigger=(1, 'iteration')))
    result.extend(extensions.snapshot(filename='{.updater.epoch}'))
    return result, model

def resume(device, name='1'):
    result, model = trainer(device, 2)
    serializers.load_npz(FOLDER + '/' + name, result)
    return result, model

def values(model):
    return {path: chainer.cuda.to_cpu(p.array).tolist() for path, p in model.namedparams()}
"""
ON_GPU = """
first, model = trainer('cuda:0', 1)
first.run()
assert {p.device.name for p in model.params()} == {'cuda:0'}
losses = []
for device in ('cuda:0', 'native:0', '@numpy'):
    again, copy = resume(device)
    assert values(copy) == values(model)
    again.run()
    losses.append(float(again.observation['main/loss'].array))
    assert again.updater.iteration == 6
np.testing.assert_allclose(losses, losses[0], 1e-5)
back, copy = resume('cuda:0', '2')  # as NumPy wrote it
assert {p.device.name for p in copy.params()} == {'cuda:0'}
x = copy.device.send(np.ones((2, 4), 'f'))
with chainer.using_config('train', False), chainer.no_backprop_mode():
    assert copy.predictor(x).array.device.name == 'cuda:0'
print(values(model))
"""


def test_snapshots_go_from_one_device_to_another(run, tmp_path):
    program = f'FOLDER = {str(tmp_path)!r}\n' + TRAIN
    trained = run(program + ON_GPU)
    where_no_gpu_is = {'CHAINERX_CUDA_TEST_DRIVER': ''}
    load = "serializers.load_npz(FOLDER + '/1', model, path='updater/model:main/')"
    text = f"_, model = trainer('native:0', 1)\n{load}\nprint(values(model))"
    assert run(program + text, environment=where_no_gpu_is) == trained


ERRORS = """
import chainer, chainerx, numpy as np
import chainer.links as L

def error(call, *args):
    try:
        call(*args)
    except Exception as e:
        return str(e)

x = np.ones((2, 3), 'f')
link = L.Linear(3, 2).to_device('cuda:0')
print(error(link, x))
for call in (link.to_gpu, chainer.get_device, chainer.cuda.to_gpu, chainer.cuda.Device):
    print(error(call, 0) if call != chainer.cuda.to_gpu else error(call, x, 0))

class Own(chainer.FunctionNode):
    def forward_cpu(self, inputs):
        return inputs[0] * 2,

print(error(Own().apply, (link.W,)))

class Rule(chainer.UpdateRule):
    def update_core_cpu(self, param):
        param.array += 1

link.W.update_rule = Rule()
link.W.grad = link.W.array
print(error(link.W.update))
"""


@pytest.mark.skipif(importlib.util.find_spec('cupy') is not None, reason='CuPy is there')
def test_errors_say_what_to_do(run):
    mixed, *gpu, own, rule = run(ERRORS).splitlines()
    assert (
        "input 0 is on @numpy, input 1 (W) is on cuda:0; move one with chainer.get_device('"
        in mixed
    )
    for text in gpu[:3]:
        assert "to_device('cuda:0'), not by to_gpu() or a number" in text
    assert own == 'Own has neither forward nor forward_gpu'
    assert rule == 'Rule.update_core_gpu is not implemented'


WRONG_LABEL_AHEAD = """
import chainer, chainerx, numpy as np, pytest
import chainer.functions as F, chainer.links as L
from chainer import iterators, optimizers, training
from chainerx import cuda

labels = np.arange(20, dtype='i') % 3
labels[9] = 7  # in the third of five minibatches
x = np.random.RandomState(0).rand(20, 4).astype('f')
WANT = r'softmax_cross_entropy: .*7'

def make():
    np.random.seed(0)
    model = L.Classifier(L.Linear(4, 3)).to_device('cuda:0')
    return model, optimizers.SGD(0.1).setup(model)
"""
PREFETCHED = """
model, optimizer = make()
data = chainer.datasets.TupleDataset(x, labels)
iterator = iterators.SerialIterator(data, 4, shuffle=False)
ahead = iterators.DevicePrefetchIterator(iterator, 'cuda:0')
updater = training.StandardUpdater(ahead, optimizer, device='cuda:0')
updater.update()
updater.update()
cuda.synchronize()
for _ in range(3):
    updater.update()
with pytest.raises(IndexError, match=WANT):
    float(model.loss.array)
updater.update()  # the GPU goes on
cuda.synchronize()
print('done')
"""
#: The same by hand: all five are on their way before the first one is used.
FROM_PINNED_MEMORY = """
model, optimizer = make()
pinned = [tuple(cuda.pinned(a[i:i + 4]) for a in (x, labels)) for i in range(0, 20, 4)]
side, main, sent = cuda.Stream(), cuda.current_stream(), []
with side:
    for arrays in pinned:
        sent.append(([cuda.to_gpu(a) for a in arrays], side.record()))
for k, (arrays, event) in enumerate(sent):
    main.wait_event(event)
    optimizer.update(model, *arrays)
    if k == 1:
        side.synchronize()
        main.synchronize()
with pytest.raises(IndexError, match=WANT):
    main.synchronize()
main.synchronize()
side.synchronize()
print('done')
"""


@pytest.mark.parametrize('program', [PREFETCHED, FROM_PINNED_MEMORY])
def test_wrong_label_in_a_batch_that_was_sent_ahead(run, program):
    assert run(WRONG_LABEL_AHEAD + program) == 'done\n'

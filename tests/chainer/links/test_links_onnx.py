"""`L.ONNXFunction`: models of ONNX as links, compared with the chains they were exported from."""

import pathlib
import pickle
import subprocess
import sys
import threading

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import pytest
from devices import DEVICES, to_numpy

pytest.importorskip('onnx.helper')

import onnx
import onnx_chainer

sys.path.append(str(pathlib.Path(__file__).parents[2] / 'chainerx' / 'onnx'))

from onnx_models import TensorProto, info, make, node

X = np.random.default_rng(0).standard_normal((4, 1, 6, 6)).astype('f')


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c = L.Convolution2D(1, 3, 3)
            self.bn = L.BatchNormalization(3)
            self.l = L.Linear(48, 5)

    def forward(self, x):
        return self.l(F.tanh(self.bn(self.c(x))))


@pytest.fixture(scope='module')
def net():
    net = Net()
    net(X)  # moves the statistics
    return net


@pytest.fixture(scope='module')
def path(net, tmp_path_factory):
    path = tmp_path_factory.mktemp('onnx') / 'net.onnx'
    onnx_chainer.export(net, X, path, input_shapes=('batch', 1, 6, 6))
    return path


def gradients(link, y):
    link.cleargrads()
    F.sum(y * y).backward()
    return {path: p.grad for path, p in link.namedparams()}


@pytest.mark.parametrize('device', DEVICES)
def test_values_and_gradients(net, path, device):
    link = L.ONNXFunction(path).to_device(device)
    x = chainer.Variable(chainer.get_device(device).send(X))
    y = link(x)
    assert isinstance(y.array, type(x.array))
    with chainer.using_config('train', False):
        expected = net(X)
        assert np.array_equal(to_numpy(y), expected.array)
        found = gradients(link, y)
        for name, grad in gradients(net, expected).items():
            np.testing.assert_allclose(
                to_numpy(found['/param' + name.replace('/', '_')]), grad, rtol=1e-5, atol=1e-5
            )
    assert x.grad.shape == X.shape


def test_statistics_are_not_trained(net, path):
    link = L.ONNXFunction(path)
    assert sorted(dict(link.namedparams())) == [
        *('/param_bn_beta', '/param_bn_gamma', '/param_c_W', '/param_c_b'),
        *('/param_l_W', '/param_l_b'),
    ]
    assert link._persistent == {'param_bn_avg_mean', 'param_bn_avg_var'}
    np.testing.assert_array_equal(link.param_bn_avg_mean, net.bn.avg_mean)


def test_names():
    names = ['a.b', 'a/b', '', '3', 'copy', 'lambda', '_params', 'names', 'é', 'a_b']
    weights = {name or ' ': np.float32(i) for i, name in enumerate(names)}
    nodes = [node('Sum', ['x', *weights], ['y'])]
    source = make(nodes, [info('x', [])], [info('y', [])], weights)
    link = L.ONNXFunction(source)
    assert [*link.names.values()] == [
        *('a_b', 'a_b_1', '_', 'p_3', 'copy_1', 'lambda_1', '_params_1', 'names_1', '__1', 'a_b_2')
    ]
    assert [to_numpy(getattr(link, a)).item() for a in link.names.values()] == [*range(10)]
    assert link(np.array(1, 'f')).item() == 46
    assert L.ONNXFunction(source).names == link.names


@pytest.mark.parametrize('kind', ['npz', 'hdf5'])
def test_serializers(path, kind, tmp_path):
    if kind == 'hdf5':
        pytest.importorskip('h5py')
    save, load = (getattr(chainer.serializers, f'{verb}_{kind}') for verb in ('save', 'load'))
    link, other = L.ONNXFunction(path), L.ONNXFunction(path)
    for value in (link.param_c_W.array, link.param_bn_avg_var):
        value *= 2
    save(tmp_path / 'link', link)
    load(tmp_path / 'link', other)
    np.testing.assert_array_equal(other(X).array, link(X).array)
    assert not np.array_equal(other(X).array, L.ONNXFunction(path)(X).array)


def double(link):
    for param in link.params():
        param.array[...] *= 2


@pytest.mark.parametrize('mode', ['copy', 'init', 'share'])
def test_copies(path, mode):
    link = L.ONNXFunction(path)
    before = link(X).array
    copies = [link.copy(mode), *link.repeat(2, mode)]
    double(copies[0])
    assert not np.array_equal(copies[0](X).array, before)
    for other in (link, *copies[1:]):
        assert np.array_equal(other(X).array, before) == (mode != 'share')
    assert all(p is not q for p in copies[0].params() for q in link.params())


def test_pickles(path, tmp_path):
    link = L.ONNXFunction(path)
    double(link)
    expected = link(X).array
    for source in (path, path.read_bytes()):
        link = L.ONNXFunction(source)
        double(link)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(link))(X).array, expected)
    own = tmp_path / 'own.onnx'
    own.write_bytes(path.read_bytes())
    link = L.ONNXFunction(own)
    own.write_bytes(path.read_bytes() + b'\0')
    with pytest.raises(ValueError, match=r'own\.onnx.* has changed since it was read'):
        pickle.dumps(link)


def test_devices(path):
    link = L.ONNXFunction(path)
    expected = link(X).array
    other = link.copy('copy').to_device('native:1')
    y = other(chainerx.array(X, device='native:1'))
    assert y.device.name == 'native:1'
    np.testing.assert_array_equal(to_numpy(y), expected)
    np.testing.assert_array_equal(link(X).array, expected)
    with pytest.raises(chainerx.DeviceError):
        other(chainerx.array(X, device='native:0'))


@pytest.mark.parametrize('device', DEVICES)
def test_training(path, device):
    device = chainer.get_device(device)
    model = chainer.Sequential(L.ONNXFunction(path), F.tanh, L.Linear(5, 2)).to_device(device)
    link = model[0]
    link.disable_update()
    optimizer = chainer.optimizers.Adam().setup(model)
    link.disable_update()
    frozen = {name: to_numpy(p).copy() for name, p in link.namedparams()}
    x, t = device.send(X), device.send(np.array([0, 1, 1, 0], 'i'))
    losses = []
    for i in range(30):
        if i == 10:
            for name, p in link.namedparams():
                np.testing.assert_array_equal(to_numpy(p), frozen[name])
            link.enable_update()
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    assert losses[-1] < losses[10] < losses[0]
    for name, p in link.namedparams():
        # The bias before a normalization has no influence but on rounding.
        assert name == '/param_c_b' or not np.array_equal(to_numpy(p), frozen[name])


def test_hooks(path):
    link = L.ONNXFunction(path)
    with chainer.link_hooks.TimerHook() as links, chainer.function_hooks.TimerHook() as functions:
        F.sum(link(X)).backward()
    assert [*links.summary()] == ['ONNXFunction']
    assert functions.summary()['ONNXModel']['occurrence'] == 2
    y = link(X)
    assert y.creator.label == 'ONNXModel'
    assert len(y.creator.inputs) == 7
    y.unchain_backward()
    assert y.creator is None


def test_parallel_updater(path):
    model = L.Classifier(L.ONNXFunction(path))
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    data = chainer.datasets.TupleDataset(X, np.array([0, 1, 1, 0], 'i'))
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    before = L.ONNXFunction(path)
    updater = chainer.training.updaters.ParallelUpdater(
        iterator, optimizer, devices={'main': 'native:0', 'other': 'native:1'}
    )
    updater.update()
    whole = L.Classifier(before)
    whole.cleargrads()
    whole(X, np.array([0, 1, 1, 0], 'i')).backward()
    for p, q in zip(model.params(), whole.params(), strict=True):
        # The gradients of two halves are added, so the step is twice as long.
        np.testing.assert_allclose(to_numpy(p.array), q.array - 0.2 * q.grad, rtol=1e-4, atol=1e-5)


def test_copies_in_threads(path):
    """Copies share what does not change, and have parameters of their own."""
    link = L.ONNXFunction(path)
    copies = [link.copy('copy') for _ in range(4)]
    for i, copy in enumerate(copies):
        copy.param_l_W.array[...] = 0
        copy.param_l_b.array[...] = i
    found = [[] for _ in copies]

    def run(i):
        found[i] += [copies[i](X).array for _ in range(50)]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(copies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, ys in enumerate(found):
        assert len(ys) == 50
        assert all((y == i).all() for y in ys)


def several(**kwargs):
    nodes = [node('Add', ['a', 'b'], ['s']), node('Mul', ['s', 'w'], ['p'])]
    inputs = [info('a', [2]), info('b', [2]), info('w', [2])]
    outputs = [info('p', [2]), info('s', [2]), info('a', [2])]
    return L.ONNXFunction(make(nodes, inputs, outputs, {'w': np.full(2, 3, 'f')}))


def test_inputs_and_outputs():
    link = several()
    assert [(i.name, i.required) for i in link.inputs] == [('a', True), ('b', True), ('w', False)]
    assert str(link) == "ONNXFunction(inputs=['a', 'b'], outputs=['p', 's', 'a'])"
    a, b = (chainer.Variable(np.array(v, 'f')) for v in ([1, 2], [3, 4]))
    p, s, same = link(b=b, a=a)
    assert [v.array.tolist() for v in (p, s, same)] == [[12, 18], [4, 6], [1, 2]]
    F.sum(p + same).backward()
    assert a.grad.tolist() == [4, 4]
    assert b.grad.tolist() == [3, 3]
    assert link.w.grad.tolist() == [4, 6]
    p, *_ = link(a, b, np.array([1, 0], 'f'))
    assert p.array.tolist() == [4, 0]
    p.array[...] = 7  # is not memory of the link
    assert link(a, b)[0].array.tolist() == [12, 18]


@pytest.mark.parametrize(
    ('args', 'kwargs', 'error', 'message'),
    [
        ((np.ones(2, 'f'),), {}, ValueError, 'input "b" is missing'),
        ((1, 2, 3, 4), {}, TypeError, 'has 3 inputs, but was given 4'),
        ((X,), {'a': X}, TypeError, 'input "a" was given twice'),
        ((), {'z': X}, TypeError, 'has no input "z", but a, b, w'),
        ((X, X), {}, chainerx.DimensionError, r'input "a" must be float32 \(2,\), got shape'),
        ((np.ones(2), np.ones(2)), {}, chainerx.DtypeError, 'input "a" .* got dtype float64'),
        ((1, 2), {}, TypeError, 'is a int, expected a Variable or an array'),
    ],
)
def test_wrong_inputs(args, kwargs, error, message):
    with pytest.raises(error, match=message):
        several()(*args, **kwargs)


def test_outputs_that_are_no_arrays():
    nodes = [node('SequenceConstruct', ['x', 'x'], ['y'])]
    output = make.__globals__['helper'].make_tensor_sequence_value_info('y', 1, None)
    link = L.ONNXFunction(make(nodes, [info('x', [2])], [output]))
    with pytest.raises(TypeError, match='output "y" is a sequence, expected an array'):
        link(np.ones(2, 'f'))


def normalized():
    nodes = [
        node('BatchNormalization', ['x', 'g', 'b', 'm', 'v'], ['h', 'm2', 'v2'], 'bn',
             training_mode=1, momentum=0.75),
        node('Dropout', ['h', 'half', 'yes'], ['y']),
    ]  # fmt: skip
    weights = {name: np.full(3, v, 'f') for name, v in zip('gbmv', (2, 1, 4, 9), strict=True)}
    weights |= {'half': np.float32(0.5), 'yes': np.array(True)}
    return make(nodes, [info('x', [None, 3])], [info('y', [None, 3])], weights)


@pytest.mark.parametrize('device', DEVICES)
def test_nodes_in_training_mode(device):
    device = chainer.get_device(device)
    link = L.ONNXFunction(normalized()).to_device(device)
    values = np.random.default_rng(1).standard_normal((1000, 3)).astype('f')
    x = device.send(values)
    with chainer.using_config('train', False):
        y = to_numpy(link(x))
    np.testing.assert_allclose(y, (values - 4) / 3 * 2 + 1, rtol=1e-4, atol=1e-4)
    assert to_numpy(link.m).tolist() == [4] * 3
    y = to_numpy(link(x))
    kept = y != 0
    assert 0.4 < kept.mean() < 0.6
    mean, var = values.mean(0), values.var(0)
    expected = ((values - mean) / np.sqrt(var + 1e-5) * 2 + 1) * 2
    np.testing.assert_allclose(y[kept], expected[kept], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(to_numpy(link.m), 0.75 * 4 + 0.25 * mean, rtol=1e-5)
    np.testing.assert_allclose(to_numpy(link.v), 0.75 * 9 + 0.25 * var, rtol=1e-5)


def test_statistics_move_once_when_recomputed():
    link = L.ONNXFunction(normalized())
    x = chainer.Variable(np.random.default_rng(1).standard_normal((8, 3)).astype('f'))
    F.sum(F.forget(link, x)).backward()
    np.testing.assert_allclose(link.m, 3 + 0.25 * x.array.mean(0), rtol=1e-5)


@pytest.mark.parametrize('op', ['Dropout', 'RandomUniformLike'])
def test_random_numbers_follow_numpy(op):
    inputs = ['x', 'half', 'yes'] if op == 'Dropout' else ['x']
    nodes = [node(op, inputs, ['d']), node(op, inputs, ['e']), node('Mul', ['d', 'w'], ['y'])]
    weights = {'half': np.float32(0.5), 'yes': np.array(True), 'w': np.ones(64, 'f')}
    outputs = [info('y', [64]), info('e', [64])]
    link = L.ONNXFunction(make(nodes, [info('x', [64])], outputs, weights))
    x = np.ones(64, 'f')

    def run(seed):
        np.random.seed(seed)
        return [y.array for y in link(x)]

    y, e = run(0)
    assert not np.array_equal(y, e)
    assert all(map(np.array_equal, run(0), (y, e)))
    assert not np.array_equal(run(1)[0], y)
    # A recomputation draws the same.
    variable = chainer.Variable(x)
    y = F.forget(lambda x: link(x)[0], variable)
    F.sum(y).backward()
    np.testing.assert_allclose(link.w.grad, y.array)


def test_double_backward(path):
    link = L.ONNXFunction(path)
    x = chainer.Variable(X)
    (gx,) = chainer.grad([F.sum(link(x) ** 2)], [x], enable_double_backprop=True)
    link.cleargrads()
    F.sum(gx * gx).backward()
    assert all(p.grad is not None and np.isfinite(p.grad).all()
               for name, p in link.namedparams() if name != '/param_l_b')  # fmt: skip


def test_constants_of_a_model_are_no_parameters():
    weights = {'w': np.ones((2, 3), 'f'), 'shape': np.array([3, 2])}
    nodes = [node('Reshape', ['w', 'shape'], ['r']), node('Add', ['x', 'r'], ['y'])]
    link = L.ONNXFunction(make(nodes, [info('x', [3, 2])], [info('y', [3, 2])], weights))
    assert [*link.names] == ['w']
    assert link(np.zeros((3, 2), 'f')).array.tolist() == [[1, 1]] * 3


def test_other_outputs(net, path):
    with chainer.using_config('train', False):
        expected = F.tanh(net.bn(net.c(X))).array
    (tanh,) = [n.output[0] for n in onnx.load(path).graph.node if n.op_type == 'Tanh']
    link = L.ONNXFunction(path, outputs=[tanh])
    assert 'param_l_W' not in link.names
    np.testing.assert_array_equal(link(X).array, expected)
    double(link)
    again = pickle.loads(pickle.dumps(link))
    np.testing.assert_array_equal(again(X).array, link(X).array)
    with pytest.raises(ValueError, match='outputs has "other", but no node'):
        L.ONNXFunction(path, outputs=['other'])


def test_models_that_can_not_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        L.ONNXFunction(tmp_path / 'none.onnx')
    with pytest.raises(ValueError, match=r'ModelProto'):
        L.ONNXFunction(b'no model')
    with pytest.raises(NotImplementedError, match='Nothing of version 17'):
        L.ONNXFunction(make([node('Nothing', ['x'], ['y'])], [info('x', [1])], [info('y', [1])]))


def test_bfloat16():
    weight = chainerx.to_numpy(chainerx.ones(2, 'bfloat16'))
    kind = TensorProto.BFLOAT16
    nodes = [node('Mul', ['x', 'w'], ['y'])]
    link = L.ONNXFunction(make(nodes, [info('x', [2], kind)], [info('y', [2], kind)],
                               {'w': weight}))  # fmt: skip
    assert link.w.dtype == weight.dtype
    x = chainer.Variable(weight + weight)
    y = link(x)
    assert y.dtype == weight.dtype
    y.grad = weight
    y.backward()
    assert link.w.grad.astype('f').tolist() == [2, 2]


def test_the_library_is_not_imported_with_chainer():
    code = (
        'import sys, chainer.links as L; L.ONNXFunction; '
        'assert not {"chainerx.onnx", "chainerx._onnx", "onnx"} & set(sys.modules)'
    )
    subprocess.run([sys.executable, '-c', code], check=True)

"""`CaffeFunction`, compared with Chainer v7 on the same files."""

import pathlib
import sys

import chainer
import numpy as np
import pytest
from chainer.links.caffe import CaffeFunction, _schema

V7 = pathlib.Path(__file__).parents[1] / 'data' / 'v7_caffe.npz'


@pytest.fixture(scope='module')
def v7():
    pytest.importorskip('google.protobuf')
    with np.load(V7) as found:
        return dict(found)


@pytest.fixture
def read(v7, tmp_path):
    def read(name):
        path = tmp_path / f'{name}.caffemodel'
        path.write_bytes(v7[name].tobytes())
        if name == 'old':
            return CaffeFunction(str(path))
        with pytest.warns(UserWarning, match='Skip the layer "odd"'):
            return CaffeFunction(str(path))

    return read


def expected(v7, name, part):
    start = f'{name}:{part}:'
    return {k[len(start) :]: x for k, x in v7.items() if k.startswith(start)}


@pytest.mark.parametrize('name', ['old', 'new'])
def test_as_in_v7(name, v7, read):
    net = read(name)
    params = expected(v7, name, 'p')
    assert {k for k, _ in net.namedparams()} == params.keys()
    for key, p in net.namedparams():
        np.testing.assert_array_equal(p.array, params[key])
    outputs = expected(v7, name, 'y')
    with chainer.using_config('train', False):
        ys = net({'data': v7['x'], 'label': v7['t']}, list(outputs))
    for (key, value), y in zip(outputs.items(), ys, strict=True):
        np.testing.assert_allclose(y.array, value, 1e-5, 1e-6, err_msg=key)


def test_layers_that_are_left_out(v7, read):
    net = read('old')
    (y,) = net({'data': v7['x']}, ['c2'], disable=['relu'])
    assert (y.array > 0).any()
    with pytest.raises(KeyError, match=r"outputs has 'fc', but the layers gave data, c1"):
        net({'data': v7['x']}, ['fc'], disable=['pool'])
    with pytest.raises(KeyError, match='loss'):
        net({'data': v7['x']}, ['loss'])
    with pytest.raises(ValueError, match='train argument'):
        net({'data': v7['x']}, ['c1'], train=False)


def test_a_copy_calls_its_own_layers(v7, read):
    net = read('old')
    other = net.copy('copy')
    other['conv/1'].b.array[...] += 1
    (y,), (z,) = (m({'data': v7['x']}, ['c1']) for m in (net, other))
    np.testing.assert_allclose(z.array, y.array + 1, 1e-5)


def write(path, **layer):
    net = _schema.messages.NetParameter()
    made = net.layer.add(name='l', bottom=['x'], top=['y'])
    blobs = layer.pop('blobs', ())
    made.type = layer.pop('type')
    for part, fields in layer.items():
        for field, value in fields.items():
            setattr(getattr(made, part), field, value)
    for shape, n in blobs:
        blob = made.blobs.add(data=[0.5] * n)
        blob.shape.dim.extend(shape)
    path.write_bytes(net.SerializeToString())
    return str(path)


@pytest.mark.parametrize(
    ('layer', 'text'),
    [
        ({'type': 'Convolution', 'blobs': [((2, 1, 3, 3), 17)]}, r'17 elements.*\(2, 1, 3, 3\)'),
        ({'type': 'Convolution'}, '0 blobs, expected at least 1'),
        ({'type': 'InnerProduct', 'blobs': [((2, 3), 6), ((3,), 3)]}, 'bias has 3 elements'),
        ({'type': 'Eltwise', 'eltwise_param': {'operation': 7}}, 'operation is 7'),
        ({'type': 'BatchNorm', 'blobs': [((2,), 2)]}, '1 blobs, expected at least 2'),
    ],
)
def test_what_is_not_understood_is_named(layer, text, tmp_path):
    pytest.importorskip('google.protobuf')
    path = write(tmp_path / 'x.caffemodel', **layer)
    with pytest.raises(ValueError, match=rf"^CaffeFunction: layer 'l': .*{text}"):
        CaffeFunction(path)


@pytest.mark.parametrize(
    ('layer', 'text'),
    [
        ({'type': 'InnerProduct', 'inner_product_param': {'axis': 2}}, 'axis 2'),
        ({'type': 'LRN', 'lrn_param': {'norm_region': 1}}, 'norm_region WITHIN_CHANNEL'),
        ({'type': 'Pooling', 'pooling_param': {'pool': 2}}, 'pool 2, neither MAX nor AVE,'),
        ({'type': 'SoftmaxWithLoss', 'softmax_param': {'axis': 0}}, 'axis 0'),
        ({'type': 'Reshape', 'reshape_param': {'axis': 1}}, 'to reshape a part of the axes'),
    ],
)
def test_settings_that_are_not_supported(layer, text, tmp_path):
    pytest.importorskip('google.protobuf')
    path = write(tmp_path / 'x.caffemodel', **layer)
    with pytest.raises(RuntimeError, match=f"^CaffeFunction: layer 'l': {text} is not supported"):
        CaffeFunction(path)


@pytest.mark.parametrize(('blobs', 'scale'), [([], 1), ([((1,), 1)], 0.5)])
def test_statistics_of_batch_normalization(blobs, scale, tmp_path):
    """Statistics are sums with a number of batches, or means without it."""
    pytest.importorskip('google.protobuf')
    path = write(tmp_path / 'x', type='BatchNorm', blobs=[((2,), 2), ((2,), 2), *blobs])
    link = CaffeFunction(path)['l']
    np.testing.assert_allclose(link.avg_mean, [0.5 / scale] * 2)
    np.testing.assert_allclose(link.avg_var, [0.5 / scale] * 2)


def test_files_that_are_no_models(tmp_path):
    pytest.importorskip('google.protobuf')
    path = tmp_path / 'x.caffemodel'
    path.write_bytes(b'\xff' * 99)
    with pytest.raises(ValueError, match=r'x\.caffemodel.* is no \.caffemodel'):
        CaffeFunction(str(path))
    path.write_bytes(b'')
    with pytest.raises(ValueError, match='has no layers'):
        CaffeFunction(str(path))
    with pytest.raises(FileNotFoundError):
        CaffeFunction(str(tmp_path / 'none'))


def test_without_protobuf(monkeypatch, tmp_path):
    """protobuf is not a dependency."""
    for name in ('google', 'google.protobuf'):
        monkeypatch.setitem(sys.modules, name, None)
    _schema._pool.cache_clear()
    with pytest.raises(ImportError, match='pip install protobuf'):
        CaffeFunction(str(tmp_path / 'x.caffemodel'))


def test_global_pooling_reshape_and_slopes(tmp_path):
    pytest.importorskip('google.protobuf')
    net = _schema.messages.NetParameter()
    for name, kind, bottom, top in (
        ('g', 'Pooling', 'x', 'g'), ('r', 'Reshape', 'x', 'r'), ('a', 'ReLU', 'x', 'a'),
    ):  # fmt: skip
        net.layer.add(name=name, type=kind, bottom=[bottom], top=[top])
    net.layer[0].pooling_param.pool = 1
    net.layer[0].pooling_param.global_pooling = True
    net.layer[1].reshape_param.shape.dim.extend([0, -1])
    net.layer[2].relu_param.negative_slope = 0.5
    path = tmp_path / 'x.caffemodel'
    path.write_bytes(net.SerializeToString())
    x = np.random.RandomState(0).randn(2, 3, 4, 5).astype('float32')
    g, r, a = CaffeFunction(str(path))({'x': x}, ['g', 'r', 'a'])
    np.testing.assert_allclose(g.array, x.mean((2, 3), keepdims=True), 1e-5, 1e-6)
    assert r.shape == (2, 60)
    np.testing.assert_allclose(a.array, np.where(x > 0, x, x / 2), 1e-6)

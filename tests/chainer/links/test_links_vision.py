"""Vision models: names, shapes, weights and results as in Chainer v7; weight files."""

import json
import pathlib
import zlib

import chainer
import chainer.links as L
import numpy as np
import pytest
from chainer import serializers
from chainer.links.caffe import _schema
from chainer.links.model.vision import googlenet, resnet, vgg

V7 = json.loads((pathlib.Path(__file__).parents[1] / 'data' / 'v7_vision.json').read_text())
X = np.random.RandomState(0).randn(1, 3, 64, 64).astype('float32')
FILES = {
    'VGG16Layers': 'VGG_ILSVRC_16_layers',
    'VGG19Layers': 'VGG_ILSVRC_19_layers',
    'ResNet50Layers': 'ResNet-50-model',
    'ResNet101Layers': 'ResNet-101-model',
    'ResNet152Layers': 'ResNet-152-model',
    'GoogLeNet': 'bvlc_googlenet',
}


@pytest.fixture(scope='module')
def nets():
    """The models, created once as they are large."""
    found = {}
    for name in ('ResNet50Layers', 'GoogLeNet'):
        np.random.seed(0)
        found[name] = getattr(L, name)(None)
    return found


@pytest.mark.parametrize('name', ['ResNet50Layers', 'GoogLeNet'])
def test_as_in_v7(name, nets):
    """The initial weights have the same bits as in v7."""
    net, expected = nets[name], V7[name]
    assert net.available_layers == expected['layers'] == list(net.functions)
    assert {k: list(p.shape) for k, p in net.namedparams()} == expected['shapes']
    assert {k: zlib.crc32(p.array.tobytes()) for k, p in net.namedparams()} == expected['crc']
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        ys = net(X, layers=list(expected['outputs']))
    for layer, (*first, total) in expected['outputs'].items():
        y = ys[layer].array
        np.testing.assert_allclose(np.abs(y.astype('float64')).sum(), total, 1e-4)
        np.testing.assert_allclose(y.ravel()[:4], first, 1e-3, 1e-4 * np.abs(y).max())


def test_the_names_of_others(monkeypatch):
    """Other models have v7's names, checked without allocating their weights."""

    class Lean(L.Linear):
        def __init__(self, ins, outs, **kwargs):
            super().__init__(None, outs, **kwargs)
            self.ins = ins

    monkeypatch.setattr(vgg, 'Linear', Lean)
    for name in ('VGG16Layers', 'VGG19Layers'):
        net = getattr(L, name)(None)
        assert net.available_layers == V7[name]['layers']
        shapes = {k: p.shape and list(p.shape) for k, p in net.namedparams() if p.is_initialized}
        expected = V7[name]['shapes']
        assert shapes == {k: s for k, s in expected.items() if len(s) == 4 or k.endswith('/b')}
        for fc in ('fc6', 'fc7', 'fc8'):
            assert [net[fc].out_size, net[fc].ins] == expected[f'/{fc}/W']


@pytest.mark.parametrize('name', ['ResNet101Layers', 'ResNet152Layers'])
def test_deeper_ones(name, monkeypatch):
    monkeypatch.setattr(resnet.initializers, 'HeNormal', lambda scale: chainer.initializers.Zero())
    net = getattr(L, name)(None)
    assert {k: list(p.shape) for k, p in net.namedparams()} == V7[name]['shapes']


def test_layers_that_are_none(nets):
    net = nets['GoogLeNet']
    with pytest.raises(ValueError, match=r"GoogLeNet: layers has 'pool9', expected some of conv1"):
        net(X, layers=['conv1', 'pool9'])
    with pytest.raises(ValueError, match='test argument'):
        net(X, test=True)
    with pytest.raises(TypeError, match='odd'):
        net(X, odd=True)
    assert net(X, layers=[]) == {}


def test_where_images_become_smaller():
    blocks = [resnet.BuildingBlock(2, 4, 2, 8, 2, downsample_fb=fb) for fb in (False, True)]
    strides = [[b.a[f'conv{i}'].stride[0] for i in (1, 2, 3, 4)] for b in blocks]
    assert strides == [[2, 1, 1, 2], [1, 2, 1, 2]]
    x = np.ones((2, 4, 6, 6), 'float32')
    assert [b(x).shape for b in blocks] == [(2, 8, 3, 3)] * 2


@pytest.mark.parametrize('name', FILES)
def test_weights_that_are_not_there(name, monkeypatch, tmp_path):
    monkeypatch.setenv('CHAINER_DATASET_ROOT', str(tmp_path))
    place = tmp_path / 'pfnet' / 'chainer' / 'models' / FILES[name]
    with pytest.raises(FileNotFoundError) as info:
        getattr(L, name)()
    assert f'{place}.npz' in str(info.value)
    assert f'{place}.caffemodel' in str(info.value)
    with pytest.raises(FileNotFoundError, match=rf'{name}: pretrained_model is .*none.npz'):
        getattr(L, name)(str(tmp_path / 'none.npz'))


def test_weights_from_a_file(nets, monkeypatch, tmp_path):
    folder = tmp_path / 'pfnet' / 'chainer' / 'models'
    folder.mkdir(parents=True)
    path = folder / 'bvlc_googlenet.npz'
    serializers.save_npz(path, nets['GoogLeNet'], compression=False)
    monkeypatch.setenv('CHAINER_DATASET_ROOT', str(tmp_path))
    for given in ('auto', str(path)):
        net = L.GoogLeNet(given)
        for (k, p), (_, q) in zip(
            sorted(net.namedparams()), sorted(nets['GoogLeNet'].namedparams()), strict=True
        ):
            assert p.array.tobytes() == q.array.tobytes(), k
    monkeypatch.setattr(resnet, '_DEPTHS', {50: (1, 1, 1, 1)})
    with pytest.raises((KeyError, ValueError), match=r'conv1|bn1'):
        L.ResNet50Layers(str(path))  # the weights of another model


def add(net, name, kind, *blobs):
    layer = net.layer.add(name=name, type=kind, bottom=['x'], top=[name])
    for values in blobs:
        blob = layer.blobs.add(data=np.ravel(values))
        blob.shape.dim.extend(np.shape(values))
    return layer


def test_weights_of_caffe(nets, tmp_path):
    pytest.importorskip('google.protobuf')
    source, net = nets['GoogLeNet'], _schema.messages.NetParameter()
    for name, theirs in googlenet._CAFFE.items():
        kind = 'Convolution' if source[name].W.ndim == 4 else 'InnerProduct'
        add(net, theirs, kind, source[name].W.array, source[name].b.array)
    for block in googlenet._BLOCKS:
        for name, theirs in googlenet._CAFFE_BLOCK.items():
            layer = source[f'inc{block}'][name]
            theirs = f'inception_{block}/{theirs}'
            add(net, theirs, 'Convolution', layer.W.array, layer.b.array)
    path = tmp_path / 'x.caffemodel'
    path.write_bytes(net.SerializeToString())
    L.GoogLeNet.convert_caffemodel_to_npz(str(path), tmp_path / 'x.npz')
    for file in (path, tmp_path / 'x.npz'):
        found = L.GoogLeNet(str(file))
        for (k, p), (_, q) in zip(
            sorted(found.namedparams()), sorted(source.namedparams()), strict=True
        ):
            np.testing.assert_array_equal(p.array, q.array, err_msg=k)


def test_normalizations_of_caffe(monkeypatch, tmp_path):
    """ResNet normalizations, which are two layers in Caffe, are converted to one."""
    pytest.importorskip('google.protobuf')
    monkeypatch.setattr(resnet, '_DEPTHS', {50: (2, 1, 1, 1)})
    rs = np.random.RandomState(0)
    source, net = resnet.ResNetLayers(None, 50), _schema.messages.NetParameter()
    parts = [('conv1', '_conv1', source.conv1, source.bn1)]
    for block in ('res2', 'res3', 'res4', 'res5'):
        for place in source[block]._forward:
            letter = {'a': 'a', 'b1': 'b'}[place]
            names = [('2a', 1), ('2b', 2), ('2c', 3)] + [('1', 4)] * (place == 'a')
            for branch, i in names:
                name = f'{block[3:]}{letter}_branch{branch}'
                link = source[block][place]
                parts.append((f'res{name}', name, link[f'conv{i}'], link[f'bn{i}']))
    for conv_name, name, conv, bn in parts:
        bn.gamma.array[...] = rs.rand(bn.gamma.size)
        bn.beta.array[...] = rs.rand(bn.gamma.size)
        bn.avg_mean[...] = rs.rand(bn.gamma.size)
        bn.avg_var[...] = rs.rand(bn.gamma.size)
        blobs = [conv.W.array] + ([] if conv.b is None else [conv.b.array])
        add(net, conv_name, 'Convolution', *blobs).convolution_param.bias_term = len(blobs) == 2
        add(net, f'bn{name}', 'BatchNorm', bn.avg_mean * 2, bn.avg_var * 2, [2.0])
        scale = add(net, f'scale{name}', 'Scale', bn.gamma.array, bn.beta.array)
        scale.scale_param.bias_term = True
    add(net, 'fc1000', 'InnerProduct', source.fc6.W.array, source.fc6.b.array)
    path = tmp_path / 'x.caffemodel'
    path.write_bytes(net.SerializeToString())
    found = L.ResNet50Layers(str(path))
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        y, z = (m(X, layers=['fc6'])['fc6'].array for m in (found, source))
    np.testing.assert_array_equal(y, z)


def test_images(nets):
    image = pytest.importorskip('PIL.Image')
    pixels = np.random.RandomState(0).randint(0, 256, (5, 4, 3)).astype('uint8')
    for prepare, mean in (
        (vgg.prepare, [103.939, 116.779, 123.68]),
        (resnet.prepare, [103.063, 115.903, 123.152]),
        (googlenet.prepare, [104, 117, 123]),
    ):
        expected = (pixels[:, :, ::-1] - np.array(mean)).transpose(2, 0, 1)
        for given in (pixels, pixels.transpose(2, 0, 1), image.fromarray(pixels)):
            found = prepare(given, size=None)
            assert found.dtype == 'float32'
            np.testing.assert_allclose(found, expected, atol=1e-4)
        assert prepare(pixels).shape == (3, 224, 224)
        assert prepare(pixels, (7, 9)).shape == (3, 9, 7)
        grey = prepare(pixels[None, :, :, 0], None)
        np.testing.assert_allclose(grey[0] - grey[1], mean[1] - mean[0], atol=1e-3)
    with pytest.raises(TypeError, match='image is a str'):
        vgg.prepare('cat.png')
    net = nets['ResNet50Layers']
    with chainer.using_config('train', False):
        found = net.extract([pixels, pixels], layers=['pool1'], size=(32, 40))['pool1']
    assert found.shape == (2, 64, 10, 8)
    assert found.creator is not None
    with pytest.raises(ValueError, match='volatile argument'):
        net.extract([pixels], volatile=True)


def test_predict(nets, monkeypatch):
    pytest.importorskip('PIL.Image')
    pixels = np.random.RandomState(0).randint(0, 256, (300, 280, 3)).astype('uint8')
    net = nets['ResNet50Layers']
    seen = []

    def forward(x, layers=None):
        assert not chainer.config.train
        assert not chainer.config.enable_backprop
        seen.append(x)
        return {'prob': chainer.Variable(np.arange(len(x) * 2.0).reshape(len(x), 2))}

    monkeypatch.setattr(net, 'forward', forward)
    y = net.predict([pixels, pixels])
    assert seen[0].shape == (20, 3, 224, 224)
    np.testing.assert_allclose(y.array, [[9, 10], [29, 30]])
    y = net.predict([pixels], oversample=False)
    whole = resnet.prepare(pixels, (256, 256))
    np.testing.assert_array_equal(seen[1][0], whole[:, 16:240, 16:240])
    assert y.shape == (1, 2)


def test_images_that_are_none(nets):
    pytest.importorskip('PIL.Image')
    with pytest.raises(ValueError, match=r'prepare: image has shape \(4, 5, 5\), expected'):
        vgg.prepare(np.zeros((4, 5, 5), np.uint8))
    net = nets['GoogLeNet']
    for call in (net.extract, net.predict):
        with pytest.raises(ValueError, match='GoogLeNet: images has length 0, expected at least 1'):
            call([])

"""Subclasses of `CaffeFunction` that read custom layers."""

import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer.links.caffe import caffe_function
from chainer.links.caffe.caffe_function import (
    CaffeFunction,
    _get_channels,
    _get_height,
    _get_ksize,
    _get_num,
    _get_pad,
    _get_stride,
    _get_width,
    _layer,
    _SingleArgumentFunction,
    caffe_pb,
)

pytest.importorskip('google.protobuf')


def blob_of(shape):
    blob = caffe_pb.BlobProto(data=range(int(np.prod(shape))))
    blob.shape.dim.extend(shape)
    return blob


def test_sizes_of_blobs():
    sizes = (_get_num, _get_channels, _get_height, _get_width)
    old = caffe_pb.BlobProto(num=2, channels=3, height=4, width=5)
    assert [f(old) for f in sizes] == [2, 3, 4, 5]
    assert [f(blob_of((2, 3, 4, 5))) for f in sizes] == [2, 3, 4, 5]
    assert [f(blob_of((4, 5))) for f in sizes[2:]] == [4, 5]
    for f in sizes[2:]:
        with pytest.raises(RuntimeError, match='3-dimensional array is not supported'):
            f(blob_of((2, 3, 4)))


def test_windows():
    window = (_get_ksize, _get_stride, _get_pad)
    param = caffe_pb.ConvolutionParameter()
    assert [f(param) for f in window] == [[], 1, 0]
    param = caffe_pb.ConvolutionParameter(kernel_size=[3], stride=[2], pad=[1])
    assert [f(param) for f in window] == [3, 2, 1]
    param = caffe_pb.ConvolutionParameter(kernel_h=3, kernel_w=4, stride_h=1, stride_w=2, pad_h=1)
    assert [f(param) for f in window] == [(3, 4), (1, 2), (1, 0)]
    assert [f(caffe_pb.PoolingParameter(kernel_size=3)) for f in window] == [3, 1, 0]
    with pytest.raises(AttributeError, match=r'caffe_pb\.SolverParameter'):
        caffe_pb.SolverParameter()


@pytest.fixture
def registered():
    before = [dict(d) for d in (caffe_function._type_to_method, caffe_function._oldname_to_method)]
    yield
    for d, old in zip(
        (caffe_function._type_to_method, caffe_function._oldname_to_method), before, strict=True
    ):
        d.clear()
        d.update(old)


@pytest.mark.parametrize('old_format', [False, True])
def test_layers_of_a_subclass(old_format, registered, tmp_path):
    class Mine(CaffeFunction):
        @_layer('TanH', 'TANH')
        def _setup_tanh(self, layer):
            self.forwards[layer.name] = _SingleArgumentFunction(F.tanh)
            self._add_layer(layer)

        @_layer('InnerProduct', 'INNER_PRODUCT')
        def _setup_inner_product(self, layer):
            blob = layer.blobs[0]
            link = L.Linear(_get_width(blob), _get_height(blob), nobias=True)
            link.W.array.ravel()[:] = blob.data
            with self.init_scope():
                setattr(self, layer.name, link)
            self.forwards[layer.name] = caffe_function._CallChildLink(self, layer.name)
            self._add_layer(layer)

    net = caffe_pb.NetParameter()
    layers = net.layers if old_format else net.layer
    types = caffe_pb.V1LayerParameter
    for name, kind, blobs in (
        ('fc', types.INNER_PRODUCT if old_format else 'InnerProduct', [blob_of((3, 2))]),
        ('tanh', types.TANH if old_format else 'TanH', []),
    ):
        layers.add(name=name, type=kind, bottom=['x' if name == 'fc' else 'fc'], top=[name])
        layers[-1].blobs.extend(blobs)
    path = tmp_path / 'x.caffemodel'
    path.write_bytes(net.SerializeToString())
    x = np.array([[0.1, -0.2]], 'f')
    (y,) = Mine(str(path))({'x': x}, ['tanh'])
    w = np.arange(6, dtype='f').reshape(3, 2)
    np.testing.assert_allclose(y.array, np.tanh(x @ w.T), rtol=1e-6)

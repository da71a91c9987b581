"""Small Caffe models and the results of Chainer v7.8.1, for `test_links_caffe.py`.

Run it where Chainer 7.8.1 with numpy < 1.24 and protobuf is installed:

    PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python python tests/chainer/data/make_v7_caffe.py

It writes v7_caffe.npz here: the files as bytes, their outputs and weights.
"""

import pathlib
import tempfile

import chainer
import numpy as np
from chainer.links.caffe import CaffeFunction
from chainer.links.caffe.protobuf3 import caffe_pb2 as caffe

HERE = pathlib.Path(__file__).resolve().parent
RANDOM = np.random.RandomState(0)
BLOBS = ('c1', 'c2', 'n', 'p', 'm', 'cat', 's1', 's2', 's3', 'sum', 'mul', 'max', 'sig', 'fc',
         'prob', 'loss')  # fmt: skip


def add(net, is_old, name, kind, bottom, top, blobs=(), **params):
    layer = (net.layers if is_old else net.layer).add()
    layer.name = name
    layer.type = getattr(caffe.V1LayerParameter, kind[1]) if is_old else kind[0]
    layer.bottom.extend(bottom)
    layer.top.extend(top)
    for shape in blobs:
        values = RANDOM.uniform(0.1, 1, shape).astype('float32')
        blob = layer.blobs.add()
        blob.data.extend(values.ravel())
        if is_old:
            blob.num, blob.channels, blob.height, blob.width = (1,) * (4 - len(shape)) + shape
        else:
            blob.shape.dim.extend(shape)
    for path, value in params.items():
        part, _, field = path.partition('__')
        if isinstance(value, list):
            getattr(getattr(layer, part + '_param'), field).extend(value)
        else:
            setattr(getattr(layer, part + '_param'), field, value)


def build(is_old):
    net = caffe.NetParameter()
    net.name = 'small'

    def put(name, kind, bottom, top, *blobs, **params):
        add(net, is_old, name, kind, bottom, top, blobs, **params)

    put('data', ('Data', 'DATA'), [], ['data', 'label'])
    conv = ('Convolution', 'CONVOLUTION')
    size = {'convolution__kernel_size': 3 if is_old else [3]}
    if is_old:
        size = {'convolution__kernel_size': [3]}
    put('conv/1', conv, ['data'], ['c1'], (4, 1, 3, 3), (4,), convolution__num_output=4,
        convolution__group=2, convolution__stride=[2], convolution__pad=[1], **size)  # fmt: skip
    put('conv2', conv, ['c1'], ['c2'], (4, 4, 1, 2), convolution__num_output=4,
        convolution__kernel_h=1, convolution__kernel_w=2, convolution__bias_term=False,
        convolution__stride_h=1, convolution__stride_w=2, convolution__pad_w=1)  # fmt: skip
    put('relu', ('ReLU', 'RELU'), ['c2'], ['c2'], relu__negative_slope=0.1)
    put('lrn', ('LRN', 'LRN'), ['c2'], ['n'], lrn__local_size=3, lrn__alpha=0.3, lrn__beta=0.5)
    put('split', ('Split', 'SPLIT'), ['n'], ['n1', 'n2', 'n3'])
    put('pool', ('Pooling', 'POOLING'), ['n1'], ['p'], pooling__kernel_size=2, pooling__stride=2)
    put('mean', ('Pooling', 'POOLING'), ['n2'], ['m'], pooling__pool=1, pooling__kernel_h=2,
        pooling__kernel_w=1, pooling__stride_h=1, pooling__stride_w=1)  # fmt: skip
    put('cat', ('Concat', 'CONCAT'), ['n3', 'c2'], ['cat'], concat__axis=1)
    put('slice', ('Slice', 'SLICE'), ['cat'], ['s1', 's2', 's3'], slice__axis=1,
        slice__slice_point=[2, 6])  # fmt: skip
    put('sum', ('Eltwise', 'ELTWISE'), ['s1', 's3'], ['sum'], eltwise__operation=1,
        eltwise__coeff=[1.0, -2.0])  # fmt: skip
    put('mul', ('Eltwise', 'ELTWISE'), ['s1', 's3'], ['mul'], eltwise__operation=0)
    put('max', ('Eltwise', 'ELTWISE'), ['s1', 's3'], ['max'], eltwise__operation=2)
    put('sigmoid', ('Sigmoid', 'SIGMOID'), ['max'], ['sig'])
    put('drop', ('Dropout', 'DROPOUT'), ['sig'], ['sig'], dropout__dropout_ratio=0.3)
    if not is_old:
        put('bn', ('BatchNorm', ''), ['c1'], ['b'], (4,), (4,), (1,), batch_norm__eps=1e-3,
            batch_norm__use_global_stats=True)  # fmt: skip
        put('scale', ('Scale', ''), ['b'], ['b'], (4,), (4,), scale__bias_term=True)
        put('de', ('Deconvolution', ''), ['b'], ['d'], (4, 3, 2, 2), (3,),
            convolution__num_output=3, convolution__kernel_size=[2],
            convolution__stride=[2])  # fmt: skip
        add(net, False, 'odd', ('Nothing', ''), ['b'], ['odd'])
    put('fc', ('InnerProduct', 'INNER_PRODUCT'), ['p'], ['fc'], (5, 8), (5,),
        inner_product__num_output=5)  # fmt: skip
    put('prob', ('Softmax', 'SOFTMAX'), ['fc'], ['prob'])
    put('loss', ('SoftmaxWithLoss', 'SOFTMAX_LOSS'), ['fc', 'label'], ['loss'])
    return net.SerializeToString()


def main():
    assert chainer.__version__ == '7.8.1'
    found = {}
    x = RANDOM.randn(2, 2, 8, 6).astype('float32')
    t = np.array([1, 4], 'int32')
    found['x'], found['t'] = x, t
    for name, is_old in (('old', True), ('new', False)):
        data = build(is_old)
        found[name] = np.frombuffer(data, 'uint8')
        with tempfile.NamedTemporaryFile(suffix='.caffemodel') as file:
            file.write(data)
            file.flush()
            net = CaffeFunction(file.name)
        blobs = [*BLOBS]
        blobs += [] if is_old else ['b', 'd']
        with chainer.using_config('train', False):
            ys = net({'data': x, 'label': t}, blobs)
        found.update({f'{name}:y:{k}': y.array for k, y in zip(blobs, ys, strict=True)})
        found.update({f'{name}:p:{k}': p.array for k, p in net.namedparams()})
    np.savez_compressed(HERE / 'v7_caffe.npz', **found)


if __name__ == '__main__':
    main()

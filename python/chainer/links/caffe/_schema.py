"""The messages that a ``.caffemodel`` consists of, as far as they are read.

A line is a message; a field is ``name number type``, where ``*`` stands for repeated ones and ``=``
for the default.
"""

from __future__ import annotations

import functools
import typing as tp

if tp.TYPE_CHECKING:
    from google.protobuf.message import Message

_MESSAGES: tp.Final = """
NetParameter: layers 2 V1LayerParameter*, layer 100 LayerParameter*
BlobShape: dim 1 int64*
BlobProto: num 1 int32, channels 2 int32, height 3 int32, width 4 int32, data 5 float*, \
    shape 7 BlobShape, double_data 8 double*
LayerParameter: name 1 string, type 2 string, bottom 3 string*, top 4 string*, blobs 7 BlobProto*, \
    concat_param 104 Concat, convolution_param 106 Convolution, dropout_param 108 Dropout, \
    eltwise_param 110 Eltwise, inner_product_param 117 InnerProduct, lrn_param 118 LRN, \
    pooling_param 121 Pooling, relu_param 123 ReLU, softmax_param 125 Softmax, \
    slice_param 126 Slice, reshape_param 133 Reshape, batch_norm_param 139 BatchNorm, \
    scale_param 142 Scale
V1LayerParameter: bottom 2 string*, top 3 string*, name 4 string, type 5 int32, \
    blobs 6 BlobProto*, concat_param 9 Concat, convolution_param 10 Convolution, \
    dropout_param 12 Dropout, inner_product_param 17 InnerProduct, lrn_param 18 LRN, \
    pooling_param 19 Pooling, eltwise_param 24 Eltwise, relu_param 30 ReLU, slice_param 31 Slice, \
    softmax_param 39 Softmax
Convolution: num_output 1 uint32, bias_term 2 bool=true, pad 3 uint32*, kernel_size 4 uint32*, \
    group 5 uint32=1, stride 6 uint32*, pad_h 9 uint32, pad_w 10 uint32, kernel_h 11 uint32, \
    kernel_w 12 uint32, stride_h 13 uint32, stride_w 14 uint32, axis 16 int32=1, dilation 18 uint32*
Pooling: pool 1 int32, kernel_size 2 uint32, stride 3 uint32=1, pad 4 uint32, kernel_h 5 uint32, \
    kernel_w 6 uint32, stride_h 7 uint32, stride_w 8 uint32, pad_h 9 uint32, pad_w 10 uint32, \
    global_pooling 12 bool
InnerProduct: num_output 1 uint32, bias_term 2 bool=true, axis 5 int32=1
LRN: local_size 1 uint32=5, alpha 2 float=1, beta 3 float=0.75, norm_region 4 int32, k 5 float=1
Dropout: dropout_ratio 1 float=0.5
ReLU: negative_slope 1 float
BatchNorm: use_global_stats 1 bool, moving_average_fraction 2 float=0.999, eps 3 float=1e-05
Scale: axis 1 int32=1, num_axes 2 int32=1, bias_term 4 bool
Eltwise: operation 1 int32=1, coeff 2 float*
Concat: concat_dim 1 uint32=1, axis 2 int32=1
Slice: slice_dim 1 uint32=1, slice_point 2 uint32*, axis 3 int32=1
Softmax: axis 2 int32=1
Reshape: shape 1 BlobShape, axis 2 int32, num_axes 3 int32=-1
"""
_PACKED: tp.Final = ('float', 'double', 'int64')
# The types of layers in the older format, where each is a number, from 0.
_OLD_NAMES: tp.Final = """
NONE ACCURACY BNLL CONCAT CONVOLUTION DATA DROPOUT EUCLIDEAN_LOSS FLATTEN HDF5_DATA HDF5_OUTPUT \
    IM2COL IMAGE_DATA INFOGAIN_LOSS INNER_PRODUCT LRN MULTINOMIAL_LOGISTIC_LOSS POOLING RELU \
    SIGMOID SOFTMAX SOFTMAX_LOSS SPLIT TANH WINDOW_DATA ELTWISE POWER SIGMOID_CROSS_ENTROPY_LOSS \
    HINGE_LOSS MEMORY_DATA ARGMAX THRESHOLD DUMMY_DATA SLICE MVN ABSVAL SILENCE CONTRASTIVE_LOSS \
    EXP DECONVOLUTION
"""
OLD_TYPES: tp.Final = {name: number for number, name in enumerate(_OLD_NAMES.split())}


@functools.cache
def _pool() -> tuple[tp.Any, tp.Any]:
    """All messages, and the module that makes classes of them.

    Raises:
        ImportError: If there is no protobuf.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise ImportError(
            'CaffeFunction reads .caffemodel files with the package protobuf: pip install protobuf '
            f'({error})'
        ) from None
    file = descriptor_pb2.FileDescriptorProto(
        name='chainer/caffe.proto', package='chainer.caffe', syntax='proto2'
    )
    for line in _MESSAGES.strip().split('\n'):
        name, _, fields = line.partition(': ')
        message = file.message_type.add(name=name)
        for field in fields.split(','):
            _add_field(message, *field.split())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool, message_factory


class _Messages:
    """The classes of messages by the names that Caffe gives them: ``ConvolutionParameter``."""

    def __getattr__(self, name: str) -> tp.Any:
        short = name.removesuffix('Parameter')
        known = {line.partition(': ')[0] for line in _MESSAGES.strip().split('\n')}
        found = name if name in known else short if short in known else None
        if found is None:
            raise AttributeError(f'caffe_pb.{name}: CaffeFunction reads no such message', name=name)
        pool, factory = _pool()
        cls = factory.GetMessageClass(pool.FindMessageTypeByName(f'chainer.caffe.{found}'))
        if found == 'V1LayerParameter':
            for old, number in OLD_TYPES.items():
                setattr(cls, old, number)
        return cls


messages = _Messages()


def _add_field(message: Message, name: str, number: str, kind: str) -> None:
    kind, _, default = kind.partition('=')
    base = kind.rstrip('*')
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind.endswith('*') else field.LABEL_OPTIONAL
    if base[0].isupper():
        field.type = field.TYPE_MESSAGE
        field.type_name = f'.chainer.caffe.{base}'
    else:
        field.type = getattr(field, f'TYPE_{base.upper()}')
    if default:
        field.default_value = default
    if kind.endswith('*') and base in _PACKED:
        field.options.packed = True

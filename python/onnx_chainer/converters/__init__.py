"""How functions of Chainer are written in operators of ONNX."""

from chainerx.onnx._writer import NotInOnnxError

from onnx_chainer.converters import (
    activation,
    array,
    attention,
    chains,
    connection,
    evaluation,
    linalg,
    loss,
    math,
    noise,
    normalization,
    pad,
    pooling,
    regions,
    rnn,
    sampled_loss,
    sampling,
    special,
)
from onnx_chainer.converters._registry import (
    CONVERTERS,
    Conversion,
    FunctionConverterParams,
    convert,
    converts,
)

__all__ = [
    'CONVERTERS',
    'Conversion',
    'FunctionConverterParams',
    'NotInOnnxError',
    'activation',
    'array',
    'attention',
    'chains',
    'connection',
    'convert',
    'converts',
    'evaluation',
    'linalg',
    'loss',
    'math',
    'noise',
    'normalization',
    'pad',
    'pooling',
    'regions',
    'rnn',
    'sampled_loss',
    'sampling',
    'special',
]

"""How functions of Chainer are written in operators of ONNX."""

from onnx_chainer.converters import (
    activation,
    array,
    attention,
    connection,
    evaluation,
    loss,
    math,
    noise,
    normalization,
    pooling,
    rnn,
    sampling,
)
from onnx_chainer.converters._registry import (
    CONVERTERS,
    Conversion,
    FunctionConverterParams,
    NotInOnnxError,
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
    'connection',
    'convert',
    'converts',
    'evaluation',
    'loss',
    'math',
    'noise',
    'normalization',
    'pooling',
    'rnn',
    'sampling',
]

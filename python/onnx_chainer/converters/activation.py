"""Activation functions."""

from __future__ import annotations

from chainerx.onnx import _compositions as compositions

from onnx_chainer.converters._registry import Conversion, converts, same

same({'ReLU': 'Relu', 'Sigmoid': 'Sigmoid', 'Tanh': 'Tanh'})


@converts('ELU')
def elu(g: Conversion) -> str:
    return g.op('Elu', g.x, alpha=float(g.func.alpha))


@converts('LeakyReLU')
def leaky_relu(g: Conversion) -> str:
    return g.op('LeakyRelu', g.x, alpha=float(g.func.slope))


@converts('HardSigmoid')
def hard_sigmoid(g: Conversion) -> str:
    return g.op('HardSigmoid', g.x, alpha=0.2, beta=0.5)


@converts('ClippedReLU')
def clipped_relu(g: Conversion) -> str:
    return g.clip(g.x[0], 0.0, float(g.func.cap), g.dtype(0))


@converts('CReLU')
def crelu(g: Conversion) -> str:
    negative = g.op('Neg', g.x)
    parts = [g.op('Relu', g.x), g.op('Relu', [negative])]
    return g.concat(parts, g.func.axis)


@converts('PReLUFunction')
def prelu(g: Conversion) -> str:
    slope, ndim, w_ndim = g.x[1], len(g.shape(0)), len(g.shape(1))
    # The slopes are those of axes 1, 2, ...; operators align the last axes.
    slope = g.unsqueeze(slope, range(w_ndim, ndim - 1))
    return g.op('PRelu', [g.x[0], slope])


@converts('Softplus')
def softplus(g: Conversion) -> str:
    beta = float(g.func.beta)
    if beta == 1:
        return g.op('Softplus', g.x)
    scale = g.like(beta)
    return g.op('Div', [g.op('Softplus', [g.op('Mul', [g.x[0], scale])]), scale])


@converts('Softmax')
def softmax(g: Conversion) -> str:
    return g.flat_softmax('Softmax', g.x[0], g.func.axis, len(g.shape(0)))


@converts('LogSoftmax')
def log_softmax(g: Conversion) -> str:
    return g.flat_softmax('LogSoftmax', g.x[0], g.func.axis, len(g.shape(0)))


@converts('GELU')
def gelu(g: Conversion) -> str:
    is_tanh = str(g.func.approximate) == 'tanh' or g.func.approximate is True
    return compositions.gelu(g, g.x[0], g.dtype(0), is_tanh)


@converts('Mish')
def mish(g: Conversion) -> str:
    return compositions.mish(g, g.x[0])


@converts('SiLU')
def silu(g: Conversion) -> str:
    return g.op('Mul', [g.x[0], g.op('Sigmoid', g.x)])


@converts('Swish')
def swish(g: Conversion) -> str:
    x, beta = g.x
    beta = g.unsqueeze(beta, range(len(g.shape(1)), len(g.shape(0)) - 1))
    return g.op('Mul', [x, g.op('Sigmoid', [g.op('Mul', [beta, x])])])

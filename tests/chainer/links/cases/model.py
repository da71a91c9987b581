"""Rows of chainer.links.model except large models, and of links composed of others."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
from functions.cases.connection import linear
from functions.cases.loss import softmax_cross_entropy
from links.cases._table import InvalidType, L, Row, c, call, f


def classifier(p, x, t):
    return softmax_cross_entropy(linear(x, p['predictor/W'], p['predictor/b']), np.array(t))


def message(*fields):
    """A message of protocol buffers from pairs of a field's number (below 16) and its value."""
    out = b''
    for number, value in fields:
        if isinstance(value, int):
            out += bytes([number << 3, value])
        else:
            value = value.encode() if isinstance(value, str) else value
            assert len(value) < 1 << 14
            out += bytes([number << 3 | 2, len(value) % 128 | 128, len(value) // 128]) + value
    return out


def onnx_model():
    """tanh(x w^T + b) as a file of ONNX, written without its package."""
    dtype = np.dtype(chainer.get_dtype())
    kind = {'float16': 10, 'float32': 1, 'float64': 11}[dtype.name]

    def weight(name, *shape):
        raw = np.zeros(shape, dtype).tobytes()
        return 5, message(*((1, n) for n in shape), (2, kind), (8, name), (9, raw))

    def info(name):
        return message((1, name), (2, message((1, message((1, kind))))))

    gemm = [(1, 'x'), (1, 'w'), (1, 'b'), (2, 'h'), (4, 'Gemm')]
    gemm += [(5, message((1, 'transB'), (3, 1)))]
    graph = message(
        (1, message(*gemm)), (1, message((1, 'h'), (2, 'y'), (4, 'Tanh'))),
        weight('w', 3, 4), weight('b', 3), (11, info('x')), (12, info('y')),
    )  # fmt: skip
    return message((1, 8), (7, graph), (8, message((2, 17))))


ROWS = [
    Row('Classifier', lambda: L.Classifier(L.Linear(4, 3), F.softmax_cross_entropy),
        call(f(2, 4), c([0, 2], 'int32')), classifier, order=1,
        bad=((call(f(2, 3), c([0, 2], 'int32')), InvalidType, r'W\.shape'),
             (call(f(2, 4), c([0, 3], 'int32')), (ValueError, IndexError), '3'))),
    Row('ONNXFunction', lambda: L.ONNXFunction(onnx_model()), call(f(2, 4)),
        lambda p, x: np.tanh(linear(x, p['w'], p['b'])),
        bad=((call(f(2, 3)), chainerx.DimensionError, 'Gemm'),
             (call(None), ValueError, 'input "x" is missing'))),
]  # fmt: skip

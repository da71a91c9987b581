"""Dropout."""

from __future__ import annotations

import numpy as np

from onnx_chainer.converters._registry import Conversion, converts


@converts('Dropout')
def dropout(g: Conversion) -> str:
    ratio = float(g.func.dropout_ratio)
    if g.opset < 12:
        return g.op('Dropout', g.x, ratio=ratio)
    name = g.const(ratio, 'ratio', np.float32)
    return g.op('Dropout', [g.x[0], name, g.const(True, 'training', bool)])

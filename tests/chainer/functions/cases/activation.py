"""Rows of chainer.functions.activation."""

import numpy as np
from functions.cases._table import Case, f

CASES = [
    # v7 kept y; x is kept for a derivative of 1 at 0, as chainerx has it.
    Case('relu', ref=lambda x: np.maximum(x, 0), inputs=[f(3, 4, avoid=(0,))], elastic=True,
         cls='activation.relu.ReLU', keeps='x0'),
]  # fmt: skip

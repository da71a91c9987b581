"""Rows of chainer.links.model except large models, and of links composed of others."""

import chainer.functions as F
import numpy as np
from functions.cases.connection import linear
from functions.cases.loss import softmax_cross_entropy
from links.cases._table import InvalidType, L, Row, c, call, f


def classifier(p, x, t):
    return softmax_cross_entropy(linear(x, p['predictor/W'], p['predictor/b']), np.array(t))


ROWS = [
    Row('Classifier', lambda: L.Classifier(L.Linear(4, 3), F.softmax_cross_entropy),
        call(f(2, 4), c([0, 2], 'int32')), classifier, order=1,
        bad=((call(f(2, 3), c([0, 2], 'int32')), InvalidType, r'W\.shape'),
             (call(f(2, 4), c([0, 3], 'int32')), (ValueError, IndexError), '3'))),
]  # fmt: skip

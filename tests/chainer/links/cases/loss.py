"""Rows of chainer.links.loss."""

import numpy as np
from functions.cases._sequence_loss import crf1d
from links.cases._table import InvalidType, L, Row, c, call, f, own

_TREE = ((0, 2), (1, (3, 4)))
_WAYS = {0: ((0, 1), (1, 1)), 1: ((0, -1), (2, 1)), 2: ((0, 1), (1, -1)),
         3: ((0, -1), (2, -1), (3, 1)), 4: ((0, -1), (2, -1), (3, -1))}  # fmt: skip
_SAMPLES = [[1, 2, 0], [0, 0, 1]]


def hierarchical(p, x, t):
    return sum(
        np.logaddexp(0, -code * (p['W'][node] @ row))
        for row, word in zip(x, t, strict=True)
        for node, code in _WAYS[word]
    )


def crf(p, xs, ys, reduce):
    return crf1d(p['cost'], xs, ys, reduce)


class Picked(L.BlackOut):
    """A sampler that always draws the same."""

    def forward(self, x, t):
        self.sample_data = self.device.send(np.array(_SAMPLES, 'int32'))
        return super().forward(x, t)


class PickedNegatives(L.NegativeSampling):
    def forward(self, x, t):
        self.sampler.sample = lambda shape: self.device.send(
            np.resize(_SAMPLES, shape).astype('int32')
        )
        return super().forward(x, t, reduce='no')


def black_out(p, x, t):
    """The loss for uniformly drawn samples."""
    samples = np.array(_SAMPLES)
    true = np.exp((p['W'][t] * x).sum(1))
    others = np.exp(np.einsum('nsd,nd->ns', p['W'][samples], x))
    total = true + others.sum(1)
    return -(np.log(true / total) + np.log(1 - others / total[:, None]).sum(1)).mean()


def negative(p, x, t):
    samples = np.resize(_SAMPLES, (len(x), 3))
    samples[:, 0] = t
    scores = np.einsum('nsd,nd->ns', p['W'][samples], x)
    scores[:, 0] *= -1
    return np.where(t < 0, 0, np.logaddexp(0, scores).sum(1))


_T = c([0, 2], 'int32')

ROWS = [
    Row('BinaryHierarchicalSoftmax', lambda: L.BinaryHierarchicalSoftmax(3, _TREE),
        call(f(5, 3), c(range(5), 'int32')), hierarchical,
        bad=((call(f(1, 3), c([5], 'int32')), IndexError, 't has 5'),
             (call(f(1, 2), c([0], 'int32')), InvalidType, 'shape'),
             (lambda: L.BinaryHierarchicalSoftmax(3, (0, 1, 2)), ValueError, 'two child nodes'))),
    Row('BlackOut', lambda: Picked(3, [1, 1, 1], 3), call(f(2, 3), _T), black_out,
        bad=((call(f(2, 3), c([0, 3], 'int32')), IndexError, 't'),
             (call(f(2, 2), _T), InvalidType, 'shape'),
             (lambda: L.BlackOut(3, [1, 2], -1), ValueError, 'sample_size is -1'),
             (lambda: L.BlackOut(3, [1, np.nan], 2), ValueError, r'BlackOut: counts\[1\] is nan'),
             (lambda: L.BlackOut(3, [], 2), ValueError, r'sum of counts is 0\.0'))),
    Row('CRF1d', lambda: L.CRF1d(3), call([f(2, 3), f(1, 3)],
        [c([0, 2], 'int32'), c([1], 'int32')], 'no'), crf,
        bad=((call([f(2, 3)], [c([0, 3], 'int32')]), IndexError, '3'),
             (call([f(2, 2)], [c([0, 1], 'int32')]), InvalidType, 'shape'),
             (call([f(1, 3), f(2, 3)], [c([1], 'int32'), c([0, 2], 'int32')]),
              (InvalidType, ValueError), ''),
             (call([f(2, 3)], [c([0, 2], 'int32')] * 2), (InvalidType, ValueError), ''))),
    Row('NegativeSampling', lambda: PickedNegatives(3, [1, 2, 3], 2), call(f(2, 3), _T), negative,
        bad=((call(f(2, 3), c([0, 3], 'int32')), IndexError, 't'),
             (call(f(2, 2), _T), InvalidType, 'shape'),
             (call(f(2, 3), own('float32', 2)), InvalidType, 'dtype'),
             (lambda: L.NegativeSampling(3, [1, 2], -1), ValueError, 'sample_size is -1'),
             (lambda: L.NegativeSampling(3, [2, -1], 2), ValueError, r'counts\[1\] is -1\.0'),
             (lambda: L.NegativeSampling(3, [0, 0], 2), ValueError, r'sum of counts is 0\.0'))),
]  # fmt: skip

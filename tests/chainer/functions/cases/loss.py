"""Rows of chainer.functions.loss."""

import itertools

import chainer
import chainer.functions as F
import numpy as np
import scipy.special
from functions.cases._sequence_loss import argmax_crf1d_score, connectionist, crf1d
from functions.cases._table import Case, InvalidType, c, call, f, own


def softmax_cross_entropy(x, t, normalize=True, class_weight=None, ignore_label=-1, reduce='mean',
                          soft_target_loss='cross-entropy', label_smoothing=0, **_):  # fmt: skip
    logp = scipy.special.log_softmax(x, 1)
    if t.dtype.kind == 'f':
        t = (1 - label_smoothing) * t + label_smoothing / x.shape[1]
        loss = -(t * logp).sum(1)
        if soft_target_loss == 'kl-divergence':
            loss += scipy.special.xlogy(t, t).sum(1)
        return loss if reduce == 'no' else loss.mean()
    counted = t != ignore_label
    if class_weight is not None:
        logp = logp * class_weight.reshape(1, -1, *[1] * (x.ndim - 2))
    picked = np.take_along_axis(logp, np.expand_dims(np.where(counted, t, 0), 1), 1).squeeze(1)
    picked = (1 - label_smoothing) * picked + label_smoothing * logp.mean(1)
    loss = np.where(counted, -picked, 0)
    if reduce == 'no':
        return loss
    return loss.sum() / max(counted.sum() if normalize else len(x), 1)


def reduced(loss, count, reduce):
    return loss if reduce == 'no' else loss.sum() / count


def sigmoid_cross_entropy(x, t, normalize=True, reduce='mean'):
    loss = np.where(t == -1, 0, np.logaddexp(x, 0) - x * t)
    return reduced(loss, max((t != -1).sum() if normalize else len(x), 1) if x.ndim else 1, reduce)


def huber_loss(x, t, delta, reduce='sum'):
    d = np.abs(x - t)
    loss = np.where(d <= delta, d * d / 2, delta * (d - delta / 2))
    return loss if reduce == 'no' else loss.sum(1)


def hinge(x, t, norm='L1', reduce='mean'):
    sign = np.where(np.arange(x.shape[1]) == t[:, None], 1, -1)
    return reduced(np.maximum(0, 1 - sign * x) ** int(norm[1]), len(x), reduce)


def contrastive(x0, x1, y, margin=1, reduce='mean'):
    d = np.sqrt(((x0 - x1) ** 2).sum(1))
    return reduced(np.where(y == 1, d * d, np.maximum(0, margin - d) ** 2) / 2, len(y), reduce)


def triplet(a, p, n, margin=0.2, reduce='mean'):
    d = ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1)
    return reduced(np.maximum(0, d + margin), len(a), reduce)


def _vae(name, ref, n, **kw):
    """The sum of a composition of other functions."""
    args = [f(3, 4)] * n
    ways = {'sum': np.sum, 'mean': np.mean, 'no': lambda x: x}
    return Case(name, ref=lambda *xs, reduce='sum': ways[reduce](ref(*xs)), direct=False, tol=4,
                refuses=False, calls=[call(*args), call(*args, reduce='sum')], cls='math.sum.Sum',
                bad=[(call(*args, reduce='x'), ValueError, "'x'"),
                     (call(f(3), *[f(2)] * (n - 1)), (InvalidType, ValueError), 'shape')],
                **kw)  # fmt: skip


def cross_covariance(y, z, reduce='half_squared_sum'):
    covariance = (y - y.mean(0)).T @ (z - z.mean(0)) / len(y)
    return covariance if reduce == 'no' else (covariance**2).sum() / 2


def decov(h, reduce='half_squared_sum'):
    covariance = (h - h.mean(0)).T @ (h - h.mean(0)) / len(h)
    np.fill_diagonal(covariance, 0)
    return covariance if reduce == 'no' else (covariance**2).sum() / 2


def black_out(x, t, w, samples, reduce='mean'):
    scores = np.einsum('ij,ikj->ik', x, w[np.concatenate([t[:, None], samples], 1)])
    p = scipy.special.softmax(scores, 1)
    losses = -np.log(p[:, 0]) - np.log1p(-p[:, 1:]).sum(1)
    return losses if reduce == 'no' else losses.mean()


_DRAWN = np.array([[9, 3, 2], [9, 0, 0], [9, 4, 1]], 'int32')  # the first axis is that of t


def _negative_sampling(x, t, w, sample_size=2, **kw):
    device = chainer.backend.get_device_from_array(getattr(x, 'array', x))
    return F.negative_sampling(x, t, w, lambda _: device.send(_DRAWN.copy()), sample_size, **kw)


def negative_sampling(x, t, w, reduce='sum'):
    right = np.logaddexp(0, -(x * w[t]).sum(1))
    wrong = np.logaddexp(0, np.einsum('ij,ikj->ik', x, w[_DRAWN[:, 1:]])).sum(1)
    losses = np.where(t == -1, 0, right + wrong)
    return losses if reduce == 'no' else losses.sum()


def discriminative(x, labels, delta_v, delta_d, max_embedding_dim, norm=1, alpha=1.0, beta=1.0,
                   gamma=0.001):  # fmt: skip
    dim = max_embedding_dim
    points, labels = x.reshape(len(x), dim, -1), labels.reshape(len(x), -1)
    means = np.zeros((dim, len(x), dim))
    spread = length = near = 0
    for k in range(dim):
        inside, total = labels == k + 1, 0
        for n in range(len(x)):
            mine = points[n][:, inside[n]]
            means[k, n] = mine.mean(1) if mine.size else 0
            far = np.linalg.norm(mine - means[k, n][:, None], norm, 0)
            total += (np.maximum(far - delta_v, 0) ** 2).sum()
        spread += total / max(inside.sum(), 1)
        length += np.linalg.norm(means[k].ravel(), norm)
    for a, b in itertools.permutations(range(dim), 2):
        apart = np.linalg.norm(means[a] - means[b], norm, 1)
        near += (np.maximum(2 * delta_d - apart, 0) ** 2).sum()
    pairs = max(len(x) * dim * (dim - 1), 1)
    return alpha * spread / dim, beta * near / pairs, gamma * length / dim / len(x)


# 1 - p has few digits where a class is nearly certain.
_X, _W = f(3, 4, lo=-0.7, hi=0.7), f(5, 4, lo=-0.7, hi=0.7)
_CLASSES = c([0, 2, 4], 'int32')
_SAMPLES = c([[1, 2], [0, 0], [4, 1]], 'int32')
_INSTANCES = c([[[1, 2, 2], [0, 3, 1]], [[3, 9, 1], [1, 3, -1]], [[2, 0, 0], [2, 1, 2]]], 'int32')
_CTC = [f(2, 3)] * 4
_CTC_LABELS = c([[0, 1], [1, 1]], 'int32')
_CRF = [f(3, 4), f(3, 4), f(1, 4)]
_CRF_LABELS = [c([0, 1, 3], 'int32'), c([3, 3, 0], 'int32'), c([2], 'int32')]
_CRF_BAD = [([f(3, 4), f(2, 4), f(3, 4)], InvalidType, 'shape'),
            ([f(3, 4), f(3, 3), f(1, 4)], InvalidType, 'shape'),
            ([own('float16', 3, 4), f(3, 4), f(1, 4)], InvalidType, 'dtype', 'numpy'),
            ([f(3), f(3, 4), f(1, 4)], InvalidType, 'ndim'),
            ([], ValueError, 'xs has length 0')]  # fmt: skip
_BINARY = c([[0, 1, -1], [1, 1, 0]], 'int32')
_LABELS = c([0, 2], 'int32')
_SCORES = f(2, 3, avoid=(-1, 1))
_PAIRS = c([0, 1, 0], 'int32')
_BAD = [(call(f(3), f(1)), InvalidType, 'shape'),
        (call(f(3), own('float16', 3)), InvalidType, 'dtype', 'numpy')]  # fmt: skip
_T = c([0, 3, -1], 'int32')
_IGNORED = c([-1, -1, -1], 'int32')
_FAR = c([0, -100, 2], 'int32')  # an ignored label that is not a valid index
_ABOVE = c([255, 255, 3], 'int32')
_T2 = c([[0, 3], [-1, 2], [1, 1]], 'int64')
_SOFT = f(3, 4, lo=0, hi=1)
_SCE = {'cls': 'loss.softmax_cross_entropy.SoftmaxCrossEntropy', 'diff': (0,)}

CASES = [
    Case('softmax_cross_entropy', ref=softmax_cross_entropy, **_SCE,
         calls=[call(f(3, 4), _T), call(f(3, 4), _T, normalize=False),
                call(f(3, 4), _T, reduce='no'), call(f(3, 4, 2), _T2),
                call(f(3, 4, 2), _T2, reduce='no', cache_score=False),
                call(f(3, 4), c([0, 3, 0], 'int8'), ignore_label=0),
                call(f(3, 4), c([-1, -1, -1], 'int32'))],
         attributes=[{'normalize': True, 'cache_score': True, 'class_weight': None,
                      'ignore_label': -1, 'reduce': 'mean', 'soft_target_loss': 'cross-entropy',
                      'label_smoothing': 0.0},
                     {'normalize': False}, {'reduce': 'no'}, {}, {'cache_score': False, 'y': None},
                     {'ignore_label': 0}],
         big=call(f(300, 40), own('int32', 300, lo=0)),
         bad=[(call(f(3, 4), own('int32', 4)), InvalidType, 'shape'),
              (call(f(3, 4), own('int32', 3, 1)), InvalidType, 'ndim'),
              (call(f(3, 4), own('uint8', 3)), InvalidType, 'kind'),
              (call(f(3, 4), c([0, 4, 0], 'int32')), IndexError,
               r'^softmax_cross_entropy: t\[1\] is 4, but x has 4 classes'),
              (call(f(3, 4), c([0, -1, 0], 'int32'), ignore_label=2), IndexError, '-1, .* or 2'),
              (call(f(3, 4), _T, reduce='sum'), ValueError, 'sum'),
              (call(f(3, 4), _T, soft_target_loss='x'), ValueError, 'soft_target_loss')]),
    Case('softmax_cross_entropy', ref=softmax_cross_entropy, **_SCE, params=(2,),
         calls=[call(f(3, 4), _T, class_weight=f(4, lo=0.5, hi=2)),
                call(f(3, 4, 2), _T2, class_weight=f(4, lo=0.5, hi=2), reduce='no'),
                call(f(3, 4), _IGNORED, class_weight=f(4, lo=0.5, hi=2)),
                call(f(3, 4), _IGNORED, class_weight=f(4, lo=0.5, hi=2), normalize=False),
                call(f(3, 4), _IGNORED, class_weight=f(4, lo=0.5, hi=2), reduce='no'),
                call(f(3, 4), _FAR, class_weight=f(4, lo=0.5, hi=2), ignore_label=-100),
                call(f(3, 4), _ABOVE, class_weight=f(4, lo=0.5, hi=2), ignore_label=255)],
         big=call(f(300, 40), own('int32', 300, lo=0), class_weight=f(40)), refuses=False,
         bad=[(call(f(3, 4), _T, class_weight=f(3)), ValueError, 'length 3'),
              (call(f(3, 4), _T, class_weight=f(1, 4)), ValueError, 'axes'),
              (call(f(3, 4), _T, class_weight=own('int32', 4)), ValueError, 'int32')]),
    Case('softmax_cross_entropy', ref=softmax_cross_entropy, **_SCE,
         calls=[call(f(3, 4), _SOFT), call(f(3, 4), _SOFT, reduce='no'),
                call(f(3, 4, 2), f(3, 4, 2, lo=0, hi=1)),
                call(f(3, 4), c(np.eye(3, 4)), soft_target_loss='kl-divergence'),
                call(f(3, 4), _SOFT, soft_target_loss='kl-divergence', reduce='no')],
         bad=[(call(f(3, 4), f(3, 5)), InvalidType, 'shape')]),
    Case('softmax_cross_entropy', ref=softmax_cross_entropy, **_SCE,
         calls=[call(f(3, 4), _T, label_smoothing=0.1),
                call(f(3, 4), _T, label_smoothing=1, normalize=False),
                call(f(3, 4, 2), _T2, label_smoothing=0.3, reduce='no', cache_score=False),
                call(f(3, 4), _FAR, label_smoothing=0.2, ignore_label=-100),
                call(f(3, 40), _T, label_smoothing=0.2),
                call(f(3, 4), _SOFT, label_smoothing=0.3),
                call(f(3, 4), _SOFT, label_smoothing=0.3, soft_target_loss='kl-divergence')],
         bad=[(call(f(3, 4), _T, label_smoothing=1.1), ValueError, '1.1'),
              (call(f(3, 4), _T, label_smoothing=float('nan')), ValueError, 'nan'),
              (call(f(3, 4), _T, label_smoothing=None), TypeError, 'label_smoothing is None'),
              (call(f(3, 4), _SOFT, label_smoothing=-0.5), ValueError, '-0.5')]),
    Case('softmax_cross_entropy', ref=softmax_cross_entropy, **_SCE, params=(2,),
         calls=[call(f(3, 4), _T, class_weight=f(4, lo=0.5, hi=2), label_smoothing=0.1),
                call(f(3, 4, 2), _T2, class_weight=f(4, lo=0.5, hi=2), label_smoothing=0.4,
                     reduce='no'),
                call(f(3, 4), _ABOVE, class_weight=f(4, lo=0.5, hi=2), label_smoothing=0.4,
                     ignore_label=255)],
         refuses=False),
    Case('mean_squared_error', ref=lambda x, y: np.mean((x - y) ** 2),
         calls=[call(f(3, 4), f(3, 4)), call(f(), f()), call(f(2, 0, 3), f(2, 0, 3))],
         cls='loss.mean_squared_error.MeanSquaredError', bad=_BAD),
    Case('squared_error', ref=lambda x, y: np.square(x - y), tol=4,
         calls=[call(f(3, 4), f(3, 4)), call(f(), f()), call(f(0), f(0))],
         cls='loss.squared_error.SquaredError', bad=_BAD),
    Case('squared_difference', ref=lambda x, y: np.square(x - y), tol=4,
         inputs=[f(3, 4), f(3, 4)], cls='loss.squared_error.SquaredError', bad=_BAD),
    Case('absolute_error', ref=lambda x, y: np.abs(x - y), bad=_BAD,
         calls=[call(f(3, 4, lo=1), f(3, 4, hi=0.8)), call(f(lo=1), f(hi=0)), call(f(0), f(0))],
         cls='loss.absolute_error.AbsoluteError'),
    Case('mean_absolute_error', ref=lambda x, y: np.abs(x - y).mean(), bad=_BAD,
         calls=[call(f(3, 4, lo=1), f(3, 4, hi=0.8)), call(f(lo=1), f(hi=0)), call(f(0), f(0))],
         cls='loss.mean_absolute_error.MeanAbsoluteError'),
    Case('sigmoid_cross_entropy', ref=sigmoid_cross_entropy, diff=(0,),
         cls='loss.sigmoid_cross_entropy.SigmoidCrossEntropy',
         calls=[call(f(2, 3), _BINARY), call(f(2, 3), _BINARY, normalize=False),
                call(f(2, 3), _BINARY, reduce='no'), call(f(2), c([-1, -1], 'int8')),
                call(f(), c(1, 'int64'), reduce='no')],
         attributes=[{'normalize': True, 'reduce': 'mean'}, {'normalize': False}, {'reduce': 'no'}],
         big=call(f(300, 4), own('int32', 300, 4, lo=-1, hi=1)),
         bad=[(call(f(3), own('int32', 2)), InvalidType, 'shape'),
              (call(f(3), own('float32', 3)), InvalidType, 'kind'),
              (call(f(3), own('uint8', 3)), InvalidType, 'kind'),
              (call(f(3), own('int32', 3), reduce='sum'), ValueError, 'sum')]),
    Case('huber_loss', ref=huber_loss,
         calls=[call(f(2, 3, lo=1), f(2, 3, hi=0), 0.5),
                call(f(2, 3, lo=0, hi=0.4), f(2, 3, lo=0, hi=0.4), 0.5),
                call(f(2, 3, 4), f(2, 3, 4), 9.0), call(f(3, lo=1), f(3, hi=0), 0.5, reduce='no')],
         cls='loss.huber_loss.HuberLoss',
         attributes=[{'delta': 0.5, 'reduce': 'sum_along_second_axis'}, {}, {}, {'reduce': 'no'}],
         bad=[(call(f(3, 2), f(3, 1), 1.0), InvalidType, 'shape'),
              (call(f(3), own('float16', 3), 1.0), InvalidType, 'dtype', 'numpy'),
              (call(f(3), f(3), 1.0), ValueError, 'axis'),
              (call(f(3), f(3), 1.0, reduce='mean'), ValueError, 'mean')]),
    Case('hinge', ref=hinge, diff=(0,),
         calls=[call(_SCORES, _LABELS), call(_SCORES, _LABELS, norm='L2'),
                call(_SCORES, _LABELS, reduce='no'), call(_SCORES, _LABELS, 'L2', 'no')],
         cls='loss.hinge.Hinge', attributes=[{'norm': 'L1', 'reduce': 'mean'}, {'norm': 'L2'}],
         big=call(f(300, 40), own('int32', 300, lo=0)),
         bad=[(call(f(3, 4), own('int32', 2)), InvalidType, 'shape'),
              (call(f(3, 4), own('float32', 3)), InvalidType, 'kind'),
              (call(f(3), own('int32', 3)), InvalidType, 'ndim'),
              (call(f(2, 3), c([0, 3], 'int32')), IndexError,
               r'^hinge: t\[1\] is 3, but x has 3 classes'),
              (call(_SCORES, _LABELS, norm='L3'), NotImplementedError, 'L3'),
              (call(_SCORES, _LABELS, reduce='sum'), ValueError, 'sum')]),
    Case('contrastive', ref=contrastive, diff=(0, 1),
         calls=[call(f(3, 4), f(3, 4), _PAIRS), call(f(3, 4), f(3, 4), _PAIRS, margin=9),
                call(f(3, 4), f(3, 4), _PAIRS, reduce='no')],
         cls='loss.contrastive.Contrastive',
         attributes=[{'margin': 1, 'reduce': 'mean'}, {'margin': 9}, {'reduce': 'no'}],
         big=call(f(30, 400), f(30, 400), own('int32', 30, lo=0, hi=1)),
         bad=[(call(f(3, 4), f(3, 2), _PAIRS), InvalidType, 'shape'),
              (call(f(3, 4), f(3, 4), own('float32', 3)), InvalidType, 'kind'),
              (call(f(3, 4), f(3, 4), own('int32', 2)), InvalidType, 'shape'),
              (call(f(3, 4), f(3, 4), _PAIRS, margin=0), ValueError, 'margin'),
              (call(f(3, 4), f(3, 4), _PAIRS, reduce='sum'), ValueError, 'sum')]),
    Case('triplet', ref=triplet,
         calls=[call(f(3, 4), f(3, 4), f(3, 4)), call(f(3, 4), f(3, 4), f(3, 4), margin=9),
                call(f(3, 4), f(3, 4), f(3, 4), reduce='no')],
         cls='loss.triplet.Triplet', tol=4,
         attributes=[{'margin': 0.2, 'reduce': 'mean'}, {'margin': 9}, {'reduce': 'no'}],
         big=call(f(30, 400), f(30, 400), f(30, 400)),
         bad=[(call(f(3, 4), f(3, 2), f(3, 4)), InvalidType, 'shape'),
              (call(f(3, 4), f(3, 4), own('float16', 3, 4)), InvalidType, 'dtype', 'numpy'),
              (call(f(3, 4), f(3, 4), f(3, 4), margin=0), ValueError, 'margin'),
              (call(f(3, 4), f(3, 4), f(3, 4), reduce='sum'), ValueError, 'sum')]),
    Case('cross_covariance', ref=cross_covariance, cls='loss.cross_covariance.CrossCovariance',
         tol=4,
         calls=[call(f(5, 3), f(5, 2)), call(f(5, 3), f(5, 2), reduce='no'),
                call(f(1, 3), f(1, 2))],
         attributes=[{'reduce': 'half_squared_sum'}, {'reduce': 'no'}],
         bad=[(call(f(4, 3), f(3, 2)), InvalidType, 'shape'),
              (call(f(3), f(3)), InvalidType, 'ndim'),
              (call(f(4, 3), own('float16', 4, 2)), InvalidType, 'dtype', 'numpy'),
              (call(f(4, 3), f(4, 2), 'mean'), ValueError, 'mean')]),
    Case('decov', ref=decov, cls='loss.decov.DeCov', tol=4,
         calls=[call(f(5, 3)), call(f(5, 3), reduce='no'), call(f(1, 3))],
         attributes=[{'reduce': 'half_squared_sum'}, {'reduce': 'no'}],
         bad=[(call(f(3)), InvalidType, 'ndim'), (call(f(4, 3), 'mean'), ValueError, 'mean')]),
    Case('connectionist_temporal_classification', ref=connectionist, direct=False, tol=4, diff=(0,),
         cls='loss.ctc.ConnectionistTemporalClassification',
         calls=[call(_CTC, _CTC_LABELS, 2), call(_CTC, _CTC_LABELS, blank_symbol=2, reduce='no'),
                call(f(4, 2, 3), _CTC_LABELS, 2),
                call(_CTC, _CTC_LABELS, 0, reduce='no'),  # a blank among labels, as in v7
                call(_CTC, _CTC_LABELS, 2, c([4, 1], 'int32'), c([2, 1], 'int32'), 'no'),
                call(_CTC, _CTC_LABELS, 2, c([0, 3], 'int64'), c([0, 0], 'int64'), 'no'),
                call([f(1, 2)] * 3, c(np.zeros((1, 0)), 'int32'), 1),
                call([f(1, 2)], c([[1]], 'int32'), 0),
                call([f(0, 3)] * 2, c(np.zeros((0, 1)), 'int32'), 0, reduce='no')],
         attributes=[{'blank_symbol': 2, 'reduce': 'mean'}, {'reduce': 'no'}],
         big=call([f(16, 20)] * 32, own('int32', 16, 7, lo=0, hi=18), 19),
         bad=[(call(_CTC, own('int32', 3, 2), 2), InvalidType, 'shape'),
              (call(_CTC, own('float32', 2, 2), 2), InvalidType, 'kind'),
              (call(_CTC, own('int32', 2), 2), InvalidType, 'ndim'),
              (call(_CTC, _CTC_LABELS, 3), InvalidType, 'shape'),
              (call(_CTC, _CTC_LABELS, 2, own('int32', 3)), InvalidType, 'shape'),
              (call(_CTC, _CTC_LABELS, 2, None, own('float32', 2)), InvalidType, 'kind'),
              (call([f(2, 3), f(2, 2)], _CTC_LABELS, 2), InvalidType, 'shape'),
              (call([], _CTC_LABELS, 2), ValueError, 'length 0'),
              (call(f(2, 3), _CTC_LABELS, 2), TypeError, 'list'),
              (call(_CTC, _CTC_LABELS, 1.0), TypeError, '1.0'),
              (call(_CTC, _CTC_LABELS, -1), ValueError, '-1'),
              (call(_CTC, _CTC_LABELS, 2, reduce='sum'), ValueError, 'sum'),
              (call(_CTC, c([[0, 1], [1, 5]], 'int32'), 2), IndexError,
               r't\[3\] is 5, but x has 3 classes'),
              (call(_CTC, c([[0, 1], [-1, 0]], 'int32'), 2), IndexError, r't\[2\] is -1'),
              (call(_CTC, _CTC_LABELS, 2, c([4, 5], 'int32')), IndexError,
               r'input_length\[1\] is 5, expected 0 to 4'),
              (call(_CTC, _CTC_LABELS, 2, None, c([-1, 2], 'int32')), IndexError,
               r'label_length\[0\] is -1, expected 0 to 2'),
              (call(_CTC, _CTC_LABELS, 2, c([1, 4], 'int32')), IndexError,
               r't\[0\] needs 2 steps, but input_length\[0\] is 1'),
              (call(_CTC, _CTC_LABELS, 2, c([4, 2], 'int32')), IndexError,
               r't\[1\] needs 3 steps, but input_length\[1\] is 2')]),
    Case('crf1d', ref=crf1d, cls='loss.crf1d.CRF1d', tol=4,
         calls=[call(f(4, 4), _CRF, _CRF_LABELS), call(f(4, 4), _CRF, _CRF_LABELS, reduce='no'),
                call(f(4, 4), _CRF[:1], _CRF_LABELS[:1], 'no'),
                call(f(1, 1), [f(2, 1)] * 2, [c([0, 0], 'int64')] * 2),
                call(f(2, 2), [f(0, 2)] * 2, [c([], 'int32')] * 2, 'no')],
         attributes=[{'reduce': 'mean'}, {'reduce': 'no'}],
         big=call(f(9, 9), [f(30, 9)] * 8, [own('int32', 30, lo=0, hi=8)] * 8),
         bad=[*[(call(f(4, 4), xs, _CRF_LABELS[:len(xs)]), *error) for xs, *error in _CRF_BAD],
              (call(f(4, 3), _CRF, _CRF_LABELS), InvalidType, 'shape'),
              (call(f(4, 4), _CRF, [own('int32', 3), own('int32', 2), own('int32', 1)]),
               InvalidType, 'shape'),
              (call(f(4, 4), _CRF, [own('float32', 3), own('float32', 3), own('float32', 1)]),
               InvalidType, 'kind'),
              (call(f(4, 4), _CRF, _CRF_LABELS[:2]), ValueError, 'length 3, but ys has 2'),
              (call(f(4, 4), _CRF, [*_CRF_LABELS[:1], c([0, 4, 1], 'int32'), _CRF_LABELS[2]]),
               IndexError, r'ys\[1\]\[1\] is 4, but xs\[1\] has 4 labels'),
              (call(f(4, 4), _CRF, [*_CRF_LABELS[:2], c([-1], 'int32')]), IndexError,
               r'ys\[2\]\[0\] is -1'),
              (call(f(4, 4), _CRF, _CRF_LABELS, reduce='sum'), ValueError, 'sum')]),
    Case('argmax_crf1d', fn=lambda *args: F.argmax_crf1d(*args)[0], ref=argmax_crf1d_score,
         cls='loss.crf1d.ArgMaxCRF1d',
         calls=[call(f(4, 4), _CRF), call(f(4, 4), _CRF[:1]), call(f(1, 1), [f(2, 1)] * 3)],
         big=call(f(9, 9), [f(30, 9)] * 3),
         bad=[*[(call(f(4, 4), xs), *error) for xs, *error in _CRF_BAD],
              (call(f(4, 3), _CRF), InvalidType, 'shape')]),
    Case('black_out', ref=black_out, cls='loss.black_out.BlackOut', tol=8, diff=(0, 1),
         calls=[call(_X, _CLASSES, _W, _SAMPLES),
                call(_X, _CLASSES, _W, _SAMPLES, reduce='no'),
                call(f(1, 2), c([1], 'int64'), f(2, 2), c([[0, 0, 0]], 'int64'))],
         attributes=[{'reduce': 'mean'}, {'reduce': 'no'}],
         big=call(f(30, 40), own('int32', 30, lo=0, hi=49), f(50, 40),
                  own('int32', 30, 7, lo=0, hi=49)),
         bad=[(call(f(3, 4), _CLASSES, f(5, 3), _SAMPLES), InvalidType, 'shape'),
              (call(f(3, 4), c([0, 2], 'int32'), f(5, 4), _SAMPLES), InvalidType, 'shape'),
              (call(f(3, 4), _CLASSES, f(5, 4), c([[1, 2]], 'int32')), InvalidType, 'shape'),
              (call(f(3, 4), own('float32', 3), f(5, 4), _SAMPLES), InvalidType, 'kind'),
              (call(f(3, 4), _CLASSES, f(5, 4), own('float32', 3, 2)), InvalidType, 'kind'),
              (call(f(3, 4), _CLASSES, f(4, 4), _SAMPLES), IndexError,
               'black_out: t has 4, W has 4 rows'),
              (call(f(3, 4), c([0, 1, 2], 'int32'), f(4, 4), _SAMPLES), IndexError,
               'samples has 4, W has 4 rows'),
              (call(f(3, 4), _CLASSES, f(5, 4), _SAMPLES, 'sum'), ValueError, 'sum')]),
    Case('negative_sampling', fn=_negative_sampling, ref=negative_sampling, tol=4, diff=(0, 1),
         cls='loss.negative_sampling.NegativeSamplingFunction',
         calls=[call(f(3, 4), _CLASSES, f(5, 4)), call(f(3, 4), _CLASSES, f(5, 4), reduce='no'),
                call(f(3, 4), c([0, -1, 3], 'int32'), f(5, 4), reduce='no')],
         attributes=[{'sample_size': 2, 'reduce': 'sum'}, {'reduce': 'no'}],
         big=call(f(3, 400), _CLASSES, f(5, 400)),
         bad=[(call(f(3, 4), _CLASSES, f(5, 3)), InvalidType, 'shape'),
              (call(f(3, 4), c([0, 2], 'int32'), f(5, 4)), InvalidType, 'shape'),
              (call(f(3, 4), own('float32', 3), f(5, 4)), InvalidType, 'kind'),
              (call(f(3, 4), c([0, 5, 1], 'int32'), f(5, 4)), IndexError,
               'negative_sampling: t has 5, W has 5 rows'),
              (call(f(3, 4), c([0, 1, 1], 'int32'), f(3, 4)), IndexError,
               r'samples has 3, W has 3 rows'),
              (call(f(3, 4), _CLASSES, f(5, 4), 3), ValueError, r'gave .*\(3, 3\), .*\(3, 4'),
              (call(f(3, 4), _CLASSES, f(5, 4), reduce='mean'), ValueError, 'mean'),
              (call(f(3, 4), _CLASSES, f(5, 4), samples=1), TypeError, 'samples')]),
    Case('discriminative_margin_based_clustering_loss', ref=discriminative, tol=16, diff=(0,),
         cls='loss.discriminative_loss.DiscriminativeMarginBasedClusteringLoss',
         calls=[call(f(3, 3, 2, 3), _INSTANCES, 0.25, 1.5, 3),
                call(f(3, 3, 2, 3), _INSTANCES, 0.25, 1.5, 3, norm=2),
                call(f(3, 3, 2, 3), _INSTANCES, 0.0, 1.5, 3, 2, 2.0, 3.0, 4.0),
                call(f(1, 2, 3), c([[1, 1, 0]], 'int64'), 0.25, 1.5, max_embedding_dim=2)],
         big=call(f(1, 4, 16, 20), own('int32', 1, 16, 20, lo=0, hi=4), 0.25, 1.5, 4),
         bad=[(call(f(3, 3, 2, 3), _INSTANCES, 0.25, 1.5, 4), InvalidType, 'max_embedding_dim'),
              (call(f(3, 3, 2, 2), _INSTANCES, 0.25, 1.5, 3), InvalidType, 'shape'),
              (call(f(1, 3, 2, 3), _INSTANCES, 0.25, 1.5, 3), InvalidType, 'shape'),
              (call(f(2, 3), c([1, 1], 'int32'), 0.25, 1.5, 3), InvalidType, 'ndim'),
              (call(f(3, 3, 2, 3), own('float32', 3, 2, 3), 0.25, 1.5, 3), InvalidType, 'kind'),
              (call(f(3, 3, 2, 3), _INSTANCES, 0.25, 1.5, 3, norm=3), ValueError, '3')]),
    _vae('bernoulli_nll', lambda x, y: np.logaddexp(y, 0) - x * y, 2),
    _vae('gaussian_kl_divergence', lambda m, v: (m * m + np.exp(v) - v - 1) / 2, 2),
    _vae('gaussian_nll',
         lambda x, m, v: (v + np.log(2 * np.pi) + (x - m) ** 2 / np.exp(v)) / 2, 3),
]  # fmt: skip

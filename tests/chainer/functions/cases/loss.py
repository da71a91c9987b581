"""Rows of chainer.functions.loss."""

import numpy as np
import scipy.special
from functions.cases._table import Case, InvalidType, c, call, f, own


def softmax_cross_entropy(x, t, normalize=True, class_weight=None, ignore_label=-1, reduce='mean',
                          soft_target_loss='cross-entropy', **_):  # fmt: skip
    logp = scipy.special.log_softmax(x, 1)
    if t.dtype.kind == 'f':
        loss = -(t * logp).sum(1)
        if soft_target_loss == 'kl-divergence':
            loss += scipy.special.xlogy(t, t).sum(1)
        return loss if reduce == 'no' else loss.mean()
    counted = t != ignore_label
    picked = np.take_along_axis(logp, np.expand_dims(np.where(counted, t, 0), 1), 1).squeeze(1)
    loss = np.where(counted, -picked, 0)
    if class_weight is not None:
        loss = loss * class_weight[np.where(counted, t, 0)]
    if reduce == 'no':
        return loss
    return loss.sum() / max(counted.sum() if normalize else len(x), 1)


_BAD = [(call(f(3), f(1)), InvalidType, 'shape'),
        (call(f(3), own('float16', 3)), InvalidType, 'dtype')]  # fmt: skip
_T = c([0, 3, -1], 'int32')
_T2 = c([[0, 3], [-1, 2], [1, 1]], 'int64')
_SOFT = f(3, 4, lo=0, hi=1)
_SCE = {'cls': 'loss.softmax_cross_entropy.SoftmaxCrossEntropy', 'diff': (0,), 'keeps': 'x0 x1',
        'keeps_bytes': lambda x, *_: 4 * int(np.prod(x))}  # fmt: skip

CASES = [
    Case('softmax_cross_entropy', ref=softmax_cross_entropy, **_SCE,
         calls=[call(f(3, 4), _T), call(f(3, 4), _T, normalize=False),
                call(f(3, 4), _T, reduce='no'), call(f(3, 4, 2), _T2),
                call(f(3, 4, 2), _T2, reduce='no', cache_score=False),
                call(f(3, 4), c([0, 3, 0], 'int8'), ignore_label=0),
                call(f(3, 4), c([-1, -1, -1], 'int32'))],
         attributes=[{'normalize': True, 'cache_score': True, 'class_weight': None,
                      'ignore_label': -1, 'reduce': 'mean', 'soft_target_loss': 'cross-entropy'},
                     {'normalize': False}, {'reduce': 'no'}, {}, {'cache_score': False, 'y': None},
                     {'ignore_label': 0}],
         big=call(f(300, 40), own('int32', 300, lo=0)),
         bad=[(call(f(3, 4), own('int32', 4)), InvalidType, 'shape'),
              (call(f(3, 4), own('int32', 3, 1)), InvalidType, 'ndim'),
              (call(f(3, 4), own('uint8', 3)), InvalidType, 'kind'),
              (call(f(3, 4), c([0, 4, 0], 'int32')), IndexError, '4'),
              (call(f(3, 4), c([0, -1, 0], 'int32'), ignore_label=2), IndexError, ''),
              (call(f(3, 4), _T, reduce='sum'), ValueError, 'sum'),
              (call(f(3, 4), _T, soft_target_loss='x'), ValueError, 'soft_target_loss')]),
    Case('softmax_cross_entropy', ref=softmax_cross_entropy, **_SCE, params=(2,),
         calls=[call(f(3, 4), _T, class_weight=f(4, lo=0.5, hi=2)),
                call(f(3, 4, 2), _T2, class_weight=f(4, lo=0.5, hi=2), reduce='no')],
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
    Case('mean_squared_error', ref=lambda x, y: np.mean((x - y) ** 2),
         calls=[call(f(3, 4), f(3, 4)), call(f(), f()), call(f(2, 0, 3), f(2, 0, 3))],
         cls='loss.mean_squared_error.MeanSquaredError', keeps='x0 x1', bad=_BAD),
    Case('squared_error', ref=lambda x, y: np.square(x - y), tol=4, keeps='x0 x1',
         calls=[call(f(3, 4), f(3, 4)), call(f(), f()), call(f(0), f(0))],
         cls='loss.squared_error.SquaredError', bad=_BAD),
    Case('squared_difference', ref=lambda x, y: np.square(x - y), tol=4, keeps='x0 x1',
         inputs=[f(3, 4), f(3, 4)], cls='loss.squared_error.SquaredError', bad=_BAD),
]  # fmt: skip

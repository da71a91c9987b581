"""Cross entropy of softmax scores and labels."""

from __future__ import annotations

import numbers
import typing as tp

import chainerx
from chainerx._core import _softmax_cross_entropy, engine

from chainer import variable
from chainer._graph import callbacks
from chainer._graph.builtin import BuiltinFunction, _as_chainerx, _to_numpy
from chainer._graph.gradients import recomputed
from chainer.functions._index_errors import of_labels
from chainer.functions._of_arrays import broadcast_to as _broadcast_to  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import check_class_weight_option as _check_class_weight_option  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import check_input_values as _check_input_values  # noqa: F401  (for libraries)
from chainer.functions._of_arrays import check_reduce_option as _check_reduce_option  # noqa: F401  (for libraries)
from chainer.functions.loss._reduction import check_reduce, mean
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, InTypes, NdArray, VariableLike


class SoftmaxCrossEntropy(BuiltinFunction):
    """See `softmax_cross_entropy`.

    Attributes:
        y: The softmax of the scores; None without ``cache_score``.
    """

    saved = ('_x',)
    check_uses_attributes = False
    _x: NdArray | None = None

    def _prepare(self) -> None:
        _check_options(**{name: getattr(self, name) for name in _CHECKED})

    @property
    def y(self) -> NdArray | None:
        if not self.cache_score or self._x is None:
            return None
        y = chainerx.softmax(_as_chainerx(self._x), axis=1)
        return callbacks.to_kind(y, engine.kind(self._x))

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't'))
        x, t = in_types
        type_check.expect(x.dtype.kind == 'f')
        if type_check.eval(t.dtype.kind) == 'f':
            type_check.expect(x.ndim >= 2, x.shape == t.shape)
        else:
            type_check.expect(
                t.dtype.kind == 'i',
                t.ndim == x.ndim - 1,
                x.shape[0] == t.shape[0],
                x.shape[2:] == t.shape[1:],
            )

    def _check_in_debug_mode(self, in_data: Arrays) -> None:
        x, t = in_data
        labels = _to_numpy(t)
        if labels.dtype.kind == 'f':
            return
        bad = ((labels < 0) | (labels >= x.shape[1])) & (labels != self.ignore_label)
        if bad.any():
            raise ValueError(
                f'softmax_cross_entropy: t has {labels[bad][0]}, expected 0 to '
                f'{x.shape[1] - 1}, or ignore_label {self.ignore_label}'
            )

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        t: chainerx.ndarray,
        *,
        normalize: bool = True,
        cache_score: bool = True,
        class_weight: NdArray | None = None,
        ignore_label: int = -1,
        reduce: str = 'mean',
        soft_target_loss: str = 'cross-entropy',
        label_smoothing: float = 0.0,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray]:
        if t.dtype.kind == 'f':
            loss = _soft(x, t, reduce, soft_target_loss, label_smoothing)
        else:
            hard = _hard if cache_score else _hard_again
            try:
                loss = hard(x, t, normalize, class_weight, ignore_label, reduce, label_smoothing)
            except IndexError as error:
                raise of_labels(error) from None
        return loss, x.as_grad_stopped()


_NO_LABEL = -(2**31)  # no class has it
_NO_SMOOTHING = 0.0  # the very object that is the default
_CHECKED = ('class_weight', 'reduce', 'soft_target_loss', 'label_smoothing')


def _hard(
    x: chainerx.ndarray,
    t: chainerx.ndarray,
    normalize: bool,
    class_weight: NdArray | None,
    ignore_label: int,
    reduce: str,
    smoothing: float,
) -> chainerx.ndarray:
    if normalize and class_weight is None and reduce == 'mean':
        return _softmax_cross_entropy(x, t, ignore_label, True, smoothing)
    if class_weight is None:
        loss = _softmax_cross_entropy(x, t, ignore_label, False, smoothing)
    else:
        loss = _softmax_cross_entropy(x, t, ignore_label, False)
        weight = _as_chainerx(class_weight)
        if weight.size != x.shape[1]:
            raise ValueError(
                f'softmax_cross_entropy: class_weight has length {weight.size}, but x has '
                f'{x.shape[1]} classes'
            )
        # The loss of an ignored label is 0 already.
        loss = loss * chainerx.take(weight, t, 0, 'clip')
        if smoothing:
            shape = (1, -1) + (1,) * (x.ndim - 2)
            counted = t != ignore_label
            # Zeros for scores that do not count: nan there would reach the gradient.
            scores = chainerx.where(chainerx.expand_dims(counted, 1), x, 0)
            even = -(chainerx.log_softmax(scores, axis=1) * weight.reshape(shape)).mean(axis=1)
            even = chainerx.where(counted, even, 0)
            loss = loss * (1 - smoothing) + even * smoothing
        if loss.dtype != x.dtype:
            loss = loss.astype(x.dtype)
    if reduce == 'no':
        return loss
    count = chainerx.maximum((t != ignore_label).sum(), 1) if normalize else max(len(x), 1)
    return mean(loss, count)


# Keeps nothing but scores and labels.
_hard_again = recomputed('softmax_cross_entropy', _hard, n_params=5)


def _soft(
    x: chainerx.ndarray, t: chainerx.ndarray, reduce: str, kind: str, smoothing: float
) -> chainerx.ndarray:
    t = t.as_grad_stopped()
    if smoothing:
        t = t * (1 - smoothing) + smoothing / max(x.shape[1], 1)
    loss = -(t * chainerx.log_softmax(x, axis=1)).sum(axis=1)
    if kind == 'kl-divergence':
        # 0 log 0 is 0.
        positive = t > 0
        loss = loss + (t * chainerx.log(chainerx.where(positive, t, 1))).sum(axis=1)
    return loss if reduce == 'no' else mean(loss, max(loss.size, 1))


def _check_options(
    class_weight: NdArray | None, reduce: str, soft_target_loss: str, label_smoothing: float
) -> None:
    check_reduce('softmax_cross_entropy', reduce)
    if not isinstance(label_smoothing, numbers.Real):
        raise TypeError(
            f'softmax_cross_entropy: label_smoothing is {label_smoothing!r}, expected a number'
        )
    if not 0 <= label_smoothing <= 1:
        raise ValueError(
            f'softmax_cross_entropy: label_smoothing is {label_smoothing!r}, expected 0 to 1'
        )
    if soft_target_loss not in ('cross-entropy', 'kl-divergence'):
        raise ValueError(
            f'softmax_cross_entropy: soft_target_loss is {soft_target_loss!r}, expected '
            "'cross-entropy' or 'kl-divergence'"
        )
    if class_weight is not None:
        if isinstance(class_weight, variable.Variable):
            raise ValueError('softmax_cross_entropy: class_weight is a Variable, expected an array')
        if not hasattr(class_weight, 'ndim'):
            raise TypeError(
                f'softmax_cross_entropy: class_weight is a {type(class_weight).__name__}, expected '
                'an array'
            )
        if class_weight.ndim != 1:
            raise ValueError(
                f'softmax_cross_entropy: class_weight has {class_weight.ndim} axes, expected 1'
            )
        if class_weight.dtype.kind != 'f':
            raise ValueError(
                f'softmax_cross_entropy: class_weight has dtype {class_weight.dtype}, expected a '
                'float'
            )


def softmax_cross_entropy(
    x: VariableLike,
    t: VariableLike,
    normalize: bool = True,
    cache_score: bool = True,
    class_weight: NdArray | None = None,
    ignore_label: int | None = -1,
    reduce: str = 'mean',
    enable_double_backprop: bool = False,
    soft_target_loss: str = 'cross-entropy',
    label_smoothing: float = _NO_SMOOTHING,
) -> variable.Variable:
    """The cross entropy of ``softmax(x, axis=1)`` and labels.

    Args:
        x (Variable or array): Scores, (rows, classes, ...), a float dtype.
        t (Variable or array): Labels, (rows, ...), integers from 0 to classes - 1; or the
            distribution wanted, of the shape of ``x``, floats.
        normalize (bool): Whether the mean is over the labels that are not ignored; else the sum is
            divided by the number of rows.
        cache_score (bool): Whether ``y.creator.y`` is the softmax; costs nothing.
        class_weight (array): (classes,), floats: factors of the losses, by label.
        ignore_label (int): Elements with this label have loss 0; None for none of them.
        reduce (str): 'mean', or 'no' for the losses themselves.
        enable_double_backprop (bool): Without effect: it always is.
        soft_target_loss (str): The loss for distributions: 'cross-entropy' or 'kl-divergence';
            averaged over all positions, unweighted.
        label_smoothing (float): The part of the weight that all classes share, 0 to 1; the target
            class has the rest.

    Returns:
        Variable: 0-d, or the shape of the labels; the dtype of ``x``. Differentiable in ``x``, any
        order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If a label is out of range (in debug mode: ValueError).
        ValueError: For an unknown ``reduce`` or ``soft_target_loss``, a bad ``class_weight``, or
            a ``label_smoothing`` that is not from 0 to 1.
        TypeError: If ``label_smoothing`` is no number.
    """
    if (
        class_weight is not None
        or reduce != 'mean'
        or soft_target_loss != 'cross-entropy'
        or label_smoothing is not _NO_SMOOTHING
    ):
        _check_options(class_weight, reduce, soft_target_loss, label_smoothing)
    return SoftmaxCrossEntropy.call(
        x,
        t,
        normalize=normalize,
        cache_score=cache_score,
        class_weight=class_weight,
        ignore_label=_NO_LABEL if ignore_label is None else ignore_label,
        reduce=reduce,
        soft_target_loss=soft_target_loss,
        label_smoothing=label_smoothing,
    )

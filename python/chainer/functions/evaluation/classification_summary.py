"""Precision, recall and F score of each class."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import _scatter

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class ClassificationSummary(BuiltinFunction):
    """See `classification_summary`."""

    is_called = True
    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('y', 't'))
        y, t = in_types
        type_check.expect(y.dtype.kind == 'f', t.dtype.kind == 'i', y.ndim >= 2)
        ndim = type_check.eval(t.ndim)
        type_check.expect(
            y.ndim >= ndim, y.shape[0] == t.shape[0], y.shape[2 : ndim + 1] == t.shape[1:]
        )
        for axis in range(ndim + 1, type_check.eval(y.ndim)):
            type_check.expect(y.shape[axis] == 1)

    @staticmethod
    def compose(
        y: chainerx.ndarray,
        t: chainerx.ndarray,
        *,
        label_num: int | None,
        beta: float,
        ignore_label: int,
    ) -> tuple[chainerx.ndarray, ...]:
        predicted = y.as_grad_stopped().argmax(1).reshape(t.size)
        labels = t.reshape(t.size).astype('int64')
        if label_num is None:
            label_num = int(labels.max()) + 1 if labels.size else 0
        ignored = labels == ignore_label
        if labels.size and int(least := chainerx.where(ignored, 0, labels).min()) < 0:
            raise ValueError(
                f'classification_summary: t has label {int(least)}, expected no negative ones '
                f'but ignore_label={ignore_label}'
            )
        n = label_num

        def count(places: chainerx.ndarray, counted: chainerx.ndarray) -> chainerx.ndarray:
            """Counts labels by class; ignored and unknown labels count separately."""
            places = chainerx.where(ignored, n, chainerx.minimum(places, n))
            return _scatter(counted.astype('int64'), places, n + 1)[:n].astype('float64')

        all_ = chainerx.ones_like(labels, device=y.device)
        support = count(labels, all_)
        right = count(labels, predicted == labels)
        precision = right / count(predicted, all_)
        recall = right / support
        weight = beta * beta
        fbeta = (1 + weight) * precision * recall / (weight * precision + recall)
        return precision, recall, fbeta, support.astype('int64')


def classification_summary(
    y: VariableLike,
    t: VariableLike,
    label_num: int | None = None,
    beta: float = 1.0,
    ignore_label: int = -1,
) -> tuple[variable.Variable, ...]:
    """How well each class is found: precision, recall, F score, and its number of examples.

    Precision is the fraction of those taken for the class that are of it, recall the fraction of
    those of the class that are taken for it, and the F score
    ``(1 + beta**2) * precision * recall / (beta**2 * precision + recall)``. Each is NaN where its
    denominator is 0.

    Args:
        y (Variable or array): Scores; classes are on axis 1, a float dtype.
        t (Variable or array): Labels, a signed integer dtype; the shape of ``y`` without axis 1.
        label_num (int): The number of classes in the result; None for all that ``t`` has.
        beta (float): The weight of recall in the F score.
        ignore_label (int): Examples with this label are not counted.

    Returns:
        tuple of Variable: Precision, recall, F score (float64) and support (int64), each
        (classes,). Not differentiable: no gradient flows back.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If a label is negative and not ``ignore_label``.

    Note:
        The host reads the least label, and the greatest where ``label_num`` is None.
    """
    return ClassificationSummary.call(
        y, t, label_num=label_num, beta=beta, ignore_label=ignore_label
    )


@documented_like(classification_summary)
def precision(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[variable.Variable, variable.Variable]:
    """Precision and support of each class; see `classification_summary`.

    Returns:
        tuple of Variable: Precision (float64) and support (int64), each (classes,).
        Not differentiable: no gradient flows back.
    """
    summary = ClassificationSummary.call(
        y, t, label_num=label_num, beta=1.0, ignore_label=ignore_label
    )
    return summary[0], summary[3]


@documented_like(classification_summary)
def recall(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[variable.Variable, variable.Variable]:
    """Recall and support of each class; see `classification_summary`.

    Returns:
        tuple of Variable: Recall (float64) and support (int64), each (classes,).
        Not differentiable: no gradient flows back.
    """
    summary = ClassificationSummary.call(
        y, t, label_num=label_num, beta=1.0, ignore_label=ignore_label
    )
    return summary[1], summary[3]


@documented_like(classification_summary)
def fbeta_score(
    y: VariableLike,
    t: VariableLike,
    label_num: int | None = None,
    beta: float = 1.0,
    ignore_label: int = -1,
) -> tuple[variable.Variable, variable.Variable]:
    """F score and support of each class; see `classification_summary`.

    Returns:
        tuple of Variable: F score (float64) and support (int64), each (classes,).
        Not differentiable: no gradient flows back.
    """
    summary = ClassificationSummary.call(
        y, t, label_num=label_num, beta=beta, ignore_label=ignore_label
    )
    return summary[2], summary[3]


@documented_like(fbeta_score)
def f1_score(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[variable.Variable, variable.Variable]:
    """F score, with ``beta`` 1, and support of each class; see `classification_summary`."""
    return fbeta_score(y, t, label_num, 1.0, ignore_label)

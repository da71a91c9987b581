"""Helpers that losses over sampled classes share."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer.functions._index_errors import of_indices
from chainer.functions._precision import widened
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InType


def scores_of(
    op: str, name: str, x: chainerx.ndarray, w: chainerx.ndarray, classes: chainerx.ndarray
) -> chainerx.ndarray:
    """The products of each row of x with the rows of w that its classes, (rows, n), name.

    Those of half precision are float32, for the losses that follow; ``x`` has to be that.
    """
    try:
        weights = chainerx.take(w, classes, 0)
    except IndexError as error:
        raise of_indices(error, f'{op}: {name} has {{0}}, W has {{1}} rows') from None
    return chainerx.matmul(widened(weights), chainerx.expand_dims(x, 2)).squeeze(2)


def expect_rows_and_classes(x: InType, t: InType, w: InType) -> None:
    type_check.expect(
        x.dtype.kind == 'f',
        x.ndim == 2,
        t.dtype.kind == 'i',
        t.ndim == 1,
        w.dtype.kind == 'f',
        w.ndim == 2,
    )
    type_check.expect(x.shape[0] == t.shape[0], x.shape[1] == w.shape[1])

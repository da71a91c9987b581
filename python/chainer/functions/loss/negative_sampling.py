"""Negative sampling, the loss of word2vec."""

from __future__ import annotations

import collections.abc as c
import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction, _as_chainerx
from chainer._graph.gradients import recomputed
from chainer.functions._precision import widened
from chainer.functions.loss._reduction import check_reduce
from chainer.functions.loss._sampling import expect_rows_and_classes, scores_of
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, NdArray, VariableLike

Sampler: tp.TypeAlias = c.Callable[[tuple[int, ...]], tp.Any]
_NAME: tp.Final = 'negative_sampling'
_REDUCE: tp.Final = ('sum', 'no')


def _losses(
    x: chainerx.ndarray, t: chainerx.ndarray, w: chainerx.ndarray, samples: chainerx.ndarray
) -> chainerx.ndarray:
    x, counted = widened(x), t != -1
    classes = chainerx.expand_dims(chainerx.where(counted, t, 0), 1)
    right = scores_of(_NAME, 't', x, w, classes)
    wrong = scores_of(_NAME, 'samples', x, w, samples[:, 1:])
    loss = chainerx.softplus(-right[:, 0]) + chainerx.softplus(wrong).sum(1)
    return chainerx.where(counted, loss, 0)


# Keeps no rows of W.
_losses_again = recomputed(_NAME, _losses)


class NegativeSamplingFunction(BuiltinFunction):
    """See `negative_sampling`.

    Attributes:
        samples: (rows, 1 + sample_size): the classes that were drawn, behind those of ``t``.
    """

    check_uses_attributes = False

    def _prepare(self) -> None:
        check_reduce(_NAME, self.reduce, _REDUCE)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 't', 'W'))
        expect_rows_and_classes(*in_types)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        t: chainerx.ndarray,
        w: chainerx.ndarray,
        *,
        sampler: Sampler,
        sample_size: int,
        reduce: str = 'sum',
        samples: NdArray | None = None,
    ) -> chainerx.ndarray:
        if samples is None:
            samples = _draw(sampler, len(x), sample_size)
        samples = _as_chainerx(samples)
        if samples.dtype.kind not in 'iu' or samples.shape != (len(x), sample_size + 1):
            raise ValueError(
                f'{_NAME}: sampler gave {samples.dtype} of shape {samples.shape}, expected '
                f'integers of shape {(len(x), sample_size + 1)}'
            )
        losses = _losses_again(x, t, w, samples)
        return (losses if reduce == 'no' else losses.sum()).astype(chainerx.result_type(x, w))


def _draw(sampler: Sampler, rows: int, sample_size: int) -> NdArray:
    if sample_size < 0:
        raise ValueError(f'{_NAME}: sample_size is {sample_size}, expected at least 0')
    return variable.as_array(sampler((rows, sample_size + 1)))


def negative_sampling(
    x: VariableLike,
    t: VariableLike,
    W: VariableLike,
    sampler: Sampler,
    sample_size: int,
    reduce: str = 'sum',
    *,
    return_samples: bool = False,
) -> tp.Any:
    """Negative sampling: each right class against some that are drawn at random.

    With the scores ``s = x @ W.T``, it is
    ``-log(sigmoid(s[right])) - sum(log(sigmoid(-s[sampled])))``.

    Args:
        x (Variable or array): (rows, features), a float dtype.
        t (Variable or array): The right classes, (rows,), integers; the loss of -1 is 0.
        W (Variable or array): (classes, features), a float dtype.
        sampler (callable): Takes a shape and gives classes, an array of integers of the kind of
            ``x``; as `chainer.utils.WalkerAlias.sample`.
        sample_size (int): How many classes are sampled per row.
        reduce (str): 'sum', or 'no' for the losses themselves.
        return_samples (bool): Whether the classes are returned, too: (rows, 1 + sample_size), those
            of ``t`` first. False by default.

    Returns:
        Variable: 0-d, or (rows,); the wider of the dtypes. Differentiable in ``x`` and ``W``, any
        order. With ``return_samples``, a tuple of it and an array.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If a class is out of range.
        ValueError: For an unknown ``reduce``, a negative ``sample_size``, or if ``sampler`` gives
            another shape or dtype.

    Source: Mikolov et al., NIPS 2013.
    """
    check_reduce(_NAME, reduce, _REDUCE)
    samples = _draw(sampler, x.shape[0], sample_size)
    # Arguments that do not fit are errors of the call.
    fits = t.dtype.kind == 'i' and t.shape == samples.shape[:1] and samples.shape[1:] != (0,)
    if fits and samples.ndim == 2:
        samples[:, 0] = variable.as_array(t)
    loss = NegativeSamplingFunction.call(
        x, t, W, sampler=sampler, sample_size=sample_size, reduce=reduce, samples=samples
    )
    return (loss, samples) if return_samples else loss

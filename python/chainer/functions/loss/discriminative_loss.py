"""A loss of embeddings of pixels: those of an instance together, instances apart."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions._precision import widened
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class DiscriminativeMarginBasedClusteringLoss(BuiltinFunction):
    """See `discriminative_margin_based_clustering_loss`."""

    is_called = True
    check_uses_attributes = True

    def _prepare(self) -> None:
        _check_norm(self.norm)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('embeddings', 'labels'))
        embeddings, labels = in_types
        dim = type_check.make_variable(self.max_embedding_dim, 'max_embedding_dim')
        type_check.expect(
            embeddings.dtype.kind == 'f',
            labels.dtype.kind == 'i',
            embeddings.ndim >= 3,
            labels.ndim == embeddings.ndim - 1,
        )
        type_check.expect(
            embeddings.shape[0] == labels.shape[0],
            embeddings.shape[1] == dim,
            embeddings.shape[2:] == labels.shape[1:],
        )

    @staticmethod
    def compose(
        embeddings: chainerx.ndarray,
        labels: chainerx.ndarray,
        *,
        delta_v: float = 0.5,
        delta_d: float = 1.5,
        max_embedding_dim: int = 10,
        norm: int = 1,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 0.001,
    ) -> tuple[chainerx.ndarray, chainerx.ndarray, chainerx.ndarray]:
        dtype, embeddings = embeddings.dtype, widened(embeddings)
        n, dim = embeddings.shape[:2]
        pixels = labels.size // max(n, 1)
        points = embeddings.reshape(n, dim, pixels).transpose(0, 2, 1)
        numbers = chainerx.arange(1, dim + 1, dtype='int64', device=labels.device)
        mask = labels.reshape(n, 1, pixels) == numbers.reshape(1, dim, 1)
        mask = mask.astype(points.dtype)  # (n, instances, pixels)
        counts = mask.sum(2, keepdims=True)
        centres = chainerx.matmul(mask, points) / chainerx.maximum(counts, 1)
        # How far pixels are from the centres of their instances.
        offsets = chainerx.expand_dims(centres, 2) - chainerx.expand_dims(points, 1)
        spread = chainerx.square(chainerx.maximum(_length(offsets, norm, (3,)) - delta_v, 0)) * mask
        spread = spread.sum((0, 2)) / chainerx.maximum(counts.sum((0, 2)), 1)
        between = chainerx.expand_dims(centres, 2) - chainerx.expand_dims(centres, 1)
        near = chainerx.square(chainerx.maximum(2 * delta_d - _length(between, norm, (3,)), 0))
        others = 1 - chainerx.eye(dim, dtype=points.dtype, device=points.device)
        return (
            (alpha * spread.sum() / dim).astype(dtype),
            (beta * (near * others).sum() / max(n * dim * (dim - 1), 1)).astype(dtype),
            (gamma * _length(centres, norm, (0, 2)).sum() / max(n * dim, 1)).astype(dtype),
        )


def _length(x: chainerx.ndarray, norm: int, axes: tuple[int, ...]) -> chainerx.ndarray:
    if norm == 1:
        return chainerx.absolute(x).sum(axes)
    squares = chainerx.square(x).sum(axes)
    # The root has no slope at 0.
    some = squares != 0  # also where it is NaN, which is passed on
    return chainerx.where(some, chainerx.sqrt(chainerx.where(some, squares, 1)), 0)


def _check_norm(norm: int) -> None:
    if norm not in (1, 2):
        raise ValueError(
            f'discriminative_margin_based_clustering_loss: norm is {norm!r}, expected 1 or 2'
        )


def discriminative_margin_based_clustering_loss(
    embeddings: VariableLike,
    labels: VariableLike,
    delta_v: float,
    delta_d: float,
    max_embedding_dim: int,
    norm: int = 1,
    alpha: float = 1.0,
    beta: float = 1.0,
    gamma: float = 0.001,
) -> tuple[variable.Variable, variable.Variable, variable.Variable]:
    """Losses that draw the embeddings of an instance together, and those of several apart.

    Args:
        embeddings (Variable or array): (N, max_embedding_dim, ...), a float dtype.
        labels (Variable or array): (N, ...), integers: the instance of each pixel, from 1 to
            ``max_embedding_dim``; others, as 0, are in none.
        delta_v (float): How far from the centre of its instance an embedding may be.
        delta_d (float): Half of how near to each other centres may be.
        max_embedding_dim (int): See above.
        norm (int): 1 or 2: how lengths are measured.
        alpha (float): Weight of the first loss.
        beta (float): Weight of the second.
        gamma (float): Weight of the third.

    Returns:
        tuple of Variable: The losses of embeddings far from their centre, of centres near to each
        other, and of centres far from 0; each 0-d. Differentiable in ``embeddings``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``norm`` is neither 1 nor 2.

    Note:
        Instances that have no pixel count as such with their centre at 0.
    Source: De Brabandere et al., CVPR workshops 2017.
    """
    _check_norm(norm)
    return DiscriminativeMarginBasedClusteringLoss.call(
        embeddings,
        labels,
        delta_v=delta_v,
        delta_d=delta_d,
        max_embedding_dim=max_embedding_dim,
        norm=norm,
        alpha=alpha,
        beta=beta,
        gamma=gamma,
    )

"""A layer that is linear in each of two inputs."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.gradients import recomputed
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


def _compute(
    e1: chainerx.ndarray, e2: chainerx.ndarray, w: chainerx.ndarray, *rest: chainerx.ndarray
) -> chainerx.ndarray:
    n, (j, k, outs) = len(e1), w.shape
    e1, e2 = e1.reshape(n, j), e2.reshape(n, k)
    # One large product: pairs of features by outputs.
    pairs = (e1.reshape(n, j, 1) * e2.reshape(n, 1, k)).reshape(n, j * k)
    y = chainerx.matmul(pairs, w.reshape(j * k, outs))
    if rest:
        v1, v2, b = rest
        y = y + chainerx.matmul(e1, v1) + chainerx.matmul(e2, v2) + b
    return y


class BilinearFunction(BuiltinFunction):
    """See `bilinear`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(in_types.size() == (3 if n_in < 6 else 6))
        type_check._argname(in_types, ('e1', 'e2', 'W', 'V1', 'V2', 'b')[:n_in])
        e1, e2, w = in_types[:3]
        type_check.expect(e1.dtype.kind == 'f', e1.ndim >= 2, e2.ndim >= 2, w.ndim == 3)
        type_check.expect(*[x.dtype == e1.dtype for x in in_types[1:]])
        type_check.expect(
            e1.shape[0] == e2.shape[0],
            type_check.prod(e1.shape[1:]) == w.shape[0],
            type_check.prod(e2.shape[1:]) == w.shape[1],
        )
        if n_in == 6:
            v1, v2, b = in_types[3:]
            type_check.expect(v1.ndim == 2, v2.ndim == 2, b.ndim == 1)
            type_check.expect(
                v1.shape[0] == w.shape[0],
                v1.shape[1] == w.shape[2],
                v2.shape[0] == w.shape[1],
                v2.shape[1] == w.shape[2],
                b.shape[0] == w.shape[2],
            )

    compose = staticmethod(recomputed('bilinear', _compute))


def bilinear(
    e1: VariableLike,
    e2: VariableLike,
    W: VariableLike,
    V1: VariableLike | None = None,
    V2: VariableLike | None = None,
    b: VariableLike | None = None,
) -> variable.Variable:
    """A bilinear layer, ``y[l] = sum(e1[j] * e2[k] * W[j, k, l]) + e1 @ V1 + e2 @ V2 + b``.

    Args:
        e1 (Variable or array): (N, ...), of ``J`` features in all, a float dtype.
        e2 (Variable or array): (N, ...), of ``K`` features in all, the same dtype.
        W (Variable or array): (J, K, outs), the same dtype.
        V1 (Variable or array): (J, outs), or None.
        V2 (Variable or array): (K, outs), or None.
        b (Variable or array): (outs,), or None. Either all three are None, or none is.

    Returns:
        Variable: (N, outs). Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If some of ``V1``, ``V2`` and ``b`` are None.

    Source: Socher et al., NIPS 2013.
    """
    given = [x is not None for x in (V1, V2, b)]
    if not any(given):
        return BilinearFunction.call(e1, e2, W)
    if not all(given):
        raise ValueError('bilinear: some of V1, V2 and b are None, expected all or none of them')
    return BilinearFunction.call(e1, e2, W, V1, V2, b)

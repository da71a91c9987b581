"""Attention."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import configuration, variable
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike

_NAMES: tp.Final = ('query', 'key', 'value', 'attn_mask')


class ScaledDotProductAttention(BuiltinFunction):
    """See `scaled_dot_product_attention`.

    Attributes:
        dropout_key: The seed of the dropout mask.
    """

    check_uses_attributes = True

    def check_type_forward(self, in_types: InTypes) -> None:
        n_in = type_check.eval(in_types.size())
        type_check._argname(in_types, _NAMES[:n_in])
        query, key, value = in_types[0], in_types[1], in_types[2]
        least = 3 if self.enable_gqa else 2
        for x in (query, key, value):
            type_check.expect(x.dtype.kind == 'f', x.dtype == query.dtype, x.ndim >= least)
        type_check.expect(key.shape[-1] == query.shape[-1], value.shape[-2] == key.shape[-2])
        if n_in == 4:
            mask = in_types[3]
            if type_check.eval(mask.dtype.kind) != 'b':
                type_check.expect(mask.dtype.kind == 'f')

    @staticmethod
    def compose(
        query: chainerx.ndarray,
        key: chainerx.ndarray,
        value: chainerx.ndarray,
        attn_mask: chainerx.ndarray | None = None,
        *,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        dropout_key: int = 0,
    ) -> chainerx.ndarray:
        return chainerx.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, dropout_key
        )


def scaled_dot_product_attention(
    query: VariableLike,
    key: VariableLike,
    value: VariableLike,
    attn_mask: VariableLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> variable.Variable:
    """Attention: ``softmax(scale * query @ key.T + attn_mask) @ value``, over the last two axes.

    Args:
        query (Variable or array): Shape (..., queries, width), any float dtype. Leading axes of
            all inputs broadcast.
        key (Variable or array): (..., keys, width), the same dtype.
        value (Variable or array): (..., keys, width of values), the same dtype.
        attn_mask (Variable or array): Broadcasts to (..., queries, keys). bool: a key takes part
            for a query where it is True. Floats are added to the scores; -inf is possible.
        dropout_p (float): The probability, from 0 to below 1, with which a weight becomes 0, and
            the others are divided by ``1 - dropout_p``; 0 where ``chainer.config.train`` is False.
        is_causal (bool): Query ``i`` sees keys ``0`` to ``i``, of those that the mask leaves.
        scale (float): Of the scores; None for ``1 / sqrt(width)``.
        enable_gqa (bool): Axis -3 counts heads; ``query`` has a multiple of those of ``key`` and
            ``value``, each of which serves as many adjacent ones.

    Returns:
        Variable: Shape (..., queries, width of values), the dtype of ``query``. A query for which
        no key takes part gives zeros. Differentiable in all floats, any order.

    Raises:
        InvalidType: If dtypes, lengths or widths do not fit.
        DimensionError: If leading axes, heads or ``attn_mask`` do not.
        ValueError: If ``dropout_p`` is out of range.

    Note:
        The scores are never all in memory: backward computes them again, block by block, and draws
        the dropout mask again. Only a backward with ``enable_double_backprop`` makes several arrays
        of all scores.
    Source: Vaswani et al., NIPS 2017; Dao et al., NeurIPS 2022.
    """
    if not 0.0 <= dropout_p < 1.0:
        raise ValueError(
            f'scaled_dot_product_attention: dropout_p is {dropout_p}, expected 0 <= dropout_p < 1'
        )
    if not configuration.config.train:
        dropout_p = 0.0
    return ScaledDotProductAttention.call(
        query,
        key,
        value,
        attn_mask,
        dropout_p=dropout_p,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
        dropout_key=engine.draw_key() if dropout_p else 0,
    )

"""Chains of elementwise operations and reductions of rows, by hand, for the check of a GPU.

Each takes a namespace of functions, so that PyTorch's can run them, too.
"""

from __future__ import annotations

import typing as tp

import chainerx


class Ours:
    """What the chains call, of chainerx."""

    sqrt, tanh, sigmoid = chainerx.sqrt, chainerx.tanh, chainerx.sigmoid

    @staticmethod
    def mean(x: tp.Any) -> tp.Any:
        """Returns the means of rows."""
        return x.mean(axis=1, keepdims=True)


def layer_norm(m: tp.Any, x: tp.Any, gamma: tp.Any, beta: tp.Any) -> tp.Any:
    """Layer normalization."""
    d = x - m.mean(x)
    return d / m.sqrt(m.mean(d * d) + 1e-5) * gamma + beta


def gelu(m: tp.Any, x: tp.Any, gamma: tp.Any, beta: tp.Any) -> tp.Any:
    """The approximation of gelu by tanh."""
    return 0.5 * x * (1 + m.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def swish_gated(m: tp.Any, x: tp.Any, gamma: tp.Any, beta: tp.Any) -> tp.Any:
    """A swish and its gate."""
    return x * m.sigmoid(x * gamma) * m.tanh(x + beta)


def adam(m: tp.Any, g: tp.Any, p: tp.Any, mean: tp.Any, square: tp.Any) -> tp.Any:
    """An update by Adam, without its correction of the first steps."""
    mean *= 0.9
    mean += 0.1 * g
    square *= 0.999
    square += 0.001 * (g * g)
    p -= 0.001 * (mean / (m.sqrt(square) + 1e-8))
    return p


#: By name, and how many of its calls are in chains at least.
CHAINS: tp.Final[dict[str, tuple[tp.Callable[..., tp.Any], int]]] = {
    'layer norm': (layer_norm, 9),
    'gelu': (gelu, 9),
    'swish-gated': (swish_gated, 6),
    'Adam': (adam, 10),
}

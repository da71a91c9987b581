"""Steps of recurrent layers on variables: ``(x, h, c, weights, biases)`` to ``(h, c)``.

Libraries import them from the modules of v7, where their names begin with an underscore.
"""

from __future__ import annotations

import collections.abc as cabc
import typing as tp

from chainer import variable
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.array.split_axis import split_axis
from chainer.functions.array.stack import stack
from chainer.functions.connection.linear import linear
from chainer.functions.noise.dropout import dropout

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike

Step: tp.TypeAlias = cabc.Callable[..., tuple[tp.Any, tp.Any]]


def _gates(
    x: VariableLike, h: VariableLike, w: tp.Sequence[VariableLike], b: tp.Sequence[VariableLike]
) -> tuple[list[variable.Variable], list[variable.Variable]]:
    """Return the part of each gate that comes from the input and from the previous state."""
    n = len(w) // 2
    of_x = [linear(x, w[i], b[i]) for i in range(n)]
    return of_x, [linear(h, w[i], b[i]) for i in range(n, 2 * n)]


def lstm_step(
    x: VariableLike,
    h: VariableLike,
    c: VariableLike,
    w: tp.Sequence[VariableLike],
    b: tp.Sequence[VariableLike],
) -> tuple[variable.Variable, variable.Variable]:
    """One step of a layer of an LSTM; the gates are input, forget, cell and output."""
    i, f, a, o = (u + v for u, v in zip(*_gates(x, h, w, b), strict=True))
    c = sigmoid(i) * tanh(a) + sigmoid(f) * c
    return sigmoid(o) * tanh(c), c


def gru_step(
    x: VariableLike,
    h: VariableLike,
    c: VariableLike | None,
    w: tp.Sequence[VariableLike],
    b: tp.Sequence[VariableLike],
) -> tuple[variable.Variable, None]:
    """One step of a layer of a GRU, without ``c``; the gates are reset, update and state."""
    (xr, xz, xh), (hr, hz, hh) = _gates(x, h, w, b)
    z = sigmoid(xz + hz)
    return (1 - z) * tanh(xh + sigmoid(xr + hr) * hh) + z * h, None


def stack_weight(ws: tp.Sequence[VariableLike]) -> variable.Variable:
    """The rows of several weights, alternating."""
    w = stack(ws, axis=1)
    return reshape(w, (-1, *w.shape[2:]))


def one_directional_loop(
    f: Step,
    xs: tp.Sequence[VariableLike],
    h: VariableLike,
    c: VariableLike | None,
    w: tp.Sequence[VariableLike],
    b: tp.Sequence[VariableLike],
) -> tuple[VariableLike, VariableLike | None, list[variable.Variable]]:
    """A layer in one direction; batches of later steps may be shorter, never longer."""
    hs = []
    for x in xs:
        n, whole = len(x), len(h)
        h_rest = c_rest = None
        if n < whole:
            h, h_rest = split_axis(h, [n], axis=0)
            if c is not None:
                c, c_rest = split_axis(c, [n], axis=0)
        h, c = f(x, h, c, w, b)
        hs.append(h)
        if h_rest is not None:
            h = concat([h, h_rest], axis=0)
        if c_rest is not None:
            c = concat([c, c_rest], axis=0)
    return h, c, hs


def dropout_sequence(
    xs: tp.Sequence[VariableLike], dropout_ratio: float
) -> list[variable.Variable]:
    """`dropout` of each."""
    return [dropout(x, ratio=dropout_ratio) for x in xs]

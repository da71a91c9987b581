"""`TransformerEncoderLayer`, and a stack of them, `TransformerEncoder`."""

from __future__ import annotations

import typing as tp
from collections.abc import Iterator, Sequence

from chainer import initializers
from chainer._base.docstrings import documented_like
from chainer.functions.activation.gelu import gelu
from chainer.functions.activation.mish import mish
from chainer.functions.activation.relu import relu
from chainer.functions.activation.silu import silu
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.reshape import reshape
from chainer.functions.connection.linear import _rectified_linear, linear
from chainer.functions.noise.dropout import dropout as drop
from chainer.link import Chain, ChainList, Link
from chainer.links.attention.multi_head_attention import (
    AttentionCache,
    MultiHeadAttention,
    _restored_on_error,
)
from chainer.links.normalization.layer_normalization import LayerNormalization
from chainer.links.normalization.rms_norm import RMSNorm
from chainer.utils import type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike

_ACTIVATIONS: dict[str, tp.Callable[[VariableLike], Variable]] = {
    'relu': relu,
    'gelu': gelu,
    'silu': silu,
    'mish': mish,
    'tanh': tanh,
}
_NORMS: dict[str, tp.Callable[..., Link]] = {'layer': LayerNormalization, 'rms': RMSNorm}


class FeedForward(Link):
    """Two linear layers with an activation between them, for each row by itself.

    Args:
        in_size: Features of the rows, and of the result. None: taken from the first input.
        hidden_size: Features between the layers; None is four times `in_size`.
        activation: 'relu', 'gelu', 'silu', 'mish', 'tanh', or a function of a variable.
        nobias: Whether there are no biases.
        dropout: Ratio of the dropout behind the activation, in training.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        initial_bias: Initializer of the biases; 0 by default.

    Attributes:
        W1 (Parameter): ``(hidden_size, in_size)``.
        b1 (Parameter): ``(hidden_size,)``, or None.
        W2 (Parameter): ``(in_size, hidden_size)``.
        b2 (Parameter): ``(in_size,)``, or None.
    """

    def __init__(
        self,
        in_size: int | None = None,
        hidden_size: int | None = None,
        activation: str | tp.Callable[[VariableLike], Variable] = 'relu',
        *,
        nobias: bool = False,
        dropout: float = 0.0,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        _check_choice('activation', activation, _ACTIVATIONS)
        if hidden_size is not None and hidden_size < 1:
            raise ValueError(f'FeedForward: hidden_size is {hidden_size}, expected at least 1')
        self.in_size = in_size
        self.hidden_size = hidden_size
        self.activation = activation
        self.dropout = dropout
        weight = initializers._get_initializer(initialW)
        bias = initializers._get_initializer(0 if initial_bias is None else initial_bias)
        with self.init_scope():
            self.W1, self.W2 = Parameter(weight), Parameter(weight)
            self.b1 = None if nobias else Parameter(bias)
            self.b2 = None if nobias else Parameter(bias)
        if in_size is not None:
            self._initialize_params(in_size)

    def _initialize_params(self, in_size: int) -> None:
        hidden_size = 4 * in_size if self.hidden_size is None else self.hidden_size
        self.W1.initialize((hidden_size, in_size))
        self.W2.initialize((in_size, hidden_size))
        if self.b1 is not None and self.b2 is not None:
            self.b1.initialize((hidden_size,))
            self.b2.initialize((in_size,))

    @property
    def printable_specs(self) -> Iterator[tuple[str, object]]:
        for name in ('in_size', 'hidden_size', 'activation'):
            yield name, getattr(self, name)
        yield 'nobias', self.b1 is None
        yield 'dropout', self.dropout

    def forward(self, x: VariableLike) -> Variable:
        """Apply the layers.

        Args:
            x (Variable or array): (rows, in_size).

        Returns:
            Variable: The same shape.
        """
        if self.W1.array is None:
            type_check.expect(type_check.Variable(x.ndim, 'x.ndim') == 2)
            self._initialize_params(x.shape[1])
        function = self.activation
        if function == 'relu':
            h = _rectified_linear(x, self.W1, self.b1)
        else:
            function = _ACTIVATIONS[function] if isinstance(function, str) else function
            h = function(linear(x, self.W1, self.b1))
        return linear(_dropped(h, self.dropout), self.W2, self.b2)


class TransformerEncoderLayer(Chain):
    """Self-attention and a feed-forward network, each with a residual connection.

    Args:
        in_size: Features. None: taken from the first input.
        n_heads: The number of heads of the attention.
        hidden_size: Features between the two linear layers; None is four times `in_size`.
        dropout: Ratio of all dropouts, in training.
        activation: 'relu', 'gelu', 'silu', 'mish', 'tanh', or a function of a variable.
        pre_norm: Whether the inputs of the attention and of the linear layers are normalized; else
            their sums with the residuals are.
        norm: 'layer', or 'rms' for the root mean square alone.
        eps: Of the normalizations.
        n_kv_heads: See `MultiHeadAttention`.
        nobias: Whether the linear layers have no biases.
        rotary: See `MultiHeadAttention`.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        initial_bias: Initializer of the biases; 0 by default.

    Attributes:
        attention (MultiHeadAttention): The attention.
        feed_forward (FeedForward): The linear layers.
        norm1 (Link): The normalization of the attention.
        norm2 (Link): That of the linear layers.

    Source: Vaswani et al., NIPS 2017; `pre_norm`: Xiong et al., ICML 2020.
    """

    def __init__(
        self,
        in_size: int | None,
        n_heads: int,
        hidden_size: int | None = None,
        dropout: float = 0.1,
        activation: str | tp.Callable[[VariableLike], Variable] = 'relu',
        *,
        pre_norm: bool = False,
        norm: str = 'layer',
        eps: float = 1e-5,
        n_kv_heads: int | None = None,
        nobias: bool = False,
        rotary: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        _check_choice('norm', norm, _NORMS)
        self.dropout = dropout
        self.pre_norm = pre_norm
        common: dict[str, tp.Any] = {
            'nobias': nobias,
            'dropout': dropout,
            'initialW': initialW,
            'initial_bias': initial_bias,
        }
        with self.init_scope():
            self.attention = MultiHeadAttention(
                n_heads, in_size, n_kv_heads=n_kv_heads, rotary=rotary, **common
            )
            self.feed_forward = FeedForward(in_size, hidden_size, activation, **common)
            self.norm1 = _NORMS[norm](in_size, eps)
            self.norm2 = _NORMS[norm](in_size, eps)

    def make_cache(self) -> AttentionCache:
        """A cache without steps, for `forward`.

        Returns:
            AttentionCache: A new one.
        """
        return self.attention.make_cache()

    def forward(
        self,
        x: VariableLike,
        mask: VariableLike | None = None,
        causal: bool = False,
        cache: AttentionCache | None = None,
    ) -> Variable:
        """Apply the layer.

        Args:
            x (Variable or array): (batch, length, in_size).
            mask (Variable or array): See `MultiHeadAttention.forward`.
            causal (bool): Whether a step sees itself and earlier ones alone.
            cache (AttentionCache): See `MultiHeadAttention.forward`.

        Returns:
            Variable: Shape and dtype of `x`.
        """
        type_check.expect(type_check.Variable(x.ndim, 'x.ndim') == 3)
        if self.attention.W_out.array is None:  # it knows what the norms before it don't
            self.attention._prepare(x, x, x)
        shape = x.shape
        rows = reshape(x, (shape[0] * shape[1], shape[2]))

        def attend(rows: VariableLike) -> Variable:
            y = self.attention(reshape(rows, shape), None, None, mask, causal, cache)
            return _dropped(reshape(y, rows.shape), self.dropout)

        with _restored_on_error([cache]):
            if self.pre_norm:
                rows = rows + attend(self.norm1(rows))
                rows = rows + _dropped(self.feed_forward(self.norm2(rows)), self.dropout)
            else:
                rows = self.norm1(rows + attend(rows))
                rows = self.norm2(rows + _dropped(self.feed_forward(rows), self.dropout))
            return reshape(rows, shape)


@documented_like(TransformerEncoderLayer)
class TransformerEncoder(Chain):
    """A stack of `TransformerEncoderLayer`.

    Args:
        n_layers: The number of layers.
        pre_norm: Whether the inputs of layers are normalized; then the output of the last layer is,
            too.

    Attributes:
        layers (ChainList): The layers.
        norm (Link): The last normalization; None unless `pre_norm`.
    """

    def __init__(
        self,
        n_layers: int,
        in_size: int | None,
        n_heads: int,
        hidden_size: int | None = None,
        dropout: float = 0.1,
        activation: str | tp.Callable[[VariableLike], Variable] = 'relu',
        *,
        pre_norm: bool = False,
        norm: str = 'layer',
        eps: float = 1e-5,
        n_kv_heads: int | None = None,
        nobias: bool = False,
        rotary: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        if n_layers < 0:
            raise ValueError(f'TransformerEncoder: n_layers is {n_layers}, expected at least 0')
        _check_choice('norm', norm, _NORMS)
        with self.init_scope():
            self.layers = ChainList(
                *(
                    TransformerEncoderLayer(
                        in_size,
                        n_heads,
                        hidden_size,
                        dropout,
                        activation,
                        pre_norm=pre_norm,
                        norm=norm,
                        eps=eps,
                        n_kv_heads=n_kv_heads,
                        nobias=nobias,
                        rotary=rotary,
                        initialW=initialW,
                        initial_bias=initial_bias,
                    )
                    for _ in range(n_layers)
                )
            )
            self.norm = _NORMS[norm](in_size, eps) if pre_norm else None

    def make_cache(self) -> list[AttentionCache]:
        """Caches without steps, one per layer, for `forward`.

        Returns:
            list of AttentionCache: New ones.
        """
        return [AttentionCache() for _ in self.layers]

    @documented_like(TransformerEncoderLayer.forward)
    def forward(
        self,
        x: VariableLike,
        mask: VariableLike | None = None,
        causal: bool = False,
        cache: Sequence[AttentionCache] | None = None,
    ) -> Variable:
        """Apply the layers.

        Args:
            cache (sequence of AttentionCache): The result of `make_cache`; see
                `MultiHeadAttention.forward`.
        """
        caches = [None] * len(self.layers) if cache is None else cache
        if len(caches) != len(self.layers):
            raise ValueError(
                f'TransformerEncoder: cache has length {len(caches)}, expected {len(self.layers)}, '
                'the number of layers'
            )
        y: tp.Any = x
        with _restored_on_error(caches):
            for layer, below in zip(self.layers, caches, strict=True):
                y = layer(y, mask, causal, below)
            if self.norm is None:
                return y
            rows = reshape(y, (y.shape[0] * y.shape[1], y.shape[2]))
            return reshape(self.norm(rows), y.shape)


def _dropped(x: Variable, ratio: float) -> Variable:
    return drop(x, ratio) if ratio else x


def _check_choice(name: str, value: object, choices: tp.Any) -> None:
    if callable(value) or (isinstance(value, str) and value in choices):
        return
    raise ValueError(f'{name} is {value!r}, expected one of {", ".join(map(repr, choices))}')

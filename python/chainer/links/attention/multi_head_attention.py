"""`MultiHeadAttention`, and the cache by which it goes on step by step."""

from __future__ import annotations

import contextlib
import itertools
import typing as tp
from collections.abc import Iterator, Sequence

import numpy as np

from chainer import initializers
from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.array.split_axis import split_axis
from chainer.functions.array.swapaxes import swapaxes
from chainer.functions.attention.rotary_embedding import rotary_embedding
from chainer.functions.attention.scaled_dot_product_attention import scaled_dot_product_attention
from chainer.functions.connection.linear import linear
from chainer.link import Link
from chainer.utils import type_check
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import InitializerSpec, VariableLike


class AttentionCache:
    """The keys and values of the steps that a `MultiHeadAttention` has seen.

    Attributes:
        key (Variable): (batch, key heads, length, size of a head); None before the first step.
        value (Variable): The same for values.
    """

    def __init__(self) -> None:
        self.key: Variable | None = None
        self.value: Variable | None = None

    def __len__(self) -> int:
        return 0 if self.key is None else self.key.shape[2]

    def joined(self, key: Variable, value: Variable) -> tuple[Variable, Variable]:
        """Return a cache of the earlier steps and the new ones; this cache stays as it is.

        Args:
            key (Variable): (batch, key heads, steps, size of a head).
            value (Variable): The same for values.

        Returns:
            tuple of Variable: All keys, and all values.
        """
        if self.key is None or self.value is None:
            return key, value
        return concat((self.key, key), axis=2), concat((self.value, value), axis=2)


@contextlib.contextmanager
def _restored_on_error(caches: Sequence[AttentionCache | None]) -> Iterator[None]:
    """Restores the caches if a later step fails, so that all caches hold the same steps."""
    before = [None if c is None else (c.key, c.value) for c in caches]
    try:
        yield
    except BaseException:
        for c, state in zip(caches, before, strict=True):
            if c is not None and state is not None:
                c.key, c.value = state
        raise


class MultiHeadAttention(Link):
    """Attention of several heads, between linear layers.

    Sequences are ``(batch, length, features)``. Queries, keys and values come out of one product
    where they are made of the same sequence.

    Args:
        n_heads: The number of heads; a divisor of `in_size`.
        in_size: Features of the queries, and of the result. None: taken from the first query.
        key_size: Features of the input of keys, if not `in_size`.
        value_size: Features of the input of values, if not `in_size`.
        n_kv_heads: The number of heads of keys and values, if not `n_heads`, which it divides:
            adjacent heads of queries share one (grouped queries).
        nobias: Whether the linear layers have no biases.
        dropout: Ratio of the dropout of the weights of attention, in training.
        rotary: Whether queries and keys are turned by their positions.
        rotary_base: See `chainer.functions.rotary_embedding`.
        initialW: Initializer of the weights; `LeCunNormal` by default.
        initial_bias: Initializer of the biases; 0 by default.

    Attributes:
        W_in (Parameter): Weights of queries, keys and values, one below the other as in PyTorch,
            where neither `key_size` nor `value_size` is given; else there are `W_query`, `W_key`
            and `W_value`.
        b_in (Parameter): Their biases, or None; else `b_query`, `b_key` and `b_value`.
        W_out (Parameter): Weight of the result, ``(in_size, in_size)``.
        b_out (Parameter): Its bias, ``(in_size,)``, or None.

    Source: Vaswani et al., NIPS 2017; grouped queries: Ainslie et al., EMNLP 2023.
    """

    W_in: Parameter
    b_in: Parameter | None
    W_out: Parameter
    b_out: Parameter | None

    def __init__(
        self,
        n_heads: int,
        in_size: int | None = None,
        key_size: int | None = None,
        value_size: int | None = None,
        *,
        n_kv_heads: int | None = None,
        nobias: bool = False,
        dropout: float = 0.0,
        rotary: bool = False,
        rotary_base: float = 10000.0,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.n_heads = _check_positive('n_heads', n_heads)
        self.n_kv_heads = (
            self.n_heads if n_kv_heads is None else _check_positive('n_kv_heads', n_kv_heads)
        )
        if self.n_heads % self.n_kv_heads != 0:
            raise ValueError(
                f'MultiHeadAttention: n_kv_heads is {n_kv_heads}, expected a divisor of n_heads, '
                f'{n_heads}'
            )
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f'MultiHeadAttention: dropout is {dropout}, expected 0 <= dropout < 1')
        self.in_size = in_size
        self.key_size = key_size
        self.value_size = value_size
        self.nobias = nobias
        self.dropout = dropout
        self.rotary = rotary
        self.rotary_base = rotary_base
        weight = initializers._get_initializer(initialW)
        bias = initializers._get_initializer(0 if initial_bias is None else initial_bias)
        with self.init_scope():
            for name in self._layers:
                setattr(self, f'W_{name}', Parameter(weight))
                setattr(self, f'b_{name}', None if nobias else Parameter(bias))
        if in_size is not None:
            self._initialize_params(in_size)

    @property
    def _layers(self) -> tuple[str, ...]:
        if self.key_size is None and self.value_size is None:
            return ('in', 'out')
        return ('query', 'key', 'value', 'out')

    def _initialize_params(self, in_size: int) -> None:
        if in_size <= 0 or in_size % self.n_heads != 0:
            raise ValueError(
                f'MultiHeadAttention: in_size is {in_size}, expected a multiple of n_heads, '
                f'{self.n_heads}'
            )
        head = in_size // self.n_heads
        if self.rotary and head % 2 != 0:
            raise ValueError(
                f'MultiHeadAttention: a head has {head} features, {in_size} / {self.n_heads}, '
                'expected an even number for rotary'
            )
        kv = self.n_kv_heads * head
        shapes = {
            'in': (in_size + 2 * kv, in_size),
            'query': (in_size, in_size),
            'key': (kv, self.key_size or in_size),
            'value': (kv, self.value_size or in_size),
            'out': (in_size, in_size),
        }
        for name in self._layers:
            getattr(self, f'W_{name}').initialize(shapes[name])
            if not self.nobias:
                getattr(self, f'b_{name}').initialize(shapes[name][0])

    @property
    def printable_specs(self) -> Iterator[tuple[str, object]]:
        for name in ('n_heads', 'in_size', 'key_size', 'value_size', 'n_kv_heads', 'nobias'):
            yield name, getattr(self, name)
        for name in ('dropout', 'rotary', 'rotary_base'):
            yield name, getattr(self, name)

    def make_cache(self) -> AttentionCache:
        """A cache without steps, for `forward`.

        Returns:
            AttentionCache: A new one.
        """
        return AttentionCache()

    def forward(
        self,
        query: VariableLike,
        key: VariableLike | None = None,
        value: VariableLike | None = None,
        mask: VariableLike | None = None,
        causal: bool = False,
        cache: AttentionCache | None = None,
    ) -> Variable:
        """Attend.

        Args:
            query (Variable or array): (batch, length, in_size).
            key (Variable or array): (batch, keys, key_size); None is the query.
            value (Variable or array): (batch, keys, value_size); None is the key.
            mask (Variable or array): Which keys take part: bools (True: this one does), or floats
                that are added to scores; (length, keys), (batch, length, keys), or a shape that
                broadcasts to (batch, heads, length, keys).
            causal (bool): Whether a step sees itself and earlier ones alone.
            cache (AttentionCache): Steps that were seen before, to which those of this call are
                added: with it a sequence is computed part by part. Keys are those of `cache`, too.

        Returns:
            Variable: (batch, length, in_size). A query with no key that takes part gives the bias.
        """
        if key is None:
            if value is not None:
                raise ValueError('MultiHeadAttention: there is a value, but key is None')
            key = query
        if value is None:
            value = key
        if mask is not None:
            _check_array('mask', mask)
        if cache is not None and not isinstance(cache, AttentionCache):
            raise TypeError(
                f'MultiHeadAttention: cache is a {type(cache).__name__}, expected what make_cache '
                'returns'
            )
        self._prepare(query, key, value)
        size = self.W_out.shape[0]
        q, k, v = self._heads(query, key, value, size)
        past = 0 if cache is None else len(cache)
        if self.rotary:
            q, k = self._turn(q, past), self._turn(k, past)
        if cache is not None:
            k, v = cache.joined(k, v)
        length = q.shape[2]
        if causal and past:
            mask = self._later(mask, past, length)
            causal = False
        if mask is not None and mask.ndim == 3:
            mask = reshape(mask, (mask.shape[0], 1, *mask.shape[1:]))
        y = scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=mask,
            dropout_p=self.dropout,
            is_causal=causal,
            enable_gqa=self.n_kv_heads != self.n_heads,
        )
        rows = reshape(swapaxes(y, 1, 2), (q.shape[0] * length, size))
        result = reshape(linear(rows, self.W_out, self.b_out), (q.shape[0], length, size))
        if cache is not None:  # now that nothing can fail any more
            cache.key, cache.value = k, v
        return result

    def _prepare(self, query: VariableLike, key: VariableLike, value: VariableLike) -> None:
        """Checks inputs before the first ones make weights, which wrong ones must not."""
        _check_axes('query', query)
        size = query.shape[2] if self.W_out.array is None else self.W_out.shape[0]
        _check('query', query, size)
        _check('key', key, self.key_size or size)
        _check('value', value, self.value_size or size)
        if self.W_out.array is None:
            for x in (query, key, value):
                type_check.expect(type_check.Variable(x.dtype, 'dtype').kind == 'f')
            self._initialize_params(size)

    def _heads(
        self, query: VariableLike, key: VariableLike, value: VariableLike, size: int
    ) -> tuple[Variable, Variable, Variable]:
        """Queries, keys and values, (batch, heads, length, size of a head) each."""
        inputs = ((query, self.n_heads), (key, self.n_kv_heads), (value, self.n_kv_heads))
        if len(self._layers) > 2:
            names = ('query', 'key', 'value')
            ws = [getattr(self, f'W_{name}') for name in names]
            bs = [getattr(self, f'b_{name}') for name in names]
            groups = [[pair] for pair in inputs]
        else:
            # One product computes all projections of a sequence.
            groups = [list(group) for _, group in itertools.groupby(inputs, lambda p: id(p[0]))]
            rows = [sum(n for _, n in group) * (size // self.n_heads) for group in groups]
            ws = _split(self.W_in, rows, 0)
            bs = [None] * len(groups) if self.nobias else _split(self.b_in, rows, 0)
        q, k, v = (
            part
            for group, w, b in zip(groups, ws, bs, strict=True)
            for part in _project(group[0][0], w, b, [n for _, n in group])
        )
        return q, k, v

    def _turn(self, x: Variable, past: int) -> Variable:
        return rotary_embedding(x, base=self.rotary_base, offset=past)

    def _later(self, mask: VariableLike | None, past: int, length: int) -> VariableLike:
        """The mask by which steps after ``past`` ones see none that are later than they."""
        seen = np.tri(length, past + length, past, dtype=bool)
        if mask is None:
            return self.device.send(seen)
        if mask.dtype == bool:
            return (mask.array if isinstance(mask, Variable) else mask) & self.device.send(seen)
        return mask + self.device.send(np.where(seen, 0, -np.inf).astype(str(mask.dtype)))


def _project(
    x: VariableLike, w: VariableLike, b: VariableLike | None, heads: list[int]
) -> list[Variable]:
    """A product, cut by its columns into parts with these numbers of heads."""
    n, length, size = x.shape
    y = linear(reshape(x, (n * length, size)), w, b)
    y = reshape(y, (n, length, sum(heads), y.shape[1] // sum(heads)))
    return [swapaxes(part, 1, 2) for part in _split(y, heads, 2)]


def _split(x: VariableLike, lengths: list[int], axis: int) -> list[VariableLike]:
    if len(lengths) == 1:
        return [x]
    return [*split_axis(x, list(itertools.accumulate(lengths[:-1])), axis)]


def _check_positive(name: str, value: int) -> int:
    if not isinstance(value, (int, np.integer)):
        raise TypeError(f'MultiHeadAttention: {name} is {value!r}, expected an integer')
    if value < 1:
        raise ValueError(f'MultiHeadAttention: {name} is {value}, expected at least 1')
    return int(value)


def _check_array(name: str, x: object) -> None:
    if not hasattr(x, 'ndim'):
        raise TypeError(
            f'MultiHeadAttention: {name} is a {type(x).__name__}, expected a Variable or an array'
        )


def _check_axes(name: str, x: VariableLike) -> None:
    _check_array(name, x)
    type_check.expect(type_check.Variable(x.ndim, f'{name}.ndim') == 3)


def _check(name: str, x: VariableLike, size: int) -> None:
    _check_axes(name, x)
    type_check.expect(type_check.Variable(x.shape[2], f'{name}.shape[2]') == size)

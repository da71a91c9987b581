"""Batching rules of the layers of networks."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import functional
from chainerx.func import _batch
from chainerx.func._batch import Level, composed, full, is_batch, lift, rule
from chainerx.func._rules_axes import _inner, axes_of

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, DTypeLike, Operand, Routine

# ---- images --------------------------------------------------------------------------------------


def _merge(x: Operand) -> Operand:
    """Merges the batch axis with that of the images, which are batches themselves."""
    return chainerx.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _unmerge(y: Operand, level: Level, n: int) -> Operand:
    return chainerx.reshape(y, (level.size, n, *y.shape[1:]))


def _need_images(op: str, x: Operand) -> None:
    if x.ndim < 2:
        raise chainerx.DimensionError(f'{op}: x has {x.ndim} axes, expected 2 or more')


@rule('conv', 'conv_transpose')
def _conv(
    level: Level,
    function: Routine,
    x: Operand,
    w: Operand,
    b: Operand = None,
    *args: Argument,
    **kw: Argument,
) -> Operand:
    op = function.__name__
    _need_images(op, x)
    if not is_batch(w, level) and not is_batch(b, level):
        return _unmerge(function(_merge(x.array), w, b, *args, **kw), level, x.shape[0])
    if is_batch(w, level):
        # Treats the examples as groups of channels.
        args = (*args, *[None] * (5 - len(args)))
        defaults = (1, 0, False, 1, 1) if op == 'conv' else (1, 0, None, 1, 1)
        names = ('stride', 'pad', 'cover_all', 'dilate', 'groups')
        if op == 'conv_transpose':
            names = ('stride', 'pad', 'outsize', 'dilate', 'groups')
        values = []
        for name, default, given in zip(names, defaults, args, strict=True):
            values.append(kw.pop(name, default if given is None else given))
        if kw:
            raise TypeError(f'{op}: unexpected keyword arguments {[*kw]}')
        values[-1] *= level.size
        n, channels = x.shape[:2]
        side = chainerx.moveaxis(full(x, level), 0, 1)
        side = chainerx.reshape(side, (n, level.size * channels, *x.shape[2:]))
        y = function(side, _merge(w.array), None, *values)
        y = chainerx.reshape(y, (n, level.size, y.shape[1] // level.size, *y.shape[2:]))
        y = chainerx.moveaxis(y, 1, 0)
    else:
        y = function(x, w, None, *args, **kw)
        y = y.array if is_batch(y, level) else chainerx.expand_dims(y, 0)
    if b is None:
        return y
    bias = full(b, level)
    return y + chainerx.reshape(bias, (bias.shape[0], 1, bias.shape[1], *(1,) * (y.ndim - 3)))


@rule('max_pool', 'average_pool', 'unpool', 'adaptive_average_pool', 'adaptive_max_pool')
@rule('global_average_pool', 'global_max_pool', 'local_response_normalization')
def _pool(level: Level, function: Routine, x: Operand, *args: Argument, **kw: Argument) -> Operand:
    _need_images(function.__name__, x)
    y = function(_merge(x.array), *args, **kw)
    if isinstance(y, (list, tuple)):
        return type(y)([_unmerge(part, level, x.shape[0]) for part in y])
    return _unmerge(y, level, x.shape[0])


# ---- normalization over the last axes ------------------------------------------------------------


@rule('layer_norm', 'rms_norm')
def _row_norm(
    level: Level, function: Routine, x: Operand, *args: Argument, **kw: Argument
) -> Operand:
    op = function.__name__
    names = ['gamma', 'beta', 'eps', 'axis'] if op == 'layer_norm' else ['gamma', 'eps', 'axis']
    named = dict(zip(names, args, strict=False)) | kw
    weights = {k: named[k] for k in ('gamma', 'beta') if named.get(k) is not None}
    axis = named.get('axis')
    if axis is None:
        axis = tuple(range(-weights['gamma'].ndim, 0)) if weights else -1
    named['axis'] = axes = axes_of(op, axis, x.ndim)
    if is_batch(x, level) and not any(is_batch(v, level) for v in weights.values()):
        return function(x.array, **named)
    # Computes without weights, since each example has its own affine function.
    shape = tuple([x.shape[i] for i in sorted(axes)])
    for k, v in weights.items():
        if v.shape != shape:
            raise chainerx.DimensionError(
                f'{op}: {k}.shape is {v.shape}, expected {shape} by x.shape {x.shape}'
            )
        one = chainerx.ones if k == 'gamma' else chainerx.zeros
        named[k] = one(shape, v.dtype, device=v.device)
    y = function(x, **named)
    like = tuple([n if i - x.ndim in axes else 1 for i, n in enumerate(x.shape)])
    return _affine(y, weights, like, x.dtype)


@rule('group_norm', 'instance_norm')
def _channel_norm(
    level: Level, function: Routine, x: Operand, *args: Argument, **kw: Argument
) -> Operand:
    op = function.__name__
    _need_images(op, x)
    names = (
        ['gamma', 'beta', 'eps'] if op == 'instance_norm' else ['groups', 'gamma', 'beta', 'eps']
    )
    named = dict(zip(names, args, strict=False)) | kw
    weights = {k: named[k] for k in ('gamma', 'beta') if named.get(k) is not None}
    merged = _merge(full(x, level))
    if not any(is_batch(v, level) for v in weights.values()):
        return _unmerge(function(merged, **named), level, x.shape[0])
    # Computes without weights, since each example has its own affine function.
    for k, v in weights.items():
        if v.shape != x.shape[1:2]:
            raise chainerx.DimensionError(
                f'{op}: {k}.shape is {v.shape}, expected {x.shape[1:2]} by x.shape {x.shape}'
            )
        one = chainerx.ones if k == 'gamma' else chainerx.zeros
        named[k] = one(v.shape, v.dtype, device=v.device)
    y = _batch.Batched(_unmerge(function(merged, **named), level, x.shape[0]), level)
    like = (x.shape[1], *(1,) * (x.ndim - 2))
    return _affine(y, weights, like, x.dtype)


def _affine(y: Operand, weights: dict[str, Operand], like: Operand, dtype: DTypeLike) -> Operand:
    if 'gamma' in weights:
        y = y * chainerx.reshape(weights['gamma'], like)
    if 'beta' in weights:
        y = y + chainerx.reshape(weights['beta'], like)
    return _inner(y).astype(dtype, copy=False)


@rule('batch_norm', 'fixed_batch_norm')
def _batch_norm(
    level: Level,
    function: Routine,
    x: Operand,
    gamma: Operand,
    beta: Operand,
    *args: Argument,
    **kw: Argument,
) -> Operand:
    """The batch is an additional axis that is not reduced by the statistics."""
    op = function.__name__
    if op == 'batch_norm':
        names = ['running_mean', 'running_var', 'eps', 'decay', 'axis']
    else:
        names = ['mean', 'var', 'eps', 'axis']
    named = dict(zip(names, args, strict=False)) | kw
    axis = named.get('axis')
    named['axis'] = axes = axes_of(op, 0 if axis is None else axis, x.ndim)
    kept = tuple([n for i, n in enumerate(x.shape) if i - x.ndim not in axes])
    ones = tuple([1 if i - x.ndim in axes else n for i, n in enumerate(x.shape)])
    for name, v in (('gamma', gamma), ('beta', beta), *[(k, named.get(k)) for k in names[:2]]):
        if v is not None and v.shape not in (kept, ones):
            raise chainerx.DimensionError(
                f'{op}: {name}.shape is {v.shape}, expected {kept} by x.shape {x.shape}'
            )
        moves = op == 'batch_norm' and name in names and v is not None
        if moves and not is_batch(v, level) and not level.uniform:
            raise chainerx.ChainerxError(
                f'{op}: {name} would become another one for each example of a vmap; expected None '
                'or a batch'
            )
    running = {}
    for name in names[:2]:
        v = named.get(name)
        if v is None:
            continue
        if op == 'batch_norm' and not is_batch(v, level):
            running[name], named[name] = v, None
        else:
            named[name] = _kept(full(v, level), kept, level)
    if running and not functional.is_repeated():
        # All examples are one call by the user: they update shared running statistics once, after
        # the function has succeeded for all.
        one = [_batch.pick(v, level, 0).as_grad_stopped() for v in (x, gamma, beta)]
        others: dict[str, Argument] = {k: named[k] for k in ('eps', 'decay', 'axis') if k in named}
        level.afterwards.append(lambda: _move(function, one, {**running, **others}))
    weights = [_kept(full(v, level), kept, level) for v in (gamma, beta)]
    return function(full(x, level), *weights, **named)


def _move(batch_norm: tp.Any, arrays: list[Operand], named: dict[str, Argument]) -> None:
    with chainerx.no_backprop_mode():
        batch_norm(*arrays, **named)


def _kept(v: Operand, kept: tuple[int, ...], level: Level) -> Operand:
    """Drops the axes of length 1; a view."""
    return chainerx.reshape(v, (level.size, *kept))


# ---- attention ----------------------------------------------------------------------------------


@rule('scaled_dot_product_attention')
def _attention(
    level: Level,
    function: Routine,
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand = None,
    *args: Argument,
    **kw: Argument,
) -> Operand:
    named = (
        dict(
            zip(
                ('dropout_p', 'is_causal', 'scale', 'enable_gqa', 'dropout_key'), args, strict=False
            )
        )
        | kw
    )
    if named.get('dropout_p'):
        if named.get('dropout_key') is None and level.randomness != 'different':
            raise chainerx.ChainerxError(
                'vmap: scaled_dot_product_attention draws what it drops; say '
                'randomness="different" for other weights in each example, or give dropout_key'
            )
        if named.get('dropout_key') is not None:  # the same for each example, at any axis
            arrays = (query, key, value, attn_mask)
            name = 'scaled_dot_product_attention'
            return _batch.by_examples(name, level, function, arrays, named)
    ndim = max([x.ndim for x in (query, key, value)])
    query = _batch.Batched(full(query, level), level)
    lifted = [lift(x, level, ndim) for x in (query, key, value, attn_mask)]
    return function(*lifted, **named)


@rule('rotary_embedding')
def _rotary(
    level: Level,
    function: Routine,
    x: Operand,
    positions: Operand = None,
    *args: Argument,
    **kw: Argument,
) -> Operand:
    return function(full(x, level), lift(positions, level, x.ndim - 1), *args, **kw)


# ---- losses -------------------------------------------------------------------------------------


@rule('softmax_cross_entropy', 'hinge')
def _loss_of_rows(
    level: Level, function: Routine, x1: Operand, x2: Operand, *args: Argument, **kw: Argument
) -> Operand:
    if x1.ndim != 2 or x2.shape != x1.shape[:1]:
        raise chainerx.DimensionError(
            f'{function.__name__}: x1.shape is {x1.shape}, but x2.shape is {x2.shape}'
        )
    y = function(_merge(full(x1, level)), chainerx.ravel(full(x2, level)), *args, **kw)
    return _unmerge(y, level, x1.shape[0])


@composed('accuracy')
def _accuracy(y: Operand, t: Operand, ignore_label: int | None = None) -> Operand:
    shape = (y.shape[0], *y.shape[2:]) if y.ndim >= 2 else ()
    if t.ndim == 0 or not shape or [n for n in shape if n != 1] != [n for n in t.shape if n != 1]:
        raise chainerx.DimensionError(f'accuracy: y.shape is {y.shape}, but t.shape is {t.shape}')
    t = chainerx.reshape(t, shape)
    right = (chainerx.argmax(y, 1) == t).astype(y.dtype)
    if ignore_label is None:
        return chainerx.mean(right)
    counts = (t != ignore_label).astype(y.dtype)
    return chainerx.sum(right * counts) / chainerx.maximum(chainerx.sum(counts), 1)


# ---- recurrent layers ---------------------------------------------------------------------------


@rule('lstm', 'slstm', 'tree_lstm')
def _lstm(level: Level, function: Routine, *args: Argument, **kw: Argument) -> Operand:
    """Interleaves the rows of all examples by position, since later steps may have fewer rows."""
    named = {k: _rows(x, level, 0) for k, x in kw.items()}
    c, h = function(*[_rows(x, level, 0) for x in args], **named)
    return _examples(c, level, 0), _examples(h, level, 0)


def _rows(x: Operand, level: Level, axis: int) -> Operand:
    """Merges the examples into an inner axis."""
    if x.ndim <= axis:
        raise chainerx.DimensionError(f'lstm: an array of shape {x.shape} has no axis {axis}')
    y = chainerx.moveaxis(full(x, level), 0, axis + 1)
    shape = x.shape
    return chainerx.reshape(y, (*shape[:axis], shape[axis] * level.size, *shape[axis + 1 :]))


def _examples(y: Operand, level: Level, axis: int) -> Operand:
    """Undoes `_rows`."""
    shape = y.shape
    n = shape[axis] // level.size if level.size else 0
    y = chainerx.reshape(y, (*shape[:axis], n, level.size, *shape[axis + 1 :]))
    return chainerx.moveaxis(y, axis + 1, 0)


@rule('n_step_lstm', 'n_step_bilstm', 'n_step_gru', 'n_step_bigru', 'n_step_rnn', 'n_step_birnn')
def _n_step(
    level: Level, function: Routine, n_layers: int, *args: Argument, **kw: Argument
) -> Operand:
    states = 2 if 'lstm' in function.__name__ else 1
    names = [*['hx', 'cx'][:states], 'ws', 'bs', 'xs', 'activation']
    named = dict(zip(names, args, strict=False)) | kw
    if _batch.innermost(named['ws'], named['bs']) is level:
        # Each example has its own weights, so they share no product.
        return _batch.by_examples(function.__name__, level, function, (n_layers, *args), kw)
    for name in names[:states]:
        named[name] = _rows(named[name], level, 1)
    named['xs'] = [_rows(x, level, 0) for x in named['xs']]
    *ends, ys = function(n_layers, **named)
    return (*[_examples(y, level, 1) for y in ends], [_examples(y, level, 0) for y in ys])


@rule('max_unpool')
def _max_unpool(
    level: Level, function: Routine, x: Operand, indices: Operand, *args: Argument, **kw: Argument
) -> Operand:
    _need_images('max_unpool', x)
    if x.shape != indices.shape:
        raise chainerx.DimensionError(
            f'max_unpool: x.shape is {x.shape}, but indices.shape is {indices.shape}'
        )
    y = function(_merge(full(x, level)), _merge(full(indices, level)), *args, **kw)
    return _unmerge(y, level, x.shape[0])

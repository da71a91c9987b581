"""Batching rules of products, matrices, convolutions, pooling, normalization and indexing."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx.func._batch import Level, full, is_array, is_batch, lift, rule
from chainerx.func._rules_axes import _inner, axes_of, axis_of

# ---- products -----------------------------------------------------------------------------------


@rule('matmul')
def _matmul(level: Level, function: tp.Any, x1: tp.Any, x2: tp.Any) -> tp.Any:
    for name, x in (('x1', x1), ('x2', x2)):
        if x.ndim == 0:
            raise chainerx.DimensionError(
                f'matmul: {name} is 0-dimensional, expected at least 1 dimension; use multiply'
            )
    k1, k2 = x1.shape[-1], x2.shape[0 if x2.ndim == 1 else -2]
    if k1 != k2:
        raise chainerx.DimensionError(
            f'matmul: x1.shape[{x1.ndim - 1}] is {k1}, but x2.shape[{max(0, x2.ndim - 2)}] is {k2} '
            f'(shapes {x1.shape} and {x2.shape})'
        )
    # One product where one side is the same for all.
    if not is_batch(x2, level) and x2.ndim <= 2:
        return function(x1.array, x2)
    if not is_batch(x1, level) and x1.ndim == 2 and x2.ndim == 1:
        return function(x2.array, chainerx.transpose(x1))
    if not is_batch(x1, level) and x1.ndim == 1 and x2.ndim == 1:
        return function(x2.array, x1)
    row, column = x1.ndim == 1, x2.ndim == 1
    a = chainerx.expand_dims(x1, 0) if row else x1  # of examples: rows and columns put in
    b = chainerx.expand_dims(x2, 1) if column else x2
    ndim = max(a.ndim, b.ndim)
    y = function(lift(a, level, ndim), lift(b, level, ndim))
    if column:
        y = chainerx.squeeze(y, -1)
    return chainerx.squeeze(y, -1 if column else -2) if row else y


@rule('dot')
def _dot(level: Level, function: tp.Any, a: tp.Any, b: tp.Any) -> tp.Any:
    if a.ndim == 0 or b.ndim == 0:
        return _inner(chainerx.multiply(a, b))
    if b.ndim <= 2:
        return _inner(chainerx.matmul(a, b))
    # The columns of many matrices, side by side.
    axis = b.ndim - 2
    if a.shape[-1] != b.shape[axis]:
        raise chainerx.DimensionError(
            f'dot: a.shape[{a.ndim - 1}] is {a.shape[-1]}, but b.shape[{axis}] is {b.shape[axis]} '
            f'(shapes {a.shape} and {b.shape})'
        )
    rest = tuple([i for i in range(b.ndim) if i != axis])
    columns = chainerx.moveaxis(b, axis, 0)
    shape = tuple([b.shape[i] for i in rest])
    n = 1
    for length in shape:
        n *= length
    flat = chainerx.reshape(columns, (b.shape[axis], n))
    return _inner(chainerx.reshape(chainerx.matmul(a, flat), (*a.shape[:-1], *shape)))


@rule('linear')
def _linear(
    level: Level,
    function: tp.Any,
    x: tp.Any,
    w: tp.Any,
    b: tp.Any = None,
    n_batch_axes: int = 1,
) -> tp.Any:
    if not is_batch(w, level) and not is_batch(b, level):
        return function(x.array, w, b, n_batch_axes + 1)
    n_in = 1
    for length in x.shape[n_batch_axes:]:
        n_in *= length
    if w.ndim != 2 or not 0 <= n_batch_axes <= x.ndim or w.shape[1] != n_in:
        raise chainerx.DimensionError(
            f'linear: x of shape {x.shape} has {n_in} features after {n_batch_axes} batch axes, '
            f'but w.shape is {w.shape}'
        )
    rows = chainerx.reshape(x, (*x.shape[:n_batch_axes], n_in))
    y = chainerx.matmul(rows, chainerx.transpose(w))
    return _inner(y if b is None else y + b)


# ---- matrices -----------------------------------------------------------------------------------


@rule('linalg.inv', 'linalg.det', 'linalg.slogdet', 'linalg.cholesky')
def _of_matrices(level: Level, function: tp.Any, a: tp.Any) -> tp.Any:
    if a.ndim < 2:
        raise chainerx.DimensionError(
            f'{function.__name__}: a has {a.ndim} axes, expected 2 or more'
        )
    return function(a.array)


@rule('linalg.solve')
def _solve(level: Level, function: tp.Any, a: tp.Any, b: tp.Any) -> tp.Any:
    if a.ndim < 2 or b.ndim < 1:
        raise chainerx.DimensionError(
            f'solve: shapes {a.shape} and {b.shape}, expected matrices, and a vector or matrices'
        )
    vector = b.ndim == 1
    if vector:
        b = chainerx.expand_dims(b, 1)
    ndim = max(a.ndim, b.ndim)
    y = function(lift(a, level, ndim), lift(b, level, ndim))
    return chainerx.squeeze(y, -1) if vector else y


@rule('fft.fft', 'fft.ifft', 'fft.rfft', 'fft.irfft', 'fft.hfft', 'fft.ihfft')
def _fourier(
    level: Level, function: tp.Any, a: tp.Any, n: tp.Any = None, axis: int = -1, norm: tp.Any = None
) -> tp.Any:
    return function(a.array, n, axis_of(function.__name__, axis, a.ndim), norm)


@rule('fft.fftn', 'fft.ifftn', 'fft.rfftn', 'fft.irfftn')
def _fourier_n(
    level: Level,
    function: tp.Any,
    a: tp.Any,
    s: tp.Any = None,
    axes: tp.Any = None,
    norm: tp.Any = None,
) -> tp.Any:
    if axes is None:
        axes = tuple(range(-(a.ndim if s is None else len(s)), 0))
    return function(a.array, s, axes_of(function.__name__, axes, a.ndim), norm)


@rule('fft.fft2', 'fft.ifft2', 'fft.rfft2', 'fft.irfft2')
def _fourier_2(
    level: Level,
    function: tp.Any,
    a: tp.Any,
    s: tp.Any = None,
    axes: tp.Any = (-2, -1),
    norm: tp.Any = None,
) -> tp.Any:
    return function(a.array, s, axes_of(function.__name__, axes, a.ndim), norm)


@rule('fft.fftshift', 'fft.ifftshift')
def _shift(level: Level, function: tp.Any, x: tp.Any, axes: tp.Any = None) -> tp.Any:
    return function(x.array, axes_of(function.__name__, axes, x.ndim))


# ---- images -------------------------------------------------------------------------------------


def _merge(x: tp.Any) -> tp.Any:
    """The examples of the batch, which are batches of images themselves, as one."""
    return chainerx.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _unmerge(y: tp.Any, level: Level, n: int) -> tp.Any:
    return chainerx.reshape(y, (level.size, n, *y.shape[1:]))


def _need_images(op: str, x: tp.Any) -> None:
    if x.ndim < 2:
        raise chainerx.DimensionError(f'{op}: x has {x.ndim} axes, expected 2 or more')


@rule('conv', 'conv_transpose')
def _conv(
    level: Level,
    function: tp.Any,
    x: tp.Any,
    w: tp.Any,
    b: tp.Any = None,
    *args: tp.Any,
    **kw: tp.Any,
) -> tp.Any:
    op = function.__name__
    _need_images(op, x)
    if not is_batch(w, level) and not is_batch(b, level):
        return _unmerge(function(_merge(x.array), w, b, *args, **kw), level, x.shape[0])
    if is_batch(w, level):
        # The examples side by side as groups of channels.
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
def _pool(level: Level, function: tp.Any, x: tp.Any, *args: tp.Any, **kw: tp.Any) -> tp.Any:
    _need_images(function.__name__, x)
    y = function(_merge(x.array), *args, **kw)
    if isinstance(y, (list, tuple)):
        return type(y)([_unmerge(part, level, x.shape[0]) for part in y])
    return _unmerge(y, level, x.shape[0])


# ---- normalization over the last axes -----------------------------------------------------------


@rule('layer_norm', 'rms_norm')
def _row_norm(level: Level, function: tp.Any, x: tp.Any, *args: tp.Any, **kw: tp.Any) -> tp.Any:
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
    # Without weights, which are another affine function for each example.
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
    if 'gamma' in weights:
        y = y * chainerx.reshape(weights['gamma'], like)
    if 'beta' in weights:
        y = y + chainerx.reshape(weights['beta'], like)
    return _inner(y).astype(x.dtype, copy=False)


# ---- indexing -----------------------------------------------------------------------------------


@rule('take')
def _take(
    level: Level,
    function: tp.Any,
    a: tp.Any,
    indices: tp.Any,
    axis: tp.Any = None,
    mode: tp.Any = None,
) -> tp.Any:
    options = {} if mode is None else {'mode': mode}
    if axis is None:
        a = chainerx.ravel(a)
        axis = 0
    axis = axis_of('take', axis, a.ndim) + a.ndim
    if not is_batch(indices, level):
        return function(a.array, indices, axis + 1, **options)
    if not is_batch(a, level):
        y = function(a, indices.array, axis, **options)
        return chainerx.moveaxis(y, axis, 0)
    ndim = indices.ndim
    rows = chainerx.moveaxis(a.array, axis + 1, 1)
    index = _in_range(indices.array, rows.shape[1], mode)
    examples = chainerx.arange(level.size, dtype='int64', device=a.device)
    y = rows[chainerx.reshape(examples, (level.size, *(1,) * ndim)), index]
    # (batch, indices, rest): the indices go to the axis.
    order = [0, *range(1 + ndim, 1 + ndim + axis), *range(1, 1 + ndim)]
    order += range(1 + ndim + axis, y.ndim)
    return chainerx.transpose(y, tuple(order))


def _in_range(index: tp.Any, n: int, mode: tp.Any) -> tp.Any:
    """Indices that x[...] takes as `take` does with this mode."""
    if mode == 'clip':
        return chainerx.clip(index, 0, n - 1)
    return chainerx.remainder(index, n) if mode == 'wrap' else index


@rule('ndarray.__getitem__')
def _getitem(level: Level, function: tp.Any, x: tp.Any, index: tp.Any) -> tp.Any:
    items = list(index) if isinstance(index, tuple) else [index]
    if not any(is_array(item) or isinstance(item, list) for item in items):
        return function(x.array, (slice(None), *items))  # x is the batch
    return _gather(level, function, x, _expand(x, items))


def _expand(x: tp.Any, items: list[tp.Any]) -> list[tp.Any]:
    """With slices in the place of '...', and one item for each axis."""
    items = [chainerx.asarray(item) if isinstance(item, list) else item for item in items]
    used = 0
    for item in items:
        if item is not None and item is not Ellipsis:
            is_mask = is_array(item) and item.dtype.kind == 'b'
            used += item.ndim if is_mask else 1
    if used > x.ndim:
        raise IndexError(f'getitem: {used} indices for an array of {x.ndim} axes')
    rest = [slice(None)] * (x.ndim - used)
    at = [i for i, item in enumerate(items) if item is Ellipsis]
    if not at:
        return items + rest
    return items[: at[0]] + rest + items[at[0] + 1 :]


def _gather(level: Level, function: tp.Any, x: tp.Any, items: list[tp.Any]) -> tp.Any:
    """With arrays among the indices."""
    for item in items:
        if is_batch(item, level) and item.dtype.kind == 'b':
            raise TypeError(
                'vmap: a mask that is another one for each example selects other numbers of '
                'elements; use chainerx.where'
            )
    # Masks are the positions of what they select.
    positions: list[tp.Any] = []
    for item in items:
        if is_array(item) and item.dtype.kind == 'b':
            positions += list(chainerx.nonzero(item))
        else:
            positions.append(item)
    items = positions
    advanced = [
        i for i, item in enumerate(items) if is_array(item) or isinstance(item, int)
    ]  # an integer beside arrays is one of them
    ndim = max([items[i].ndim for i in advanced if is_array(items[i])])
    together = advanced == list(range(advanced[0], advanced[-1] + 1))
    # Where the axes of the indices are in the result of an example, after axes of slices and None.
    start = advanced[0] if together else 0
    lifted = [lift(item, level, ndim) if is_array(item) else item for item in items]
    if not is_batch(x, level):
        y = function(x, tuple(lifted))
        return chainerx.moveaxis(y, start, 0)
    examples = chainerx.arange(level.size, dtype='int64', device=x.device)
    examples = chainerx.reshape(examples, (level.size, *(1,) * ndim))
    y = function(x.array, (examples, *lifted))
    # The batch is the first index, so all axes of indices are in front: (batch, indices, rest) if
    # something lies between; they are brought to where they are for an example.
    order = [0, *range(1 + ndim, 1 + ndim + start), *range(1, 1 + ndim)]
    order += range(1 + ndim + start, y.ndim)
    return chainerx.transpose(y, tuple(order))


@rule('ndarray.__setitem__')
def _setitem(level: Level, function: tp.Any, x: tp.Any, index: tp.Any, value: tp.Any) -> None:
    if not is_batch(x, level):
        raise chainerx.ChainerxError(
            'vmap: setitem would write other values for each example into an array that is the '
            'same for all of them; compute a new one, or write to a copy that is a batch'
        )
    items = list(index) if isinstance(index, tuple) else [index]
    if any(is_array(item) or isinstance(item, list) for item in items):
        raise chainerx.NotImplementedError(
            'vmap: setitem with arrays among the indices; use chainerx.where'
        )
    view = x.array[(slice(None), *items)]
    if is_batch(value, level):
        value = lift(value, level, view.ndim - 1)
    view[...] = value

"""Batching rules of routines that sort elements, search among them, or run along an axis."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx.func import _batch
from chainerx.func._batch import Level, composed, conditions, full, is_array, is_batch, lift, rule
from chainerx.func._rules_axes import _flat, _name, axes_of, axis_of

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Axis, DTypeLike, Operand, Routine

# ---- along an axis ------------------------------------------------------------------------------


@rule('argmax', 'argmin', 'nanargmax', 'nanargmin')
def _position(
    level: Level,
    function: Routine,
    a: Operand,
    axis: int | None = None,
    *,
    keepdims: bool = False,
) -> Operand:
    op = _name(function)
    if axis is not None:
        found = function(a.array, axis_of(op, axis, a.ndim))
        return chainerx.expand_dims(found, axis_of(op, axis, a.ndim)) if keepdims else found
    found = function(_flat(a.array), 1)
    return chainerx.reshape(found, (level.size, *(1,) * a.ndim)) if keepdims else found


@rule('cumsum', 'cumprod', 'nancumsum', 'nancumprod')
def _scan(
    level: Level,
    function: Routine,
    a: Operand,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
) -> Operand:
    op = _name(function)
    kw = {} if dtype is None else {'dtype': dtype}
    if axis is None:
        return function(_flat(a.array), 1, **kw)
    return function(a.array, axis_of(op, axis, a.ndim), **kw)


@rule('cumulative_sum', 'cumulative_prod')
def _cumulative(
    level: Level, function: Routine, x: Operand, *, axis: int | None = None, **kw: Argument
) -> Operand:
    op = _name(function)
    if axis is None:
        if x.ndim == 0:
            return function(_flat(x.array), axis=1, **kw)
        if x.ndim != 1:
            raise ValueError(f'{op}: axis is None, which x of {x.ndim} axes leaves open')
        axis = -1
    return function(x.array, axis=axis_of(op, axis, x.ndim), **kw)


@rule('sort', 'argsort')
def _sort(
    level: Level, function: Routine, a: Operand, axis: int = -1, *rest: Operand, **kw: Argument
) -> Operand:
    if axis is None:
        return function(_flat(a.array), 1, *rest, **kw)
    return function(a.array, axis_of(_name(function), axis, a.ndim), *rest, **kw)


@rule('sort_complex')
def _sort_complex(level: Level, function: Routine, a: Operand) -> Operand:
    axis_of(_name(function), -1, a.ndim)
    return function(a.array)


@rule('partition', 'argpartition', 'topk')
def _part(
    level: Level,
    function: Routine,
    a: Operand = None,
    kth: int | tuple[int, ...] | None = None,
    axis: int = -1,
    *rest: Operand,
    **kw: Argument,
) -> Operand:
    a, kth = kw.pop('x', a), kw.pop('k', kth)
    if axis is None:
        return function(_flat(a.array), kth, 1, *rest, **kw)
    return function(a.array, kth, axis_of(_name(function), axis, a.ndim), *rest, **kw)


@rule('lexsort')
def _lexsort(level: Level, function: Routine, keys: Operand, axis: int = -1) -> Operand:
    keys = list(keys)
    return function([full(key, level) for key in keys], axis_of('lexsort', axis, keys[0].ndim))


@rule('unwrap')
def _unwrap(
    level: Level,
    function: Routine,
    p: Operand,
    discont: float | None = None,
    axis: int = -1,
    **kw: Argument,
) -> Operand:
    return function(p.array, discont, axis_of('unwrap', axis, p.ndim), **kw)


# ---- order statistics ---------------------------------------------------------------------------


@rule('median', 'nanmedian')
def _median(
    level: Level, function: Routine, a: Operand, axis: Axis | None = None, keepdims: bool = False
) -> Operand:
    return function(a.array, axes_of(_name(function), axis, a.ndim), keepdims)


@rule('quantile', 'nanquantile', 'percentile', 'nanpercentile')
def _quantile(
    level: Level,
    function: Routine,
    a: Operand,
    q: Operand,
    axis: Axis | None = None,
    **kw: Argument,
) -> Operand:
    op = _name(function)
    if is_batch(q, level) or kw.get('weights') is not None:
        return _batch.by_examples(op, level, function, (a, q, axis), kw)
    y = function(a.array, q, axes_of(op, axis, a.ndim), **kw)
    n_kept = a.ndim if kw.get('keepdims') else a.ndim - len(axes_of(op, axis, a.ndim))
    # Moves the axes of q before those of the batch.
    return chainerx.moveaxis(y, y.ndim - n_kept - 1, 0)


@rule('average')
def _average(
    level: Level,
    function: Routine,
    a: Operand,
    axis: Axis | None = None,
    weights: Operand = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Operand:
    axes = axes_of('average', axis, a.ndim)
    if weights is not None:
        if weights.shape != a.shape:
            shape = tuple([a.shape[i] for i in axes])
            if axis is None or weights.shape != shape:
                raise chainerx.DimensionError(
                    f'average: weights.shape is {weights.shape}, expected {a.shape}, or the '
                    'lengths of axis'
                )
            order = sorted(range(len(axes)), key=lambda k: axes[k])
            like = [n if i - a.ndim in axes else 1 for i, n in enumerate(a.shape)]
            weights = chainerx.reshape(chainerx.transpose(weights, tuple(order)), tuple(like))
            weights = chainerx.broadcast_to(weights, a.shape)
        weights = full(weights, level)
    return function(full(a, level), axes, weights, returned, keepdims=keepdims)


# ---- searches -----------------------------------------------------------------------------------


@rule('searchsorted')
def _searchsorted(
    level: Level,
    function: Routine,
    a: Operand,
    v: Operand,
    side: str = 'left',
    sorter: Operand = None,
) -> Operand:
    if not is_batch(a, level) and not is_batch(sorter, level):
        return function(a, v.array, side, sorter)
    if not is_array(v):
        v = chainerx.asarray(v, device=a.device)
    if side not in ('left', 'right') or a.ndim != 1:
        return _batch.by_examples('searchsorted', level, function, (a, v, side, sorter), {})
    if sorter is not None:
        a = chainerx.take(a, sorter)
    # In the joint sort, the values of a before one of v are all those that are not from v.
    flat = chainerx.ravel(v)
    n, m = a.size, flat.size
    pair = [flat, a] if side == 'left' else [a, flat]
    start = 0 if side == 'left' else n
    place = _ranks(chainerx.concatenate(pair))[start : start + m]
    return full(chainerx.reshape(place - _ranks(flat), v.shape), level)


def _ranks(x: Operand) -> Operand:
    """The rank of each element in a stable sort."""
    return chainerx.argsort(chainerx.argsort(x, stable=True), stable=True)


@rule('digitize')
def _digitize(
    level: Level, function: Routine, x: Operand, bins: Operand, right: bool = False
) -> Operand:
    if is_batch(bins, level):  # the order of bins depends on values
        return _batch.by_examples('digitize', level, function, (x, bins, right), {})
    return function(x.array, bins, right)


@composed('isin')
def _isin(
    element: Operand,
    test_elements: Operand,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Operand:
    if not is_array(test_elements):
        test_elements = chainerx.asarray(test_elements, device=element.device)
    if not is_array(element):
        element = chainerx.asarray(element, device=test_elements.device)
    found = chainerx.any(
        chainerx.expand_dims(element, element.ndim) == chainerx.ravel(test_elements), -1
    )
    return chainerx.logical_not(found) if invert else found


@composed('interp')
def _interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: Operand = None,
    right: Operand = None,
    period: float | None = None,
) -> Operand:
    if xp.ndim != 1 or xp.shape != fp.shape or xp.size == 0:
        raise chainerx.DimensionError(
            f'interp: xp.shape is {xp.shape} and fp.shape is {fp.shape}, expected the same length'
        )
    if period is not None:
        x, xp = x % period, xp % period
        order = chainerx.argsort(xp)
        xp, fp = chainerx.take(xp, order), chainerx.take(fp, order)
        xp = chainerx.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = chainerx.concatenate([fp[-1:], fp, fp[:1]])
        left = right = None
    after = chainerx.searchsorted(xp, x, side='right')
    low = chainerx.clip(after - 1, 0, xp.size - 1)
    high = chainerx.clip(after, 0, xp.size - 1)
    x0, y0, y1 = chainerx.take(xp, low), chainerx.take(fp, low), chainerx.take(fp, high)
    width = chainerx.take(xp, high) - x0
    inside = width != 0
    slope = (y1 - y0) / chainerx.where(inside, width, 1)
    y = chainerx.where(inside & (x0 != x), slope * (x - x0) + y0, y0)
    y = chainerx.where(x < xp[0], fp[0] if left is None else left, y)
    return chainerx.where(x > xp[-1], fp[-1] if right is None else right, y)


@rule('choose')
def _choose(
    level: Level, function: Routine, a: Operand, choices: Operand, mode: str = 'raise'
) -> Operand:
    choices = list(choices)
    a = conditions(a, choices)
    ndim = max([x.ndim for x in (a, *choices) if is_array(x)])
    return function(lift(a, level, ndim), [lift(x, level, ndim) for x in choices], mode)


@rule('select')
def _select(
    level: Level, function: Routine, condlist: Operand, choicelist: Operand, default: Operand = 0
) -> Operand:
    condlist = [conditions(x, (*condlist, *choicelist, default)) for x in condlist]
    ndim = max([x.ndim for x in (*condlist, *choicelist, default) if is_array(x)])
    return function(
        [lift(x, level, ndim) for x in condlist],
        [lift(x, level, ndim) for x in choicelist],
        lift(default, level, ndim),
    )

"""Random shapes, axes, indices and layouts, drawn by hypothesis, against NumPy."""

import chainerx as chx
import hypothesis.extra.numpy as hnp
import numpy as np
from cases._harness import to_numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# Reproducible, since a failure must not depend on the day; no deadline on shared machines.
quick = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
full_shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def numbered(shape):
    return np.arange(1.0, 1 + np.prod(shape)).reshape(shape)


@st.composite
def views(draw, shape_strategy=shapes):
    """The same random view of NumPy and of chainerx memory."""
    n = numbered(draw(shape_strategy))
    x = chx.array(n)
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(['transpose', 'slice', 'newaxis', 'broadcast']))
        if kind == 'transpose':
            axes = draw(st.permutations(range(n.ndim)))
            n, x = n.transpose(axes), x.transpose(tuple(axes))
        elif kind == 'slice' and n.ndim:
            key = tuple(draw(st.slices(max(1, side))) for side in n.shape)
            n, x = n[key], x[key]
        elif kind == 'newaxis' and n.ndim < 5:
            n, x = n[None], x[None]
        elif kind == 'broadcast' and n.ndim < 5:
            shape = (draw(st.integers(0, 3)), *n.shape)
            n, x = np.broadcast_to(n, shape), chx.broadcast_to(x, shape)
    return n, x


def same(x, n):
    assert x.shape == np.shape(n)
    np.testing.assert_allclose(to_numpy(x), n, rtol=1e-12, atol=1e-12)


@quick
@given(views())
def test_views(pair):
    n, x = pair
    same(x, n)
    same(x.copy(), n)
    same(-x, -n)
    if n.size > 1:  # for shorter arrays strides mean nothing
        steps = [
            (a, b) for a, b, side in zip(x.strides, n.strides, n.shape, strict=True) if side > 1
        ]
        assert all(a == b for a, b in steps)
    assert x.tolist() == n.tolist()


@quick
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4), st.data())
def test_broadcasting(drawn, data):
    n1, n2 = (numbered(shape) for shape in drawn.input_shapes)
    x1, x2 = chx.array(n1).require_grad(), chx.array(n2).require_grad()
    y = x1 * x2 + x2
    same(y, n1 * n2 + n2)
    y.backward()
    for x, other, plus in ((x1, n2, 0), (x2, n1, 1)):
        full = np.broadcast_to(other + plus, y.shape)
        lead = full.ndim - x.ndim
        axes = [*range(lead)]
        axes += [lead + i for i, side in enumerate(x.shape) if side == 1 and y.shape[lead + i] != 1]
        same(x.grad, full.sum(axis=tuple(axes)).reshape(x.shape))


@quick
@given(shapes, shapes)
def test_incompatible_shapes(s1, s2):
    try:
        expected = np.broadcast_shapes(s1, s2)
    except ValueError:
        expected = None
    x1, x2 = chx.ones(s1), chx.ones(s2)
    try:
        actual = (x1 + x2).shape
    except chx.DimensionError as error:
        actual = None
        message = str(error)
    assert actual == expected
    if actual is None:
        assert str(s1) in message
        assert str(s2) in message


@quick
@given(views(full_shapes), st.data())
def test_basic_indexing(pair, data):
    n, x = pair
    key = data.draw(hnp.basic_indices(n.shape, allow_newaxis=True, allow_ellipsis=True))
    same(x[key], n[key])
    target, expected = chx.array(n.copy()), n.copy()
    value = numbered(expected[key].shape)
    target[key] = chx.array(value)
    expected[key] = value
    same(target, expected)
    target[key] = 7
    expected[key] = 7
    same(target, expected)
    g = chx.array(n.copy()).require_grad()
    if n.size:
        (g[key] * 2).backward()
        gradient = np.zeros(n.shape)
        gradient[key] += 2
        same(g.grad, gradient)


@quick
@given(views(full_shapes), st.data())
def test_reductions(pair, data):
    n, x = pair
    axis = data.draw(st.one_of(st.none(), hnp.valid_tuple_axes(n.ndim)))
    keepdims = data.draw(st.booleans())
    for name in ('sum', 'prod', 'mean', 'var', 'max', 'min', 'all', 'any'):
        count = np.prod([n.shape[a] for a in (range(n.ndim) if axis is None else axis)])
        if count == 0 and name not in ('sum', 'prod', 'all', 'any'):
            continue
        expected = getattr(np, name)(n, axis=axis, keepdims=keepdims)
        actual = getattr(chx, name)(x, axis=axis, keepdims=keepdims)
        assert actual.shape == np.shape(expected)
        np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-11, atol=1e-11)


@quick
@given(views(), st.data())
def test_reshape(pair, data):
    n, x = pair
    sides = list(n.shape)
    if not n.size:
        return
    target = data.draw(
        st.sampled_from([(-1,), (1, -1), (-1, 1, 1), (*reversed(sides),), (*sides, 1)])
    )
    same(x.reshape(target), n.reshape(target))
    same(x.ravel(), n.ravel())
    same(x.flatten(), n.ravel())


@quick
@given(views(full_shapes), st.data())
def test_take(pair, data):
    n, x = pair
    axis = data.draw(st.integers(-n.ndim, n.ndim - 1))
    side = n.shape[axis]
    if side == 0:
        return
    indices = data.draw(hnp.arrays('int64', shapes, elements=st.integers(-side, side - 1)))
    same(chx.take(x, chx.array(indices), axis), np.take(n, indices, axis))
    wide = indices * 5 + 3
    same(chx.take(x, chx.array(wide), axis, mode='wrap'), np.take(n, wide, axis, mode='wrap'))
    same(chx.take(x, chx.array(wide), axis, mode='clip'), np.take(n, wide, axis, mode='clip'))


@quick
@given(st.lists(views(full_shapes), min_size=1, max_size=3), st.data())
def test_concatenate_and_stack(pairs, data):
    n, x = pairs[0]
    axis = data.draw(st.integers(-n.ndim, n.ndim - 1))
    ns = [n] + [np.repeat(n, k, axis) for k in (0, 2)]
    xs = [x] + [chx.repeat(x, k, axis) for k in (0, 2)]
    same(chx.concatenate(xs, axis), np.concatenate(ns, axis))
    same(chx.stack([x, x], axis), np.stack([n, n], axis))
    parts = chx.split(chx.concatenate([x, x], axis), 2, axis)
    for part in parts:
        same(part, n)


@quick
@given(hnp.array_shapes(min_dims=2, max_dims=2, max_side=5), st.integers(0, 4), st.data())
def test_matmul(shape, columns, data):
    rows, inner = shape
    batch = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    s1, s2 = batch.input_shapes
    n1, n2 = numbered((*s1, rows, inner)), numbered((*s2, inner, columns))
    same(chx.array(n1) @ chx.array(n2), n1 @ n2)
    transposed = chx.array(n1.swapaxes(-1, -2).copy()).swapaxes(-1, -2)
    same(transposed @ chx.array(n2), n1 @ n2)

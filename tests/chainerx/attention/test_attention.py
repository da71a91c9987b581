"""Attention with lengths that no block divides, masks of all shapes, layouts, dropout, extremes."""

import itertools
import math

import chainerx as chx
import numpy as np
import pytest
from cases._harness import make, to_numpy
from cases._table import seeded
from cases.attention.attention import attention

# Leading shape, queries, keys, width, width of values; key heads if they are grouped.
SHAPES = {
    'blocks': ((2,), 128, 256, 64, 64, None),
    'past blocks': ((1, 2), 259, 261, 33, 17, None),
    'few queries': ((3,), 3, 515, 5, 70, None),
    'as many as few': ((2,), 16, 300, 64, 80, None),
    'few grouped': ((2, 6), 5, 140, 33, 16, 2),
    'few keys': ((2,), 300, 2, 66, 1, None),
    'matrix': ((), 70, 40, 8, 8, None),
    'grouped': ((2, 6), 131, 45, 9, 16, 2),
    'many': ((5, 40), 6, 7, 3, 4, None),
}
MASKS = ('no', 'bool', 'float', 'causal', 'causal bool', 'causal float')
each_shape = pytest.mark.parametrize('name', SHAPES)
each_mask = pytest.mark.parametrize('mask', MASKS)
attend = chx.scaled_dot_product_attention


class Attention:
    """Arrays of a call, and how it is called."""

    def __init__(self, name, mask='no', dtype='float64', device='native:0', layout='contiguous'):
        leading, queries, keys, width, values, key_heads = SHAPES[name]
        of_keys = leading if key_heads is None else (*leading[:-1], key_heads)
        rng = seeded('attention', name, mask)

        def draw(*shape):
            return make(rng.uniform(-2, 2, shape).astype(dtype), layout, device)

        self.arrays = [
            draw(*leading, queries, width),
            draw(*of_keys, keys, width),
            draw(*of_keys, keys, values),
        ]
        self.kw = {'is_causal': 'causal' in mask, 'enable_gqa': key_heads is not None}
        self.gy = draw(*leading, queries, values)
        if 'float' in mask:
            self.arrays.append(draw(*leading[-1:], queries, keys))
        elif 'bool' in mask:
            self.kw['attn_mask'] = make(rng.random((queries, keys)) < 0.7, layout, device)

    def __call__(self):
        return attend(*self.arrays, **self.kw)

    def expected(self):
        arrays = [to_numpy(x).astype('f8') for x in self.arrays]
        kw = {k: to_numpy(v) if isinstance(v, chx.ndarray) else v for k, v in self.kw.items()}
        return attention(*arrays, **kw)

    def gradients(self, **kw):
        for x in self.arrays:
            x.cleargrad() if x.is_grad_required() else x.require_grad()
        y = self()
        y.grad = self.gy
        y.backward(**kw)
        return [to_numpy(x.grad) for x in self.arrays]


def compare_all(found, expected, tol):
    for y, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, e, tol, tol * max(1, np.abs(e).max(initial=0)))


@each_shape
@each_mask
def test_values(name, mask):
    for dtype, tol in (('float64', 1e-12), ('float32', 4e-6), ('float16', 3e-3)):
        a = Attention(name, mask, dtype)
        compare_all([to_numpy(a()).astype('f8')], [a.expected()], tol)


@each_shape
@each_mask
def test_gradients_are_those_of_a_composition(name, mask, async_toy):
    """Compared with a device without such kernels, and with a gradient that is differentiated."""
    a = Attention(name, mask)
    found = a.gradients()
    compare_all(found, Attention(name, mask, device='async_toy:0').gradients(), 1e-11)
    compare_all(found, a.gradients(enable_double_backprop=True), 1e-11)
    compare_all(Attention(name, mask, 'float32').gradients(), found, 2e-5)
    compare_all([x.astype('f4') for x in Attention(name, mask, 'float16').gradients()], found, 2e-2)


@each_shape
def test_threads_do_not_change_bits(name):
    for mask in ('float', 'causal'):
        results = []
        for n in (1, 2, 4, 16):
            chx.set_num_threads(n)
            a = Attention(name, mask, 'float32')
            results.append([to_numpy(a()), *a.gradients()])
        for other in results[1:]:
            for x, y in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize('layout', ['transposed', 'reversed', 'strided', 'offset'])
def test_layouts(layout):
    for mask in ('bool', 'causal float'):
        for dtype in ('float64', 'float16'):
            a = Attention('past blocks', mask, dtype, layout=layout)
            b = Attention('past blocks', mask, dtype)
            np.testing.assert_array_equal(to_numpy(a()), to_numpy(b()))
            compare_all(a.gradients(), b.gradients(), 0)
        few = (Attention('few queries', mask, layout=x) for x in (layout, 'contiguous'))
        compare_all(*([to_numpy(a())] for a in few), 1e-12)


def heads_of(x, heads):
    n, length, width = x.shape
    return x.reshape(n, length, heads, width // heads).swapaxes(1, 2)


def test_heads_of_rows_are_read_and_written_where_they_are():
    rng = seeded('heads')
    qkv = [chx.array(rng.uniform(-1, 1, (2, 70, 24)).astype('f')) for _ in range(3)]
    for x in qkv:
        x.require_grad()
    y = attend(*[heads_of(x, 3) for x in qkv])
    assert y.strides == heads_of(qkv[0], 3).strides
    rows = y.swapaxes(1, 2).reshape(2, 70, 24)
    assert rows.data_ptr == y.data_ptr
    apart = [chx.array(to_numpy(heads_of(x, 3)).copy()) for x in qkv]
    for x in apart:
        x.require_grad()
    z = attend(*apart)
    np.testing.assert_array_equal(to_numpy(y), to_numpy(z))
    chx.backward([(y * y).sum(), (z * z).sum()])
    for x, x2 in zip(qkv, apart, strict=True):
        np.testing.assert_array_equal(to_numpy(heads_of(x.grad, 3)), to_numpy(x2.grad))


def attend_to_parts(dtype='float64', heads=(2, 2, 2), is_copied=False, follow=lambda y, parts: y):
    """The array of all heads, its parts, and the arrays to differentiate by."""
    rng = seeded('parts', *heads)
    whole = chx.array(rng.uniform(-1, 1, (2, 5, sum(heads), 4))).astype(dtype).require_grad()
    parts = chx.split(whole * 1, [heads[0], heads[0] + heads[1]], 2)
    turned = [(p.copy() if is_copied else p).swapaxes(1, 2) for p in parts]
    y = attend(*turned, enable_gqa=heads[0] != heads[1])
    return whole, parts, follow((y * y).sum(), turned)


def run_backward(y, **options):
    """Runs backward; returns whether gradients were copied to join them."""
    with chx.profile() as profile:
        chx.backward(y, **options)
    return 'Concatenate' in {row.name for row in profile.get_rows()}


@pytest.mark.parametrize('dtype', ['bfloat16', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('heads', [(2, 2, 2), (4, 2, 2), (1, 1, 1)])
def test_gradients_of_parts_are_joined_where_they_are(heads, dtype):
    whole, _, y = attend_to_parts(dtype, heads)
    apart, _, z = attend_to_parts(dtype, heads, is_copied=True)
    assert not run_backward(y)
    assert run_backward(z)
    np.testing.assert_array_equal(to_numpy(whole.grad), to_numpy(apart.grad))


@pytest.mark.parametrize('which', range(3))
def test_gradients_of_parts_that_others_have_are_copied(which):
    expected, _, y = attend_to_parts()
    run_backward(y)
    kept = []
    whole, parts, y = attend_to_parts()
    parts[which].register_hook(kept.append)
    assert run_backward(y)
    np.testing.assert_array_equal(to_numpy(whole.grad), to_numpy(expected.grad))
    kept[0] += 100
    np.testing.assert_array_equal(to_numpy(whole.grad), to_numpy(expected.grad))

    whole, parts, y = attend_to_parts()
    parts[which].require_grad()
    assert run_backward(y)
    parts[which].grad[...] = 100
    np.testing.assert_array_equal(to_numpy(whole.grad), to_numpy(expected.grad))


@pytest.mark.parametrize('which', range(3))
def test_gradients_of_parts_that_are_used_elsewhere(which):
    def follow(y, turned):
        return y + (turned[which] ** 3).sum()

    whole, _, y = attend_to_parts(follow=follow)
    apart, _, z = attend_to_parts(is_copied=True, follow=follow)
    run_backward(y)
    run_backward(z)
    np.testing.assert_array_equal(to_numpy(whole.grad), to_numpy(apart.grad))


def test_second_derivatives_of_parts():
    grads = []
    for is_copied in (False, True):
        whole, _, y = attend_to_parts(is_copied=is_copied)
        (g,) = chx.grad([y], [whole], enable_double_backprop=True)
        whole.cleargrad()
        (g * g).sum().backward()
        grads.append(to_numpy(whole.grad))
    np.testing.assert_allclose(*grads, 1e-12, 1e-12)


def test_gradients_of_leaves_that_are_parts_are_apart():
    rng = seeded('leaves')
    whole = chx.array(rng.uniform(-1, 1, (3, 2, 5, 4)))
    q, k, v = leaves = [whole[i] for i in range(3)]
    for x in leaves:
        x.require_grad()
    attend(q, k, v).sum().backward()
    w = chx.ones(k.shape, 'float64').require_grad()
    y = (k.grad * w).sum()
    q.grad[...] = 0  # counted as if written for its own memory alone
    y.backward()
    np.testing.assert_array_equal(to_numpy(w.grad), to_numpy(k.grad))


@pytest.mark.parametrize(
    'shape', [(2, 3, 150, 140), (140,), (150, 1), (2, 1, 1, 140), (1, 3, 1, 1)]
)
def test_gradient_of_a_mask_has_its_shape(shape):
    """However the mask was broadcast."""
    rng = seeded('mask', shape)
    x = [chx.array(rng.uniform(-1, 1, (2, 3, n, 5))) for n in (150, 140, 140)]
    gy = rng.uniform(-1, 1, (2, 3, 150, 5))
    values = rng.uniform(-2, 2, shape)
    grads = []
    for double in (False, True):
        mask = chx.array(values).require_grad()
        y = attend(*x, mask, is_causal=True)
        y.grad = chx.array(gy)
        y.backward(enable_double_backprop=double)
        grads.append(to_numpy(mask.grad))
    assert grads[0].shape == shape
    np.testing.assert_allclose(grads[0], grads[1], 1e-9, 1e-12)


def test_mask_of_another_dtype_changes_no_result_dtype():
    q = chx.array(seeded('other').uniform(-1, 1, (4, 3)).astype('f'))
    for dtype in ('float16', 'bfloat16', 'float64'):
        mask = chx.ones((4, 4), dtype).require_grad()
        y = attend(q, q, q, mask)
        assert y.dtype.name == 'float32'
        y.sum().backward()
        assert mask.grad.dtype == mask.dtype
    wide = attend(q, q.astype('float64'), q)
    assert wide.dtype.name == 'float64'


def test_infinite_masks():
    """-inf masks a key, and a row of them gives zeros, in any block."""
    rng = seeded('infinite')
    x = [chx.array(rng.uniform(-1, 1, (n, 6)).astype('f')) for n in (40, 300, 300)]
    is_in = rng.random((40, 300)) < 0.5
    is_in[3] = is_in[39] = False
    is_in[7, :290] = False  # all keys of the first block are masked
    is_in[8, 1:] = False
    added = np.where(is_in, 0, -np.inf).astype('f')
    results = []
    for mask in (is_in, added):
        mask = chx.array(mask)
        for a in x:
            a.cleargrad() if a.is_grad_required() else a.require_grad()
        if mask.dtype.kind == 'f':
            mask.require_grad()
        y = attend(*x, mask)
        assert not to_numpy(y)[[3, 39]].any()
        np.testing.assert_allclose(to_numpy(y)[8], to_numpy(x[2])[0], 1e-6)
        y.grad = y * 2 + 1
        y.backward()
        assert not to_numpy(x[0].grad)[[3, 39]].any()
        results.append([to_numpy(v) for v in (y, *(a.grad for a in x))])
    assert (to_numpy(mask.grad)[~is_in] == 0).all()
    for a, b in zip(*results, strict=True):
        assert np.isfinite(a).all()
        np.testing.assert_array_equal(a, b)


def test_huge_scores():
    """Softmax does not overflow: the largest score gets all the weight."""
    for dtype, size in (('float32', 1e18), ('float64', 1e150), ('float16', 200)):
        q = chx.array(np.array([[size, 0], [0, -size], [-size, size]], dtype)).require_grad()
        v = chx.eye(3, dtype=dtype).require_grad()
        y = attend(q, q, v, scale=1.0)
        expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        np.testing.assert_array_equal(to_numpy(y).astype('f8'), expected)
        y.backward() if y.size == 1 else (y * y).sum().backward()
        assert np.isfinite(to_numpy(q.grad).astype('f8')).all()
        np.testing.assert_array_equal(to_numpy(v.grad).astype('f8'), 2 * np.eye(3))


def test_nan_passes_through():
    """It reaches the queries that attend to it, and no others."""
    rng = seeded('nan')
    for place in range(3):
        x = [rng.uniform(-1, 1, (200, 4)).astype('f') for _ in range(3)]
        x[place][150, 1] = np.nan
        y = to_numpy(attend(*map(chx.array, x)))
        expected = attention(*x)
        np.testing.assert_array_equal(np.isnan(y), np.isnan(expected))
        is_nan = np.isnan(to_numpy(attend(*map(chx.array, x), is_causal=True))).any(1)
        first = 150
        assert is_nan[first]
        assert not is_nan[: first if place == 0 else 128].any()
        keys = np.ones((200, 200), bool)
        keys[:, 150] = False
        y = to_numpy(attend(*map(chx.array, x), chx.array(keys)))
        assert np.isnan(y).any() == (place != 1)  # the score of a masked key is ignored


@each_mask
def test_dropout_is_that_of_the_weights(mask):
    """Compared with the composition, whose weights `dropout` drops with the same key."""
    for name in ('past blocks', 'grouped', 'few queries'):
        a = Attention(name, mask)
        a.kw |= {'dropout_p': 0.3, 'dropout_key': 123}
        found = a.gradients()
        composed = a.gradients(enable_double_backprop=True)
        compare_all(found, composed, 1e-11)
        y = to_numpy(a())
        np.testing.assert_array_equal(y, to_numpy(a()))
        a.kw['dropout_key'] = 124
        assert (y != to_numpy(a())).any()
    v = chx.eye(50, dtype='float32')
    q = chx.zeros((50, 4), 'float32')
    weights = to_numpy(attend(q, q, v, dropout_p=0.25, dropout_key=9))
    factors = to_numpy(chx.dropout(chx.ones((50, 50), 'float32'), 0.25, 9))
    np.testing.assert_allclose(weights, factors / 50, 1e-6)


def test_dropout_draws_from_the_generator():
    q = chx.ones((3, 5))
    results = []
    for _ in range(2):
        chx.random.seed(3)
        results.append([to_numpy(attend(q, q, q, dropout_p=0.5)) for _ in range(3)])
    np.testing.assert_array_equal(*results)
    chx.random.seed(3)
    before = chx.random.get_state()
    attend(q, q, q)
    assert chx.random.get_state() == before
    attend(q, q, q, dropout_p=0.5, dropout_key=1)
    assert chx.random.get_state() == before


def test_second_derivatives_with_dropout_and_masks():
    rng = seeded('second')
    x = [rng.uniform(-1, 1, shape) for shape in ((4, 3, 2), (2, 3, 2), (2, 3, 2), (3, 3))]
    x[3][1] = -np.inf
    x = [chx.array(v).require_grad() for v in x]

    def function(arrays):
        options = {'dropout_p': 0.4, 'dropout_key': 5, 'enable_gqa': True, 'is_causal': True}
        return [attend(*arrays, x[3], **options)]

    gys = [chx.array(rng.uniform(-1, 1, (4, 3, 2))).require_grad()]
    ggs = [chx.array(rng.uniform(-1, 1, v.shape)) for v in x[:3]]
    eps = [chx.full(v.shape, 1e-4) for v in (*x[:3], *gys)]
    chx.check_double_backward(function, x[:3], gys, ggs, eps, 1e-6, 1e-5)


def test_third_derivative():
    q, k, v = (seeded('third', n).uniform(-1, 1, (2, 2)) for n in 'qkv')
    k, v = chx.array(k), chx.array(v)

    def derivatives(values):
        x = chx.array(values).require_grad()
        g = attend(x, k, v)
        for _ in range(3):
            yield to_numpy(g)
            (g,) = chx.grad([g], [x], enable_double_backprop=True)
        yield to_numpy(g)

    *_, third = derivatives(q)
    for i in itertools.product(range(2), range(2)):
        step = np.zeros((2, 2))
        step[i] = 1e-5
        high, low = (list(derivatives(q + d))[2] for d in (step, -step))
        np.testing.assert_allclose(third[i], (high - low).sum() / 2e-5, 1e-6, 1e-8)


def test_what_backward_keeps_and_makes():
    """No array of all scores is kept or made, and the arguments are unchanged."""
    n = 700
    scores = 4 * n * n
    x = [chx.array(seeded('memory', i).uniform(-1, 1, (n, 4)).astype('f')) for i in range(3)]
    mask = chx.zeros((1, n), 'float32').require_grad()
    before = [to_numpy(a).copy() for a in x]
    for a in x:
        a.require_grad()
    chx.set_num_threads(1)
    chx.reset_peak_memory_stats()
    start = chx.memory_stats()['in_use']
    y = attend(*x, mask, dropout_p=0.1, is_causal=True)
    y.grad = chx.ones_like(y)
    y.backward()
    assert chx.memory_stats()['peak_in_use'] - start < scores / 2
    for a, b in zip(x, before, strict=True):
        np.testing.assert_array_equal(to_numpy(a), b)


def test_arguments_written_before_backward():
    rng = seeded('written')
    for place, name in ((3, 'attn_mask'), (0, 'written')):
        x = [chx.array(rng.uniform(-1, 1, (2, 2))) for _ in range(3)]
        x.append(chx.array([[True, False], [True, True]]))
        x[1].require_grad()
        y = attend(*x)
        x[place][0, 1] = True
        with pytest.raises(chx.GradientError, match=name):
            y.backward() if y.size == 1 else y.sum().backward()


def test_backward_twice():
    q = chx.array(seeded('twice').uniform(-1, 1, (3, 2))).require_grad()
    y = attend(q, q, q, is_causal=True).sum()
    y.backward(enable_double_backprop=True)
    first = to_numpy(q.grad)
    q.cleargrad()
    y.backward()
    np.testing.assert_allclose(to_numpy(q.grad), first, 1e-12)
    with pytest.raises(chx.GradientError):
        y.backward()


def test_broadcast_leading_axes():
    rng = seeded('broadcast')
    shapes = ((2, 1, 3, 4), (5, 6, 4), (1, 1, 6, 2))
    x = [rng.uniform(-1, 1, s) for s in shapes]
    arrays = [chx.array(v).require_grad() for v in x]
    y = attend(*arrays)
    full = [np.broadcast_to(v, (2, 5, *v.shape[-2:])) for v in x]
    np.testing.assert_allclose(to_numpy(y), attention(*full), 1e-12)
    y.sum().backward()
    for a, s in zip(arrays, shapes, strict=True):
        assert a.grad.shape == s


def test_scale():
    rng = seeded('scale')
    x = [rng.uniform(-1, 1, (5, 4)) for _ in range(3)]
    for scale in (0, 0.0, -1.5, 2, np.float64(0.25), np.float32(0.5), True):
        y = attend(*map(chx.array, x), scale=scale)
        np.testing.assert_allclose(to_numpy(y), attention(*x, scale=float(scale)), 1e-12)
    assert np.isnan(to_numpy(attend(*map(chx.array, x), scale=math.nan))).all()


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_broadcast_rows_wider_than_memory(dtype):
    """Whatever factor such a row length is multiplied by, the size of a block does not overflow."""
    one = chx.ones((1, 1), dtype)
    numbers = 2**64 // one.itemsize
    for times in range(20, 200):
        wide = chx.broadcast_to(one, (1, numbers // times + 1))
        with pytest.raises(MemoryError, match='scaled_dot_product_attention'):
            attend(wide, wide, one)


def test_devices_must_agree():
    q = chx.ones((2, 2), device='native:0')
    other = chx.ones((2, 2), device='native:1')
    for place in range(1, 4):
        x = [q, q, q, q > 0]
        x[place] = other if place < 3 else other > 0
        with pytest.raises(chx.DeviceError, match=r'scaled_dot_product_attention.*native:1'):
            attend(*x)


def test_as_many_axes_as_there_can_be():
    rng = seeded('axes')
    shape = (1, 2, 1, 1, 1, 1, 1, 2)
    x = [rng.uniform(-1, 1, (*shape, 3, 2)) for _ in range(3)]
    for groups in (False, True):
        if groups:
            x[1], x[2] = x[1][..., :1, :, :], x[2][..., :1, :, :]
        y = attend(*map(chx.array, x), enable_gqa=groups)
        np.testing.assert_allclose(to_numpy(y), attention(*x, enable_gqa=groups), 1e-12)


def test_lengths_around_panels():
    """A partial last panel, block or vector reads and writes nothing beyond it."""
    rng = seeded('lengths')
    lengths = (1, 2, 13, 14, 15, 16, 17, 31, 32, 33)
    for queries, keys in itertools.product(lengths, lengths):
        x = [rng.uniform(-1, 1, (2, n, 3)).astype('f') for n in (queries, keys, keys)]
        memory = [chx.array(np.pad(v, ((0, 0), (1, 1), (0, 0)), constant_values=np.nan)) for v in x]
        inner = [v[:, 1:-1] for v in memory]
        y = attend(*inner, is_causal=True)
        expected = attention(*x, is_causal=True)
        np.testing.assert_allclose(to_numpy(y), expected, 1e-5, 1e-6)

"""Convolutions with channels and sizes that no block divides, large enough for all blocks."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import compare, make, to_numpy
from cases._table import np_dtype, seeded
from cases.conv.connection import conv, conv_transpose, weight_gradient
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

# Shapes of x and w, other arguments.
CALLS = {
    '3x3': ((3, 33, 37, 41), (34, 33, 3, 3), {'pad': 1}),
    # Channels with cache-set conflicts, in several blocks of several images.
    '16x16': ((5, 37, 16, 16), (34, 37, 3, 3), {'pad': 1}),
    '32 by 2': ((3, 36, 32, 32), (34, 18, 3, 2), {'pad': 1, 'stride': (2, 1), 'groups': 2}),
    'pairs': ((2, 34, 15, 17), (34, 2, 3, 3), {'pad': 1, 'groups': 17}),
    'groups': (
        (3, 34, 37, 41),
        (51, 2, 3, 2),
        {'stride': (2, 3), 'pad': ((1, 2), (0, 1)), 'dilate': (2, 1), 'groups': 17},
    ),
    'two groups': ((2, 34, 19, 23), (66, 17, 3, 3), {'stride': 2, 'pad': 1, 'groups': 2}),
    'depthwise': ((2, 35, 29, 31), (35, 1, 3, 3), {'pad': 1, 'groups': 35}),
    'depthwise by 2': ((2, 35, 30, 67), (70, 1, 3, 5), {'stride': 2, 'pad': 2, 'groups': 35}),
    '1x1': ((3, 65, 13, 17), (33, 65, 1, 1), {}),
    '1x1 by 2': ((3, 65, 13, 18), (33, 65, 1, 1), {'stride': 2}),
    '1x1 padded': ((2, 20, 9, 7), (17, 20, 1, 1), {'pad': 1}),
    '7x7': ((2, 3, 61, 53), (33, 3, 7, 7), {'stride': 2, 'pad': 3}),
    'small images': ((33, 20, 7, 7), (50, 20, 5, 5), {}),
    'whole images': ((17, 23, 5, 6), (31, 23, 5, 6), {}),
    'mostly padding': (
        (3, 26, 5, 6, 4),
        (66, 13, 4, 3, 2),
        {'groups': 2, 'stride': (1, 2, 1), 'pad': (1, 0, 0), 'dilate': (1, 1, 2)},
    ),
    'one pixel': ((65, 70, 1, 1), (35, 70, 3, 3), {'pad': 1}),
    'cover all': ((2, 9, 33, 32), (18, 9, 2, 3), {'stride': (5, 4), 'cover_all': True}),
    'dilated': ((2, 16, 40, 41), (17, 16, 3, 3), {'dilate': 5, 'pad': 5}),
    'more pad than image': ((2, 5, 9, 10), (7, 5, 3, 3), {'pad': 11, 'stride': 2}),
    'wide': ((1, 4, 3, 1037), (5, 4, 3, 9), {'pad': (0, 4)}),
    'rows': ((1, 1, 517, 3), (1, 1, 9, 1), {}),
    '1d': ((4, 17, 301), (19, 17, 5), {'dilate': 3, 'pad': ((2, 9),)}),
    '3d': ((2, 5, 9, 11, 13), (7, 5, 3, 2, 3), {'stride': (1, 2, 2), 'pad': (1, 0, 1)}),
    '4d': ((1, 3, 4, 5, 6, 7), (4, 3, 2, 3, 2, 3), {'pad': 1, 'stride': (1, 2, 1, 2)}),
    'many channels': ((1, 70, 14, 14), (150, 70, 3, 3), {'pad': 1}),
    'few positions': ((1, 70, 7, 7), (260, 70, 3, 3), {'pad': 1}),
    'many images': ((2100, 2, 9, 9), (3, 2, 3, 3), {'pad': 1}),
}


@pytest.fixture
def anywhere(request):
    """The device under test, and one without kernels for convolutions, which composes them."""
    name = request.param
    if name == 'native:0':
        name = (request.config.getoption('--device') or [name])[0]
    if name.startswith('async_toy'):
        request.getfixturevalue('async_toy')
    with chx.using_device(name):
        yield chx.get_default_device()


everywhere = pytest.mark.parametrize('anywhere', ['native:0', 'async_toy:0'], indirect=True)


def last_axis_first(x):
    """The memory order of channels-last images."""
    order = (0, *range(2, x.ndim), 1)
    back = (0, x.ndim - 1, *range(1, x.ndim - 1))
    return chx.array(np.ascontiguousarray(to_numpy(x).transpose(order))).transpose(back)


def check(name, dtype, device, layout=None):
    x_shape, w_shape, arguments = CALLS[name]
    rng = seeded(name, dtype)

    def draw(shape):
        return rng.uniform(-1, 1, shape).astype(np_dtype(dtype))

    x, w, b = draw(x_shape), draw(w_shape), draw(w_shape[0])
    xc, wc, bc = (make(v, 'contiguous', device) for v in (x, w, b))
    if layout == 'channels last':
        xc, wc = last_axis_first(xc), last_axis_first(wc)
    elif layout is not None:
        xc, wc = make(x, layout, device), make(w, layout, device)
    for v in (xc, wc, bc):
        v.require_grad()
    y = chx.conv(xc, wc, bc, **arguments)
    gy = draw(y.shape)
    y.grad = last_axis_first(chx.array(gy)) if layout == 'channels last' else chx.array(gy)
    y.backward()
    x, w, b, gy = (v.astype('f8') for v in (x, w, b, gy))
    backwards = {name: v for name, v in arguments.items() if name != 'cover_all'}
    checks = {
        'y': (y, conv(x, w, b, **arguments)),
        'gx': (xc.grad, conv_transpose(gy, w, outsize=x.shape[2:], **backwards)),
        'gw': (wc.grad, weight_gradient(x, gy, w, **arguments)),
        'gb': (bc.grad, gy.sum((0, *range(2, gy.ndim)))),
    }
    for what, (actual, expected) in checks.items():
        expected = expected / (scale := max(1, np.abs(expected).max()))
        compare(actual.as_grad_stopped() / scale, expected, dtype, 4, f'{what} of {name}')


@everywhere
@pytest.mark.parametrize('name', CALLS)
def test_values_and_gradients(name, anywhere):
    check(name, 'float32', anywhere)


@everywhere
@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float64'])
@pytest.mark.parametrize('name', ['groups', 'small images', 'depthwise', '3d'])
def test_other_dtypes(name, dtype, anywhere):
    check(name, dtype, anywhere)


@pytest.mark.parametrize('layout', ['channels last', 'transposed', 'reversed', 'strided', 'offset'])
@pytest.mark.parametrize('name', ['3x3', 'groups', '1x1', '7x7', 'depthwise'])
def test_layouts(name, layout, device):
    check(name, 'float32', device, layout)


@pytest.mark.parametrize('dtype', ['int8', 'uint16', 'int32', 'uint64'])
@pytest.mark.parametrize('name', ['3x3', 'groups', 'depthwise', '1d'])
def test_integers_wrap(name, dtype, device):
    x_shape, w_shape, arguments = CALLS[name]
    rng = seeded(name, dtype)
    x, w = rng.integers(0, 100, x_shape), rng.integers(0, 100, w_shape)
    y = chx.conv(chx.array(x.astype(dtype)), chx.array(w.astype(dtype)), **arguments)
    np.testing.assert_array_equal(to_numpy(y), conv(x, w, **arguments).astype(dtype))


@pytest.mark.parametrize('value', [np.nan, np.inf])
@pytest.mark.parametrize('name', ['3x3', '1x1', 'depthwise', '7x7'])
def test_nan_and_inf_stay_where_they_are(name, value, device):
    """NaN and inf of x reach the windows that contain them and no others; padding produces none."""
    x_shape, w_shape, arguments = CALLS[name]
    x = np.ones(x_shape, 'float32')
    x[0, 1, 2, 5] = value
    w = np.ones(w_shape, 'float32')
    y = to_numpy(chx.conv(chx.array(x), chx.array(w), **arguments))
    seen = conv(1.0 * ~np.isfinite(x), w, **arguments) > 0
    assert seen.any()
    assert not seen.all()
    np.testing.assert_array_equal(~np.isfinite(y), seen)


@pytest.mark.parametrize(
    'name',
    [
        *('3x3', 'groups', 'depthwise', '1x1', '7x7', 'small images', '3d'),
        *('many channels', 'few positions'),
    ],
)
def test_threads_give_same_bits(name, device):
    x_shape, w_shape, arguments = CALLS[name]
    rng = seeded(name)
    x, w = (rng.normal(size=s).astype('float32') for s in (x_shape, w_shape))
    results = []
    for threads in (1, 2, 3, 4, 16):
        chx.set_num_threads(threads)
        xs, ws = chx.array(x).require_grad(), chx.array(w).require_grad()
        y = chx.conv(xs, ws, **arguments)
        y.grad = y.as_grad_stopped()
        y.backward()
        results.append([to_numpy(v).tobytes() for v in (y, xs.grad, ws.grad)])
    assert all(r == results[0] for r in results)


@everywhere
def test_nothing_is_kept_for_a_constant(anywhere):
    """x is kept for the gradient of w only, and w for that of x only."""
    for kept, constant in (('x', 'w'), ('w', 'x')):
        arrays = {'x': chx.ones((2, 3, 5, 5)), 'w': chx.ones((4, 3, 3, 3))}
        arrays[constant].require_grad()
        y = chx.conv(arrays['x'], arrays['w'])
        saved = arrays[kept]
        saved += 1
        with pytest.raises(chx.GradientError):
            y.sum().backward()
        y = chx.conv(arrays['x'], arrays['w'])
        arrays[constant].as_grad_stopped()[...] = 0
        y.sum().backward()


@everywhere
def test_no_images(anywhere):
    """Results of the right shape, and gradients that are zeros."""
    x = chx.zeros((0, 4, 5, 6)).require_grad()
    w = chx.ones((6, 2, 3, 3)).require_grad()
    b = chx.ones(6).require_grad()
    y = chx.conv(x, w, b, groups=2)
    assert y.shape == (0, 6, 3, 4)
    y.backward()
    assert x.grad.shape == x.shape
    for v in (w, b):
        np.testing.assert_array_equal(to_numpy(v.grad), np.zeros(v.shape))
    y = chx.conv_transpose(chx.zeros((0, 6, 3, 4)), w, groups=2)
    assert y.shape == (0, 4, 5, 6)


@everywhere
def test_broadcast_gradient(anywhere):
    """A gradient gy that is broadcast from one number, as that of a sum."""
    x, w = chx.ones((2, 3, 9, 9)).require_grad(), chx.ones((4, 3, 3, 3)).require_grad()
    chx.conv(x, w, stride=2).sum().backward()
    np.testing.assert_array_equal(to_numpy(w.grad), np.full(w.shape, 32))
    assert float(x.grad.sum()) == 32 * w.size


@st.composite
def geometries(draw):
    """Shapes of x and w, and the other arguments."""
    axes = draw(st.integers(1, 3))
    sides = st.integers(1, (40, 14, 7)[axes - 1])

    def numbers(least, most):
        return tuple(draw(st.integers(least, most)) for _ in range(axes))

    groups = draw(st.sampled_from([1, 1, 2, 3, 17]))
    ins, outs = (draw(st.integers(1, 40 // groups + 1)) for _ in range(2))
    x_shape = (draw(st.integers(1, 4)), ins * groups, *(draw(sides) for _ in range(axes)))
    arguments = {
        'stride': numbers(1, 3),
        'pad': tuple(zip(numbers(0, 3), numbers(0, 3), strict=True)),
        'dilate': numbers(1, 2),
        'groups': groups,
        'cover_all': draw(st.booleans()),
    }
    return x_shape, (outs * groups, ins, *numbers(1, 4)), arguments


@everywhere
@settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(geometries())
def test_any_geometry(anywhere, geometry):
    """Small integers, so that each result is exact, whatever the order of the sums."""
    x_shape, w_shape, arguments = geometry
    window = [d * (k - 1) for d, k in zip(arguments['dilate'], w_shape[2:], strict=True)]
    ends = zip(x_shape[2:], window, arguments['pad'], strict=True)
    assume(all(k < n + sum(p) for n, k, p in ends))
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-2, 3, shape).astype('f') for shape in (x_shape, w_shape))
    xc, wc = chx.array(x).require_grad(), chx.array(w).require_grad()
    y = chx.conv(xc, wc, **arguments)
    gy = rng.integers(-2, 3, y.shape).astype('f')
    y.grad = chx.array(gy)
    y.backward()
    np.testing.assert_array_equal(to_numpy(y), conv(x, w, **arguments))
    np.testing.assert_array_equal(to_numpy(wc.grad), weight_gradient(x, gy, w, **arguments))
    del arguments['cover_all']
    gx = conv_transpose(gy, w, outsize=x_shape[2:], **arguments)
    np.testing.assert_array_equal(to_numpy(xc.grad), gx)


@everywhere
@pytest.mark.parametrize(
    ('shapes', 'arguments', 'expected'),
    [
        (((1, 1, 3), (1, 1, 2)), {'stride': 2**40}, [2]),
        (((1, 8, 3), (8, 8, 2)), {'stride': 2**40}, [16]),
        (((1, 1, 3), (1, 1, 1)), {'stride': 2**40, 'pad': 1, 'cover_all': True}, [0, 0]),
        (((1, 8, 2), (8, 8, 1)), {'stride': 2**40, 'cover_all': True}, [8, 0]),
        (((1, 8, 2), (8, 8, 1)), {'dilate': 2**40}, [8, 8]),
        (((1, 1, 3), (1, 1, 1)), {'dilate': 2**40, 'stride': 2}, [1, 1]),
    ],
)
def test_steps_beyond_any_image(shapes, arguments, expected, anywhere):
    """They cost nothing, and the positions of windows don't wrap around."""
    x, w = (chx.ones(shape).require_grad() for shape in shapes)
    y = chx.conv(x, w, **arguments)
    np.testing.assert_array_equal(to_numpy(y)[0, 0], expected)
    y.backward()
    n = shapes[1][0]
    assert float(x.grad.sum()) == float(w.grad.sum()) == n * sum(expected)
    y = chx.conv_transpose(chx.ones((1, 1, 1)), chx.ones((1, 1, 3)), stride=2**40, pad=1)
    np.testing.assert_array_equal(to_numpy(y), [[[1]]])


@everywhere
@pytest.mark.parametrize('channels', [1, 8])
def test_padding_beyond_any_memory(channels, anywhere):
    """The size of padded images overflows 64 bits, or exceeds all memory."""
    x, w = chx.ones((1, channels, 1, 1)), chx.ones((channels, channels, 2, 1))
    for stride, pad, dilate in (
        (2**32, ((2**31, 2**31 - 2), (2**33, 2**33)), (2**32 - 2, 1)),
        (2**33, 2**33, (2**34, 1)),
        (2**40, 2**40, (2**40, 1)),
    ):
        with pytest.raises((chx.DimensionError, MemoryError)):
            chx.conv(x, w, None, stride, pad, False, dilate)


@everywhere
@pytest.mark.parametrize(('channels', 'groups'), [(1, 1), (8, 1), (8, 8)])
def test_little_in_much_padding(channels, groups, anywhere):
    """The padding is never stored: it would be 275 GB."""
    x = chx.ones((1, channels, 1, 2)).require_grad()
    w = chx.ones((channels, channels // groups, 1, 2)).require_grad()
    far = 2**18
    y = chx.conv(x, w, None, far, far, groups=groups)
    expected = np.zeros((3, 3))
    expected[1, 1] = 2 * channels // groups
    np.testing.assert_array_equal(to_numpy(y)[0, -1], expected)
    y.backward()
    for v in (x, w):
        assert float(v.grad.sum()) == float(y.sum())


@everywhere
@pytest.mark.parametrize('dilate', [1, 2, 3, 6, 2 * 3 * 5 * 7])
@pytest.mark.parametrize('stride', [1, 2, 4, 6, 9, 35])
def test_steps_with_common_divisors(stride, dilate, anywhere):
    """Elements of the image read by the same taps have equal remainders modulo the stride."""
    taps, n = 7, 5
    x = np.arange(1.0, n + 1)
    w = np.arange(1.0, taps + 1) ** 2
    y = np.zeros(stride * (n - 1) + dilate * (taps - 1) + 1)
    for i in range(n):
        for t in range(taps):
            y[i * stride + t * dilate] += x[i] * w[t]
    for channels in (1, 8):
        many_x = chx.array(np.tile(x, (1, channels, 1)))
        many_w = chx.array(np.tile(w, (channels, channels, 1)))
        for pad in (0, 1, 3):
            out = chx.conv_transpose(many_x, many_w, None, stride, pad, dilate=dilate)
            expected = y[pad : len(y) - pad] * channels
            np.testing.assert_allclose(to_numpy(out)[0, -1], expected, rtol=1e-12)


@everywhere
def test_many_steps_of_long_windows(anywhere):
    """One product per step, with a tap that has to be searched."""
    n = 3_000
    w = chx.broadcast_to(chx.arange(n, dtype='float64'), (2, 2, n))
    y = chx.conv_transpose(chx.ones((1, 2, 1), 'float64'), w, stride=n, groups=1)
    np.testing.assert_array_equal(to_numpy(y)[0, 1], 2.0 * np.arange(n))


@pytest.mark.parametrize('shape', [(2, 17, 0, 16), (2, 17, 16, 0), (9, 17, 0, 16), (1, 40, 0, 0)])
def test_nothing_but_padding(shape):
    """An input without pixels gives the bias, and gets no gradient."""
    x = chx.zeros(shape).require_grad()
    w = chx.ones((18, shape[1], 3, 3)).require_grad()
    b = chx.arange(18, dtype='float32')
    y = chx.conv(x, w, b, pad=2)
    np.testing.assert_array_equal(
        to_numpy(y), np.broadcast_to(np.arange(18)[:, None, None], y.shape)
    )
    gx, gw = chx.grad([y], [x, w], grad_outputs=[chx.ones(y.shape)])
    assert gx.shape == shape
    assert not to_numpy(gw).any()


@pytest.mark.parametrize('channels', [33, 300])
def test_one_tap_of_more_than_caches_hold(channels):
    """A tap of over 8 MB, whose rows are copied by blocks; integers, so sums are exact."""
    side = 182 if channels == 33 else 61
    x = seeded('far', 0).integers(-3, 4, (2, channels, side, side))
    w = seeded('far', 1).integers(-3, 4, (5, channels))
    g = seeded('far', 2).integers(-3, 4, (2, 5, side, side))
    assert x.size * 4 > 8 << 20
    many_x, many_w = (
        chx.array(a, dtype='float32').require_grad() for a in (x, w[:, :, None, None])
    )
    y = chx.conv(many_x, many_w)
    flat_x, flat_g = x.reshape(2, channels, -1).astype(float), g.reshape(2, 5, -1).astype(float)
    np.testing.assert_array_equal(to_numpy(y).reshape(2, 5, -1), w.astype(float) @ flat_x)
    grads = chx.grad([y], [many_x, many_w], grad_outputs=[chx.array(g, dtype='float32')])
    gx, gw = (to_numpy(a) for a in grads)
    np.testing.assert_array_equal(gx.reshape(flat_x.shape), w.T.astype(float) @ flat_g)
    np.testing.assert_array_equal(gw[:, :, 0, 0], (flat_g @ flat_x.swapaxes(1, 2)).sum(0))

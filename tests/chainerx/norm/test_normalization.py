"""Normalizations: writes in place, shapes that are split into chunks, backends without kernels."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import RTOL, to_numpy
from cases._table import np_dtype, seeded


@pytest.fixture
def anywhere(request):
    """The native device, and one without kernels for normalizations, which composes them."""
    name = request.param
    if name.startswith('async_toy'):
        request.getfixturevalue('async_toy')
    with chx.using_device(name):
        yield chx.get_default_device()


everywhere = pytest.mark.parametrize('anywhere', ['native:0', 'async_toy:0'], indirect=True)


def draw(shape, dtype='float64', mean=0.0, name='normalization'):
    return (seeded(name, *shape).standard_normal(shape) + mean).astype(np_dtype(dtype))


def reference(x, gamma, beta, gy, axis, eps=2e-5):
    """y, gx, ggamma, gbeta, mean and the unbiased variance, in float64."""
    x, gamma, beta, gy = (a.astype('f8') for a in (x, gamma, beta, gy))
    n = np.prod([x.shape[a] for a in axis], dtype=int)
    mean, var = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    gamma, beta = gamma.reshape(mean.shape), beta.reshape(mean.shape)
    r = 1 / np.sqrt(var + eps)
    u = (x - mean) * r

    def over(v):
        return v.mean(axis, keepdims=True)

    gx = gamma * r * (gy - over(gy) - u * over(gy * u))
    return (
        u * gamma + beta,
        gx,
        (gy * u).sum(axis),
        gy.sum(axis),
        mean.squeeze(axis),
        (var * n / max(n - 1, 1)).squeeze(axis),
    )


def forward_backward(x, gamma, beta, gy, axis, **kw):
    x, gamma, beta = (v.require_grad() for v in (x, gamma, beta))
    y = chx.batch_norm(x, gamma, beta, kw.get('mean'), kw.get('var'), axis=axis)
    y.grad = gy
    y.backward()
    return y, x.grad, gamma.grad, beta.grad


SHAPES = {
    'images': ((6, 5, 33, 31), (0, 2, 3)),
    'many channels': ((7, 70, 7, 5), (0, 2, 3)),
    'large images': ((1, 2, 270, 260), (0, 2, 3)),
    'images in pieces': ((3, 2, 300, 301), (0, 2, 3)),
    'many images in pieces': ((4100, 2, 33), (0, 2)),
    'long channels': ((1, 64, 140_003), (0, 2)),
    'rows': ((70, 200), (0,)),
    'many rows': ((1500, 130), (0,)),
    'rows in blocks': ((3000, 70), (0,)),
    'narrow rows': ((70001, 3), (0,)),
    'one column': ((131, 1), (0,)),
    'small images': ((301, 5, 3), (0, 2)),
    'tiny': ((2, 3, 2, 2), (0, 2, 3)),
    'all': ((3, 100, 101), (0, 1, 2)),
    'inside out': ((40, 7, 9, 11), (1, 3)),
}


@pytest.mark.parametrize('name', SHAPES)
def test_pieces(name):
    """No loss of precision far from zero; any number of threads gives the same bits."""
    shape, axis = SHAPES[name]
    kept = tuple(n for i, n in enumerate(shape) if i not in axis)
    x, gy = draw(shape, 'float32', 1e4), draw(shape, 'float32', 0.1, 'gy')
    gamma, beta = draw(kept, 'float32', 1, 'gamma'), draw(kept, 'float32', 0, 'beta')
    expected = reference(x, gamma, beta, gy, axis)
    found = []
    for threads in (1, 2, 4, 16):
        chx.set_num_threads(threads)
        mean, var = chx.zeros(kept, 'float32'), chx.zeros(kept, 'float32')
        arrays = map(chx.array, (x, gamma, beta, gy))
        ys = forward_backward(*arrays, axis, mean=mean, var=var)
        found.append([to_numpy(y) for y in (*ys, mean * 10, var * 10)])
    n = x.size / max(1, np.prod(kept))
    for k, (y, e) in enumerate(zip(found[0], expected, strict=True)):
        scale = np.sqrt(n) if k in (2, 3) else 1  # sums have larger errors
        np.testing.assert_allclose(y, e, rtol=2e-6, atol=5e-6 * scale, err_msg=f'result {k}')
    for others in found[1:]:
        assert [y.tobytes() for y in others] == [y.tobytes() for y in found[0]]


@pytest.mark.parametrize('shape', [(70, 200), (5, 3, 400), (9, 40, 33)])
def test_first_elements_unlike_the_others(shape):
    """Their mean is a bad estimate of that of all elements."""
    x = draw(shape, 'float32', 3e4)
    x[:4] = 0
    axis = (0, *range(2, x.ndim))
    one = chx.ones(shape[1])
    mean, var = chx.zeros(shape[1]), chx.zeros(shape[1])
    y = chx.batch_norm(chx.array(x), one, one, mean, var, decay=0.0, axis=axis)
    expected = reference(x, np.ones(shape[1]), np.ones(shape[1]), x, axis)
    np.testing.assert_allclose(to_numpy(y), expected[0], rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(to_numpy(mean), expected[4], rtol=1e-6)
    np.testing.assert_allclose(to_numpy(var), expected[5], rtol=1e-6)


@pytest.mark.parametrize('places', ['all over', 'at the head'])
@pytest.mark.parametrize('n', [8, 33, 64, 1000, 4096, 9000])
def test_numbers_that_give_a_bad_guess_of_the_mean(n, places, device):
    """The elements of the estimate lie far from all others: the sums are computed again."""
    x = 1e6 + (np.arange(n) + np.arange(3)[:, None]) % 7.0
    x[:, [0, n // 3, n // 2, n - 1] if places == 'all over' else slice(4)] = 1e6 + 300
    mean, var = x.mean(1), x.var(1)
    expected = (x - mean[:, None]) / np.sqrt(var[:, None] + 1e-5)
    rows = chx.array(x.astype('float32'), device=device)
    # Each lane sums in float32, and the fewer there are, the more squares each sums.
    lanes = {'avx512': 16, 'avx2': 8}.get(chx.config_info()['isa']['used'], 4)
    rtol = 5e-6 if n <= 1000 else 8e-6 if lanes > 4 else 1.2e-5

    def normalize(x, axis):
        ones, zeros = (f(3, device=device) for f in (chx.ones, chx.zeros))
        found = zeros.copy(), zeros.copy()
        y = chx.batch_norm(x, ones, zeros, *found, eps=1e-5, decay=0.0, axis=axis)
        np.testing.assert_allclose(to_numpy(found[0]), mean, rtol=1e-7)
        np.testing.assert_allclose(to_numpy(found[1]), var * n / (n - 1), rtol=rtol)
        return y

    one, zero = chx.ones(n, device=device), chx.zeros(n, device=device)
    for y in (
        chx.layer_norm(rows, one, zero, 1e-5),
        normalize(rows.T, 0).T,
        normalize(rows.T.copy(), 0).T,
        normalize(rows[None], (0, 2))[0],
    ):
        # The square root halves the variance's error.
        of_y = 2e-6 if n <= 1000 else rtol / 2
        np.testing.assert_allclose(to_numpy(y), expected, rtol=of_y, atol=5e-6)


# (n, channels, s) and groups; without s, layers.
ROWS = {
    'short': ((301, 133), None),
    'narrow': ((3001, 5), None),
    'many': ((2100, 200), None),
    'long': ((37, 20011), None),
    'in pieces': ((2, 140003), None),
    'one': ((1, 300001), None),
    'groups of elements': ((70, 120), 3),
    'groups of short channels': ((33, 30, 7), 5),
    'long groups of short channels': ((5, 6000, 9), 2),
    'groups': ((9, 12, 61), 3),
    'channels': ((9, 12, 400), 12),
    'large groups': ((3, 4, 70001), 2),
    'large channels': ((2, 2, 140003), 2),
}


@pytest.mark.parametrize('name', ROWS)
def test_pieces_of_rows(name):
    shape, groups = ROWS[name]
    n, channels, s = (*shape, 1)[:3]
    g = groups or 1
    x, gy = draw(shape, 'float32', 1e4), draw(shape, 'float32', 0.1, 'gy')
    gamma, beta = draw((channels,), 'float32', 1, 'gamma'), draw((channels,), 'float32', 0, 'beta')

    def function(x, gamma, beta):
        if groups is None:
            return chx.layer_norm(x, gamma, beta)
        return chx.group_norm(x, groups, gamma, beta)

    rows = [v.astype('f8').reshape(n, g, channels // g, s) for v in (x, gy)]
    xr, gr = rows
    scale, shift = (v.astype('f8').reshape(1, g, -1, 1) for v in (gamma, beta))
    mean, var = xr.mean((2, 3), keepdims=True), xr.var((2, 3), keepdims=True)
    r = 1 / np.sqrt(var + 1e-5)
    u, h = (xr - mean) * r, gr * scale
    gx = r * (h - h.mean((2, 3), keepdims=True) - u * (h * u).mean((2, 3), keepdims=True))
    sums = ((gr * u).sum((0, 3)).ravel(), gr.sum((0, 3)).ravel())
    expected = [(u * scale + shift).reshape(shape), gx.reshape(shape), *sums]
    found = []
    for threads in (1, 2, 4, 16):
        chx.set_num_threads(threads)
        xs = [chx.array(v).require_grad() for v in (x, gamma, beta)]
        y = function(*xs)
        y.grad = chx.array(gy)
        y.backward()
        found.append([to_numpy(v) for v in (y, *(v.grad for v in xs))])
    for k, (y, e) in enumerate(zip(found[0], expected, strict=True)):
        size = np.sqrt(n * s) if k > 1 else 1  # sums have larger errors
        np.testing.assert_allclose(y, e, rtol=2e-6, atol=1e-5 * size, err_msg=f'result {k}')
    for others in found[1:]:
        assert [y.tobytes() for y in others] == [y.tobytes() for y in found[0]]
    constant = chx.array(x)
    xs = [chx.array(v).require_grad() for v in (gamma, beta)]
    y = function(constant, *xs)
    y.grad = chx.array(gy)
    y.backward()
    assert [to_numpy(v.grad).tobytes() for v in xs] == [v.tobytes() for v in found[0][2:]]


@everywhere
@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_running_statistics(anywhere, dtype):
    x = draw((5, 4, 3), dtype, 1)
    mean, var = draw((4,), dtype, name='mean'), abs(draw((4,), dtype, name='var'))
    running_mean, running_var = chx.array(mean), chx.array(var)
    one, zero = chx.ones(4, dtype), chx.zeros(4, dtype)
    chx.batch_norm(chx.array(x), one, zero, running_mean, running_var, decay=0.7, axis=(0, 2))
    *_, m, v = reference(x, np.ones(4), np.zeros(4), x, (0, 2))
    rtol = 4 * RTOL[dtype]
    for found, old, new in ((running_mean, mean, m), (running_var, var, v)):
        assert found.dtype == dtype
        expected = 0.7 * old.astype('f8') + 0.3 * new
        np.testing.assert_allclose(to_numpy(found).astype('f8'), expected, rtol=rtol, atol=rtol)


@everywhere
def test_running_statistics_of_any_layout(anywhere):
    x = draw((5, 4, 3))
    one, zero = chx.ones((4, 3)), chx.zeros((4, 3))
    *_, m, v = reference(x, np.ones((4, 3)), np.zeros((4, 3)), x, (0,))

    def check(mean, var):
        chx.batch_norm(chx.array(x), one, zero, mean, var, decay=0.0)
        np.testing.assert_allclose(to_numpy(mean).reshape(4, 3), m, rtol=1e-6)
        np.testing.assert_allclose(to_numpy(var).reshape(4, 3), v, rtol=1e-6)

    check(chx.zeros((1, 4, 3)), chx.zeros((4, 3), 'float64'))
    check(chx.zeros((3, 4)).T, chx.zeros((8, 5))[::2, 1:4])
    check(chx.zeros((4, 3))[::-1], chx.zeros((4, 3))[:, ::-1])
    whole = chx.zeros((2, 4, 3))
    check(whole[0], whole[1])
    mean = chx.zeros((4, 3))
    chx.batch_norm(chx.array(x), one, zero, mean, None, decay=0.0)
    np.testing.assert_allclose(to_numpy(mean), m, rtol=1e-6)
    var = chx.zeros((4, 3))
    chx.batch_norm(chx.array(x), one, zero, None, var, decay=0.0)
    np.testing.assert_allclose(to_numpy(var), v, rtol=1e-6)


@everywhere
def test_running_statistics_in_the_memory_of_inputs(anywhere):
    x = draw((5, 3))
    gamma = chx.array(draw((3,), name='gamma'))
    expected = to_numpy(chx.batch_norm(chx.array(x), gamma, gamma, None, None))
    whole = chx.array(x)
    y = chx.batch_norm(whole, gamma, gamma, whole[0], gamma, decay=0.0)
    np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-12)
    np.testing.assert_allclose(to_numpy(whole[0]), x.mean(0), rtol=1e-12)
    np.testing.assert_allclose(to_numpy(gamma), x.var(0, ddof=1), rtol=1e-12)


@everywhere
@pytest.mark.parametrize('name', ['x', 'gamma'])
def test_backward_detects_running_statistics_in_its_inputs(anywhere, name):
    """They share memory with an array that it reads; beta is not read again."""
    arrays = {'x': chx.array(draw((3, 3))), 'gamma': chx.ones(3), 'beta': chx.ones(3)}
    x, gamma, beta = (a.require_grad() for a in arrays.values())
    running = arrays[name].as_grad_stopped().reshape(-1, 3)[0]
    for statistics in ((running, None), (None, running)):
        y = chx.batch_norm(x, gamma, beta, *statistics)
        with pytest.raises(chx.GradientError, match='batch_norm: input'):
            y.backward()
        assert x.grad is None
    chx.batch_norm(x, gamma, beta, beta.as_grad_stopped(), None).backward()
    assert x.grad is not None


@pytest.mark.parametrize('name', ['x', 'gamma'])
def test_backward_notices_running_statistics_over_numpy_memory(device, name):
    memory = {'x': draw((3, 3)), 'gamma': np.ones(3)}
    x, gamma = (chx.asarray(a).require_grad() for a in memory.values())
    y = chx.batch_norm(x, gamma, chx.ones(3), chx.asarray(memory[name].reshape(-1, 3)[0]), None)
    with pytest.raises(chx.GradientError, match='batch_norm: input'):
        y.backward()


@everywhere
@pytest.mark.parametrize('shape', [(0, 3), (0, 3, 2), (2, 3, 0)])
def test_nothing_leaves_running_statistics_alone(anywhere, shape):
    x = chx.zeros(shape).require_grad()
    axis = (0, *range(2, len(shape)))
    gamma, beta = chx.ones(3).require_grad(), chx.ones(3).require_grad()
    mean, var = chx.full((3,), 5.0), chx.full((3,), 7.0)
    y = chx.batch_norm(x, gamma, beta, mean, var, axis=axis)
    assert y.shape == shape
    y.backward()
    assert x.grad.shape == shape
    for found, value in ((mean, 5), (var, 7), (gamma.grad, 0), (beta.grad, 0)):
        np.testing.assert_array_equal(to_numpy(found), np.full(3, value))


def test_bad_running_statistics(device):
    x, p = chx.ones((2, 3)), chx.ones(3)
    good = chx.zeros(3)

    def check(error, text, mean, var):
        with pytest.raises(error, match=text):
            chx.batch_norm(x, p, p, mean, var)
        np.testing.assert_array_equal(to_numpy(good), np.zeros(3))

    check(ValueError, 'running_mean shares', good, good)
    check(ValueError, 'shares memory', good, good[::-1])
    check(chx.ChainerxError, 'graph', good, chx.ones(3).require_grad())
    check(chx.ChainerxError, 'read-only', chx.broadcast_to(chx.ones(1), (3,)), good)
    check(chx.DimensionError, 'running_var', good, chx.ones((3, 1)))
    check(chx.DtypeError, 'running_mean', chx.ones(3, 'int32'), good)
    check(chx.DeviceError, 'native:1', good, chx.ones(3, device='native:1'))


def test_a_read_only_numpy_array_is_not_written(device):
    mean = np.zeros(3, 'f')
    mean.flags.writeable = False
    with pytest.raises(chx.ChainerxError, match='read-only'):
        chx.batch_norm(chx.ones((2, 3)), chx.ones(3), chx.ones(3), chx.asarray(mean), None)


def test_writes_are_noticed(device):
    """Writes to arrays that backward reads; running statistics are not among them."""
    p, mean, var = chx.ones(3), chx.zeros(3), chx.ones(3)
    x = chx.array(draw((4, 3), 'float32')).require_grad()
    y = chx.batch_norm(x, p, p, mean, var)
    mean += 1
    y.backward(enable_double_backprop=True)
    p += 1
    with pytest.raises(chx.GradientError, match=r'batch_norm: input 1'):
        y.backward()


@everywhere
@pytest.mark.parametrize('dtype', ['float16', 'float32'])
def test_training_leaves_gradients_of_an_evaluation_alone(anywhere, dtype):
    """It updates, in place, the statistics that the evaluation used."""
    xs = [chx.array(draw(s, dtype)).require_grad() for s in ((4, 3), (3,), (3,))]
    found = []
    for trains in (False, True):
        mean, var = (chx.array(abs(draw((3,), name=n))) for n in ('mean', 'var'))
        y = chx.fixed_batch_norm(*xs, mean, var)
        if trains:
            chx.batch_norm(*xs, mean, var)
        found.append([to_numpy(g).tolist() for g in chx.grad([(y * y).sum()], xs)])
    assert found[0] == found[1]
    statistics = [chx.ones(3).require_grad(), chx.ones(3).require_grad()]
    y = chx.fixed_batch_norm(*xs, *statistics)
    statistics[1].as_grad_stopped()[...] = 2
    with pytest.raises(chx.GradientError, match='fixed_batch_norm: input 4'):
        y.backward()


@everywhere
def test_nan_and_infinity_stay_in_their_channel(anywhere):
    x = draw((6, 3, 20), 'float32')
    x[2, 0, 3], x[1, 2, 19] = np.nan, np.inf
    y = to_numpy(chx.batch_norm(chx.array(x), chx.ones(3), chx.ones(3), None, None, axis=(0, 2)))
    assert np.isnan(y[:, 0]).all()
    assert np.isnan(y[:, 2]).all()
    assert np.isfinite(y[:, 1]).all()
    x = x[:, :, 0]
    x[0] = [np.nan, 1, -np.inf]
    y = to_numpy(chx.batch_norm(chx.array(x), chx.ones(3), chx.ones(3), None, None))
    assert (np.isnan(y) == [True, False, True]).all()


@everywhere
def test_constant_channels(anywhere):
    x = chx.full((100, 3, 7), 1 / 3, 'float32')
    y = chx.batch_norm(x, chx.ones(3), chx.full((3,), 2.0), None, None, axis=(0, 2))
    np.testing.assert_allclose(to_numpy(y), np.full(y.shape, 2), atol=1e-5)


def channels_last(x):
    """The same values, with the second axis innermost in memory."""
    order = (0, *range(2, x.ndim), 1)
    back = (0, x.ndim - 1, *range(1, x.ndim - 1))
    return chx.array(np.ascontiguousarray(x.transpose(order))).transpose(back)


@everywhere
def test_memory_order_is_kept(anywhere):
    """For channels-last images, also if the gradient has another order."""
    x, gy = draw((4, 5, 6, 7)), draw((4, 5, 6, 7), name='gy')
    gamma, beta = draw((5,), name='gamma'), draw((5,), name='beta')
    expected = reference(x, gamma, beta, gy, (0, 2, 3))[:4]
    for given in (channels_last(gy), chx.array(gy)):
        xs = (channels_last(x), chx.array(gamma), chx.array(beta))
        found = forward_backward(*xs, given, (0, 2, 3))
        assert found[0].strides == xs[0].strides
        for y, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(y), e, rtol=1e-10, atol=1e-10)


@everywhere
def test_composed_derivatives(anywhere):
    x, gamma, beta = draw((4, 3, 2)), draw((3,), name='gamma'), draw((3,), name='beta')

    def check(function, values):
        xs = [chx.array(v).require_grad() for v in values]
        gy = [chx.array(draw(x.shape, name='gy')).require_grad()]
        ggx = [chx.array(draw(v.shape, name='ggx')).require_grad() for v in values]
        eps = [chx.full(v.shape, 1e-4, 'float64') for v in values]
        chx.check_backward(function, xs, gy, eps, atol=1e-6, rtol=1e-5)
        more = [*eps, chx.full(x.shape, 1e-4, 'float64')]
        chx.check_double_backward(function, xs, gy, ggx, more, atol=1e-5, rtol=1e-4)

    check(lambda xs: [chx.batch_norm(*xs, None, None, axis=(0, 2))], (x, gamma, beta))
    var = 1 + draw((3,), name='var') ** 2
    check(lambda xs: [chx.fixed_batch_norm(*xs, axis=(0, 2))], (x, gamma, beta, beta + 1, var))
    check(lambda xs: [chx.group_norm(xs[0], 1, *xs[1:])], (x, gamma, beta))
    check(lambda xs: [chx.layer_norm(*xs, axis=1)], (x, gamma, beta))
    check(lambda xs: [chx.rms_norm(*xs, axis=1)], (x, gamma))
    check(lambda xs: [chx.instance_norm(*xs, 0.5)], (x, gamma, beta))
    fixed = chx.fixed_batch_norm(*map(chx.array, (x, gamma, beta, beta + 1, var)), axis=(0, 2))
    spread = (slice(None), None)
    expected = (x - beta[spread] - 1) / np.sqrt(var[spread] + 2e-5) * gamma[spread] + beta[spread]
    np.testing.assert_allclose(to_numpy(fixed), expected, rtol=1e-10)


def test_third_derivatives(device):
    """Compared with differences of second ones."""
    values = draw((4, 3)), draw((3,), mean=1, name='gamma'), draw((3,), name='beta')

    def second(x):
        x = x.require_grad() if not x.is_backprop_required() else x
        gamma, beta = (chx.array(v) for v in values[1:])
        (gx,) = chx.grad(
            [(chx.batch_norm(x, gamma, beta, None, None) ** 3).sum()],
            [x],
            enable_double_backprop=True,
        )
        (ggx,) = chx.grad([(gx * gx).sum()], [x], enable_double_backprop=True)
        return (ggx * chx.array(values[0])).sum()

    x = chx.array(values[0]).require_grad()
    (g,) = chx.grad([second(x)], [x])
    u = draw((4, 3), name='u')
    ends = [float(second(chx.array(values[0] + s * 1e-5 * u))) for s in (1, -1)]
    np.testing.assert_allclose((to_numpy(g) * u).sum(), (ends[0] - ends[1]) / 2e-5, rtol=1e-5)

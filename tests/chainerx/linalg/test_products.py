"""Large products and convolutions: right, and the same bits for any partition."""

import os
import pathlib
import subprocess
import sys

import chainerx as chx
import numpy as np
import pytest

# Sizes include those below, at and above the ends of panels and blocks.
SIZES = [
    *[(97, 331, 210), (64, 700, 450), (16, 5000, 40), (130, 16, 900), (20, 80, 4130)],
    *[(503, 319, 31), (504, 320, 32), (505, 321, 33), (1009, 641, 17), (15, 900, 900)],
    # Panels of 14 rows, or 13, and twelve of them: fewer, exactly as many, and more.
    *[(155, 322, 70), (168, 322, 70), (182, 322, 70), (183, 322, 70), (337, 322, 70)],
    # The threads' common part of the shorter side is packed in several steps.
    *[(345, 6200, 390), (390, 6200, 345)],
]


def operands(m, k, n, layout):
    rng = np.random.default_rng(m * k + n)
    a = rng.standard_normal((m, k), 'f4')
    b = rng.standard_normal((k, n), 'f4')
    x, y = chx.array(a), chx.array(b)
    if layout[0] == 'T':
        x = chx.array(np.ascontiguousarray(a.T)).T
    if layout[1] == 'T':
        y = chx.array(np.ascontiguousarray(b.T)).T
    return a, b, x, y


@pytest.mark.parametrize('layout', ['NN', 'NT', 'TN', 'TT'])
@pytest.mark.parametrize('size', SIZES)
def test_value_and_threads(size, layout):
    a, b, x, y = operands(*size, layout)
    expected = a.astype('f8') @ b
    found = []
    for n in (1, 2, 4, 16):
        chx.set_num_threads(n)
        found.append(chx.to_numpy(x @ y))
        # Each product is rounded, and so is each sum of them.
        bound = 2**-23 * (np.abs(a).astype('f8') @ np.abs(b)) * 4
        assert np.all(np.abs(found[-1] - expected) <= bound)
    assert all(np.array_equal(found[0], z) for z in found[1:])


def own_is_chosen():
    return chx.config_info()['isa']['used'] in ('avx2', 'avx512')


@pytest.mark.parametrize('layout', ['NN', 'NT', 'TN', 'TT'])
def test_cuts_change_no_bits(layout):
    """A part of the result equals the product of parts, if both are large enough for our tiles."""
    if not own_is_chosen():
        pytest.skip('OpenBLAS computes these products here')
    rng = np.random.default_rng(1)
    _, _, x, y = operands(301, 530, 277, layout)
    whole = chx.to_numpy(x @ y)
    for _ in range(10):
        i, j = (int(v) for v in rng.integers(0, 200, 2))
        m = int(rng.integers(50, 301 - i + 1))
        n = int(rng.integers(50, 277 - j + 1))
        part = chx.to_numpy(x[i : i + m] @ y[:, j : j + n])
        np.testing.assert_array_equal(part, whole[i : i + m, j : j + n])


# More than one chunk of conversion to float32, along each axis and for each way to share an
# operand.
@pytest.mark.parametrize(
    'shapes',
    [
        ((40, 300), (300, 9000)),
        ((9000, 200), (200, 130)),
        ((5, 600, 60), (60, 800)),
        ((600, 60), (5, 60, 800)),
        ((7, 1, 400, 50), (2, 50, 500)),
    ],
)
@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'int8'])
def test_slices_of_narrow_products(shapes, dtype):
    rng = np.random.default_rng(0)
    a, b = (chx.array(rng.integers(-3, 4, s)).astype(dtype) for s in shapes)
    expected = np.matmul(*(chx.to_numpy(x.astype('float64')) for x in (a, b)))
    found = a @ b
    assert found.dtype == dtype
    np.testing.assert_array_equal(
        chx.to_numpy(found), chx.to_numpy(chx.array(expected).astype('int64').astype(dtype))
    )


def test_slices_of_a_narrow_linear():
    rng = np.random.default_rng(0)
    x, w, b = (rng.integers(-3, 4, s).astype('f2') for s in ((9000, 200), (130, 200), 130))
    found = chx.linear(*map(chx.array, (x, w, b)))
    np.testing.assert_array_equal(chx.to_numpy(found), (x.astype('d') @ w.T + b).astype('f2'))


# Rows, features, outputs: long in one direction or the other, several blocks and depths, and small.
LAYERS = [
    *[(1030, 70, 530), (700, 530, 65), (350, 4130, 20), (641, 33, 1009), (321, 40, 14)],
    *[(6, 3, 4), (1, 5, 2), (0, 3, 4)],
]
OUTPUT_GRADS = {
    'rows': lambda g: chx.array(g),
    'columns': lambda g: chx.array(np.ascontiguousarray(g.T)).T,
    'backwards': lambda g: chx.array(np.ascontiguousarray(g[::-1, ::-1]))[::-1, ::-1],
    'every other': lambda g: chx.array(np.repeat(g, 2, axis=1))[:, ::2],
}


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('layout', OUTPUT_GRADS)
@pytest.mark.parametrize('size', LAYERS)
def test_gradients_of_weights_and_bias(size, layout, dtype):
    """Computed together they equal the separate ones, on any number of threads."""
    n, ins, outs = size
    rng = np.random.default_rng(n + ins)
    x, w, b, g = (
        rng.standard_normal(s).astype(dtype) for s in ((n, ins), (outs, ins), outs, (n, outs))
    )
    w, b = (chx.array(a).require_grad() for a in (w, b))
    gy = OUTPUT_GRADS[layout](g)

    def gradients(inputs, **options):
        y = chx.linear(chx.array(x), w, b)
        found = chx.grad([y], inputs, grad_outputs=[gy], **options)
        assert [(a.dtype, a.shape) for a in found] == [(a.dtype, a.shape) for a in inputs]
        return [chx.to_numpy(a).astype('f8') for a in found]

    found = []
    for threads in (1, 2, 4, 16):
        chx.set_num_threads(threads)
        found.append(gradients([w, b]))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
    wide, size_of = g.astype('f8'), np.abs(g).astype('f8')
    exact = wide.T @ x, wide.sum(0)
    bound = size_of.T @ np.abs(x), size_of.sum(0)
    unit = float(np.finfo(dtype).eps)
    alone = gradients([w])[0], gradients([b])[0]
    recorded = gradients([w, b], enable_double_backprop=True)
    for results in (found[0], alone, recorded):
        for one, expected, most in zip(results, exact, bound, strict=True):
            assert np.all(np.abs(one - expected) <= 4 * unit * most)
    np.testing.assert_array_equal(found[0][0], alone[0])


def test_infinity_in_one_row_is_that_of_its_gradients():
    g = np.ones((700, 60), 'f4')
    g[411, 13], g[5, 44] = np.inf, np.nan
    w, b = chx.ones((60, 90), 'float32').require_grad(), chx.zeros(60, 'float32').require_grad()
    y = chx.linear(chx.ones((700, 90), 'float32'), w, b)
    gw, gb = (chx.to_numpy(a) for a in chx.grad([y], [w, b], grad_outputs=[chx.array(g)]))
    np.testing.assert_array_equal(gb, g.sum(0))
    np.testing.assert_array_equal(gw, np.repeat(g.sum(0)[:, None], 90, axis=1))


def test_nan_and_infinity_stay_where_they_belong():
    a = np.ones((100, 200), 'f4')
    b = np.ones((200, 90), 'f4')
    a[37, 5] = np.nan
    b[3, 60] = np.inf
    with np.errstate(invalid='ignore'):
        expected = a @ b
    np.testing.assert_array_equal(chx.to_numpy(chx.array(a) @ chx.array(b)), expected)


@pytest.mark.parametrize('engine', ['own', 'plain'])
def test_engine_passes_the_table(engine):
    """Every shape, including those too small for it to be chosen."""
    folder = pathlib.Path(__file__).parents[1]
    given = [p for p in os.environ.get('PYTHONPATH', '').split(os.pathsep) if p]
    path = os.pathsep.join(os.path.abspath(p) for p in (folder, *given))
    options = ['-q', '-x', '-p', 'no:cacheprovider', '-p', 'no:randomly', 'test_ops.py']
    options += ['-k', 'forward and (matmul or dot or linear)']
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', *options],
        env={**os.environ, 'CHAINERX_BLAS': engine, 'PYTHONPATH': path},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert ' passed' in done.stdout


# x, w, and the other arguments of conv. Large enough for several threads, with odd sizes.
CONVOLUTIONS = {
    '3x3': ((3, 35, 29, 31), (47, 35, 3, 3), {'pad': 1}),
    'small images': ((9, 64, 7, 7), (66, 64, 3, 3), {'pad': 1}),
    'stride': ((2, 17, 45, 43), (33, 17, 3, 5), {'pad': (1, 2), 'stride': (2, 3)}),
    'dilate': ((2, 17, 45, 43), (33, 17, 3, 2), {'pad': 2, 'dilate': (2, 3)}),
    '1x1': ((4, 130, 23, 21), (70, 130, 1, 1), {}),
    '1x1 stride': ((4, 130, 23, 21), (70, 130, 1, 1), {'stride': 2}),
    'groups': ((3, 36, 31, 33), (48, 12, 3, 3), {'groups': 3}),
    'depthwise': ((3, 33, 37, 39), (33, 1, 3, 3), {'groups': 33, 'pad': 1}),
    'depthwise stride': ((3, 33, 37, 39), (66, 1, 5, 3), {'groups': 33, 'stride': 2}),
    'mostly padding': ((3, 80, 13, 13), (40, 80, 6, 6), {}),
    'wide kernel': ((1, 3, 61, 67), (20, 3, 19, 18), {'pad': 9}),
    'few columns': ((3, 3, 63, 90), (20, 3, 3, 3), {'pad': 1}),  # their sums are split, too
    'one row': ((2, 30, 4001), (31, 30, 9), {'stride': 3, 'pad': 4}),
    'three axes': ((2, 9, 13, 15, 14), (21, 9, 3, 3, 3), {'pad': 1, 'stride': (1, 2, 1)}),
}


@pytest.mark.parametrize('name', CONVOLUTIONS)
@pytest.mark.parametrize('dtype', ['float32', 'float16', 'int32'])
def test_convolutions_on_any_number_of_threads(name, dtype):
    x_shape, w_shape, arguments = CONVOLUTIONS[name]
    if dtype == 'int32':
        x_shape = (1, *x_shape[1:])
    rng = np.random.default_rng(0)

    def random(*shape):
        if dtype == 'int32':
            return chx.array(rng.integers(-9, 9, shape).astype(dtype))
        return chx.array(rng.standard_normal(shape).astype(dtype))

    x, w, b = random(*x_shape), random(*w_shape), random(w_shape[0])
    gy = random(*chx.conv(x, w, b, **arguments).shape)

    def run():
        results = [chx.conv(x, w, b, **arguments)]
        if dtype != 'int32':
            leaves = [v.copy() for v in (x, w, b)]
            for v in leaves:
                v.require_grad()
            y = chx.conv(*leaves, **arguments)
            results += chx.grad([y], leaves, grad_outputs=[gy])
        return [chx.to_numpy(r) for r in results]

    chx.set_num_threads(1)
    expected = run()
    for n in (2, 4, 16):
        chx.set_num_threads(n)
        for a, e in zip(run(), expected, strict=True):
            np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize('dtype', ['float32', 'float16'])
def test_more_images_than_are_converted_at_a_time(dtype):
    """Images are rearranged for the stride, or converted, in chunks."""
    rng = np.random.default_rng(0)
    x = chx.array(rng.standard_normal((5, 40, 300, 161), 'f4').astype(dtype))
    w = chx.array(rng.standard_normal((6, 40, 3, 3), 'f4').astype(dtype))
    x.require_grad()
    w.require_grad()
    y = chx.conv(x, w, stride=2, pad=1)
    y.sum().backward()
    gw = 0
    for i in range(5):
        one = x[i : i + 1].as_grad_stopped().require_grad()
        kernel = w.as_grad_stopped().require_grad()
        part = chx.conv(one, kernel, stride=2, pad=1)
        part.sum().backward()
        tolerance = 1e-2 if dtype == 'float16' else 1e-4
        for whole, alone in ((y, part), (x.grad, one.grad)):
            whole, alone = chx.to_numpy(whole[i : i + 1]), chx.to_numpy(alone)
            np.testing.assert_allclose(whole, alone, tolerance, tolerance)
        gw = gw + chx.to_numpy(kernel.grad).astype('f8')
    np.testing.assert_allclose(chx.to_numpy(w.grad), gw, 1e-2, np.abs(gw).max() * 1e-3)


def test_convolution_reads_and_writes_nothing_beyond():
    """NaN around the operands would show in the result; memory around the result is unchanged."""
    x = chx.full((2, 5, 9, 40), np.nan, 'float32')
    inside = x[:, 1:4, 1:8, 3:34]
    inside[...] = 1.0
    w = chx.full((7, 3, 3, 3), 1.0, 'float32')
    y = chx.to_numpy(chx.conv(inside, w, pad=1))
    assert not np.isnan(y).any()
    assert y.max() == 27.0
    assert y.min() == 12.0


WHOLE = ['int8', 'uint8', 'int16', 'int32', 'uint32', 'int64', 'uint64']


@pytest.mark.parametrize('dtype', WHOLE)
def test_products_of_integers_wrap(dtype):
    """Products of vectors, and of packed and unpacked matrices; any layout."""
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    sizes = [1, 2, 3, 17, 40]
    shapes = [(m, k, n) for m in sizes for k in sizes for n in sizes]
    for m, k, n in [*shapes, (1, 5000, 1), (1, 3, 3000), (3000, 3, 1), (1, 300, 2100), (1, 0, 3)]:
        a = rng.integers(info.min, info.max, (m, k), dtype, endpoint=True)
        b = rng.integers(info.min, info.max, (k, n), dtype, endpoint=True)
        expected = a @ b
        for x in (chx.array(a), chx.array(a.T.copy()).T, chx.array(a.repeat(2, 1))[:, ::2]):
            for y in (chx.array(b), chx.array(b.T.copy()).T, chx.array(b.repeat(2, 1))[:, ::2]):
                found = chx.to_numpy(x @ y)
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected, str((m, k, n)))
                if n == 1:
                    np.testing.assert_array_equal(chx.to_numpy(x @ y[:, 0]), expected[:, 0])
                if m == 1:
                    np.testing.assert_array_equal(chx.to_numpy(x[0] @ y), expected[0])


@pytest.mark.parametrize('dtype', WHOLE)
def test_dots_of_integers_wrap(dtype):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    for shape in [(5,), (1, 5), (100, 1), (100, 4), (3, 40, 33), (4, 5000), (70000, 3), (3, 0)]:
        a, b = rng.integers(info.min, info.max, (2, *shape), dtype, endpoint=True)
        pairs = [
            (chx.array(a), chx.array(b), b),
            (chx.array(a.repeat(2, -1))[..., ::2], chx.array(b[..., ::-1].copy())[..., ::-1], b),
        ]
        if len(shape) > 1:
            pairs.append((chx.array(a.T.copy()).T, chx.array(b[:1]), b[:1]))
        for x, y, other in pairs:
            expected = np.sum(a * other, -1, dtype=dtype)
            np.testing.assert_array_equal(chx.to_numpy(chx.vecdot(x, y)), expected)


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_dots_of_complex_numbers(dtype):
    rng = np.random.default_rng(0)
    for shape in [(1, 5), (100, 1), (100, 4), (3, 40, 33), (4, 5000), (40, 15), (40, 16), (3, 0)]:
        a, b = (rng.standard_normal((2, *shape, 2)) @ [1, 1j]).astype(dtype)
        pairs = [
            (chx.array(a), chx.array(b)),
            (chx.array(a.repeat(2, -1))[..., ::2], chx.array(b[..., ::-1].copy())[..., ::-1]),
            (chx.array(a.T.copy()).T, chx.array(b)),
        ]
        for x, y in pairs:
            x, y = x.require_grad(), y.require_grad()
            found = chx.vecdot(x, y)
            np.testing.assert_allclose(chx.to_numpy(found), np.vecdot(a, b), rtol=2e-5, atol=1e-4)
            by_parts = chx.sum(chx.conj(x) * y, -1)
            weights = [chx.ones_like(found) * (1 + 2j)]
            ones, others = (chx.grad([z], [x, y], grad_outputs=weights) for z in (found, by_parts))
            for one, other in zip(ones, others, strict=True):
                np.testing.assert_allclose(chx.to_numpy(one), chx.to_numpy(other), rtol=1e-5)

"""Poolings beyond the rows of `cases/pool/pooling.py`."""

import itertools

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import Prepared, to_numpy

POOLINGS = [c for c in CASES if 'pool' in c.name]
# A backend that lacks the kernels of poolings.
WITHOUT = """KernelTable t = chainerx::native::Kernels();
        for (const chainerx::KernelInfo* k : chainerx::GetKernels()) {
            if (std::strcmp(k->family, "pooling") == 0) t.fns[k->id] = nullptr;
        }"""


@pytest.fixture(scope='module')
def no_kernels(build_backend):
    library = build_backend(
        'no_pooling', edit=('KernelTable t = chainerx::native::Kernels();', WITHOUT)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('CHAINERX_PATH', str(library.parent.parent))
        chx.get_device('no_pooling:0')
    return 'no_pooling:0'


def results_of(case, spec, dtype, device):
    """The results and the gradients of first and second order."""
    prepared = Prepared(case, spec, dtype, device=chx.get_device(device))
    targets = [prepared.arrays[n].require_grad() for n in prepared.differentiable()]
    y = prepared.call.run(case.resolve(chx))
    if not targets or y.dtype.name not in ('float32', 'float64'):
        return [y]
    weights = chx.arange(y.size, dtype=y.dtype, device=y.device).reshape(y.shape) + 1
    weights.require_grad()
    (gx,) = chx.grad([(y * weights).sum()], targets, enable_double_backprop=True)
    (ggy,) = chx.grad([(gx * gx).sum()], [weights])
    return [y, gx, ggy]


@pytest.mark.parametrize('case', POOLINGS, ids=lambda c: c.name)
@pytest.mark.parametrize('dtype', ['float32', 'float64', 'int32', 'bool', 'float16'])
def test_without_kernels(case, dtype, no_kernels):
    """A backend without these kernels gives the same results by compositions."""
    if dtype not in case.dtypes:
        return
    for spec in case.calls:
        native = results_of(case, spec, dtype, 'native:0')
        composed = results_of(case, spec, dtype, no_kernels)
        for x, y in zip(native, composed, strict=True):
            assert y.device.name == no_kernels
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            rtol = 1e-2 if dtype == 'float16' else 1e-5
            np.testing.assert_allclose(to_numpy(y), to_numpy(x), rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    'args', [(2,), (2, 1), (3, 2, 1), (3, 1, 1), (3, 3), ((1, 40), 40), ((1, 9), (1, 2), (0, 4))]
)
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_every_width(args, dtype, no_kernels):
    """Rows of lengths around those of vectors."""
    rng = np.random.default_rng(0)
    for width in [*range(1, 70), 130]:
        values = rng.integers(-4, 5, (1, 2, 3, width)).astype(dtype)
        for op in (chx.max_pool, chx.average_pool):
            found = []
            for device in ('native:0', no_kernels):
                x = chx.array(values, device=device).require_grad()
                try:
                    y = op(x, *args)
                except chx.DimensionError as error:
                    found.append([str(error)])
                    continue
                (y * y.as_grad_stopped()).sum().backward()
                found.append([to_numpy(y), to_numpy(x.grad)])
            for a, b in zip(*found, strict=True):
                if isinstance(a, str):
                    assert a == b
                else:
                    np.testing.assert_allclose(a, b, 1e-5, 1e-5, err_msg=f'{op.__name__}, {width}')


@pytest.mark.parametrize('kind', ['native', 'composed'])
def test_special_values(kind, no_kernels):
    device = {'native': 'native:0', 'composed': no_kernels}[kind]
    inf, nan = np.inf, np.nan

    def pool(rows, *args):
        x = chx.array([[rows]], 'float32', device=device)
        y, indices = chx.max_pool(x, *args, return_indices=True)
        return to_numpy(y)[0, 0].tolist(), to_numpy(indices)[0, 0].tolist()

    # The first NaN is the maximum, padding never, else the first of equal elements.
    assert pool([[1, 2], [3, 2]], 2) == ([[3]], [[2]])
    assert pool([[2, 2], [2, 1]], 2) == ([[2]], [[0]])
    y, indices = pool([[inf, nan], [nan, 2]], 2)
    assert np.isnan(y).all()
    assert indices == [[1]]
    assert pool([[-inf, -inf], [-inf, -inf]], 2, 2, 1) == ([[-inf] * 2] * 2, [[3, 2], [1, 0]])
    # Windows that are all padding.
    assert pool([[5]], 1, 1, 1)[0] == [[-inf] * 3, [-inf, 5, -inf], [-inf] * 3]
    assert pool([[5]], 1, 1, 1)[1] == [[0] * 3] * 3
    # Long windows, whose lanes are combined at the end.
    row = np.zeros(70, np.float32)
    row[[20, 37, 69]] = 1
    assert pool([row.tolist()], (1, 70)) == ([[1]], [[20]])
    row[[37, 69]] = nan
    assert pool([row.tolist()], (1, 70))[1] == [[37]]


@pytest.mark.parametrize('dtype', ['int8', 'uint8', 'int64', 'bool'])
def test_windows_of_padding_give_the_smallest(dtype, no_kernels):
    for device in ('native:0', no_kernels):
        x = chx.ones((1, 1, 2), dtype, device=device)
        y = to_numpy(chx.max_pool(x, 1, 1, 1)).ravel()
        smallest = False if dtype == 'bool' else np.iinfo(dtype).min
        assert y.tolist() == [smallest, 1, 1, smallest]


# Length, ksize, stride, padding at both ends: some windows contain no element.
OUTSIDE = {
    'behind': (3, 2, 2, (1, 1)),
    'both': (3, 2, 1, (4, 4)),
    'before': (5, 1, 2, (3, 0)),
    'far behind': (40, 3, 2, (0, 9)),
    'all': (1, 2, 5, (3, 3)),
}


def seen_by_windows(values, size, stride, pad):
    """The elements of each window, with cover_all, as (channels, elements)."""
    channels, *lengths = values.shape
    ranges = []
    for n in lengths:
        starts = [o * stride - pad[0] for o in range(-(-(n + sum(pad) - size) // stride) + 1)]
        ranges.append([np.arange(max(s, 0), max(min(s + size, n), 0)) for s in starts])
    return [
        values[(slice(None), *np.ix_(*window))].reshape(channels, -1)
        for window in itertools.product(*ranges)
    ], tuple(map(len, ranges))


def leave_behind(shape, dtype, device):
    """Fills memory that is allocated next with these numbers."""
    arrays = [chx.full(shape, 77, dtype, device=device) for _ in range(8)]
    chx.get_device(device).synchronize()
    del arrays


@pytest.mark.parametrize('name', OUTSIDE)
@pytest.mark.parametrize('axes', [1, 2, 3])
@pytest.mark.parametrize('dtype', ['float32', 'float16', 'int32'])
def test_windows_that_see_nothing(name, axes, dtype, no_kernels):
    """Their maxima are the smallest number, their means 0, whatever the memory contained before."""
    length, size, stride, pad = OUTSIDE[name]
    if length**axes > 2000:
        length = 9
    is_float = dtype.startswith('float')
    smallest = -np.inf if is_float else np.iinfo(dtype).min
    values = np.random.default_rng(0).integers(1, 9, (2, *[length] * axes)).astype(dtype)
    seen, outs = seen_by_windows(values, size, stride, pad)

    def ignore(v):
        return v.mean(1) if v.size else np.zeros(2)

    def zero(v):
        return v.sum(1) / size**axes

    poolings = [(chx.max_pool, (), lambda v: v.max(1, initial=smallest), lambda v: v.size > 0)]
    if is_float:
        poolings += [
            (chx.average_pool, ('ignore',), ignore, lambda v: v.size > 0),
            (chx.average_pool, ('zero',), zero, lambda v: v.shape[1] / size**axes),
        ]
    for device, (op, mode, reduce, share) in itertools.product(('native:0', no_kernels), poolings):
        x = chx.array(values[None], device=device)
        if is_float:
            x.require_grad()
        leave_behind((1, 2, *outs), dtype, device)
        y = op(x, size, stride, (pad,) * axes, *mode, cover_all=True)
        expected = np.stack([reduce(v) for v in seen], 1).reshape(1, 2, *outs)
        np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-3, err_msg=device)
        if is_float:
            y.grad = chx.ones_like(y, device=device)
            leave_behind(x.shape, dtype, device)
            y.backward()
            np.testing.assert_allclose(
                to_numpy(x.grad).astype('float64').sum(), 2 * sum(map(share, seen)), rtol=1e-2
            )


@pytest.mark.parametrize('lengths', [(6, 3), (6, 2, 3), (2, 6, 3)])
def test_windows_of_the_size_of_the_input(lengths, device):
    """Padding only before the axis."""
    values = np.random.default_rng(0).normal(size=(2, 3, *lengths)).astype('float32')
    slides = [n == 6 for n in lengths]
    size = [2 if slide else n for n, slide in zip(lengths, slides, strict=True)]
    rows = np.moveaxis(values, 2 + slides.index(True), 2).reshape(2, 3, 6, -1)
    windows = [rows[:, :, max(i - 1, 0) : i + 1].reshape(2, 3, -1) for i in (0, 2, 4, 6)]
    x = chx.array(values, device=device).require_grad()
    pad = tuple(map(int, slides))
    largest = chx.max_pool(x, size, size, pad)
    mean = chx.average_pool(x, size, size, pad, 'ignore')
    for y, reduce in ((largest, np.max), (mean, np.mean)):
        expected = np.stack([reduce(w, -1) for w in windows], -1)
        np.testing.assert_allclose(to_numpy(y).reshape(2, 3, 4), expected, rtol=1e-5, atol=1e-6)
    mean.sum().backward()
    shares = [1 / windows[i // 2].shape[2] for i in (1, 2, 3, 4, 5, 6)]
    found = np.moveaxis(to_numpy(x.grad), 2 + slides.index(True), 2).reshape(2, 3, 6, -1)
    np.testing.assert_allclose(found[0, 0, :, 0], shares, rtol=1e-5)


@pytest.mark.parametrize('op', ['max_pool', 'average_pool', 'conv'])
def test_no_window_is_left_to_cover_all(op, device):
    """The last window would begin after the end, and there is none before it."""

    def call(length, stride):
        x = chx.ones((1, 1, length), device=device)
        if op == 'conv':
            return chx.conv(x, chx.ones((1, 1, 3), device=device), None, stride, 0, True)
        return getattr(chx, op)(x, 3, stride, 0, cover_all=True)

    for length, stride in ((1, 2), (2, 1), (1, 1)):
        with pytest.raises(chx.DimensionError, match=rf'3.* {length}'):
            call(length, stride)
    assert call(2, 2).shape == call(1, 3).shape == (1, 1, 1)
    assert call(4, 2).shape == (1, 1, 2)


def test_indices_name_the_maxima():
    """With padding, gaps, overlaps: max_unpool restores maxima to their indices, then pools."""
    x = chx.array(np.random.default_rng(0).permutation(2 * 3 * 11 * 13).astype('float32'))
    x = x.reshape(2, 3, 11, 13)
    for args in ((2,), (3, 2, 1), ((4, 3), (1, 2), ((0, 2), (1, 1))), ((20, 20), 20, 7)):
        y, indices = chx.max_pool(x, *args, return_indices=True)
        back = chx.max_unpool(y, indices, *args, outsize=(11, 13))
        assert np.isin(to_numpy(back)[to_numpy(back) != 0] % to_numpy(x).size, to_numpy(x)).all()
        z, again = chx.max_pool(back, *args, return_indices=True)
        if args[1:2] in ((), args[:1]):  # no overlaps
            assert (to_numpy(again) == to_numpy(indices)).all()
        assert (to_numpy(z) >= to_numpy(y)).all()


def test_backward_keeps_no_more_than_indices():
    """A byte per output for windows of up to 256 elements; neither x nor y."""
    x = chx.ones((8, 16, 64, 64), 'float32', device='native:0').require_grad()
    before = chx.get_memory_info()['in_use']
    loss = chx.max_pool(x, 2).sum()
    kept = chx.get_memory_info()['in_use'] - before
    outputs = x.size // 4
    assert outputs <= kept <= 1.3 * outputs  # memory grows in steps of a quarter
    loss.backward()


def test_written_indices_are_noticed():
    x = chx.ones((1, 1, 2, 2), 'float32').require_grad()
    indices = chx.zeros((1, 1, 2, 2), 'int64')
    y = chx.max_unpool(x, indices, 2)
    indices += 1
    with pytest.raises(chx.GradientError, match='max_unpool'):
        y.sum().backward()


def test_returned_indices_are_the_users():
    x = chx.array([[[1.0, 2.0, 4.0, 3.0]]]).require_grad()
    y, indices = chx.max_pool(x, 2, return_indices=True)
    indices[...] = 0
    y.sum().backward()
    assert to_numpy(x.grad).tolist() == [[[0, 1, 1, 0]]]


@pytest.mark.parametrize('kernels', [True, False])
def test_unsigned_indices_do_not_wrap(kernels, request):
    """2**64 - 1 is not -1, which names the last element."""
    device = None if kernels else request.getfixturevalue('no_kernels')
    x = chx.ones((1, 1, 2, 2), device=device)
    for index in (2**64 - 1, 2**63, 4):
        indices = chx.array([[[[0, 3], [index, 0]]]], 'uint64', device=device)
        with pytest.raises(IndexError, match=f'max_unpool: index {index} is out of range'):
            chx.max_unpool(x, indices, 2)

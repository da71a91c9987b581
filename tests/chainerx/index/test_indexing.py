"""Indexing beyond the table of ops: arrays as indices, writing, gradients of views, buffers."""

import multiprocessing

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

RNG = np.random.default_rng(3)
N = RNG.normal(size=(4, 5, 3, 2))
MASK = RNG.random(N.shape) > 0.6


def indices(shape, high, dtype='int64'):
    return RNG.integers(-high, high, shape).astype(dtype)


ADVANCED = [
    indices(3, 4),
    indices((2, 3), 4, 'int8'),
    (slice(None), indices(6, 5)),
    (Ellipsis, indices((2, 2), 2)),
    (indices(3, 4), indices(3, 5)),
    (indices((2, 1), 4), indices(3, 5), slice(None), indices((), 2)),
    (slice(None), indices(2, 5), indices((2, 2), 3)),
    (indices(2, 4), slice(1, 3), indices(2, 3)),
    (0, slice(None), indices(2, 3)),
    (slice(None, None, -1), indices(2, 5), None, slice(1, None)),
    (None, indices(2, 4)),
    (indices(2, 4), None, indices(2, 5)),
    (indices(0, 4), 1),
    MASK[..., 0, 0],
    MASK,
    (slice(None), MASK[0, :, :, 0]),
    (indices(int(MASK[0, :, 0, 0].sum()), 4), MASK[0, :, 0, 0]),
    np.zeros(N.shape, bool),
    True,
    np.True_,
    np.array(False),
    (slice(None), np.array(True), 1),
    (True, indices(3, 4)),
    (np.bool_(True), Ellipsis, True),
    (2, True, slice(1, 3), MASK[0, 0, :, 0]),
]


def ours(index, device):
    def convert(x):
        return chx.array(x, device=device) if isinstance(x, np.ndarray) else x

    return tuple(map(convert, index)) if isinstance(index, tuple) else convert(index)


@pytest.mark.parametrize('index', ADVANCED, ids=range(len(ADVANCED)))
@pytest.mark.parametrize('layout', ['plain', 'transposed'])
def test_arrays_as_indices(index, layout, device):
    """Compared with NumPy: values, positions of the new dimensions, writes, gradients."""
    n = N
    x = chx.array(n, device=device) if layout == 'plain' else chx.array(n.T, device=device).T
    expected = n[index]
    for key in (ours(index, device), index):
        y = x[key]
        assert y.shape == expected.shape
        np.testing.assert_array_equal(to_numpy(y), expected)

    written, reference = x.copy(), n.copy()
    written[ours(index, device)] = -1.5
    reference[index] = -1.5
    np.testing.assert_array_equal(to_numpy(written), reference)
    values = RNG.normal(size=expected.shape)
    view, reference = chx.array(n.T.copy(), device=device).T, n.copy()
    unique = np.zeros(N.shape, int)
    np.add.at(unique, index, 1)
    if unique.max(initial=0) <= 1:  # else NumPy does not specify which value is kept
        view[ours(index, device)] = chx.array(values, device=device)
        reference[index] = values
        np.testing.assert_array_equal(to_numpy(view), reference)

    x.require_grad()
    gy = chx.array(values, device=device).require_grad()
    (gx,) = chx.grad([x[ours(index, device)]], [x], grad_outputs=[gy], enable_double_backprop=True)
    reference = np.zeros(N.shape)
    np.add.at(reference, index, values)
    np.testing.assert_allclose(to_numpy(gx), reference, atol=1e-13)
    ggx = chx.array(N, device=device)
    (ggy,) = chx.grad([gx], [gy], grad_outputs=[ggx])
    np.testing.assert_array_equal(to_numpy(ggy), N[index])


def test_lists_as_indices(device):
    x = chx.array(N, device=device)
    np.testing.assert_array_equal(to_numpy(x[[0, -1]]), N[[0, -1]])
    np.testing.assert_array_equal(to_numpy(x[:, [1, 2], [0, 2]]), N[:, [1, 2], [0, 2]])
    np.testing.assert_array_equal(to_numpy(x[[True, False, True, True]]), N[[0, 2, 3]])
    assert x[[]].shape == (0, 5, 3, 2)


@pytest.mark.parametrize(
    ('index', 'text'),
    [
        (np.array([0, 4]), '4'),
        (np.array([-5]), '-5'),
        ((np.array([0]), np.array([5])), '5'),
        (np.array([True, False]), r'\(2,\)'),
        (np.array([0.5]), 'float64'),
        ((np.array([0]),) * 5, '5'),
        ((np.array([0]), Ellipsis, Ellipsis), '...'),
        ((4, np.array([0])), '4'),
        ({}, 'dict'),
    ],
    ids=str,
)
def test_bad_index_arrays(index, text, device):
    x = chx.array(N, device=device)
    with pytest.raises(IndexError, match=text):
        x[ours(index, device)]
    with pytest.raises(IndexError, match=text):
        x[ours(index, device)] = 0
    np.testing.assert_array_equal(to_numpy(x), N)


@pytest.mark.parametrize('dtype', ['int64', 'uint64', 'int32', 'int8'])
@pytest.mark.parametrize('shape', [(70001,), (70001, 4), (2, 70001), (3, 70001, 2)], ids=str)
def test_take_of_many(dtype, shape, device):
    """There are more indices than a chunk of work; the few negative ones are far apart."""
    axis = shape.index(70001)
    n = RNG.normal(size=shape).astype('float32')
    x = chx.array(n, device=device)
    i = RNG.integers(0, min(70001, np.iinfo(dtype).max), 70001).astype(dtype)
    if dtype[0] == 'i':
        i[66000] = -1
    taken = chx.take(x, chx.array(i, device=device), axis=axis)
    np.testing.assert_array_equal(to_numpy(taken), n.take(i.astype('int64'), axis=axis))
    if dtype in ('int64', 'int32'):
        for wrong in (70001, -70002):
            i[69000] = wrong
            with pytest.raises(IndexError, match=rf'index {wrong} is out of range .* 70001'):
                chx.take(x, chx.array(i, device=device), axis=axis)


@pytest.mark.parametrize('fraction', [0, 0.001, 0.5, 0.999, 1])
@pytest.mark.parametrize('shape', [(7,), (8,), (1001,), (3, 33), (2, 0, 3), (5, 2, 70)], ids=str)
def test_masks(fraction, shape, device):
    mask = RNG.random(shape) < fraction
    if fraction == 0.001 and mask.size:
        mask.flat[-1] = True
    n = RNG.normal(size=shape)
    x, m = chx.array(n, device=device), chx.array(mask, device=device)
    np.testing.assert_array_equal(to_numpy(x[m]), n[mask])
    for ours, theirs in zip(chx.nonzero(m), mask.nonzero(), strict=True):
        np.testing.assert_array_equal(to_numpy(ours), theirs)


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'float16', 'float32', 'int64', 'complex128'])
def test_what_a_mask_keeps(dtype, device):
    """Bit by bit, of lengths around those of vectors, groups of 64 and blocks of 65536."""
    for n in (*range(1, 20), 31, 33, 63, 64, 65, 127, 128, 129, 200, 65535, 65536, 65537, 140001):
        v = RNG.integers(-99, 99, n).astype(dtype)
        if v.dtype.kind in 'fc':
            v[: n // 3 : 3], v[1 : n // 2 : 3] = np.nan, -0.0
        for fraction in (0.02, 0.5, 0.97, 1):
            mask = RNG.random(n) < fraction
            x, m = chx.array(v, device=device), chx.array(mask, device=device)
            same = [x[m], chx.compress(m, x), chx.extract(m, x)]
            if fraction == 1:
                mask[n // 2] = m[n // 2] = False
                same = [x[m]]
            for y in same:
                assert to_numpy(y).tobytes() == v[mask].tobytes(), (n, fraction)
            for view in (slice(1, None), slice(None, None, -1), slice(None, None, 2)):
                assert to_numpy(x[view][m[view]]).tobytes() == v[view][mask[view]].tobytes()
            np.testing.assert_array_equal(to_numpy(chx.flatnonzero(m)), mask.nonzero()[0])
            assert int(chx.count_nonzero(m)) == mask.sum()


def test_a_mask_whose_bytes_change():
    """Foreign memory: any byte but 0 is true."""
    memory = np.zeros(1000, 'uint8')
    m = chx.asarray(memory.view(bool), device='native:0')
    memory[:] = RNG.integers(0, 3, 1000) * 85
    v = np.arange(1000.0)
    np.testing.assert_array_equal(to_numpy(chx.array(v, device='native:0')[m]), v[memory != 0])
    np.testing.assert_array_equal(to_numpy(chx.flatnonzero(m)), memory.nonzero()[0])


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'uint64', 'float16', 'float64', 'complex128'])
def test_one_value_where_a_mask_says(dtype, device):
    """In all layouts; the mask, or the value, may be part of the target."""
    n = np.arange(3 * 4 * 5).reshape(3, 4, 5).astype(dtype)
    for turn in (lambda a: a, lambda a: a.transpose(2, 0, 1), lambda a: a[::-1, :, ::2]):
        for size in (1, 2, 3):
            x, reference = chx.array(n, device=device), n.copy()
            view, seen = turn(x), turn(reference)
            mask = RNG.random(seen.shape[:size][::-1]) < 0.5
            seen[mask.T] = 1
            view[chx.array(mask, device=device).T] = 1
            np.testing.assert_array_equal(to_numpy(x), reference)
            mask = RNG.random(seen.shape[1:2]) < 0.5
            seen[:, mask] = seen[0, 0, 1]
            view[:, chx.array(mask, device=device)] = view[0, 0, 1]
            np.testing.assert_array_equal(to_numpy(x), reference)
    if dtype == 'bool':
        x = chx.array([True, False, True], device=device)
        x[x] = False
        assert x.tolist() == [False] * 3
        x[::-1][x] = True
        assert x.tolist() == [False] * 3


def test_one_value_of_another_kind(device):
    x = chx.array([1.5, 2.5, 3.5], device=device)
    x[x > 2] = chx.array(2, 'int32', device=device)
    assert x.tolist() == [1.5, 2, 2]
    i = chx.arange(3, device=device)
    with pytest.raises(chx.DtypeError):
        i[i > 1] = chx.array(2.7, device=device)
    assert i.tolist() == [0, 1, 2]
    saved = chx.ones(3, device=device).require_grad()
    y = saved.as_grad_stopped().copy()
    z = (saved * y).sum()
    y[y < 0] = 5
    with pytest.raises(chx.GradientError):
        z.backward()


def test_true_need_not_be_one():
    """Shared foreign memory may store 2 for true."""
    memory = bytearray(105)
    x = chx.frombuffer(memory, dtype='bool')
    memory[1], memory[3], memory[4] = 2, 255, 1
    assert chx.nonzero(x)[0].tolist() == [1, 3, 4]
    assert chx.arange(105)[x].tolist() == [1, 3, 4]


def test_index_arrays_that_do_not_broadcast(device):
    x = chx.array(N, device=device)
    with pytest.raises(chx.DimensionError, match=r'\(2,\).*\(3,\)'):
        x[ours((np.zeros(2, int), np.zeros(3, int)), device)]


def test_what_may_be_written(device):
    x = chx.zeros((2, 3), 'int32', device=device)
    x[0] = [1, 2, 3]
    x[1] = np.array([4, 5, 6], 'int8')
    x[:, 0] = True
    np.testing.assert_array_equal(to_numpy(x), [[1, 2, 3], [1, 5, 6]])
    for bad in (1.5, 1j, [0.5] * 3, np.zeros(3), chx.zeros(3, 'float32', device=device)):
        with pytest.raises(chx.DtypeError, match='int32'):
            x[0] = bad
    for bad in (2**31, -(2**31) - 1, 2**63):
        with pytest.raises(ValueError, match='int32'):
            x[0] = bad
    for bad in ('x', None, object()):
        with pytest.raises(TypeError):
            x[0] = bad
    with pytest.raises(TypeError):
        del x[0]
    np.testing.assert_array_equal(to_numpy(x), [[1, 2, 3], [1, 5, 6]])


def test_arrays_in_a_graph_are_not_written(device):
    x = chx.ones((2, 3), device=device).require_grad()
    y = x * 2
    value = chx.ones(3, device=device).require_grad()
    free = chx.ones(3, device=device)
    with chx.no_backprop_mode():
        with pytest.raises(chx.ChainerxError, match='graph'):
            x[0] = 1
        free[:] = value
    for write in (
        lambda: y.__setitem__(0, 1),
        lambda: y.fill(1),
        lambda: free.__setitem__(0, value[0]),
        lambda: y.__setitem__(chx.array([0], device=device), 1),
        lambda: chx.array([True], device=device).__setitem__(0, y),
    ):
        with pytest.raises((chx.ChainerxError, chx.DtypeError)):
            write()
    assert float(y.sum()) == 12


def test_iteration(device):
    x = chx.array(N, device=device)
    assert [float(row.sum()) for row in x] == pytest.approx(list(N.sum((1, 2, 3))))
    assert [r.shape for r in reversed(x)] == [N.shape[1:]] * 4
    with pytest.raises(TypeError, match='0-dimensional'):
        iter(x[0, 0, 0, 0])


def test_gradient_of_take_is_the_same_for_any_number_of_threads():
    n = RNG.normal(size=(20000, 40)).astype('float32')
    at = indices(20000, 50)
    results = []
    before = chx.get_num_threads()
    try:
        for threads in (1, 2, 4):
            chx.set_num_threads(threads)
            for axis, shape in ((0, (50, 40)), (1, (40, 50))):
                x = chx.zeros(shape, 'float32').require_grad()
                gy = chx.array(n if axis == 0 else n.T)
                y = chx.take(x, chx.array(at), axis)
                (gx,) = chx.grad([y], [x], grad_outputs=[gy])
                results.append(to_numpy(gx if axis == 0 else gx.T))
    finally:
        chx.set_num_threads(before)
    for result in results:
        np.testing.assert_array_equal(result, results[0])
    reference = np.zeros((50, 40))
    np.add.at(reference, at, n)
    np.testing.assert_allclose(results[0], reference, rtol=1e-4, atol=1e-3)


def test_frombuffer_of_shared_memory():
    raw = multiprocessing.RawArray('d', [1.0, 2.0, 3.0])
    x = chx.frombuffer(raw, 'float64')
    raw[1] = 7.0
    np.testing.assert_array_equal(to_numpy(x), [1, 7, 3])
    del raw
    x[0] = 5.0
    np.testing.assert_array_equal(to_numpy(x), [5, 7, 3])
    constant = chx.frombuffer(b'\0' * 8)
    with pytest.raises(chx.ChainerxError, match='read-only'):
        constant[0] = 1
    assert chx.frombuffer(b'').shape == (0,)
    named = np.array([(1.0, 2.0)], [('One', 'f4'), ('O', 'f4')])
    np.testing.assert_array_equal(to_numpy(chx.frombuffer(named)), [1, 2])


def test_frombuffer_at_any_byte():
    raw = bytearray(range(41))
    for dtype in ('float32', 'int16', 'complex64'):
        for offset in (1, 2, 8):
            expected = np.frombuffer(raw, dtype, 4, offset)
            actual = chx.frombuffer(raw, dtype, 4, offset)
            np.testing.assert_array_equal(to_numpy(actual), expected)
    assert chx.frombuffer(raw, 'bfloat16', offset=1).dtype.name == 'bfloat16'
    with pytest.raises(TypeError, match='bytes-like'):
        chx.frombuffer(3)


@pytest.mark.parametrize('dtype', ['O', [('a', 'f8'), ('b', 'O')], [('a', 'O', (3,))]])
def test_frombuffer_of_objects(dtype):
    """Writing to them would crash the process."""
    with pytest.raises(ValueError, match='holds Python objects'):
        chx.frombuffer(np.zeros(4, dtype), 'int64')


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        ((b'abc',), '3 bytes'),
        ((b'abcd', 'float32', 2), '2 elements'),
        ((b'abcd', 'int8', -1, 5), 'offset 5'),
        ((b'abcd', 'int8', -1, -1), 'offset -1'),
        ((np.zeros((2, 2))[:, 0],), 'contiguous'),
    ],
)
def test_frombuffer_errors(arguments, text):
    with pytest.raises(chx.ChainerxError, match=text):
        chx.frombuffer(*arguments)


SEPARATED = [
    (slice(None), [0, 1, 0], ..., [0, 1, 2]),
    (slice(None), [0, 1, 0], ..., 2),
    (slice(None), 1, ..., [0, 1, 2]),
    ([0, 1], ..., [0, 1], [2, 3]),
    ([[0], [1]], [0, 1], ..., [0, 3]),
    (..., [0, 1, 0], [0, 1, 2]),
    (slice(None), [0, 1, 0], [0, 1, 2], ...),
    (slice(None), [0, 1, 0], None, [0, 1, 2]),
    (None, [0, 1], [0, 1], ..., None, 1),
    (slice(None), np.array([[True, False, True, True], [False] * 4, [True] * 4])),
    (0, ..., np.array([[True, False, True, True], [False] * 4, [True] * 4])),
]


@pytest.mark.parametrize('index', SEPARATED)
def test_ellipsis_for_no_axis_separates_indices(index, device):
    """The position of the new dimensions if '...' between indices stands for no axis."""
    n = np.arange(24.0).reshape(2, 3, 4)
    x = chx.array(n, device=device)
    np.testing.assert_array_equal(to_numpy(x[index]), n[index])
    n[index] = np.arange(n[index].size).reshape(n[index].shape)
    x[index] = chx.array(n[index], device=device)
    np.testing.assert_array_equal(to_numpy(x), n)


OUT_OF_RANGE = [7, -4, 3, 2**62, -(2**63)]


@pytest.mark.parametrize('bad', OUT_OF_RANGE)
@pytest.mark.parametrize('dtype', ['int8', 'int32', 'int64', 'uint64'])
def test_index_out_of_range_of_empty_arrays(bad, dtype, device):
    """Nothing would be read or written, and yet it is an error."""
    if not np.iinfo(dtype).min <= bad <= np.iinfo(dtype).max:
        return
    i = chx.array([0, bad], dtype=dtype, device=device)
    x = chx.zeros((3, 0), device=device)
    with pytest.raises(IndexError):
        x[i]
    with pytest.raises(IndexError):
        x[i] = 1
    with pytest.raises(IndexError):
        x.T[:, i]
    with pytest.raises(IndexError):
        chx.zeros((3, 3, 0), device=device)[i, i]
    with pytest.raises(IndexError):
        chx.zeros((3, 3, 0), device=device)[i, i] = 1
    with pytest.raises(IndexError):
        chx.take(x, i, axis=0)
    with pytest.raises(IndexError):
        chx._core._embed_id(i, x, -1)
    none = chx.array([], dtype=dtype, device=device)  # broadcast with it, the index is empty
    one = chx.array(bad, dtype=dtype, device=device)
    for key in ((none, one), (one, none), (slice(None), i[1:], none), (i, none[:, None])):
        with pytest.raises(IndexError):
            chx.zeros((3, 3, 3), device=device)[key]
        with pytest.raises(IndexError):
            chx.zeros((3, 3, 3), device=device)[key] = 1
    assert x[chx.array([0, 2], dtype=dtype, device=device)].shape == (2, 0)
    assert chx.take(x, i, axis=0, mode='clip').shape == (2, 0)


@pytest.mark.parametrize('n', [2, 511, 512, 513, 5000, 70000])
@pytest.mark.parametrize('columns', [None, 1, 3, 200])
def test_a_bad_index_writes_nothing(n, columns, device):
    if n * (columns or 1) > 1_100_000:
        return
    shape = (n,) if columns is None else (n, columns)
    x = chx.zeros(shape, 'float32', device=device)
    for at in (0, n // 2, n - 1):
        indices = np.arange(n)
        indices[at] = n
        for value in (1, chx.ones(shape, 'float32', device=device)):
            with pytest.raises(IndexError, match=f'index {n} is out of range'):
                x[chx.array(indices, device=device)] = value
            assert not x.any()
    if columns is not None:
        with pytest.raises(IndexError):
            x[:, chx.array([0, columns], device=device)] = 1
        with pytest.raises(IndexError):
            x[chx.array(np.arange(n), device=device), chx.array([columns], device=device)] = 1
        with pytest.raises(IndexError):
            x.T[:, chx.array(indices, device=device)] = 1
        assert not x.any()


@pytest.mark.parametrize(('dtype', 'large'), [('float16', 5000), ('bfloat16', 4096)])
def test_gradients_of_16_bits_are_summed_in_32(dtype, large, device):
    i = np.zeros(large, 'int64')
    x = chx.ones((2, 1), dtype=dtype, device=device).require_grad()
    expected = [[float(np.float16(large))], [0]]
    x[chx.array(i, device=device)].sum().backward()
    assert x.grad.tolist() == expected
    x.cleargrad()
    x.take(chx.array(i, device=device), axis=0).sum().backward()
    assert x.grad.tolist() == expected
    x.cleargrad()
    x[chx.array(i, device=device), chx.array(i, device=device)].sum().backward()
    assert x.grad.tolist() == expected
    x.cleargrad()
    chx.broadcast_to(x[:1], (large, 1)).sum().backward()
    assert x.grad.tolist() == expected


def ends(n):
    near = {0, 1, n - 1, n, n + 1, -1, -n, -n - 1, -n - 2, 100, -100}
    return [None, *sorted(near), 2**62, -(2**62), 2**63 - 1, -(2**63)]


@pytest.mark.parametrize('n', [0, 1, 2, 5])
def test_every_slice(n, device):
    """As for a list: ends far outside on both sides, all steps; read, written, and its gradient."""
    values = list(range(n))
    x = chx.arange(n, dtype='float64', device=device)
    for start in ends(n):
        for stop in ends(n):
            for step in (None, 1, 2, 3, 100, 2**62, -1, -2, -3, -100, -(2**62), -(2**63) + 1):
                key = slice(start, stop, step)
                expected = values[key]
                assert x[key].tolist() == expected, key
                assert x[key].shape == (len(expected),), key
    for key in (slice(3, -100, -1), slice(-100, 100, 2), slice(None, None, -2), slice(100, 0, -1)):
        y = x.copy()
        y[key] = -1
        expected = np.arange(n, dtype='float64')
        expected[key] = -1
        np.testing.assert_array_equal(to_numpy(y), expected, str(key))
        w = x.copy().require_grad()
        (gx,) = chx.grad([w[key]], [w], grad_outputs=[x[key]])
        expected = np.zeros(n)
        expected[key] = np.arange(n)[key]
        np.testing.assert_array_equal(to_numpy(gx), expected, str(key))


def test_masks_of_arrays_without_dimensions(device):
    """Code for any rank works: select, write and clear by a comparison."""
    x = chx.array(3.0, device=device)
    assert x[x > 2].tolist() == [3.0]
    assert x[x > 3].tolist() == []
    x[x > 3] = 7
    assert x.item() == 3
    x[x > 2] = chx.array([5.0], device=device)
    assert x.item() == 5
    with pytest.raises(ValueError, match='broadcast'):
        x[x > 2] = chx.array([1.0, 2.0], device=device)
    y = chx.array(3.0, device=device).require_grad()
    mask = y > 2
    (g,) = chx.grad([y[mask] * 2], [y])
    assert (g.shape, g.item()) == ((), 2)
    z = y[mask]
    mask &= False
    with pytest.raises(chx.GradientError, match='bool index'):
        z.backward()
    v = chx.arange(5.0, device=device).require_grad()
    condition = chx.array([1, 0, 2, 0, 0], device=device)
    z, w = chx.extract(condition, v), chx.compress(condition > 0, v)
    seed = chx.array([5.0, 6.0], 'float32', device=device)
    assert chx.grad([w], [v], grad_outputs=[seed])[0].tolist() == [5, 0, 6, 0, 0]
    condition[:] = 0
    with pytest.raises(chx.GradientError, match='extract: condition'):
        chx.grad([z], [v], grad_outputs=[seed])


@pytest.mark.parametrize('dtype', ['int8', 'float16', 'float32', 'float64', 'complex128'])
def test_many_items_from_beyond_the_caches(dtype):
    """Such elements are prefetched, except those of the end of a block."""
    length = 2**20 // np.dtype(dtype).itemsize + 3
    n = (np.arange(length) % 251 - 120).astype(dtype)
    x = chx.array(n)
    rng = np.random.default_rng(0)
    for count in (1, 63, 64, 65, 1000, 2**16, 2**16 + 30, 2**16 + 64, 2**17 + 65):
        i = rng.integers(0, length, count)
        np.testing.assert_array_equal(chx.to_numpy(x[chx.array(i)]), n[i])
        for at in {0, count // 2, count - 1}:
            j = i.copy()
            j[at] -= length  # a negative index
            np.testing.assert_array_equal(chx.to_numpy(x[chx.array(j)]), n[i])
            for wrong in (length, -length - 1, 2**62, -(2**63)):
                j[at] = wrong
                with pytest.raises(IndexError, match=str(wrong)):
                    x[chx.array(j)]


@pytest.mark.parametrize('dtype', ['int8', 'float32', 'float64', 'complex128'])
def test_many_items_to_beyond_the_caches(dtype):
    length = 2**20 // np.dtype(dtype).itemsize + 3
    n = (np.arange(length) % 5).astype(dtype)
    rng = np.random.default_rng(0)
    for count in (577, 1000, 2**16 + 30, 2**17 + 65):
        for index in ('int64', 'int32'):
            i = rng.integers(-length, length, count).astype(index)
            i[: count // 3] %= length
            values = (np.arange(count) % 3).astype(dtype)
            x, m = chx.array(n), n.copy()
            x[chx.array(i)] = 2
            m[i] = 2
            np.testing.assert_array_equal(chx.to_numpy(x), m)
            x[chx.array(i)] = chx.array(values)  # the last of several values is kept
            m[i] = values
            np.testing.assert_array_equal(chx.to_numpy(x), m)
            if dtype != 'int8':
                x = x.at[chx.array(i)].add(chx.array(values))
                np.add.at(m, i, values)
                np.testing.assert_array_equal(chx.to_numpy(x), m)
            i[count // 2] = length
            with pytest.raises(IndexError, match=str(length)):
                x[chx.array(i)] = 3

"""Writing in place: operands that share memory with the target, what backward still needs, and
arrays whose elements share memory."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

RNG = np.random.default_rng(8)


def wraps(n):
    """Two arrays over the same NumPy memory, each with its own buffer."""
    return chx.asarray(n), chx.asarray(n)


# ---- the target and the operands share memory ----------------------------------------------------


@pytest.mark.parametrize('n', [5, 3000])
@pytest.mark.parametrize('dtype', ['int64', 'int32'])
def test_array_as_its_own_index(n, dtype, device):
    start = RNG.permutation(n).astype(dtype)
    x, expected = chx.array(start, device=device), start.copy()
    x[x] += 1
    expected[expected] += 1
    np.testing.assert_array_equal(to_numpy(x), expected)

    x, expected = chx.array(start, device=device), start.copy()
    x[x] = 10**9
    expected[expected] = 10**9
    np.testing.assert_array_equal(to_numpy(x), expected)
    two = chx.array([[0, 1], [1, 0]], device=device)
    two[two[0], two[:, 1]] = 10**9
    assert two.tolist() == [[0, 10**9], [10**9, 0]]


def test_index_in_another_wrap_of_the_memory():
    n = np.array([1, 2, 3, 0])
    x, i = wraps(n)
    x[i] = 10**15
    assert n.tolist() == [10**15] * 4
    n = np.arange(8)[::-1].copy()
    x, i = chx.asarray(n[::-1]), chx.asarray(n[2:6])
    expected = np.arange(8)[::-1].copy()
    expected[::-1][expected[2:6].copy()] = [70, 71, 72, 73]
    x[i] = chx.array([70, 71, 72, 73])
    np.testing.assert_array_equal(n, expected)
    mask = np.array([True, False, True])
    x, i = wraps(mask)
    x[i] = False
    assert mask.tolist() == [False] * 3


SHIFTS = {
    'one ahead': (slice(None, -1), slice(1, None)),
    'one behind': (slice(1, None), slice(None, -1)),
    'reversed': (slice(None), slice(None, None, -1)),
    'every other': (slice(None, None, 2), slice(1, None, 2)),
    'other rate': (slice(None, 600), slice(None, None, 2)),
}


@pytest.mark.parametrize('target', [0, 1])
@pytest.mark.parametrize('where', SHIFTS.values(), ids=SHIFTS)
@pytest.mark.parametrize('one_array', [True, False], ids=['views', 'wraps'])
def test_operand_that_overlaps(where, target, one_array, device):
    """As if the operand had been read before all writes, in NumPy and here."""
    start = RNG.normal(size=1200)
    here, there = where if target == 0 else where[::-1]
    operations = {
        'iadd': lambda a, b: a.__iadd__(b),
        'imultiply': lambda a, b: a.__imul__(b),
        'setitem': lambda a, b: a.__setitem__(Ellipsis, b),
        'setitem, reversed': lambda a, b: a[::-1].__setitem__(Ellipsis, b[::-1]),
    }
    for name, operation in operations.items():
        expected = start.copy()
        operation(expected[here], expected[there].copy())
        if one_array:
            x = chx.array(start, device=device)
            operation(x[here], x[there])
            result = to_numpy(x)
        else:
            result = start.copy()
            operation(chx.asarray(result[here]), chx.asarray(result[there]))
        np.testing.assert_array_equal(result, expected, err_msg=name)


def test_operands_of_other_layouts_overlap(device):
    start = RNG.normal(size=(40, 40))
    x, expected = chx.array(start, device=device), start.copy()
    x += x.T
    expected += expected.T.copy()
    np.testing.assert_array_equal(to_numpy(x), expected)
    x += x[3]
    expected += expected[3].copy()
    np.testing.assert_array_equal(to_numpy(x), expected)
    x[:, 1:] -= x[:, :1]  # disjoint, but interleaved
    expected[:, 1:] -= expected[:, :1]
    np.testing.assert_array_equal(to_numpy(x), expected)
    memory = start.copy()
    a, b = chx.asarray(memory), chx.asarray(memory.T)
    a -= b
    np.testing.assert_array_equal(memory, start - start.T)
    memory = start.copy()
    chx.copyto(chx.asarray(memory[1:]), chx.asarray(memory[:-1]))
    np.testing.assert_array_equal(memory[1:], start[:-1])


def test_wraps_of_other_dtypes_overlap():
    """A write through int32 must not be read back through float32."""
    bits = np.arange(1000, dtype='int32')
    x, f = chx.asarray(bits), chx.asarray(bits.view('float32'))
    bits.view('float32')[...] = np.arange(1000)
    f[...] = x
    np.testing.assert_array_equal(
        bits.view('float32'), np.arange(1000, dtype='float32').view('int32').astype('float32')
    )


def random_view(rng, n):
    """A view by slices of any step, transposed."""
    key = []
    for length in n.shape:
        start, stop = sorted(int(i) for i in rng.integers(0, length + 1, 2))
        key.append(slice(start, stop, int(rng.integers(1, 4))))
    view = n[tuple(key)].transpose(rng.permutation(n.ndim))
    return view[tuple(slice(None, None, int(i)) for i in rng.choice([-1, 1], n.ndim))]


@pytest.mark.parametrize('seed', range(6))
def test_random_views_of_one_memory(seed):
    """Arrays over it, as if all were read before all writes."""
    rng = np.random.default_rng(seed)
    operations = [
        lambda x, y: x.__iadd__(y),
        lambda x, y: x.__imul__(y),
        lambda x, y: x.__setitem__(Ellipsis, y),
    ]
    for _ in range(300):
        shape = rng.integers(3, 7, rng.integers(1, 4))
        start = rng.integers(0, 5, shape)
        memory, expected = start.copy(), start.copy()
        state = rng.bit_generator.state
        target, operand = random_view(rng, memory), random_view(rng, memory)
        rng.bit_generator.state = state
        target_np = random_view(rng, expected)
        if target.size == 0:
            continue
        if operand.shape != target.shape:
            operand = memory[(slice(1),) * memory.ndim]
        operation = operations[rng.integers(len(operations))]
        operation(target_np, operand.copy())
        operation(chx.asarray(target), chx.asarray(operand))
        np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize('seed', range(4))
def test_random_index_is_the_target_itself(seed, device):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        n = int(rng.integers(1, 40))
        start = rng.integers(-4, 4, n)
        x, expected = chx.array(start, device=device), start.copy()
        here, there = random_view(rng, np.arange(n)), random_view(rng, np.arange(n))
        if here.size == 0 or there.size == 0:
            continue
        views = [slice(v[0], None, v[1] - v[0] if v.size > 1 else 1) for v in (here, there)]
        target, index = x[views[0]], x[views[1]]
        target_np, index_np = expected[views[0]], expected[views[1]].copy()
        if np.abs(index_np + 0.5).max() > len(target_np):
            with pytest.raises(IndexError):
                target[index] = n
            continue
        target[index] = n
        target_np[index_np] = n
        np.testing.assert_array_equal(to_numpy(x), expected)


# ---- elements that share memory ------------------------------------------------------------------


def writes(b):
    """Each way to write to an array."""
    yield lambda: b.__iadd__(1)
    yield lambda: b.__imul__(b)
    yield lambda: b.fill(2)
    yield lambda: b.__setitem__(0, 5)
    yield lambda: b.__setitem__(Ellipsis, b + 1)
    yield lambda: b.__setitem__([0], 5)
    yield lambda: chx.copyto(b, b + 1)
    yield lambda: b[0].__iadd__(1)
    yield lambda: b[:2].fill(3)
    yield lambda: b.T.fill(3)
    yield lambda: b.reshape(-1, *b.shape).fill(3)
    yield lambda: b.as_grad_stopped().fill(3)
    yield lambda: b[None].squeeze().__setitem__(0, 1)


def check_read_only(b):
    before = to_numpy(b).copy()
    for write in writes(b):
        with pytest.raises(chx.ChainerxError, match=r'read-only.*copy'):
            write()
    np.testing.assert_array_equal(to_numpy(b), before)
    copied = b.copy()
    copied += 1
    np.testing.assert_array_equal(to_numpy(copied), before + 1)


def test_broadcast_arrays_are_read_only(device):
    a = chx.array([1.0, 2.0, 3.0], device=device)
    check_read_only(chx.broadcast_to(a, (4, 3)))
    check_read_only(chx.broadcast_to(a[:1], (1 << 20,)))
    check_read_only(chx.broadcast_arrays(a, chx.zeros((4, 3), device=device))[0])
    check_read_only(chx.broadcast_to(chx.array(1.5, device=device), (3, 2)))
    check_read_only(chx.meshgrid(a, a)[0])
    same = chx.broadcast_to(a, (1, 3))  # each element has its own memory
    same += 1
    assert a.tolist() == [2, 3, 4]


def test_broadcast_arrays_are_read_only_outside():
    b = chx.broadcast_to(chx.array([1.0, 2.0]), (3, 2))
    for outside in (np.asarray(b), chx.to_numpy(b, copy=False), np.asarray(memoryview(b))):
        assert np.shares_memory(outside, np.asarray(b))
        assert not outside.flags.writeable
        with pytest.raises(ValueError, match='read-only'):
            outside += 1
    assert chx.to_numpy(b).flags.writeable
    assert not np.from_dlpack(b).flags.writeable
    with pytest.raises(BufferError, match='read-only'):
        b.__dlpack__()


def strided(shape, strides):
    return np.lib.stride_tricks.as_strided(np.arange(60.0), shape, [8 * s for s in strides])


@pytest.mark.parametrize(
    ('shape', 'strides', 'overlaps'),
    [
        ((3, 3), (1, 1), True),  # windows
        ((5, 2), (0, 1), True),
        ((2, 3), (3, 2), False),  # 0 2 4 3 5 7
        ((3, 4), (3, 2), True),  # 6 is 2 * 3 and 3 * 2
        ((2, 2, 2), (3, 5, 8), True),
        ((2, 2, 2), (3, 5, 7), False),
        ((4, 3), (5, 2), False),
        ((4, 4), (-5 + 10, 2), False),
        ((4, 5, 2), (1, 4, 30), False),
        ((0, 5), (0, 0), False),
        ((1, 1), (0, 0), False),
    ],
)
def test_foreign_memory_that_overlaps_itself(shape, strides, overlaps):
    n = strided(shape, strides)
    places = {
        sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)
    }
    assert overlaps == (len(places) < n.size)
    x = chx.asarray(n)
    if overlaps:
        check_read_only(x)
    else:
        expected = n + 1
        x += 1
        np.testing.assert_array_equal(n, expected)


def test_repeated_elements_have_memory_of_their_own(device):
    x = chx.array([1.0, 2.0], device=device)
    for y in (
        chx.tile(x, (3, 2)),
        chx.tile(x, (3, 1)),
        chx.tile(x[:1], 3),
        chx.repeat(x[:1], 3),
        chx.repeat(x, 2, axis=0),
        chx.pad(x, 2, 'edge'),
        chx.full_like(chx.broadcast_to(x, (3, 2)), 1),
        chx.broadcast_to(x, (3, 2)).astype('float64'),
        chx.broadcast_to(x, (3, 2)).flatten(),
    ):
        expected = to_numpy(y) + 1
        y += 1
        np.testing.assert_array_equal(to_numpy(y), expected)
    assert x.tolist() == [1, 2]


def test_random_strides():
    rng = np.random.default_rng(5)
    seen = {True: 0, False: 0}
    for _ in range(3000):
        ndim = int(rng.integers(1, 5))
        shape = [int(i) for i in rng.integers(1, 5, ndim)]
        strides = [int(i) for i in rng.integers(0, 12, ndim)]
        places = {
            sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)
        }
        n = np.lib.stride_tricks.as_strided(np.zeros(200), shape, [8 * s for s in strides])
        overlaps = len(places) < n.size
        x = chx.asarray(n)
        assert np.asarray(x).flags.writeable != overlaps, (shape, strides)
        seen[overlaps] += 1
    assert min(seen.values()) > 300


def test_gradients_may_be_written_to(device):
    """The gradient of a sum is broadcast, which users should not have to know."""
    for f in (chx.sum, chx.mean, lambda x: x.sum(axis=0).sum()):
        x = chx.array([[1.0, 2.0], [3.0, 4.0]], device=device).require_grad()
        f(x).backward()
        expected = to_numpy(x.grad) * 0.5
        g = x.grad
        g *= 0.5
        np.testing.assert_array_equal(to_numpy(x.grad), expected)


# ---- what backward needs again -------------------------------------------------------------------


def leaf(*shape, device, dtype='float64'):
    return chx.array(RNG.random(shape) + 0.5, dtype=dtype, device=device).require_grad()


def constant(*shape, device, high=None):
    n = RNG.random(shape) + 0.5 if high is None else RNG.integers(0, high, shape)
    return chx.array(n, device=device)


WRITERS = {
    'iadd': lambda a: a.__iadd__(1),
    'iadd of an array': lambda a: a.__iadd__(a),
    'fill': lambda a: a.fill(1),
    'setitem': lambda a: a.__setitem__(0, 1),
    'setitem of a slice': lambda a: a.__setitem__(slice(1, 2), a[:1]),
    'setitem with arrays': lambda a: a.__setitem__([0], 1),
    'copyto': lambda a: chx.copyto(a, a + 1),
    'through a view': lambda a: a[1:].fill(1),
    'as_grad_stopped': lambda a: a.as_grad_stopped().fill(1),
    'memory that is not saved': lambda a: a[:0].fill(1),
}


@pytest.mark.parametrize('write', WRITERS.values(), ids=WRITERS)
def test_saved_operand_is_written(write, device):
    x, a = leaf(3, device=device), constant(3, device=device)
    y = x * a
    write(a)
    with pytest.raises(chx.GradientError, match=r'multiply: input 1, of shape \(3,\).*copy'):
        y.sum().backward()
    assert x.grad is None


def test_view_of_the_base_is_saved(device):
    base = constant(4, 3, device=device)
    x = leaf(3, device=device)
    y = x * base[1]
    base += 100
    with pytest.raises(chx.GradientError, match='multiply: input 1'):
        y.sum().backward()


def test_saved_leaf_and_output_are_written(device):
    x = leaf(3, device=device)
    y = x * x
    x.as_grad_stopped()[...] = 0
    with pytest.raises(chx.GradientError, match='multiply: input 0'):
        y.sum().backward()
    y = chx.exp(x)
    z = y + 1
    y.as_grad_stopped().fill(0)
    with pytest.raises(chx.GradientError, match='exp: the output'):
        z.sum().backward()


INDEXED = {
    'take': (lambda x, i: chx.take(x, i, 0), 'take: indices'),
    'getitem': (lambda x, i: x[i], 'the index array'),
    'getitem of several': (lambda x, i: x[i, i % 2], 'the index array'),
    'getitem of a mask': (lambda x, i: x[i[:4] > 1], None),
    'softmax_cross_entropy': (chx.softmax_cross_entropy, 'softmax_cross_entropy: x2'),
    'sigmoid_cross_entropy': (
        lambda x, i: chx.sigmoid_cross_entropy(x[:, 0], i),
        'sigmoid_cross_entropy: x2',
    ),
    'hinge': (chx.hinge, 'hinge: x2'),
    'where': (lambda x, i: chx.where(i > 1, x[:, 0], 0), None),
    'where of the indices': (
        lambda x, i: chx.where(i.astype('bool', copy=False), x[:, 0], 0),
        None,
    ),
}


@pytest.mark.parametrize('dtype', ['int64', 'int32'])
@pytest.mark.parametrize(('f', 'text'), INDEXED.values(), ids=INDEXED)
def test_saved_index_is_written(f, text, dtype, device):
    x = leaf(4, 4, device=device)
    i = constant(4, device=device, high=2).astype(dtype)
    y = f(x, i)
    i += 100
    if text is None:  # another array is saved
        y.sum().backward()
        return
    with pytest.raises(chx.GradientError, match=text):
        y.sum().backward()


def test_mask_is_written(device):
    x, c = leaf(4, device=device), chx.array([True, False, True, True], device=device)
    for f in (lambda: x[c], lambda: chx.where(c, x, 0), lambda: chx.where(c, x, 2 * x)):
        y = f()
        c[0] = not bool(c[0])
        with pytest.raises(chx.GradientError, match=r'dtype bool|bool index'):
            y.sum().backward()


def test_second_derivative_is_guarded_too(device):
    x, t = leaf(4, 3, device=device), constant(4, device=device, high=3)
    y = chx.softmax_cross_entropy(x, t)
    (gx,) = chx.grad([y], [x], enable_double_backprop=True)
    t += 10**10
    with pytest.raises(chx.GradientError, match='softmax_cross_entropy: x2'):
        chx.grad([gx], [x])
    w, i = leaf(4, 3, device=device), constant(5, device=device, high=4)
    gy = leaf(5, 3, device=device)
    (gw,) = chx.grad([chx.take(w, i, 0)], [w], grad_outputs=[gy], enable_double_backprop=True)
    i -= 10**10
    with pytest.raises(chx.GradientError, match='take: indices'):
        chx.grad([gw], [gy])


def test_labels_in_foreign_memory():
    """Writes by NumPy can't be detected; labels that are then out of range must raise an error."""
    x = chx.array(RNG.normal(size=(5000, 3))).require_grad()
    few = x[:3]
    for bad in (10**10, -(10**10), 3, -2):
        t = RNG.integers(0, 3, 5000)
        y = chx.softmax_cross_entropy(x, chx.asarray(t))
        t[:] = bad
        with pytest.raises(IndexError, match=str(bad)):
            y.sum().backward()
        i = RNG.integers(0, 3, 5000)
        for f in (lambda i: chx.take(few, i, 1), lambda i: few[:, i], lambda i: few[i, i]):
            i[:] = 1
            y = f(chx.asarray(i))
            i[:] = bad * 10_000
            with pytest.raises(IndexError):
                y.sum().backward()


def test_writes_that_do_no_harm(device):
    x, a = leaf(3, device=device), constant(3, device=device)
    y = x + a  # the gradient needs neither
    a += 1
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    x.cleargrad()

    a += 1  # before the computation
    y = x * a
    expected = to_numpy(a).copy()
    y.sum().backward()
    a += 1  # after backward
    np.testing.assert_array_equal(to_numpy(x.grad), expected)

    y = x * a
    b = constant(3, device=device)
    b += a  # the operand is only read
    x.grad.fill(0)
    y.sum().backward()
    np.testing.assert_array_equal(to_numpy(x.grad), to_numpy(a))

    x.cleargrad()
    for _ in range(3):  # an update of the parameter between complete steps
        y = chx.tanh(x * x)
        y.sum().backward()
        p = x.as_grad_stopped()
        p -= 0.1 * x.grad
        x.cleargrad()

    only_x = x * a
    with chx.no_backprop_mode():
        z = x * b
    b += 1
    (only_x + z).sum().backward()


def test_unrequested_gradient_does_not_fail(device):
    x, w = leaf(3, device=device), leaf(3, device=device)
    y = x * w
    w.as_grad_stopped().fill(1)  # only the gradient of x needs it
    (gw,) = chx.grad([y], [w])
    np.testing.assert_array_equal(to_numpy(gw), to_numpy(x))


def test_memory_that_is_reused_is_another(device):
    x = leaf(1000, device=device)
    y = x
    for _ in range(20):
        temporary = constant(1000, device=device)
        temporary *= 2
        y = y + temporary * 2
        temporary += 1
        del temporary
    y.sum().backward()
    assert to_numpy(x.grad).tolist() == [1] * 1000


def test_failed_backward_leaves_gradients_and_graph(device):
    x, a = leaf(3, device=device), constant(3, device=device)
    w = leaf(3, device=device)
    (w * 2).sum().backward()
    y = (x * a + w).sum()
    a += 1
    for _ in range(2):
        with pytest.raises(chx.GradientError, match='multiply: input 1'):
            y.backward()
        assert w.grad.tolist() == [2, 2, 2]
        assert x.grad is None
    (gw,) = chx.grad([y], [w])  # needs no array that was written to
    assert gw.tolist() == [1, 1, 1]

"""The autograd engine from Python: section 4 of the contract."""

import gc

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import check, leaf
from cases._harness import to_numpy

# --- require_grad, grad, backward


def test_require_grad_returns_the_array_and_requires_floats():
    x = chx.array([1.0, 2.0])
    assert not x.is_grad_required()
    assert x.require_grad() is x
    assert x.is_grad_required()
    assert x.is_backprop_required()
    assert x.require_grad() is x  # a second call changes nothing
    for dtype in ('bool', 'int8', 'int64', 'uint16'):
        with pytest.raises(chx.DtypeError, match=dtype):
            chx.zeros(2, dtype).require_grad()


def test_grad_attribute():
    x = chx.array([1.0, 2.0], 'float32')
    with pytest.raises(chx.ChainerxError):
        _ = x.grad
    x.require_grad()
    assert x.grad is None
    g = chx.array([3.0, 4.0], 'float32')
    x.grad = g
    assert x.grad is x.grad
    check(x.grad, [3, 4])
    x.grad = None
    assert x.grad is None
    x.set_grad(g)
    check(x.get_grad(), [3, 4])
    x.cleargrad()
    assert x.get_grad() is None
    for bad in (chx.zeros(3, 'float32'), chx.zeros(2, 'float64'), chx.zeros((), 'float32')):
        with pytest.raises(chx.GradientError):
            x.grad = bad
        assert x.grad is None
    with pytest.raises(chx.GradientError):
        x.grad = chx.zeros(2, 'float32', device='native:1')
    with pytest.raises(TypeError):
        x.grad = [1, 2]
    with pytest.raises(TypeError):
        x.grad = np.zeros(2, 'float32')


def test_backward_defaults_to_ones_of_any_shape():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    (x * x).backward()
    check(x.grad, [[2, 4], [6, 8]])


def test_gradients_accumulate_and_the_graph_is_freed():
    x = leaf([1.0, 2.0])
    y = x * 3
    y.backward()
    check(x.grad, [3, 3])
    with pytest.raises(chx.GradientError, match='released'):
        y.backward()
    check(x.grad, [3, 3])
    (x * 2).backward()
    check(x.grad, [5, 5])


def test_visible_gradients_are_not_changed_in_place():
    x = leaf([1.0, 2.0])
    (x * 3).backward()
    seen = x.grad
    (x * 4).backward()
    check(seen, [3, 3])
    check(x.grad, [7, 7])


def test_output_grad_is_used():
    x = leaf([1.0, 2.0])
    y = x * 3
    y.grad = chx.array([10.0, 20.0], 'float32')
    y.backward()
    check(x.grad, [30, 60])


def test_several_outputs():
    x, z = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    chx.backward([x * z, x + x])
    check(x.grad, [5, 6])
    check(z.grad, [1, 2])
    chx.backward([])


def test_diamond_and_reuse():
    x = leaf([2.0])
    a = x * x
    (a * a + a).backward()  # x**4 + x**2
    check(x.grad, [4 * 8 + 4])


def test_intermediate_gradients():
    x = leaf([2.0])
    a = x * x
    a.require_grad()
    (a * 3).backward()
    check(a.grad, [3])
    check(x.grad, [12])
    b = x * x
    (b * 3).backward()
    with pytest.raises(chx.ChainerxError):
        chx.array([1.0]).get_grad()


def test_loss_scale():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward(loss_scale=1024.0)
    check(x.grad, [2, 4])
    h = leaf([1.0, 2.0], 'float16')
    # 2**-20 * 2**-6 is zero in float16; the scale carries it through.
    scaled = (h * 2.0**-10 * 2.0**-10).sum()
    scaled.backward(loss_scale=2.0**12)
    assert float(h.grad.astype('float64')[0]) == pytest.approx(2.0**-20, rel=0.1)
    (gx,) = chx.grad([(x * x).sum()], [x], loss_scale=8.0)
    check(gx, [2, 4])


def test_backward_rejects_non_arrays():
    for bad in (None, 1, 'x', [None], [1], np.zeros(2)):
        with pytest.raises(TypeError):
            chx.backward(bad)


# --- grad


def test_grad_leaves_no_trace():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = x * w
    gx, gw = chx.grad([y], [x, w])
    check(gx, [3, 4])
    check(gw, [1, 2])
    assert x.grad is None
    assert w.grad is None
    assert y.get_grad() is None if y.is_grad_required() else True


def test_grad_of_unconnected_arrays_is_none():
    x, other = leaf([1.0]), leaf([2.0])
    assert chx.grad([x * 2], [other])[0] is None
    assert chx.grad([x * 2], []) == []


def test_grad_outputs_and_errors():
    x = leaf([1.0, 2.0])
    (gx,) = chx.grad([x * 3], [x], grad_outputs=[chx.array([10.0, 100.0], 'float32')])
    check(gx, [30, 300])
    (gx,) = chx.grad([x * 3], [x], grad_outputs=[None])
    check(gx, [3, 3])
    with pytest.raises(chx.GradientError):
        chx.grad([x * 3], [x], grad_outputs=[chx.ones(2, 'float32')] * 2)
    with pytest.raises(chx.GradientError):
        chx.grad([x * 3], [x], grad_outputs=[chx.ones(3, 'float32')])
    with pytest.raises(chx.GradientError):
        chx.grad([x * 3], [x], grad_outputs=[chx.ones(2, 'float64')])


def test_grad_set_grad_and_retain_grad():
    x = leaf([2.0])
    a = (x * x).require_grad()
    y = a * 3
    (gx,) = chx.grad([y], [x], set_grad=True, enable_double_backprop=True)
    check(x.grad, [12])
    check(gx, [12])
    assert a.grad is None
    chx.grad([y], [x], retain_grad=True)
    check(a.grad, [3])


def test_grad_of_an_intermediate_that_is_also_an_output():
    x = leaf([2.0])
    a = x * x
    y = a * 3
    ga, gx = chx.grad([y, a], [a, x], enable_double_backprop=True)
    check(ga, [4])
    check(gx, [16])
    (gy,) = chx.grad([y], [y])
    check(gy, [1])


def test_grad_stops_at_inputs_it_does_not_need():
    x, w = leaf([2.0]), leaf([3.0])
    a = x * x
    (ga,) = chx.grad([a * w], [a])
    check(ga, [3])
    assert w.grad is None


# --- higher derivatives


def test_derivatives_of_any_order():
    x = leaf([2.0], 'float64')
    y = x * x * x * x * x
    expected = 32.0
    for order in range(1, 7):
        (y,) = chx.grad([y], [x], enable_double_backprop=True)
        expected = np.polyval(np.polyder([1, 0, 0, 0, 0, 0], order), 2.0)
        if y is None:
            assert order > 5
            return
        check(y, [expected])


def test_double_backprop_through_backward():
    x = leaf([3.0])
    (x * x * x).backward(enable_double_backprop=True)
    gx = x.grad
    check(gx, [27])
    assert gx.is_backprop_required()
    x.cleargrad()
    gx.backward()
    check(x.grad, [18])


def test_without_double_backprop_gradients_are_outside_the_graph():
    x = leaf([3.0])
    (x * x).backward()
    assert not x.grad.is_backprop_required()


def test_graph_stays_with_double_backprop():
    x = leaf([3.0])
    y = x * x
    y.backward(enable_double_backprop=True)
    y.backward(enable_double_backprop=True)
    check(x.grad, [12])


# --- as_grad_stopped


def test_as_grad_stopped():
    x = leaf([1.0, 2.0])
    y = x * 2
    stopped = y.as_grad_stopped()
    assert not stopped.is_backprop_required()
    assert stopped.data_ptr == y.data_ptr
    copy = y.as_grad_stopped(copy=True)
    assert copy.data_ptr != y.data_ptr
    assert not copy.is_backprop_required()
    (y * stopped).backward()
    check(x.grad, [4, 8])


def test_as_grad_stopped_for_ids():
    x = chx.array([1.0], 'float32').require_grad()
    with chx.backprop_scope('a') as a:
        x.require_grad(a)
        y = x.as_grad_stopped([a])
        assert not y.is_backprop_required(a)
        assert y.is_backprop_required()
        z = x.as_grad_stopped([a], copy=True)
        assert not z.is_backprop_required(a)
        assert z.data_ptr != x.data_ptr
        (y * 3).backward()
    check(x.grad, [3])


# --- in-place protection


@pytest.mark.parametrize(
    'change',
    [
        lambda a: a.__iadd__(1),
        lambda a: a.__isub__(1),
        lambda a: a.__imul__(2),
        lambda a: a.__itruediv__(2),
        lambda a: a.fill(3),
        lambda a: a.__setitem__(0, 1),
        lambda a: a.__setitem__(slice(None), chx.ones(2, 'float32')),
        lambda a: chx.copyto(a, chx.ones(2, 'float32')),
    ],
)
def test_no_change_in_place_within_a_graph(change):
    x = leaf([1.0, 2.0])
    for target in (x, x * 2):
        before = to_numpy(target)
        with pytest.raises(chx.ChainerxError, match=r'in-?place|graph'):
            change(target)
        np.testing.assert_array_equal(to_numpy(target), before)


def test_in_place_with_an_operand_of_a_graph():
    x = leaf([1.0, 2.0])
    plain = chx.zeros(2, 'float32')
    with pytest.raises(chx.ChainerxError):
        plain += x
    np.testing.assert_array_equal(to_numpy(plain), [0, 0])


# --- connection through dtype, device and views


def test_gradient_comes_back_in_the_dtype_and_on_the_device_of_the_input():
    x = leaf([1.0, 2.0], 'float16')
    y = x.astype('float64') * chx.array([3.0, 4.0], 'float64')
    y.backward()
    assert x.grad.dtype == 'float16'
    check(x.grad, [3, 4])
    z = leaf([1.0, 2.0])
    (z.to_device('native:1') * 2).backward()
    assert z.grad.device is z.device
    check(z.grad, [2, 2])
    i = x.astype('int32')
    assert not i.is_backprop_required()


def test_mixed_dtypes_in_one_op():
    x, w = leaf([1.0, 2.0], 'float16'), leaf([3.0, 4.0], 'float64')
    (x * w).backward()
    assert (x.grad.dtype, w.grad.dtype) == ('float16', 'float64')
    check(x.grad, [3, 4])
    check(w.grad, [1, 2])


def test_views_and_copies_stay_connected():
    for change in (
        lambda x: x.view(),
        lambda x: x.copy(),
        lambda x: x.T,
        lambda x: x[0],
        lambda x: x.reshape(4),
        lambda x: chx.array(x),
    ):
        x = leaf([[1.0, 2.0], [3.0, 4.0]])
        change(x).backward()
        assert x.grad is not None


# --- the graph as data


def test_chained():
    x = leaf([1.0])
    assert (x * 2)._is_chained()
    assert not chx.array([1.0])._is_chained()


def test_graph_dump_names_the_operations(capfd):
    x = leaf([1.0])
    y = chx.exp(x * 2)
    text = y._debug_dump_computational_graph()
    text = (text or '') + capfd.readouterr().out
    assert 'exp' in text
    assert 'multiply' in text


# --- depth and order


def test_deep_chain():
    x = leaf([1.0])
    y = x
    for _ in range(20000):
        y = y + x
    y.backward()
    check(x.grad, [20001])


@pytest.mark.parametrize('order', [iter, reversed])
def test_deep_gradients_of_gradients(order):
    n = 100_000  # more nodes than the stack has frames for
    xs = [leaf([float(i)]) for i in range(n)]
    for i in order(range(n - 1)):
        xs[i].set_grad(xs[i + 1])
    first = xs[0]
    del xs
    x = first
    for i in range(n):
        assert float(x) == i
        x, last = x.grad, x
    assert x is None
    last.set_grad(first)  # closes a cycle, which is excluded
    check(last.grad, [0])
    del first, last


def test_deep_gradients_of_several_ids():
    n = 100_000
    with chx.backprop_scope('a') as a, chx.backprop_scope('b') as b:
        x = leaf([0.0])
        for i in range(n):
            y = chx.array([float(i)], 'float32').require_grad(a).require_grad(b)
            y.set_grad(x, b if i % 2 else a)
            y.set_grad(chx.ones(1, 'float32').require_grad(a), a if i % 2 else b)
            x = y
        check(x.get_grad(b), [n - 2])
        del x, y


def test_wide_graph():
    x = leaf([1.0])
    ys = [x * float(n) for n in range(300)]
    chx.backward(ys)
    check(x.grad, [sum(range(300))])


def test_dropping_a_graph_without_backward():
    x = leaf(np.ones(10))
    y = x
    for _ in range(1000):
        y = y * 1.0
    del y
    gc.collect()
    (x * 2).backward()
    check(x.grad, np.full(10, 2))


def test_backward_skips_inputs_without_required_gradients():
    x, c = leaf([1.0]), chx.array([5.0], 'float32')
    y = x * c
    y.backward()
    check(x.grad, [5])
    with pytest.raises(chx.ChainerxError):
        _ = c.grad


# --- graphs of many shapes


@pytest.mark.parametrize('seed', range(20))
def test_random_graphs(seed):
    """Paths of all lengths between two nodes, operands in either order; against dual numbers."""
    rng = np.random.default_rng(seed)
    x = leaf(0.3, 'float64')
    ours, values, slopes = [x], [0.3], [1.0]
    for _ in range(30):
        i, j = (int(k) for k in rng.integers(max(0, len(ours) - 12), len(ours), 2))
        match rng.integers(4):
            case 0:
                ours.append(chx.sin(ours[i]))
                slopes.append(np.cos(values[i]) * slopes[i])
                values.append(np.sin(values[i]))
            case 1:
                ours.append(ours[i] * ours[j])
                slopes.append(values[i] * slopes[j] + values[j] * slopes[i])
                values.append(values[i] * values[j])
            case 2:
                ours.append(ours[i] - ours[j] * 0.5)
                slopes.append(slopes[i] - slopes[j] * 0.5)
                values.append(values[i] - values[j] * 0.5)
            case 3:
                first, second = chx.split(chx.stack([ours[i], ours[j]]), 2)
                ours.append((first * 2 + second).reshape(()))
                slopes.append(2 * slopes[i] + slopes[j])
                values.append(2 * values[i] + values[j])
    used = sorted({int(k) for k in rng.integers(1, len(ours), 4)})
    outputs = [ours[k] for k in used]
    expected = sum(slopes[k] for k in used)
    (gx,) = chx.grad(outputs, [x], enable_double_backprop=True)
    np.testing.assert_allclose(float(gx), expected, rtol=1e-9, atol=1e-9)
    chx.backward(outputs)  # frees each node after its use
    np.testing.assert_allclose(float(x.grad), expected, rtol=1e-9, atol=1e-9)


def test_gradients_given_by_the_user_are_not_written_to():
    """Nor is memory that the gradient of a view shares with them, when another path adds to it."""
    for view in (lambda x: x.reshape(3, 2), lambda x: x.T, lambda x: x[::-1], lambda x: x + 0.0):
        x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        w = x * 3
        y = view(x)
        gy = chx.ones(y.shape, 'float32')
        (gx,) = chx.grad([w, y], [x], grad_outputs=[chx.ones_like(w), gy])
        check(gx, np.full((2, 3), 4))
        check(gy, np.ones(y.shape))
        w = x * 3
        y = view(x)
        y.grad = gy
        chx.backward([w, y])
        check(gy, np.ones(y.shape))
        check(x.grad, np.full((2, 3), 4))


def test_backward_starts_from_the_gradient_that_is_there_and_leaves_it():
    x = leaf([1.0, 2.0])
    x.grad = chx.array([3.0, 4.0], 'float32')
    x.backward()
    check(x.grad, [3, 4])
    x.cleargrad()
    x.backward()
    check(x.grad, [1, 1])
    x.cleargrad()
    y = (x * 2).require_grad()
    y.grad = chx.array([3.0, 4.0], 'float32')
    y.backward()
    check(y.grad, [3, 4])
    check(x.grad, [6, 8])

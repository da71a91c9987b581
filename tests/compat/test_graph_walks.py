"""Traversals of a graph whose variables are gone: retained data can be read."""

import collections
import gc
import threading

import chainer
import chainerx
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L

A = np.arange(6, dtype='f').reshape(2, 3) + 1


@pytest.fixture(params=['@numpy', 'native:0'])
def device(request):
    return chainer.get_device(request.param)


def numpy(x):
    return chainer.get_device('@numpy').send(x)


def nodes_below(variable):
    """All nodes, from the output down."""
    todo, seen = [variable.node], {}
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if node.creator_node is not None:
            todo += node.creator_node.inputs
    return list(seen.values())


def test_inputs_and_outputs_that_builtin_functions_keep(device):
    x = chainer.Variable(device.send(A))
    y = F.matmul(F.exp(x), F.tanh(x), transb=True)
    gc.collect()
    e, t = y.creator.inputs
    for node, expected in ((e, np.exp(A)), (t, np.tanh(A))):
        assert node.get_variable_or_none() is None
        assert type(node.data) is type(x.array)
        np.testing.assert_allclose(numpy(node.data), expected, rtol=1e-6)
    again = e.get_variable()
    assert again.node is e
    assert again.creator.inputs[0] is x.node
    # It is in the graph, which has not changed.
    (gx,) = chainer.grad([F.sum(again * 2)], [x])
    np.testing.assert_allclose(numpy(gx.array), 2 * np.exp(A), rtol=1e-6)
    (gx,) = chainer.grad([F.sum(y)], [x])
    s = np.exp(A).sum(0) * (1 - np.tanh(A) ** 2) + np.tanh(A).sum(0) * np.exp(A)
    np.testing.assert_allclose(numpy(gx.array), s, rtol=1e-4)


def test_a_batch_without_other_owners(device):
    link = L.Linear(3, 2).to_device(device)
    y = F.relu(link(device.send(A.copy())))
    nodes = nodes_below(y)
    assert len(nodes) == 5
    (batch,) = [n for n in nodes if n.shape == (2, 3) and n is not link.W.node]
    np.testing.assert_array_equal(numpy(batch.data), A)
    assert type(batch.data) is type(y.array)


class Product(chainer.FunctionNode):
    """Keeps its second input and its output."""

    def forward(self, xs):
        self.retain_inputs((1,))
        self.retain_outputs((0,))
        return (xs[0] * xs[1],)

    def backward(self, indexes, grads):
        raise AssertionError('is not asked')


class OldProduct(chainer.Function):
    """Keeps both inputs, as old-style functions do."""

    def forward(self, xs):
        return (xs[0] * xs[1],)


def test_arrays_kept_by_user_functions(device):
    x = chainer.Variable(device.send(A))
    (y,) = Product().apply((x * 2, x * 3))
    first, second = y.creator.inputs
    assert first.data is None
    np.testing.assert_array_equal(numpy(second.data), 3 * A)
    np.testing.assert_array_equal(numpy(second.get_variable().array), 3 * A)
    node = (y + 1).creator.inputs[0]
    del y
    np.testing.assert_array_equal(numpy(node.data), 6 * A * A)
    y = OldProduct()(x * 2, x * 3)
    np.testing.assert_array_equal(numpy(y.creator_node.inputs[0].data), 2 * A)
    np.testing.assert_array_equal(numpy(y.creator_node.inputs[1].data), 3 * A)


def test_variables_without_data_show_where_they_stand(device):
    x = chainer.Variable(device.send(A))
    y = F.relu(x * 2 + 1)
    h = y.creator.inputs[0].get_variable()
    assert h.array is None
    assert h.node is y.creator.inputs[0]
    assert h.creator.label == '_ + 1'
    assert h.rank == 2
    assert h.creator.inputs[0].get_variable().creator.inputs[0] is x.node
    with pytest.raises(TypeError, match='uninitialized'):
        h + 1
    h.unchain()
    F.sum(y).backward()
    assert x.grad is None
    h.array = x.array
    assert h.node is not y.creator.inputs[0]
    assert h.creator is None


def test_data_goes_with_the_function_that_kept_it(device):
    x = chainer.Variable(device.send(A))
    y = F.exp(x) * F.exp(x)
    node = y.creator.inputs[0]
    assert node.data is not None
    y.unchain_backward()
    del y
    assert node.data is None
    assert node.get_variable().array is None


def test_data_outlives_the_function_that_returned_it(device):
    """Data stays alive as long as any function retains it."""
    x = chainer.Variable(device.send(A))
    h = F.exp(x)
    one, other = h * h, F.log(h)
    node = h.node
    del h
    del one
    for _ in range(2):  # the returned array is dropped again
        np.testing.assert_allclose(numpy(node.data), np.exp(A), rtol=1e-6)
    del other
    assert node.data is not None  # exp itself retains it


def test_threads_that_drop_objects_read_by_others():
    """Threads may drop objects that others read, in any order, without use after free."""
    x = chainer.Variable(chainerx.array(A))
    labels = chainerx.array(A)  # in no graph: retained by functions, without a node of its own
    failed = []

    def work():
        try:
            for _ in range(300):
                h = F.exp(x)
                y = chainer.Variable(labels + 1, requires_grad=False) * h
                nodes = y.creator.inputs
                del h
                found = [n.data for n in nodes]
                assert all(d is not None for d in found)
                del y
        except Exception as e:
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_a_function_may_return_any_tuple(device):
    Pair = collections.namedtuple('Pair', 'double triple')

    class Multiples(chainer.FunctionNode):
        def forward(self, xs):
            return Pair(xs[0] * 2, xs[0] * 3)

        def backward(self, indexes, grads):
            return (grads[0] * 2 + grads[1] * 3,)

    class NativeMultiples(Multiples):
        def forward_chainerx(self, xs):
            return Pair(xs[0] * 2, xs[0] * 3)

    class OldMultiples(chainer.Function):
        def forward(self, xs):
            return Pair(xs[0] * 2, xs[0] * 3)

        def backward(self, xs, grads):
            return Pair(grads[0] * 2 + grads[1] * 3, None)[:1]

    for function in (Multiples().apply, NativeMultiples().apply, lambda xs: OldMultiples()(*xs)):
        x = chainer.Variable(device.send(A))
        ys = function((x,))
        assert type(ys) is tuple
        np.testing.assert_array_equal(numpy(ys[1].array), 3 * A)
        F.sum(ys[0] + ys[1]).backward()
        np.testing.assert_array_equal(numpy(x.grad), np.full_like(A, 5))

    class Eigh(chainer.FunctionNode):
        def forward(self, xs):
            return np.linalg.eigh(xs[0])

    values, vectors = Eigh().apply((device.send(np.diag([1.0, 2.0])),))
    np.testing.assert_array_equal(numpy(values.array), [1, 2])
    assert vectors.shape == (2, 2)


@pytest.mark.parametrize('made', ['shape', 'dtype', 'count', 'kind', 'type'])
def test_in_debug_mode_errors_of_backward_say_where_the_function_was_applied(device, made):
    class Bad(chainer.FunctionNode):
        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, indexes, grads):
            (g,) = grads
            return {
                'shape': (g[:1],),
                'dtype': (F.cast(g, 'float64'),),
                'count': (g, g, g),
                'kind': (g.array,),
                'type': g,
            }[made]

    def loss():
        (y,) = Bad().apply((chainer.Variable(device.send(A)),))  # here
        return F.sum(y)

    with pytest.raises((ValueError, TypeError), match=r'Bad\.backward') as error:
        loss().backward()
    assert 'called at' not in str(error.value)
    with chainer.using_config('debug', True):
        late = loss()
    with pytest.raises((ValueError, TypeError), match=r'(?s)Bad\.backward.*called at .*# here'):
        late.backward()


def test_the_chainerx_array_of_a_variable_is_a_view_with_a_gradient_of_its_own():
    x = chainer.Variable(chainerx.array(A))
    view = x.chx_array
    assert view is not x.chx_array
    assert view.is_backprop_required()
    view.require_grad()
    (view * 3).sum().backward()
    np.testing.assert_array_equal(numpy(view.grad), np.full_like(A, 3))
    np.testing.assert_array_equal(numpy(x.grad), np.full_like(A, 3))
    view.cleargrad()
    assert x.grad is not None
    x.cleargrad()
    (x * 2).chx_array.sum().backward()
    np.testing.assert_array_equal(numpy(x.grad), np.full_like(A, 2))
    assert view.grad is None
    constant = chainer.Variable(chainerx.array(A), requires_grad=False)
    array = constant.chx_array
    assert not array.is_backprop_required()
    array += 1
    np.testing.assert_array_equal(numpy(constant.array), A + 1)
    with pytest.raises(ValueError, match='to_chx'):
        chainer.Variable(A).chx_array  # noqa: B018


def test_an_inspected_node_keeps_the_name_of_its_variable(device):
    x = chainer.Variable(device.send(A), name='x')
    h = F.exp(x)
    h.name = 'h'
    y = F.sum(h)
    (node,) = y.creator.inputs
    assert node.name == 'h'
    del h
    assert node.name == 'h'
    assert node.get_variable().name == 'h'
    node.name = 'other'
    assert node.get_variable().name == 'other'
    assert x.node.name == 'x'


def test_data_of_a_node_is_not_for_programs_to_set(device):
    """Setting a node's data is ignored, for programs that did so to save memory."""
    y = F.exp(chainer.Variable(device.send(A)))
    y.node.data = None
    np.testing.assert_allclose(numpy(y.node.data), np.exp(A), rtol=1e-6)
    F.sum(y).backward()

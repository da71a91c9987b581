"""Nodes of variables in the graph."""

import gc
import weakref

import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer.variable import VariableNode

A = np.arange(6, dtype='f').reshape(2, 3) + 1


@pytest.fixture(params=[np, chainerx])
def x(request):
    return Variable(request.param.array(A), name='x')


def test_one_node_per_place(x):
    y = F.relu(x)
    assert x.node is x.node
    assert y.creator.inputs[0] is x.node
    assert y.creator.outputs[0]() is y.node
    assert x.node != y.node
    assert len({x.node, y.node, x.node}) == 2
    assert isinstance(x.node, VariableNode)
    assert VariableNode(x) == x.node
    assert VariableNode(x, 'n').name == 'n'


def test_ids_stay_as_long_as_the_graph(x):
    """Ids of nodes are stable, as programs that traverse the graph rely on them."""

    def walk(start, before):
        seen, todo = set(), [start]
        while todo:
            n = todo.pop()
            if n is not None and id(n) not in seen:
                seen.add(id(n))
                todo += before(n)
        return len(seen)

    h = x
    for _ in range(6):
        h = F.tanh(h) * x + F.relu(h)
    y = F.sum(h)
    del h
    assert walk(y.creator_node, lambda f: [n.creator_node for n in f.inputs]) == 25
    assert walk(y.creator, lambda f: [n.creator for n in f.inputs]) == 25
    assert walk(y.node, lambda n: (n.creator and n.creator.inputs) or ()) == 26
    others = [Variable(x.array) for _ in range(5)]
    places = {id(v.node): i for i, v in enumerate(others)}
    assert [places[id(n)] for n in F.concat(others).creator.inputs] == [0, 1, 2, 3, 4]
    assert weakref.ref(x.node)() is x.node


def test_attributes_of_a_creator_persist(x):
    y = F.relu(x)
    y.creator.memo = 3
    assert y.creator.memo == 3
    f = weakref.ref(y.creator)
    assert f() is y.creator
    y.creator_node.result = y  # a cycle, which is collected
    del y
    gc.collect()
    assert f() is None


def test_kept_nodes_do_not_keep_unchained_graphs(x):
    h = F.relu(x * 2)
    y = h + 1
    below = weakref.ref(y.creator.inputs[0].creator.inputs[0].creator)
    assert below() is not None
    y.unchain_backward()
    del h
    assert below() is None
    node = weakref.ref(y.node)
    del y
    assert node() is None


def test_attributes(x):
    y = x * x
    n = y.node
    assert (n.shape, n.dtype, n.rank, n.label) == ((2, 3), np.float32, 1, '(2, 3), float32')
    assert n.requires_grad
    assert n.creator is y.creator
    assert n.creator_node is y.creator_node
    assert n.get_variable() is y
    assert n.get_variable_or_none() is y
    assert n.data is y.array
    assert n.grad is None
    y.grad = y.array
    assert n.grad is y.grad
    assert n.grad_var is y.grad_var
    assert x.node.name == 'x'
    x.name = 'other'
    assert x.node.name == 'other'
    n.retain_data()
    assert not Variable(A, requires_grad=False).node.requires_grad


def test_it_keeps_the_graph_but_not_the_array(x):
    y = x * 2 + 1
    node, h = y.node, y.creator.inputs[0]
    f = y.creator
    del y
    gc.collect()
    assert node.get_variable_or_none() is None
    assert node.data is None
    assert node.grad is None
    assert node.creator is f
    assert node.shape == (2, 3)
    assert node.get_variable().array is None
    assert node.get_variable().creator is f
    assert h.creator.label == '_ * 2'
    assert h.creator.inputs[0].get_variable() is x


def test_a_new_variable_at_an_old_place():

    x = Variable(chainerx.array(A))
    y = x * 2
    array = y._record
    node = y.node
    del y
    gc.collect()
    again = node.get_variable()
    np.testing.assert_array_equal(chainerx.to_numpy(again.array), 2 * A)
    assert again.node is node
    F.sum(again).backward()
    np.testing.assert_array_equal(chainerx.to_numpy(x.grad), np.full_like(A, 2))
    assert array.shape == (2, 3)


def test_unchain_makes_a_leaf(x):
    y = x * 2
    z = y * 3
    y.node.unchain()
    assert y.creator is None
    assert y.node.creator is None
    F.sum(z).backward()
    assert x.grad is None
    np.testing.assert_array_equal(chainerx.to_numpy(y.grad) if x.xp is chainerx else y.grad, 3)


def test_set_creator(x):
    y = x * 2
    z = Variable(x.array.copy())
    z.node.set_creator(y.creator)
    assert z.creator is y.creator
    assert z.rank == 1
    z.node.creator = None
    assert z.creator is None
    z.node.set_creator_node(None)


@pytest.mark.parametrize('bad', [None, 5, A])
def test_it_is_made_of_a_variable(bad):
    with pytest.raises(TypeError):
        VariableNode(bad)

"""Copies and pickles of Variable and of its subclasses."""

import copy
import pickle

import chainer.functions as F
import numpy as np
from chainer import Variable
from devices import assert_equal

A = np.arange(6, dtype='f').reshape(2, 3) + 1


def test_copy_shares_the_array(make):
    x = Variable(make(A), name='x', grad=make(A))
    x.attribute = 5
    c = copy.copy(x)
    assert type(c) is Variable
    assert c.array is x.array
    assert c.node is not x.node
    assert c.grad is x.grad
    assert (c.name, c.attribute, c.requires_grad) == ('x', 5, True)
    x.cleargrad()
    assert c.grad is not None


def test_copy_shares_assignments():
    x = Variable(A)
    c = copy.copy(x)
    new = A + 1
    c.array = new
    assert x.array is new
    F.sum(x * x).backward()
    assert_equal(x.grad, 2 * new)
    assert c.grad is None
    x = Variable(None)
    c = copy.copy(x)
    x.array = A
    assert c.array is A


def test_copy_of_an_output_is_a_leaf(make):
    y = Variable(make(A)) * 2
    c = copy.copy(y)
    assert c.creator is None
    assert c.rank == 0
    assert y.creator is not None


def test_deepcopy_and_pickle(make):
    x = Variable(make(A), name='x', grad=make(A + 1))
    x.attribute = [1]
    y = x * 2
    for c in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert c.array is not x.array
        assert type(c.array) is type(x.array)
        assert_equal(c.array, A)
        assert_equal(c.grad, A + 1)
        assert (c.name, c.attribute, c.requires_grad) == ('x', [1], True)
        assert c.attribute is not x.attribute
    for c in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        assert c.creator is None
        assert_equal(c.array, 2 * A)
    for c in (copy.deepcopy(Variable(None)), pickle.loads(pickle.dumps(Variable(None)))):
        assert c.array is None
    fixed = pickle.loads(pickle.dumps(Variable(make(A), requires_grad=False)))
    assert not fixed.requires_grad


def test_deepcopy_keeps_identities():
    x = Variable(A)
    a, b = copy.deepcopy([x, x])
    assert a is b


class Sub(Variable):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = 1


def test_subclasses(make):
    x = Sub(make(A))
    y = F.sum(x * x)
    assert type(y) is Variable
    y.backward()
    assert_equal(x.grad, 2 * A)
    assert y.creator.inputs[0].creator_node.inputs[0].get_variable() is x
    assert type(copy.copy(x)) is Sub
    assert pickle.loads(pickle.dumps(x)).extra == 1

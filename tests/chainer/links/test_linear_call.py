"""The fast path of calls of `Linear`, in C++."""

from __future__ import annotations

import chainer
import chainerx
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer.utils import type_check
from chainerx._core import engine
from devices import to_numpy

X = np.arange(12, dtype='f').reshape(4, 3) / 6 - 1


def test_call_of_linear():
    with pytest.raises(TypeError):
        engine.set_linear(L.Linear)
    assert L.Linear.__call__(L.Linear(3, 2), np.ones((1, 3), 'f')).shape == (1, 2)
    assert L.Linear.__call__.__name__ == '__call__'
    with pytest.raises(TypeError):
        L.Linear.__call__()
    with pytest.raises(TypeError, match='int is no class of links'):
        L.Linear.__call__(3, 4)


@pytest.mark.parametrize('kind', ['matrix', 'uninitialized', 'axes', 'list', 'too few'])
def test_linear_of_other_dimensions(kind):
    link = L.Linear(None if kind == 'uninitialized' else 3, 2)
    if kind == 'axes':
        assert link(X.reshape(4, 3, 1)).shape == (4, 2)
        assert link(X.reshape(2, 2, 3), n_batch_axes=2).shape == (2, 2, 2)
    elif kind == 'list':
        with pytest.raises((TypeError, AttributeError)):
            link(X.tolist())
    elif kind == 'too few':
        with pytest.raises(type_check.InvalidType):
            link(X[0])
    else:
        assert link(X).shape == (4, 2)
        assert link.W.shape == (2, 3)


def test_array_in_a_graph_of_chainerx():
    x = chainerx.array(X).require_grad()
    for backprop in (True, False):
        with chainer.using_config('enable_backprop', backprop):
            y = F.linear(x, chainerx.array(X), None)
            assert y.requires_grad
            assert not y.array.is_backprop_required()
            assert (y.creator is not None) == backprop
    y = F.linear(x, chainerx.array(X), None)
    y.grad = chainerx.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(to_numpy(x.grad), np.ones((4, 4)) @ X, 1e-6)


@pytest.mark.parametrize('convert', [chainerx.array, np.array], ids=['chainerx', 'numpy'])
@pytest.mark.parametrize('backprop', [True, False])
def test_array_that_comes_back(convert, backprop):
    """A function that returns the user's array as it is gets a variable of its own."""
    x = convert(X)
    with chainer.using_config('enable_backprop', backprop), chainer.using_config('train', False):
        y = F.dropout(x)
        assert y.array is x
    (y * 2).backward(retain_grad=True)
    z = y * y
    z.grad = convert(np.ones_like(X))
    z.backward()
    if isinstance(x, chainerx.ndarray):
        assert not x.is_backprop_required()
        assert not (x * 2).is_backprop_required()
    np.testing.assert_array_equal(to_numpy(x), X)

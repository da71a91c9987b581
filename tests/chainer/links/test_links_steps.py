"""Links compute their usual calls in C++, where nothing is recorded without variables on the way:
the same bits, the same graph and the same errors as in Python.
"""

from __future__ import annotations

import chainer
import chainerx
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainerx._core import engine
from devices import DEVICES, to_numpy
from links.usual_links import LINKS, WAYS, arguments, children_of, draw, leaves, make, state_of


def graph_of(variables):
    """Labels of the functions, and what is known of variables, from the outputs down."""
    lines, waiting, seen = [], [v.node for v in variables], set()
    while waiting:
        node = waiting.pop()
        creator = node.creator_node
        lines.append((node.shape, str(node.dtype), node.requires_grad, creator and creator.label))
        if creator is not None and id(creator) not in seen:
            seen.add(id(creator))
            waiting += creator.inputs
    return lines


@pytest.mark.parametrize('backprop', [True, False], ids=['graph', 'no_graph'])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', LINKS)
def test_as_in_python(name, device, dtype, backprop):
    found = {}
    for way, scope in WAYS.items():
        link = make(name, device, dtype)
        with scope(), chainer.using_config('enable_backprop', backprop):
            np.random.seed(1)
            outputs = [v for _ in range(3) for v in leaves(link(*arguments(link, dtype=dtype)))]
            outputs += state_of(link)
        assert all(type(v) is chainer.Variable for v in outputs)
        assert {v.device for v in outputs} == {link.device}
        result = [to_numpy(v) for v in outputs]
        graph = graph_of(outputs)
        if backprop:
            sum(F.sum(v) for v in outputs).backward()
            result += [to_numpy(p.grad) for p in link.params()]
        found[way] = result, graph, [v.requires_grad for v in outputs]
    for x, y in zip(*(result for result, _, _ in found.values()), strict=True):
        assert x.dtype == y.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(x, y)
    assert found['python'][1:] == found['short'][1:]


def explain(error):
    notes = getattr(error, '__notes__', [])
    return type(error), str(error), notes, getattr(error, 'link', None)


def narrow(link, args):
    args[-1] = draw(link, 2, 2)


def of_other_dtype(link, args):
    args[-1] = draw(link, 2, 3, dtype='d')


def of_integers(link, args):
    args[-1] = link.device.send(np.ones((2, 3), 'i'))


def more_rows(link, args):
    args[-1] = draw(link, 5, 3)


def vector(link, args):
    args[-1] = draw(link, 3)


def scalar(link, args):
    args[-1] = link.device.send(np.array(1, 'f'))


def nothing(link, args):
    args[-1] = None


def numbers(link, args):
    args[-1] = [[1.0, 2.0, 3.0]]


def of_other_kind(link, args):
    args[-1] = np.ones((2, 3), 'f') if link.xp is chainerx else chainerx.ones((2, 3), 'f')


def too_many(link, args):
    args.append(args[-1])


def too_few(link, args):
    args.pop()


def wide_weight(link, args):
    layer = children_of(link)[-1]
    setattr(layer, sorted(layer._params)[0], chainer.Parameter(draw(link, 4, 7)))


def uninitialized_weight(link, args):
    layer = children_of(link)[-1]
    setattr(layer, sorted(layer._params)[0], chainer.Parameter())


def without_parameter(link, args):
    layer = children_of(link)[-1]
    delattr(layer, sorted(layer._params)[-1])


WRONG = [
    narrow,
    of_other_dtype,
    of_integers,
    more_rows,
    vector,
    scalar,
    nothing,
    numbers,
    of_other_kind,
    too_many,
    too_few,
    wide_weight,
    uninitialized_weight,
    without_parameter,
]


@pytest.mark.parametrize('backprop', [True, False], ids=['graph', 'no_graph'])
@pytest.mark.parametrize('wrong', WRONG, ids=lambda f: f.__name__)
@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', LINKS)
def test_errors(name, device, wrong, backprop):
    """Or none, as there is for `narrow` where the layer takes its width from a state."""
    found = []
    for scope in WAYS.values():
        net = chainer.Chain()
        with net.init_scope():
            net.inner = make(name, device)
        link = net.inner
        with scope(), chainer.using_config('enable_backprop', backprop):
            np.random.seed(1)
            args = arguments(link)
            link(*args)
            before = [to_numpy(v) for v in state_of(link)]
            wrong(link, args)
            net.forward = link
            try:
                found.append([to_numpy(v).tolist() for v in leaves(net(*args))])
            except Exception as error:
                found.append(explain(error))
                for state, old in zip(state_of(link), before, strict=True):
                    np.testing.assert_array_equal(to_numpy(state), old)
    assert str(found[0]) == str(found[1])


def test_wrong_tables():
    lstm = F.rnn.lstm.LSTM.call
    for args in ((), ('lstm',), ('lstm', 1, lstm), (3, True, lstm), ('lstm', True, F.relu)):
        with pytest.raises(TypeError):
            engine.LinkStep(*args)
    with pytest.raises(ValueError, match="no cell 'lstn'"):
        engine.LinkStep('lstn', True, lstm)
    with pytest.raises(TypeError, match='there are 2 functions, expected 1'):
        engine.LinkStep('lstm', True, lstm, lstm)
    with pytest.raises(TypeError):
        engine.LinkTree(3)
    with pytest.raises(ValueError, match="no tree 'n'"):
        engine.LinkTree('n')
    with pytest.raises(TypeError, match="there are 0 functions, expected 1 for 'n_ary'"):
        engine.LinkTree('n_ary')
    tree = engine.LinkTree('n_ary', F.rnn.tree_lstm.TreeLSTM.call)
    assert tree() is tree(3, 4, 5) is tree(3, 4) is None
    step = engine.LinkStep('lstm', True, lstm)
    assert step() is None
    assert step(3) is None
    with pytest.raises(AttributeError):
        step(3, 4)
    with pytest.raises(TypeError):
        engine.set_linear(L.Linear)
    with pytest.raises(TypeError):
        engine.set_call(L.Linear, 3)
    with pytest.raises(TypeError):
        engine.LinkSequences(L.NStepLSTM, lstm, (), ())
    assert L.Linear.__call__(L.Linear(3, 2), np.ones((1, 3), 'f')).shape == (1, 2)
    assert L.Linear.__call__.__name__ == '__call__'
    with pytest.raises(TypeError):
        L.Linear.__call__()
    with pytest.raises(TypeError, match='int is no class of links'):
        L.Linear.__call__(3, 4)

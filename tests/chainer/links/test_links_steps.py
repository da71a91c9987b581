"""Recurrent links compute a step in one function unless it is observed, and call their layers and
functions otherwise: with the same bits, graph and errors, whatever has changed between two calls.
"""

from __future__ import annotations

import chainer
import chainerx
import numpy as np
import pytest
from chainer import functions as F
from chainer.functions.rnn.lstm import LSTM
from chainerx._core import engine
from devices import DEVICES, to_numpy
from links.recurrent_links import (
    LINKS,
    WAYS,
    arguments,
    children_of,
    draw,
    leaves,
    make,
    state_of,
)

X = np.arange(12, dtype='f').reshape(4, 3) / 6 - 1


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def graph_of(variables):
    """Labels of the functions, and properties of the variables, from the outputs down."""
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
    assert found['by layers'][1:] == found['at once'][1:]


def gradients(outputs, inputs):
    """Gradients of the outputs, and of these gradients."""
    inputs = [v for v in inputs if v is not None]
    first = chainer.grad([sum(F.sum(y * y) for y in outputs)], inputs, enable_double_backprop=True)
    second = chainer.grad([sum(F.sum(g * g) for g in first if g is not None)], inputs)
    return [g if g is None else to_numpy(g) for g in (*first, *second)]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', [name for name in LINKS if name != 'Linear'])
def test_gradients_of_steps(name, device, monkeypatch):
    """A step in one function has the gradients of its layers, though links do not record it."""
    link = make(name, device, 'd')
    np.random.seed(1)
    args = arguments(link, dtype='d')
    link(*args)
    for state in getattr(link, '_states', ()):
        setattr(link, state, chainer.Variable(getattr(link, state).array))
    calls = []
    monkeypatch.setattr(engine, 'is_tracing', lambda: False)
    monkeypatch.setattr(engine, 'apply_to_layers', lambda *args: calls.append(args))
    np.random.seed(2)
    y = link(*(x if x is None else chainer.Variable(x) for x in args))
    expected = state_of(link) or leaves(y)
    ((function, inputs, layers, *values),) = calls
    inputs += tuple(p for layer in layers for p in (layer.W, layer.b))
    np.random.seed(2)
    attributes = dict(zip(function.attributes, values, strict=True))
    found = leaves(function(*inputs, **attributes))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(to_numpy(x), to_numpy(y))
    every = zip(gradients(found, inputs), gradients(expected, inputs), strict=True)
    for x, y in every:
        assert (x is None) == (y is None)
        if x is not None:
            np.testing.assert_allclose(x, y, 1e-12, 1e-12)


ARRAY = chainerx.ones((2, 2), 'f')
# A step, its inputs, and its attributes.
REFUSED_STEPS = {
    'too few': ('lstm_step', [ARRAY] * 6, ()),
    'too many': ('mgu_step', [ARRAY] * 7, ()),
    'no state': ('gru_step', [ARRAY, None, *[ARRAY] * 12], ()),
    'no weight': ('peephole_step', [*[ARRAY] * 5, None, *[ARRAY] * 7], (2,)),
    'one cell more': ('child_sum_step', [ARRAY] * 8, (2,)),
    'no children': ('nary_step', [ARRAY] * 8, (2,)),
    'no number': ('nary_step', [ARRAY] * 7, ('x',)),
    'ratio': ('zoneout_step', [ARRAY] * 7, (0.5, 1.5)),
}


@pytest.mark.parametrize('case', REFUSED_STEPS)
def test_refused_steps(case):
    name, inputs, attributes = REFUSED_STEPS[case]
    with pytest.raises((TypeError, ValueError, chainerx.DimensionError)):
        engine.Native(name)(*inputs, *attributes)


def test_apply_to_layers_checks_its_arguments():
    call = LSTM.call
    for args in ((), (LSTM, (), ()), (call, [], ()), (call, (), []), (call, (), (), 1)):
        with pytest.raises(TypeError):
            engine.apply_to_layers(*args)


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
    """Errors are the same in both ways, or none where the width follows from a state."""
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

"""Methods of built-in functions that a program replaces: exporters wrap `apply` in this way."""

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer.functions.activation.relu import ReLU
from chainer.functions.array import get_item, reshape, split_axis, transpose
from chainer.functions.connection.convolution_2d import Convolution2DFunction
from chainer.functions.connection.linear import LinearFunction
from chainer.functions.math import average, basic_math
from chainer.functions.math.sum import Sum

random = np.random.RandomState(0)
CALLS = {
    'x + x': basic_math.Add,
    'x + 2': basic_math.AddConstant,
    '2 + x': basic_math.AddConstant,
    'x - 1.5': basic_math.AddConstant,
    'x - x': basic_math.Sub,
    '1 - x': basic_math.SubFromConstant,
    'x * x': basic_math.Mul,
    'x * 3': basic_math.MulConstant,
    'x / 2': basic_math.MulConstant,
    '1 / x': basic_math.DivFromConstant,
    'x / x': basic_math.Div,
    'x ** 2': basic_math.PowVarConst,
    '-x': basic_math.Neg,
    'abs(x)': basic_math.Absolute,
    'x[0]': get_item.GetItem,
    'x.reshape(8)': reshape.Reshape,
    'x.transpose()': transpose.Transpose,
    'x.sum()': Sum,
    'x.mean()': average.Mean,
    'F.relu(x)': ReLU,
    'F.sum(x, axis=1)': Sum,
    'F.concat(F.split_axis(x, 2, 1))': split_axis.SplitAxis,
    'F.split_axis(x, 1, 1)[0]': split_axis.SplitAxis,
    'linear(x)': LinearFunction,
    'convolution(x.reshape(1, 1, 2, 4))': Convolution2DFunction,
}


@pytest.fixture(params=['@numpy', 'native:0'])
def namespace(request):
    links = {'linear': L.Linear(4, 3), 'convolution': L.Convolution2D(1, 2, 2)}
    for link in links.values():
        link.to_device(request.param)
    x = random.uniform(0.5, 1, (2, 4)).astype('f')
    return {'F': F, 'x': chainer.Variable(chainer.get_device(request.param).send(x)), **links}


def run(expression, namespace):
    y = eval(expression, namespace)
    (gx,) = chainer.grad([y], [namespace['x']])
    to_numpy = chainer.get_device('@numpy').send
    return y, to_numpy(y.array), to_numpy(gx.array)


@pytest.mark.parametrize('expression', CALLS)
def test_apply(expression, namespace, monkeypatch):
    cls = CALLS[expression]
    _, *expected = run(expression, namespace)
    applied = []
    original = cls.apply

    def apply(self, inputs):
        outputs = original(self, inputs)
        self.note = (tuple(inputs), outputs)
        applied.append(self)
        return outputs

    with monkeypatch.context() as context:
        context.setattr(cls, 'apply', apply)
        y, *actual = run(expression, namespace)
        for a, e in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(a, e)
        (function,) = applied
        assert type(function) is cls
        inputs, outputs = function.note
        assert all(x.creator is function for x in outputs)
        assert inputs[0].node is function.inputs[0]
        if expression != 'F.concat(F.split_axis(x, 2, 1))':
            assert y.creator is function
    run(expression, namespace)
    assert len(applied) == 1


def test_forward_and_backward(namespace, monkeypatch):
    def forward(self, inputs):
        (x,) = inputs
        return (x * 2,)

    def backward(self, indexes, gradients):
        return (gradients[0] * 5,)

    monkeypatch.setattr(ReLU, 'forward', forward)
    monkeypatch.setattr(ReLU, 'backward', backward)
    _, y, gx = run('F.relu(x)', namespace)
    np.testing.assert_array_equal(y, 2 * run('x + 0', namespace)[1])
    np.testing.assert_array_equal(gx, np.full((2, 4), 5, 'f'))


def test_a_common_base(namespace, monkeypatch):
    """All classes below one that is patched see it, those of the user included."""
    seen = []
    base = basic_math.AddConstant.__mro__[1]
    original = base.apply

    def apply(self, inputs):
        seen.append(type(self).__name__)
        return original(self, inputs)

    monkeypatch.setattr(base, 'apply', apply, raising=False)
    run('x + 1', namespace)
    run('(2 * x) ** 2', namespace)
    assert seen == ['AddConstant', 'MulConstant', 'PowVarConst']
    monkeypatch.undo()
    run('x + 1', namespace)
    assert len(seen) == 3

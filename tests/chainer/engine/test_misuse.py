"""Calls every method, attribute and function of the engine with arguments of every kind."""

import itertools
import operator

import chainer.functions as F
import pytest
from chainer import FunctionNode, Parameter, Variable
from chainerx._core import engine
from engine.misuse import (
    DOCUMENTED,
    OF_PYTHON,
    X,
    check_afterwards,  # noqa: F401 - a fixture
    refuses,
)

MAKE = {
    'leaf': lambda: Variable(X.copy()),
    'output': lambda: F.relu(Variable(X.copy())),
    'none': lambda: Variable(None),
    'parameter': lambda: Parameter(0),
    'node': lambda: F.relu(Variable(X.copy())).node,
    'creator': lambda: F.relu(Variable(X.copy())).creator,
    'new': lambda: Variable.__new__(Variable),
    'function': FunctionNode,
}


@pytest.mark.parametrize('make', MAKE.values(), ids=MAKE)
def test_every_method_with_anything(make, capsys):
    refused = []
    for name in dir(make()):
        for args in [(), (None,), (5,), ('x',), (X,), (X, X), (None, None, None), (X, X, X, X)]:
            for target in (make(), type(make())):
                private = name.startswith('_') or isinstance(target, type)
                errors = OF_PYTHON if private else DOCUMENTED
                refused.append(refuses(operator.methodcaller(name, *args), target, errors=errors))
    assert len(refused) > 100
    assert 0 < sum(refused) < len(refused)


@pytest.mark.parametrize('make', MAKE.values(), ids=MAKE)
def test_every_attribute_set_to_anything(make):
    refused, used = [], []
    for name in dir(make()):
        for value in (None, 5, 'x', (), [], X, Variable(X), F.relu(Variable(X)).creator):
            o = make()
            refused.append(refuses(setattr, o, name, value))
            if not refused[-1] and isinstance(o, Variable):
                for use in (Variable.cleargrad, Variable.unchain, F.relu, Variable.backward):
                    used.append(not refuses(use, o))
    assert 0 < sum(refused) < len(refused)
    assert any(used) is isinstance(make(), Variable)


ENGINE = ['backward', 'connect', 'grad', 'pin', 'retained', 'run_native']


@pytest.mark.parametrize('name', ENGINE)
def test_engine_functions_with_anything(name):
    v = Variable(X)
    values = (None, 5, v, F.relu(v).creator, F.relu(v).node, X, (), (v,), (X,), (5,), [v])
    rejected = 0
    for n in range(8 if name == 'grad' else 5):
        choices = values if n < 4 else values[3:9:2] if n > 4 else values[3:9]
        for args in itertools.product(choices, repeat=min(n, 4)):
            full = args + (False,) * (n - len(args))
            rejected += refuses(getattr(engine, name), *full)
    assert rejected > 5


def test_private_methods_check_their_arguments():
    for call in (Variable(X)._adopt, Variable(X)._share, Variable(X)._replace):
        with pytest.raises(TypeError):
            call(5)
    with pytest.raises(TypeError):
        F.relu(Variable(X))._adopt(Variable(None))

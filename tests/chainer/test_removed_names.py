"""Names that programs for Chainer v7 import, though their implementation was removed."""

import unittest

import chainer
import chainer.functions as F
import chainer.functions.theano.theano_function
import chainer.links as L
import numpy as np
import pytest
from chainer import graph_optimizations
from chainer.testing import condition


@pytest.mark.parametrize(
    'decorate',
    [
        chainer.static_graph,
        chainer.static_graph(verbosity_level=2, minimize_cache_size=False),
        chainer.static_code,
        chainer.static_code(func_name='code'),
        graph_optimizations.static_graph.static_graph,
        graph_optimizations.static_code,
    ],
)
def test_static_graphs_run_as_they_stand(decorate):
    class Net(chainer.Chain):
        calls = 0

        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l = L.Linear(3, 2)

        @decorate
        def forward(self, x, *, scale=1):
            """What it does."""
            self.calls += 1
            return F.sum(self.l(x) * scale)

    net = Net()
    assert Net.forward.__doc__ == 'What it does.'
    for n in (1, 2):
        x = np.full((2, 3), n, 'f')
        net.cleargrads()
        y = net(x, scale=n)
        y.backward()
        assert net.calls == n
        np.testing.assert_allclose(net.l.W.grad, np.full((2, 3), 2.0 * n * n))


def test_arguments_of_static_graphs():
    for decorate, name in ((chainer.static_graph, 'static_graph'), (chainer.static_code, 'static')):
        with pytest.raises(TypeError, match=f"{name}.*unknown argument 'verbose'"):
            decorate(verbose=1)
        with pytest.raises(TypeError, match='expected a function to decorate'):
            decorate(3)


def test_static_forward_optimizations():
    from chainer.function_node import static_forward_optimizations

    class Twice(chainer.FunctionNode):
        def forward(self, inputs):
            return (2 * inputs[0],)

    (y,) = static_forward_optimizations(Twice(), (np.array([1, 2]),))
    np.testing.assert_array_equal(y, [2, 4])


@pytest.mark.parametrize(
    'cls', [L.TheanoFunction, chainer.functions.theano.theano_function.TheanoFunction]
)
def test_theano_can_be_imported_but_not_used(cls):
    with pytest.raises(RuntimeError, match=r'TheanoFunction: Theano is no longer developed .*Node'):
        cls([], [])


def test_quiet_test_runner(capfd):
    class Cases(unittest.TestCase):
        def test_good(self):
            print(end='')

        def test_bad(self):
            self.fail()

        def test_ugly(self):
            raise KeyError

    result = condition.QuietTestRunner().run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Cases)
    )
    assert (result.testsRun, len(result.failures), len(result.errors)) == (3, 1, 1)
    assert capfd.readouterr() == ('', '')

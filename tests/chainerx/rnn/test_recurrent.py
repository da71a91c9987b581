"""Recurrent networks of units and sequences that no block divides, and of many steps."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import make, to_numpy
from cases._table import seeded
from cases.rnn.recurrent import GATES, n_step

NAMES = {'lstm': 'lstm', 'gru': 'gru', 'tanh': 'rnn', 'relu': 'rnn'}
# Layers, sizes of the steps, features, units.
SHAPES = {
    'one sequence': (1, (1,) * 9, 16, 16),
    'ragged': (2, (31, 30, 17, 3, 0), 7, 67),
    'more states': (1, (19, 5), 40, 33),
    'deep': (1, (3, 2), 5, 350),
    'wide': (1, (75, 74), 3, 20),
    'one step': (2, (1,), 50, 70),
    'one step of some': (1, (7,), 33, 35),
}
CELLS = [(cell, n) for cell in GATES for n in (1, 2)]
each_cell = pytest.mark.parametrize(('cell', 'directions'), CELLS)
each_shape = pytest.mark.parametrize('name', SHAPES)


class Network:
    """Arrays of a call, which holds the parameters and steps in lists."""

    def __init__(self, cell, directions, name, dtype, device, layout='contiguous', more=2):
        n_layers, sizes, features, units = SHAPES[name]
        self.cell, self.directions, self.n_layers = cell, directions, n_layers
        rng = seeded('recurrent', cell, directions, name)
        self.leaves = []

        def draw(*shape, scale=1.0):
            x = make(rng.uniform(-scale, scale, shape).astype(dtype), layout, device)
            self.leaves.append(x)
            return x

        gates, n = GATES[cell], n_layers * directions
        self.states = [draw(n, sizes[0] + more, units) for _ in range(2 if cell == 'lstm' else 1)]
        wide = directions * units
        self.ws = [
            [
                draw(
                    units, units if j >= gates else features if i < directions else wide, scale=0.4
                )
                for j in range(2 * gates)
            ]
            for i in range(n)
        ]
        self.bs = [[draw(units) for _ in w] for w in self.ws]
        self.xs = [draw(size, features) for size in sizes]

    def arguments(self, convert=lambda x: x):
        *states, ws, bs, xs = (
            convert(x) if hasattr(x, 'dtype') else [convert_all(convert, y) for y in x]
            for x in (*self.states, self.ws, self.bs, self.xs)
        )
        return (self.n_layers, *states, ws, bs, xs)

    def call(self):
        function = getattr(chx, f'n_step_{"bi" if self.directions == 2 else ""}{NAMES[self.cell]}')
        more = (self.cell,) if NAMES[self.cell] == 'rnn' else ()
        *states, ys = function(*self.arguments(), *more)
        return [*states, *ys]

    def expected(self):
        n_layers, hx, *cx, ws, bs, xs = self.arguments(lambda x: to_numpy(x).astype('f8'))
        return n_step(self.cell, self.directions, n_layers, hx, cx[0] if cx else None, ws, bs, xs)

    def gradients(self, **kw):
        for x in self.leaves:
            x.cleargrad() if x.is_grad_required() else x.require_grad()
        ys = self.call()
        rng = seeded('gy')
        for y in ys:
            y.grad = chx.array(rng.uniform(-1, 1, y.shape).astype(y.dtype), device=y.device)
        chx.backward(ys, **kw)
        return [to_numpy(x.grad) for x in self.leaves]


def convert_all(convert, x):
    return convert(x) if hasattr(x, 'dtype') else [convert(y) for y in x]


def compare_all(found, expected, tol):
    for y, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_numpy(y) if isinstance(y, chx.ndarray) else y, e, tol, tol)


@each_shape
@each_cell
def test_values(cell, directions, name):
    for dtype, tol in (('float64', 1e-12), ('float32', 2e-5)):
        network = Network(cell, directions, name, dtype, 'native:0')
        compare_all(network.call(), network.expected(), tol)


@each_shape
@each_cell
def test_gradients_are_those_of_a_composition(cell, directions, name, async_toy):
    """Compared with a device without such kernels, and with a gradient that is differentiated."""
    found = Network(cell, directions, name, 'float64', 'native:0').gradients()
    composed = Network(cell, directions, name, 'float64', 'async_toy:0').gradients()
    compare_all(found, composed, 1e-10)
    network = Network(cell, directions, name, 'float64', 'native:0')
    compare_all(network.gradients(enable_double_backprop=True), composed, 1e-10)
    narrow = Network(cell, directions, name, 'float32', 'native:0').gradients()
    for y, e in zip(narrow, composed, strict=True):
        np.testing.assert_allclose(y, e, rtol=1e-3, atol=1e-4 * max(1, np.abs(e).max(initial=0)))


@each_cell
def test_threads_do_not_change_bits(cell, directions):
    results = []
    for n in (1, 3):
        chx.set_num_threads(n)
        network = Network(cell, directions, 'deep', 'float32', 'native:0', more=40)
        results.append([*map(to_numpy, network.call()), *network.gradients()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def test_layouts():
    expected = Network('gru', 2, 'ragged', 'float64', 'native:0')
    for layout in ('transposed', 'reversed', 'strided', 'offset'):
        network = Network('gru', 2, 'ragged', 'float64', 'native:0', layout)
        compare_all(network.call(), expected.expected(), 1e-12)
        compare_all(network.gradients(), expected.gradients(), 1e-12)


def test_inputs_are_left_alone():
    network = Network('lstm', 1, 'ragged', 'float32', 'native:0')
    before = [to_numpy(x).copy() for x in network.leaves]
    network.gradients()
    compare_all(network.leaves, before, 0)


def test_many_steps():
    """More than the outputs of a node: each output is still a view, and has its gradient."""
    SHAPES['many'] = (1, (2,) * 400 + (1,) * 300, 2, 3)
    try:
        network = Network('gru', 1, 'many', 'float64', 'native:0')
        compare_all(network.call(), network.expected(), 1e-12)
        found = network.gradients()
        compare_all(network.gradients(enable_double_backprop=True), found, 1e-9)
    finally:
        del SHAPES['many']


def test_no_steps():
    network = Network('lstm', 1, 'ragged', 'float32', 'native:0')
    network.xs = []
    hy, cy = network.call()
    compare_all([hy, cy], map(to_numpy, network.states), 0)


def test_dtypes_are_promoted():
    network = Network('tanh', 1, 'ragged', 'float16', 'native:0')
    assert {y.dtype.name for y in network.call()} == {'float16'}
    network.states = [x.astype('float64') for x in network.states]
    assert {y.dtype.name for y in network.call()} == {'float64'}


def test_some_gradients_only():
    """Gradients that were not requested are absent, and the others are unchanged."""
    network = Network('gru', 1, 'ragged', 'float64', 'native:0')
    expected = network.gradients()
    some = Network('gru', 1, 'ragged', 'float64', 'native:0')
    wanted = [0, len(some.leaves) - 1]
    for i in wanted:
        some.leaves[i].require_grad()
    rng = seeded('gy')
    ys = some.call()
    for y in ys:
        y.grad = chx.array(rng.uniform(-1, 1, y.shape))
    chx.backward(ys)
    compare_all(
        [to_numpy(some.leaves[i].grad) for i in wanted], [expected[i] for i in wanted], 1e-12
    )
    assert not some.leaves[1].is_grad_required()


def test_only_the_last_state():
    network = Network('lstm', 2, 'ragged', 'float64', 'native:0')
    for x in network.leaves:
        x.require_grad()
    hy, *_ = network.call()
    hy.sum().backward()
    expected = Network('lstm', 2, 'ragged', 'float64', 'native:0')
    for x in expected.leaves:
        x.require_grad()
    hy, *_ = expected.call()
    hy.sum().backward(enable_double_backprop=True)
    for x, y in zip(network.leaves, expected.leaves, strict=True):
        np.testing.assert_allclose(to_numpy(x.grad), to_numpy(y.grad), 1e-10, 1e-12)

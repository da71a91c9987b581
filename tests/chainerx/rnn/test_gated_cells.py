"""`lstm`, `slstm`, `tree_lstm`: sizes that no block and no vector divides, any layout and dtype."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import make, to_numpy
from cases._table import seeded
from cases.rnn.recurrent import lstm, slstm, tree_lstm

# The function, its NumPy reference, and the shapes of its arrays.
CALLS = {
    'lstm': (lstm, [(19, 37), (19, 148)]),
    'lstm of fewer rows': (lstm, [(19, 37), (11, 148)]),
    'lstm, large': (lstm, [(70, 130), (70, 520)]),
    'lstm of images': (lstm, [(3, 4, 5, 7), (2, 16, 5, 7)]),
    'slstm': (slstm, [(9, 21), (9, 21), (9, 84), (9, 84)]),
    'slstm of images': (slstm, [(2, 3, 33), (2, 3, 33), (2, 12, 33), (2, 12, 33)]),
    'tree_lstm': (tree_lstm, [(6, 19), (6, 19), (6, 95)]),
    'tree_lstm, large': (tree_lstm, [(3, 5000), (3, 20000)]),
    'tree_lstm of many': (tree_lstm, [(2, 17)] * 11 + [(2, 14 * 17)]),
    'tree_lstm of images': (tree_lstm, [(2, 3, 5), (2, 3, 5), (2, 15, 5)]),
}
TOLERANCES = {'float64': 1e-13, 'float32': 2e-6, 'float16': 4e-3}
each_call = pytest.mark.parametrize('name', CALLS)


def draw(name, dtype, device='native:0', layout='contiguous'):
    rng = seeded('gated cells', name)
    return [
        make(rng.uniform(-2, 2, shape).astype(dtype), layout, device) for shape in CALLS[name][1]
    ]


def function_of(name):
    return getattr(chx, CALLS[name][0].__name__)


def gradients(name, arrays, only=None, **kw):
    """Gradients of some outputs, all by default."""
    for x in arrays:
        x.require_grad()
    ys = function_of(name)(*arrays)
    rng = seeded('gy')
    gys = [rng.uniform(-1, 1, y.shape) for y in ys]
    some = range(2) if only is None else [only]
    for i in some:
        ys[i].grad = chx.array(gys[i].astype(str(ys[i].dtype)), device=ys[i].device)
    chx.backward([ys[i] for i in some], **kw)
    return [to_numpy(x.grad).astype('f8') for x in arrays]


@each_call
@pytest.mark.parametrize('dtype', TOLERANCES)
@pytest.mark.parametrize('layout', ['contiguous', 'transposed', 'reversed', 'offset', 'broadcast'])
def test_values(name, dtype, layout):
    arrays = draw(name, dtype, layout=layout)
    expected = CALLS[name][0](*(to_numpy(x).astype('f8') for x in arrays))
    tol = TOLERANCES[dtype]
    for y, e in zip(function_of(name)(*arrays), expected, strict=True):
        assert str(y.dtype) == dtype
        np.testing.assert_allclose(to_numpy(y), e, tol, 4 * tol)


@each_call
@pytest.mark.parametrize('only', [None, 0, 1])
def test_gradients_are_those_of_a_composition(name, only, async_toy):
    expected = gradients(name, draw(name, 'f8', 'async_toy:0'), only)
    for kw in ({}, {'enable_double_backprop': True}):
        found = gradients(name, draw(name, 'f8'), only, **kw)
        for y, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(y, e, 1e-12, 1e-12)
    for dtype in ('f4', 'f2'):
        tol = 8 * TOLERANCES[str(np.dtype(dtype))]
        for y, e in zip(gradients(name, draw(name, dtype), only), expected, strict=True):
            np.testing.assert_allclose(y, e, tol, 2 * tol)


@each_call
def test_the_same_bits_on_any_number_of_threads(name):
    arrays = draw(name, 'f4')
    found = []
    before = chx.get_num_threads()
    try:
        for n in (1, 2, 3):
            chx.set_num_threads(n)
            found.append([to_numpy(y) for y in function_of(name)(*arrays)])
    finally:
        chx.set_num_threads(before)
    for others in found[1:]:
        for y, e in zip(others, found[0], strict=True):
            np.testing.assert_array_equal(y, e)


def test_only_requested_outputs():
    """One gradient of many, and dtypes that differ."""
    c1, c2, x = draw('tree_lstm', 'f4')
    c2.require_grad()
    c, h = chx.tree_lstm(c1, c2, x.astype('float64'))
    assert (str(c.dtype), str(h.dtype)) == ('float64', 'float64')
    (g,) = chx.grad([h], [c2])
    assert (g.shape, str(g.dtype)) == (c2.shape, 'float32')


def test_a_write_between_forward_and_backward_is_noticed():
    c, x = draw('lstm', 'f4')
    c.require_grad()
    _, h = chx.lstm(c, x)
    x += 1
    with pytest.raises(chx.GradientError):
        chx.grad([h], [c])


def test_not_finite():
    c, x = np.zeros((1, 2), 'f'), np.zeros((1, 8), 'f')
    x[0, 2], x[0, 4:8] = np.nan, [np.inf, np.inf, -np.inf, -np.inf]
    c[0, 1] = 3
    y, h = (to_numpy(v) for v in chx.lstm(chx.array(c), chx.array(x)))
    assert np.isnan(y[0, 0])
    assert y[0, 1] == 1
    assert h[0, 1] == 0

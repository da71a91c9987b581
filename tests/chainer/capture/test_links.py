"""Every link in a captured step of training: the same bits as without, its state carried from call
to call."""

import zlib

import chainer
import chainer.functions as F
import chainerx as chx
import numpy as np
import pytest
from functions.cases._harness import as_numpy
from links.cases import ROWS
from links.cases._table import make

DEVICES = {'chainerx': 'native:0', 'numpy': '@numpy'}
_NUMBERS = 'array of NumPy, but not the one of the call before'  # that NumPy computes or draws
_READ = 'NumPy is given an array'
REFUSED = {
    # Their samplers are those of the rows, and draw with NumPy.
    ('BlackOut', 'chainerx'): _NUMBERS,
    ('BlackOut', 'numpy'): _NUMBERS,
    ('NegativeSampling', 'chainerx'): _NUMBERS,
    ('NegativeSampling', 'numpy'): _NUMBERS,
    ('BatchNormalization_bare', 'numpy'): _NUMBERS,
    ('ChildSumTreeLSTM', 'numpy'): _NUMBERS,
    ('DecorrelatedBatchNormalization', 'chainerx'): _READ,
    ('DecorrelatedBatchNormalization', 'numpy'): _READ,
    ('DecorrelatedBatchNormalization_test', 'chainerx'): _READ,
    ('DecorrelatedBatchNormalization_test', 'numpy'): _READ,
}
KEPT = {row.key for row in ROWS if hasattr(make(row), 'reset_state')}


def flat(ys):
    return [y for part in ys for y in flat(part)] if isinstance(ys, (tuple, list)) else [ys]


def build(row, device):
    link = make(row).to_device(device)
    link.cleargrads()
    if row.key in KEPT:
        link.reset_state()
    optimizer = chainer.optimizers.SGD(0.001).setup(link)

    def step(args, kwargs):
        ys = flat(row.run(link, *args, **kwargs))
        loss = sum(F.sum(y * y) for y in ys if y.dtype.kind == 'f')
        link.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()
        return ys

    return link, step


def state_of(link):
    """Arrays that a link and its children hold, numbers that they count, and gradients."""
    state = {}
    for path, child in link.namedlinks():
        for name, value in vars(child).items():
            array = value.array if isinstance(value, chainer.Variable) else value
            if isinstance(array, (np.ndarray, chx.ndarray, int, float)):
                state[path, name] = as_numpy(array)
            if isinstance(value, chainer.Parameter) and value.grad is not None:
                state[path, name, 'gradient'] = as_numpy(value.grad)
    return state


@pytest.mark.parametrize('array', DEVICES)
@pytest.mark.parametrize('row', ROWS, ids=repr)
def test_a_link(row, array):
    link, step = build(row, DEVICES[array])
    other, plain = build(row, DEVICES[array])
    captured = chx.capture(step)
    send = chainer.get_device(DEVICES[array]).send
    refused = REFUSED.get((row.key, array))

    def call(i):
        rng = np.random.RandomState(i + zlib.crc32(row.key.encode()) % 1000)
        given = row.inputs.map(lambda arg: send(arg.draw(rng, 'float32')))
        np.random.seed(i)
        found = captured(given.args, given.kw)
        np.random.seed(i)
        for y, expected in zip(found, plain(given.args, given.kw), strict=True):
            np.testing.assert_array_equal(as_numpy(y.array), as_numpy(expected.array))
        found, expected = state_of(link), state_of(other)
        assert found.keys() == expected.keys()
        for place, value in expected.items():
            np.testing.assert_array_equal(found[place], value, str(place))

    def call_all():
        for i in range(8):
            if i == 5 and row.key in KEPT:
                link.reset_state()
                other.reset_state()
            call(i)

    if refused:
        with pytest.raises(chx.CaptureError, match=refused):
            call_all()
        return
    call_all()
    # The call after the first one finds out what is kept, and the one after `reset_state` keeps
    # nothing.
    expected = 8 - 3 - 2 * (row.key in KEPT)
    assert sum(variant.replays for variant in captured.info()) == expected


def test_links_that_keep_a_state():
    assert {'LSTM', 'GRU', 'StatefulMGU', 'StatefulZoneoutLSTM', 'StatefulPeepholeLSTM'} <= KEPT
    assert {row.key for row in ROWS} >= {key for key, _ in REFUSED}

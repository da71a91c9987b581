"""Convolutions by cuDNN, in front of its stand-in on the driver for tests."""

import collections
import json
import pathlib
import types

import pytest

TABLE = pathlib.Path(__file__).parents[1] / 'chainerx'
PASSES = {10: 'Conv', 11: 'ConvWeightGrad', 12: 'ConvInputGrad'}
# As cudnnDataType_t.
TYPES = {'float32': 0, 'float64': 1, 'float16': 2, 'bfloat16': 9}


@pytest.fixture
def traced(run, tmp_path):
    """Runs a program; returns what it prints, and the plans and calls of the stand-in."""

    def traced(program, words='', **environment):
        trace = tmp_path / 'trace'
        words = ','.join([*words.split(), f'trace:{trace}'])
        environment |= {'CHAINERX_CUDA_TEST_CUDNN': words}
        text = run(program, environment=environment)
        lines = trace.read_text().splitlines() if trace.exists() else []
        return types.SimpleNamespace(text=text, calls=[json.loads(line) for line in lines])

    return traced


def of(calls, event):
    return [call for call in calls if call['event'] == event]


EVERY_GEOMETRY = """
import sys
sys.path.insert(0, {table!r})
import chainerx as chx, numpy as np
from cases._harness import to_numpy
from cases.conv.connection import conv
from chainerx import testing
from conv.test_conv_algorithms import CALLS, PASSES, compute, draw, expect

TOLERANCES = {{'float32': 1e-5, 'float64': 1e-13, 'float16': 2e-3, 'bfloat16': 2e-2}}
for dtype, atol in TOLERANCES.items():
    for call, (x_shape, w_shape, arguments) in CALLS.items():
        y_shape = conv(np.zeros(x_shape), np.zeros(w_shape), **arguments).shape
        drawn = draw(call, dtype, x_shape, w_shape, w_shape[0], y_shape)
        operands = [chx.array(a, dtype, device='cuda:0') for a in drawn]
        # Others than the library reads.
        operands[0] = operands[0].swapaxes(-1, -2).copy().swapaxes(-1, -2)
        exact = [a.astype('f8') for a in drawn]
        for name in PASSES:
            with testing.force_algorithm('cuda_conv', 'cudnn'), chx.profile() as profile:
                result = compute(name, *operands, arguments)
                if name == 'ConvWeightGrad':
                    result = result()
            assert f'{{name}}[cudnn]' in [r.name for r in profile.rows], (name, call)
            expected = expect(name, *exact, arguments)
            scale = max(1, np.abs(expected).max())
            difference = np.abs(to_numpy(result).astype('f8') - expected).max() / scale
            assert difference < atol, (name, call, dtype, difference)
print(len(CALLS))
"""


def test_every_geometry_and_dtype(traced):
    done = traced(EVERY_GEOMETRY.format(table=str(TABLE)))
    counts = collections.Counter((c['pass'], c['type']) for c in of(done.calls, 'execute'))
    assert counts.keys() == {(p, t) for p in PASSES for t in TYPES.values()}
    assert min(counts.values()) >= int(done.text)
    for call in done.calls:
        # No engine with tensor cores for float32, nor one that adds in any order.
        assert call['engine'] == {0: 5, 1: 6, 2: 3, 9: 3}[call['type']]
        assert call['alignment'] == 16
        assert len(call['x']) in (4, 5)


# Layers with padding of one side, and with other input than the windows read.
@pytest.mark.parametrize(
    ('x', 'w', 'arguments', 'pad', 'after'),
    [
        ((1, 3, 224, 224), (2, 3, 7, 7), 'stride=2, pad=3', [3, 3], [3, 3]),
        ((1, 2, 8, 9), (2, 2, 3, 3), 'stride=2', [0, 0], [0, 0]),
        ((1, 2, 8, 9), (2, 2, 2, 2), 'stride=3, cover_all=True', [0, 0], [0, 2]),
        ((1, 2, 8, 9), (2, 2, 2, 2), 'pad=((2, 0), (0, 1))', [2, 0], [0, 1]),
        ((1, 2, 9), (2, 2, 2), 'pad=1', [0, 1], [0, 1]),
    ],
)
def test_padding(traced, x, w, arguments, pad, after):
    done = traced(
        'import chainerx as chx\n'
        f"x, w = (chx.ones(s, 'float32', device='cuda:0') for s in ({x}, {w}))\n"
        f'chx.conv(x, w, {arguments})',
        CHAINERX_CUDA_CONV='cudnn',
    )
    (call,) = of(done.calls, 'execute')
    assert (call['pad'], call['after']) == (pad, after)


def test_an_image_with_more_room_than_results(traced):
    done = traced(
        'import chainerx as chx\n'
        'from chainerx import testing\n'
        "gy = chx.ones((1, 2, 4), 'float32', device='cuda:0')\n"
        "w = chx.ones((2, 2, 2), 'float32', device='cuda:0')\n"
        'y = chx.conv_transpose(gy, w, stride=1, outsize=(5,))\n'
        'try:\n'
        "    with testing.force_algorithm('cuda_conv', 'cudnn'):\n"
        "        chx.conv(chx.ones((1, 2, 9), 'int32', device='cuda:0'), w.astype('int32'))\n"
        'except chx.ChainerxError as error:\n'
        '    print(error)',
        CHAINERX_CUDA_CONV='cudnn',
    )
    assert "cuDNN can't compute this convolution of int32: it has no such" in done.text
    assert [PASSES[c['pass']] for c in of(done.calls, 'execute')] == ['ConvInputGrad']


# Two steps on one stream and one on another; nothing is computed.
STEPS = """
import chainer, chainer.functions as F, chainer.links as L, chainerx as chx, numpy as np
device = chainer.get_device('cuda:0')
LAYERS = {{
    'LeNet': [L.Convolution2D(1, 20, 5), L.Convolution2D(20, 50, 5)],
    # The first one of ResNet-50, and those of its second stage.
    'ResNet-50': [
        L.Convolution2D(3, 64, 7, 2, 3, nobias=True),
        L.Convolution2D(64, 128, 1, 1, 0, nobias=True),
        L.Convolution2D(128, 128, 3, 2, 1, nobias=True),
        L.Convolution2D(128, 512, 1, 1, 0, nobias=True),
    ],
}}['{network}']
def step(x):
    h = chainer.Variable(device.send(x), requires_grad=False)
    for layer in LAYERS:
        layer.cleargrads()
        h = F.relu(layer(h))
    F.sum(h).backward()
for layer in LAYERS:
    for param in layer.params():
        param.array = param.array.astype('{dtype}')
    layer.to_device(device)
stream = chx.cuda.Stream('cuda:0')
x = np.zeros({shape}, '{dtype}')
with stream:
    step(x)
    step(x)
step(x)
"""


@pytest.mark.parametrize(
    ('network', 'shape', 'dtype', 'sizes', 'work'),
    [
        ('LeNet', (8, 1, 28, 28), 'float32', [24, 20], 1 << 12),
        ('ResNet-50', (2, 3, 224, 224), 'float16', [112, 112, 56, 56], 1 << 16),
    ],
)
def test_calls_of_a_network(traced, network, shape, dtype, sizes, work):
    program = STEPS.format(network=network, shape=shape, dtype=dtype)
    done = traced(program, CHAINERX_CUDA_TEST_EMPTY='1')
    plans, calls = of(done.calls, 'plan'), of(done.calls, 'execute')
    # Forward and both gradients of each layer, but for that of the images.
    layers = len(sizes)
    each = 3 * layers - 1
    assert collections.Counter(PASSES[plan['pass']] for plan in plans) == {
        'Conv': layers,
        'ConvWeightGrad': layers,
        'ConvInputGrad': layers - 1,
    }
    # They are made in the first step, and used again in the others.
    assert [call['plan'] for call in calls] == [plan['plan'] for plan in plans] * 3
    streams = [{call['stream'] for call in calls[i : i + each]} for i in range(0, 3 * each, each)]
    assert streams[0] == streams[1] != streams[2]
    assert all(len(stream) == 1 for stream in streams)
    for call in calls:
        assert (call['type'], call['alignment'], call['work']) == (TYPES[dtype], 16, work)
        assert call['bias'] == (network == 'LeNet' and PASSES[call['pass']] == 'Conv')
        n, channels, height, width = call['x']
        assert n == shape[0]
        assert call['x_strides'] == [channels * height * width, height * width, width, 1]
        assert call['pad'] == call['after']
        assert call['dilate'] == [1, 1]
    assert [call['x'][1:] for call in calls[:1]] == [list(shape[1:])]
    assert [call['y'][2] for call in calls[:layers]] == sizes

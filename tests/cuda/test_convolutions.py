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


# A convolution of 2^20 multiplications, or one of fewer.
LARGE = """
import chainer, chainerx as chx, numpy as np
from chainerx import testing
def conv(dtype='float32', n=2**5, **arguments):
    x = chx.ones((1, 64, n, 8), dtype, device='cuda:0')
    w = chx.ones((64, 64, 1, 1), dtype, device='cuda:0')
    with chx.profile() as profile:
        y = chx.conv(x, w, **arguments)
    names = [r.name for r in profile.rows if r.name.startswith('Conv')]
    assert (chx.to_numpy(y).astype('float64') == 64).all()
    print(*names)
"""


@pytest.mark.parametrize(
    ('program', 'names'),
    [
        ('conv(); conv(n=31)', 'cudnn implicit_gemm'),
        ("conv('int32')", 'implicit_gemm'),
        (
            "with chainer.using_config('use_cudnn', 'never'): conv()\n"
            "with chainer.using_config('use_cudnn', 'always'): conv(); conv(n=31)\n"
            "chainer.global_config.use_cudnn = 'never'; conv()\n"
            "with chainer.using_config('use_cudnn', 'auto'): conv()\n"
            "with chainer.using_config('use_cudnn', 'auto', chainer.global_config): conv()\n"
            'conv()',
            'implicit_gemm cudnn implicit_gemm implicit_gemm cudnn cudnn implicit_gemm',
        ),
        (
            'import threading\n'
            "chainer.config.use_cudnn = 'never'\n"
            't = threading.Thread(target=conv); t.start(); t.join()\n'
            'conv(); del chainer.config.use_cudnn; conv()',
            'cudnn implicit_gemm cudnn',
        ),
        (
            "with chainer.using_config('use_cudnn', 'now'):\n"
            '    try: conv()\n'
            "    except ValueError as error: assert 'chainer.config.use_cudnn' in str(error)\n"
            "with chainer.using_config('use_cudnn_tensor_core', 1):\n"
            '    try: conv()\n'
            "    except ValueError as error: assert 'use_cudnn_tensor_core' in str(error)\n"
            'conv()',
            'cudnn',
        ),
        (
            'conv()\n'
            "with testing.force_algorithm('cuda_conv', 'tiles'): conv()\n"
            "with testing.force_algorithm('cuda_conv', 'cudnn'): conv(n=1)",
            'cudnn implicit_gemm cudnn',
        ),
    ],
)
def test_which_are_given_to_the_library(run, program, names):
    text = run(LARGE + program)
    assert [name.split('[')[1].rstrip(']') for name in text.split()] == names.split()


def test_config_of_the_environment(run):
    for value, name in (('never', 'implicit_gemm'), ('auto', 'cudnn')):
        text = run(LARGE + 'conv()', environment={'CHAINER_USE_CUDNN': value})
        assert text.split() == [f'Conv[{name}]']


# Of the stand-in: 3 has tensor cores and takes 64 KiB, 5 has none and takes 4 KiB, 6 is the last
# resort and takes nothing.
@pytest.mark.parametrize(
    ('program', 'engines'),
    [
        ("conv('float16'); conv('bfloat16'); conv(); conv('float64')", [3, 3, 5, 6]),
        ('chx.cuda.allow_tf32(True); conv(); chx.cuda.allow_tf32(False); conv()', [3, 5]),
        (
            "with chainer.using_config('use_cudnn_tensor_core', 'never'): conv('float16')\n"
            "with chainer.using_config('use_cudnn_tensor_core', 'always'): conv(); conv('float16')",
            [5, 3, 3],
        ),
        (
            'chainer.cuda.set_max_workspace_size(2**16)\n'
            'assert chainer.cuda.get_max_workspace_size() == 2**16\n'
            "conv('float16')\n"
            'assert chx.cuda.max_workspace_size(2**12) == 2**16\n'
            "conv('float16')\n"
            'chx.cuda.max_workspace_size(0)\n'
            "conv('float16')",
            [3, 5, 6],
        ),
    ],
)
def test_engines(traced, program, engines):
    done = traced(LARGE + program)
    assert [call['engine'] for call in of(done.calls, 'execute')] == engines


def test_tf32_rounds(run):
    run(
        'import chainerx as chx, numpy as np\n'
        'x = np.random.default_rng(0).normal(size=(1, 64, 32, 8)).astype("float32")\n'
        'w = np.random.default_rng(1).normal(size=(64, 64, 1, 1)).astype("float32")\n'
        'exact = np.einsum("ncij,oc->noij", x.astype("float64"), w[..., 0, 0])\n'
        'def error():\n'
        "    y = chx.conv(*(chx.array(a, device='cuda:0') for a in (x, w)))\n"
        '    return abs(chx.to_numpy(y) - exact).max()\n'
        'assert error() < 1e-4\n'
        'chx.cuda.allow_tf32(True)\n'
        'assert 1e-3 < error() < 1e-1\n'
    )


def test_autotune_keeps_the_fastest(traced):
    program = (
        LARGE
        + """
with chainer.using_config('cudnn_deterministic', True), chainer.using_config('autotune', True):
    conv('float16')
with chainer.using_config('autotune', True):
    conv('float16')
    conv('float16')
"""
    )
    done = traced(program, 'slow')
    engines = [call['engine'] for call in of(done.calls, 'execute')]
    # Once; three times each; the faster one, twice.
    assert engines == [3, *[3] * 3, *[5] * 3, 5, 5]


def test_plans_that_were_used_last_stay(traced):
    program = """
import chainerx as chx
w = chx.ones((1, 1, 1, 1), 'float32', device='cuda:0')
for n in [*range(1, 1027), 1026, 1]:
    chx.conv(chx.ones((1, 1, 1, n), 'float32', device='cuda:0'), w)
"""
    environment = {'CHAINERX_CUDA_TEST_EMPTY': '1', 'CHAINERX_CUDA_CONV': 'cudnn'}
    plans = of(traced(program, **environment).calls, 'plan')
    assert [plan['x'][-1] for plan in plans] == [*range(1, 1027), 1]


@pytest.mark.parametrize('word', ['create', 'graph', 'plan', 'execute'])
def test_failures_of_the_library(run, word):
    """Our own kernels compute; it is said once, and is an error where the library is forced."""
    environment = {'CHAINERX_CUDA_TEST_CUDNN': word}
    program = LARGE + (
        "conv(); conv('float16'); conv()\n"
        'try:\n'
        "    with testing.force_algorithm('cuda_conv', 'cudnn'): conv()\n"
        'except chx.ChainerxError as error:\n'
        '    print(error)\n'
    )
    text = run(program, environment=environment)
    assert text.splitlines()[:3] == ['Conv[implicit_gemm]'] * 3
    assert "cuDNN can't compute this convolution of float32: " in text.splitlines()[3]
    said = run(program, check=False, environment=environment)
    notices = said.count("chainerx: a convolution can't use cuDNN: cuda: cudnn")
    assert notices == (0 if word == 'plan' else 1)


def test_a_geometry_without_engine(run):
    text = run(
        'import chainerx as chx\n'
        'from chainerx import testing\n'
        "x = chx.ones((1, 1, 3, 50), 'float32', device='cuda:0')\n"
        "w = chx.ones((1, 1, 1, 7), 'float32', device='cuda:0')\n"
        'try:\n'
        "    with testing.force_algorithm('cuda_conv', 'cudnn'):\n"
        '        chx.conv(x, w, dilate=7)\n'
        'except chx.ChainerxError as error:\n'
        '    print(error)\n'
        'assert (chx.to_numpy(chx.conv(x, w, dilate=7)) == 7).all()\n',
        environment={'CHAINERX_CUDA_CONV': 'cudnn'},
    )
    assert 'it has no engine for it' in text


@pytest.mark.parametrize(
    ('environment', 'words'),
    [
        ({'CHAINERX_CUDA_TEST_CUDNN_GRAPH': '90100'}, ('9.28.1', 'libcudnn_graph.so.9', '9.1.0')),
        ({'CHAINERX_CUDA_TEST_CUDNN': 'parts'}, ('9.28.1', 'cudnnCnnVersionCheck')),
    ],
)
def test_parts_that_do_not_match(run, environment, words):
    program = LARGE + "conv(); conv('float16'); print(chx.cuda.describe()['cudnn']['error'])"
    text = run(program, environment=environment).splitlines()
    assert text[:2] == ['Conv[implicit_gemm]'] * 2
    said = run(program, check=False, environment=environment)
    assert said.count("chainerx: convolutions don't use cuDNN: cuda: ") == 1
    for word in words:
        assert word in text[2]
        assert word in said


def test_a_library_for_a_later_driver(run):
    text = run(
        "import chainerx as chx; print(chx.cuda.describe()['cudnn']['error'])",
        environment={'CHAINERX_CUDA_TEST_VERSION': '12080'},
    )
    for word in ('CUDA 13', 'CUDA 12', '`pip install nvidia-cudnn-cu12`'):
        assert word in text


def test_a_part_of_another_folder(run, driver, tmp_path):
    """Another package has loaded a part of the same name."""
    other = tmp_path / 'libcudnn_graph.so.9'
    other.write_bytes((driver / 'libcudnn_graph.so.9').read_bytes())
    text = run(
        f"import ctypes; ctypes.CDLL('{other}')\n"
        "import chainerx as chx; print(chx.cuda.describe()['cudnn']['error'])"
    )
    assert 'parts of cuDNN come from two folders' in text
    assert str(tmp_path) in text
    assert str(driver / 'libcudnn.so.9') in text


def test_without_library(run, driver, tmp_path):
    for name in ('libcuda.so.1', 'libnvrtc.so.13', 'plain', 'checked'):
        (tmp_path / name).symlink_to(driver / name)
    environment = {'CHAINERX_CUDA_TEST_DRIVER': tmp_path}
    program = LARGE + "conv(); print(chx.cuda.describe()['cudnn']['error'])"
    first, error = run(program, environment=environment).split('\n', 1)
    assert first == 'Conv[implicit_gemm]'
    assert '`pip install nvidia-cudnn-cu13`' in error
    assert f'{tmp_path}/libcudnn.so.9: no such file' in error
    assert 'cuDNN' not in run(LARGE + 'conv()', check=False, environment=environment)
    (tmp_path / 'libcudnn.so.9').symlink_to(driver / 'libcudnn.so.9')
    error = run(program, environment=environment)
    assert 'needs cuBLASLt of CUDA 13' in error
    assert '`pip install nvidia-cublas`' in error


IN_A_HANDLER = """
import faulthandler, signal, chainer, chainerx as chx
faulthandler.dump_traceback_later(60, exit=True)
x = chx.ones((4, 16, 64, 64), 'float32', device='cuda:0')
w = chx.ones((16, 16, 3, 3), 'float32', device='cuda:0')
calls = []

def handle(*args):
    calls.append(chx.conv(x, w, None, 1, 1))

signal.signal(signal.SIGALRM, handle)
chainer.config.autotune = True
chainer.config.use_cudnn_tensor_core = 'always'  # which the stand-in lets wait
signal.setitimer(signal.ITIMER_REAL, 0.01)
chx.conv(x[:, :, :32], w, None, 1, 1)
assert calls
print('done')
"""


def test_a_signal_handler_convolves_while_engines_are_measured(traced):
    assert traced(IN_A_HANDLER, 'slow').text == 'done\n'

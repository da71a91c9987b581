"""What cuBLASLt is asked for: traces of its stand-in, which checks each call by the documents."""

import collections
import json

import pytest

CUDA_R_32F = 0
COMPUTE_32F, COMPUTE_TF32 = 68, 77
EPILOGUES = {1: '', 4: '+ bias', 6: '+ bias, relu', 512: '; sums of rows'}
REDUCTIONS_IN_FLOAT32, ALL_REDUCTIONS = 2, 7

PRELUDE = """
import os, numpy as np, chainer, chainer.functions as F, chainer.links as L, chainerx

def mark(name):
    chainerx.cuda.synchronize()
    with open(os.environ['CHAINERX_CUDA_TEST_TRACE'], 'a') as file:
        print('{"call": "%s"}' % name, file=file)

chainerx.get_device('cuda:0')  # loads the plug-in
"""

STEPS = """
device = chainer.get_device('cuda:0')
device.use()
model.to_device(device)
optimizer = chainer.optimizers.SGD().setup(model)
xs = [device.send(np.ones(shape, 'float32')) for shape in shapes]
for _ in range(2):
    mark('step')
    y = F.concat([F.flatten(y) for y in model(*xs)], 0)
    model.cleargrads()
    F.sum(y).backward()
    optimizer.update()
print(chainerx.cuda.current_stream('cuda:0').ptr)
"""

# The products of one step, as the library sees them: by columns, rows x columns x depth.
MODELS = {
    'mlp': (
        'model = chainer.Sequential(L.Linear(784, 1000), F.relu, L.Linear(1000, 1000), F.relu,\n'
        '                           L.Linear(1000, 10))\n'
        'shapes = [(100, 784)]',
        [
            'TN 1000 x 100 x 784 + bias',
            'TN 1000 x 100 x 1000 + bias',
            'NN 1000 x 100 x 1000',
            'NT 1000 x 1000 x 100; sums of rows',
            'NT 784 x 1000 x 100; sums of rows',
        ],
    ),
    'lenet': (
        'model = chainer.Sequential(\n'
        '    L.Convolution2D(1, 20, 5), F.relu, lambda x: F.max_pooling_2d(x, 2),\n'
        '    L.Convolution2D(20, 50, 5), F.relu, lambda x: F.max_pooling_2d(x, 2),\n'
        '    L.Linear(800, 500), F.relu, L.Linear(500, 10))\n'
        'shapes = [(64, 1, 28, 28)]',
        [
            'TN 500 x 64 x 800 + bias',
            'NN 800 x 64 x 500',
            'NT 800 x 500 x 64; sums of rows',
        ],
    ),
    'transformer': (
        'model = L.TransformerEncoderLayer(512, 8, 2048)\nshapes = [(32, 128, 512)]',
        [
            'TN 1536 x 4096 x 512 + bias',  # queries, keys and values
            'TN 512 x 4096 x 512 + bias',
            'TN 2048 x 4096 x 512 + bias, relu',
            'TN 512 x 4096 x 2048 + bias',
            'NN 2048 x 4096 x 512',
            'NT 2048 x 512 x 4096; sums of rows',
            'NN 512 x 4096 x 2048',
            'NT 512 x 2048 x 4096; sums of rows',
            'NN 512 x 4096 x 512',
            'NT 512 x 512 x 4096; sums of rows',
            'NT 512 x 1536 x 4096; sums of rows',
        ],
    ),
    'lstm': (
        'lstm = L.NStepLSTM(1, 512, 512, 0)\n'
        'class Model(chainer.Chain):\n'
        '    def __init__(self):\n'
        '        super().__init__(lstm=lstm)\n'
        '    def forward(self, *xs):\n'
        '        return self.lstm(None, None, xs)[2]\n'
        'model = Model()\n'
        'shapes = 32 * [(50, 512)]',
        [
            'TN 2048 x 1600 x 512 + bias',  # of the inputs of all steps
            'NT 512 x 2048 x 1600',
            'NT 512 x 2048 x 1600',
        ],
    ),
}


def describe(call):
    """The product of a call in a line."""
    rows, columns = call['d'][:2]
    depth = call['a'][0 if call['operations'][0] else 1]
    operations = ''.join('NT'[i] for i in call['operations'])
    batch = f'{call["d"][3]} * ' if call['d'][3] > 1 else ''
    epilogue = EPILOGUES[call['epilogue']]
    space = '' if epilogue[:1] in ('', ';') else ' '
    return f'{operations} {batch}{rows} x {columns} x {depth}{space}{epilogue}'


def problem(call):
    keys = ('compute', 'scale', 'type', 'epilogue', 'operations', 'a', 'b', 'd')
    return json.dumps([call[key] for key in keys])


@pytest.fixture
def trace(run, tmp_path):
    """Runs a program; returns what it prints, and the calls after each of its marks."""

    def trace(program, **variables):
        path = tmp_path / 'trace'
        path.unlink(missing_ok=True)
        text = run(PRELUDE + program, TRACE=path, **variables)
        parts = [[]]
        for line in path.read_text().splitlines():
            call = json.loads(line)
            if call['call'] in ('heuristic', 'matmul'):
                parts[-1].append(call)
            else:
                parts.append([])
        assert not parts[0]
        return text, parts[1:]

    return trace


def named(calls, name):
    return [call for call in calls if call['call'] == name]


@pytest.mark.parametrize('arch', [80, 90])
@pytest.mark.parametrize('name', MODELS)
def test_steps_of_models(trace, name, arch):
    model, expected = MODELS[name]
    text, (first, second) = trace(f'{model}\n{STEPS}', EMPTY=1, ARCH=arch)
    stream = int(text)
    products = named(first, 'matmul')
    assert collections.Counter(map(describe, products)) == collections.Counter(expected)
    # Plans are made before their first use, and in the first step only.
    assert [*map(describe, named(second, 'matmul'))] == [*map(describe, products)]
    assert not named(second, 'heuristic')
    asked = [problem(call) for call in named(first, 'heuristic')]
    assert len(set(asked)) == len(asked)
    assert set(asked) == {problem(call) for call in products}
    for call in named(first, 'heuristic'):
        assert (call['type'], call['scale'], call['compute']) == (
            CUDA_R_32F,
            CUDA_R_32F,
            COMPUTE_32F,
        )
        assert call['work'] == (32 << 20 if arch >= 90 else 8 << 20)
        assert call['alignments'][:3] == [256] * 3
        assert all(call[x][2] == call[x][0] and call[x][3] == 1 for x in 'abd')  # contiguous
    # Products of a stream share their work space.
    calls = products + named(second, 'matmul')
    assert {call['stream'] for call in calls} == {stream}
    assert len({call['work'] for call in calls if call['work']}) == 1
    assert all(call['work'] % 256 == 0 for call in calls)


# Operands of x1 @ x2, made of x (4, 3, 40, 48) and w (4, 3, 48, 24), and the calls.
LAYOUTS = {
    'x[0, 0], w[0, 0]': ['NN 24 x 40 x 48'],
    'x[0, 0], w[0, 0, ::-1]': [],
    'x[0, 0].T, x[0, 0]': ['NT 48 x 48 x 40'],
    'w[0, 0].T, x[0, 0].T': ['TT 40 x 24 x 48'],
    'x[0, 0, :, 1:41], w[0, 0, 4:44]': ['NN 24 x 40 x 40'],
    'x[0, 0, ::2], w[0, 0]': ['NN 24 x 20 x 48'],
    'x[0, 0, :, ::2], w[0, 0, :24]': [],
    'x, w': ['NN 12 * 24 x 40 x 48'],
    'x[::-1], w': [],
    'x[:, ::2], w[:, ::2]': 2 * ['NN 4 * 24 x 40 x 48'],
    'x, w[0, 0]': ['NN 24 x 480 x 48'],  # one product of all rows
    'x[0, :, :20], w[0, 0]': ['NN 3 * 24 x 20 x 48'],
    'x, w[0]': 3 * ['NN 4 * 24 x 40 x 48'],
    'x[0, 0], w': ['NN 12 * 24 x 40 x 48'],
    'x[:, 0], w[0, 0]': ['NN 4 * 24 x 40 x 48'],
    'x.swapaxes(0, 1), w.swapaxes(0, 1)': 3 * ['NN 4 * 24 x 40 x 48'],
    'x[0, 0, :1], w[0, 0]': ['NN 24 x 1 x 48'],
    'x[0, :, :1], w[0, 0]': ['NN 24 x 3 x 48'],
    'x[0, 0, :, :1], w[0, 0, :1]': ['NN 24 x 40 x 1'],
    'x[0, 0, 3], w': ['NN 12 * 24 x 1 x 48'],
}

CHECK_LAYOUTS = """
random = np.random.default_rng(0)
for dtype in ('float16', 'float32', 'complex64'):
    arrays = [random.normal(size=s).astype(dtype) for s in ((4, 3, 40, 48), (4, 3, 48, 24))]
    expect = {'x': arrays[0].astype('complex128'), 'w': arrays[1].astype('complex128')}
    have = dict(zip('xw', (chainerx.array(x, device='cuda:0') for x in arrays)))
    for expression in EXPRESSIONS:
        mark('product')
        y = chainerx.matmul(*eval(expression, have))
        tolerance = 2e-3 if dtype == 'float16' else 1e-5
        np.testing.assert_allclose(
            chainerx.to_numpy(y).astype('complex128'),
            np.matmul(*eval(expression, expect)),
            rtol=tolerance,
            atol=20 * tolerance,
        )
"""
PREFERRED = {'CHAINERX_CUDA_PRODUCT': 'cublaslt'}


def test_layouts_are_read_without_copies(trace):
    program = f'EXPRESSIONS = {list(LAYOUTS)!r}\n{CHECK_LAYOUTS}'
    _, products = trace(program, environment=PREFERRED)
    assert len(products) == 3 * len(LAYOUTS)
    for (expression, expected), calls in zip(3 * list(LAYOUTS.items()), products, strict=True):
        assert [*map(describe, named(calls, 'matmul'))] == expected, expression


def test_alignment_is_that_of_all_addresses(trace):
    program = """
x = chainerx.ones((6, 64, 64), 'float16', device='cuda:0')
w = chainerx.ones((3, 2, 64, 65), 'float16', device='cuda:0')
for begin in (0, 1, 2, 8, 32):
    mark('product')
    x[0, :, begin:] @ w[0, 0, begin:, :64]
mark('product')
x.reshape(3, 2, 64, 64)[:, 1:] @ w[:, 1:, :, :64]
mark('product')
chainerx.matmul(x.reshape(2, 3, 64, 64).swapaxes(0, 1), w[:, :, :, :64])
"""
    _, products = trace(program, environment=PREFERRED)
    told = [call['alignments'] for calls in products for call in named(calls, 'heuristic')]
    assert [alignments[1] for alignments in told[:5]] == [256, 2, 4, 16, 64]
    # 64 x 65 numbers have 8,320 bytes.
    assert told[5][:3] == [128, 256, 256]
    assert told[6][:3] == [128, 256, 256]
    assert [len(named(calls, 'matmul')) for calls in products[5:]] == [1, 2]


CHECK_ENDS = """
from chainer.functions.connection.linear import _rectified_linear
chainer.config.type_check = False  # which knows no bfloat16
random = np.random.default_rng(1)
for dtype in ('float16', 'bfloat16', 'float32', 'float64', 'complex64'):
    arrays = [random.normal(size=s) for s in ((40, 48), (24, 48), (24,), (40, 24))]
    if dtype == 'complex64':
        arrays = [x + 1j * random.normal(size=x.shape) for x in arrays]
    wide = 'complex128' if dtype == 'complex64' else 'float64'
    x, w, b, g = (chainerx.array(a, device='cuda:0').astype(dtype) for a in arrays)
    X, W, B, G = (chainerx.to_numpy(a.astype(wide)) for a in (x, w, b, g))
    tolerance = {'float16': 5e-3, 'bfloat16': 3e-2, 'float64': 1e-13}.get(dtype, 1e-5)

    def check(y, expected):
        y = chainerx.to_numpy(y.astype(wide))
        np.testing.assert_allclose(y, expected, rtol=tolerance, atol=20 * tolerance)

    mark('rectified')
    if dtype != 'complex64':
        check(_rectified_linear(x, w, b).array, np.maximum(X @ W.T + B, 0))
    mark('a bias with gaps')
    gaps = chainerx.array(np.repeat(B, 2), device='cuda:0').astype(dtype)[::2]
    check(chainerx.linear(x, w, gaps), X @ W.T + B)
    w.require_grad()
    b.require_grad()
    mark('linear')
    y = chainerx.linear(x, w, b)
    check(y, X @ W.T + B)
    mark('gradients')
    y.set_grad(g)
    y.backward()
    check(w.grad, G.T @ X)
    check(b.grad, G.sum(0))
"""

# Epilogues that are run for: the rectifier, a bias with gaps, a bias, the gradients.
ENDS = {
    'float16': ([6], [], [4], [512]),
    'bfloat16': ([6], [], [4], [512]),
    'float32': ([6], [1], [4], [512]),
    'float64': ([6], [1], [4], [1]),
    'complex64': ([], [1], [1], [1]),
}


def test_what_follows_a_product_is_an_epilogue_where_there_is_one(trace):
    _, parts = trace(CHECK_ENDS, environment=PREFERRED)
    for i, (dtype, expected) in enumerate(ENDS.items()):
        calls = [named(part, 'matmul') for part in parts[4 * i : 4 * i + 4]]
        assert [[call['epilogue'] for call in part] for part in calls] == [*expected], dtype


def test_precision_is_as_the_switches_say(trace):
    program = """
x = np.random.default_rng(0).normal(size=(16, 2048)).astype('float16')
exact = x.astype('float64') @ x.T.astype('float64')

def error(dtype):
    mark(dtype)
    a = chainerx.array(x, device='cuda:0').astype(dtype)
    return abs(chainerx.to_numpy(chainerx.matmul(a, a.T)) - exact).max()

cuda = chainerx.cuda
errors = [error('float32'), error('float16')]
assert (cuda.allow_tf32(), cuda.allow_reduced_precision()) == (False, True)
assert (cuda.allow_tf32(True), cuda.allow_reduced_precision(False)) == (False, True)
assert (cuda.allow_tf32(), cuda.allow_reduced_precision()) == (True, False)
errors += [error('float32'), error('float16')]
cuda.allow_tf32(False), cuda.allow_reduced_precision(True)
error('float32'), error('float16')
print(*errors)
"""
    text, parts = trace(program, environment=PREFERRED)
    calls = [named(part, 'heuristic') for part in parts]
    assert [part[0]['compute'] for part in (calls[0], calls[2])] == [COMPUTE_32F, COMPUTE_TF32]
    reductions = [part[0]['reductions'] for part in (calls[1], calls[3])]
    assert reductions == [ALL_REDUCTIONS, REDUCTIONS_IN_FLOAT32]
    assert calls[4:] == [[], []]  # the plans are those of the first products
    errors = [float(word) for word in text.split()]
    assert errors[3] <= errors[1]


def test_each_stream_has_work_space_of_its_own(trace):
    program = """
a = chainerx.ones((64, 64), device='cuda:0')
streams = [chainerx.cuda.Stream('cuda:0') for _ in range(2)]
for stream in streams:
    stream.wait_stream(chainerx.cuda.current_stream('cuda:0'))
mark('start')
results = []
for _ in range(3):
    for stream in streams:
        with stream:
            results.append(a @ a)
for stream in streams:
    stream.synchronize()
assert all((chainerx.to_numpy(y) == 64).all() for y in results)
print(*(stream.ptr for stream in streams))
"""
    text, [calls] = trace(program, environment=PREFERRED)
    handles = [int(word) for word in text.split()]
    products = named(calls, 'matmul')
    assert [call['stream'] for call in products] == 3 * handles
    spaces = [{call['work'] for call in products if call['stream'] == x} for x in handles]
    assert [len(space) for space in spaces] == [1, 1]
    assert spaces[0] != spaces[1]


def test_plans_are_limited_in_number(trace):
    program = """
a = chainerx.ones((80, 80), device='cuda:0')
mark('many')
for m in range(1, 66):
    for n in range(1, 65):
        a[:m, :8] @ a[:8, :n]
mark('again')
a[:65, :8] @ a[:8, :64]
a[:1, :8] @ a[:8, :1]
a[:1, :8] @ a[:8, :1]
"""
    _, [many, again] = trace(program, EMPTY=1, environment=PREFERRED)
    assert len(named(many, 'heuristic')) == 65 * 64
    assert len(named(again, 'matmul')) == 3
    assert len(named(again, 'heuristic')) == 1  # was dropped with all others of its time

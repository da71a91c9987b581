"""Every algorithm of convolutions, forced, against sums in float64; and which one is chosen."""

import contextlib
import itertools
import os
import subprocess
import sys
import threading

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import np_dtype, seeded
from cases.conv.connection import conv, conv_transpose, weight_gradient
from chainerx import testing

ALGORITHMS = chx._core.kernels.algorithms()['conv']
#: A pass is missing from an algorithm: it raises.
MISSING = {
    ('col2im', 'Conv'),
    ('col2im', 'ConvWeightGrad'),
    ('pixels_as_m', 'ConvWeightGrad'),
}
PASSES = ('Conv', 'ConvInputGrad', 'ConvWeightGrad')

# Shapes of x and w, other arguments.
CALLS = {
    '1d': ((3, 4, 19), (6, 4, 3), {'pad': 1}),
    '1d by 3, dilated': ((2, 6, 40), (4, 3, 5), {'stride': 3, 'dilate': 2, 'groups': 2}),
    '2d': ((2, 18, 9, 11), (17, 18, 3, 3), {'pad': 1}),
    'one image, one channel': ((1, 1, 7, 6), (1, 1, 2, 3), {}),
    'no padding': ((9, 16, 8, 8), (20, 16, 3, 3), {}),
    'much padding': ((9, 17, 4, 4), (33, 17, 3, 3), {'pad': ((1, 2), (2, 0)), 'stride': (1, 2)}),
    'groups': ((3, 12, 10, 9), (18, 4, 3, 2), {'groups': 3, 'stride': 2, 'pad': (0, 1)}),
    'depthwise': ((2, 7, 12, 13), (7, 1, 3, 3), {'groups': 7, 'pad': 1}),
    'dilated': ((2, 8, 15, 16), (9, 8, 3, 3), {'dilate': (3, 2), 'pad': 2}),
    'rests that no tap reaches': ((2, 5, 13, 12), (6, 5, 2, 1), {'stride': (4, 3), 'pad': 1}),
    '1x1': ((3, 33, 7, 7), (34, 33, 1, 1), {}),
    '1x1 by 2': ((3, 9, 7, 8), (34, 9, 1, 1), {'stride': 2}),
    'whole image': ((5, 40, 4, 4), (36, 40, 4, 4), {}),
    '3d': ((2, 4, 5, 6, 7), (6, 2, 3, 2, 3), {'groups': 2, 'stride': (1, 2, 1), 'pad': (1, 0, 1)}),
}
DTYPES = ['float32', 'float64', 'float16', 'bfloat16', 'int8', 'int32', 'int64']


def compute(name, x, w, b, gy, arguments):
    """The result of a kernel."""
    if name == 'Conv':
        return chx.conv(x, w, b, **arguments)
    if name == 'ConvInputGrad':
        return chx.conv_transpose(gy, w, None, outsize=x.shape[2:], **arguments)
    w = w.as_grad_stopped(copy=True).require_grad()
    y = chx.conv(x, w, **arguments)
    return lambda: chx.grad([y], [w], grad_outputs=[gy])[0]


def expect(name, x, w, b, gy, arguments):
    if name == 'Conv':
        return conv(x, w, b, **arguments)
    if name == 'ConvInputGrad':
        return conv_transpose(gy, w, outsize=x.shape[2:], **arguments)
    return weight_gradient(x, gy, w, **arguments)


def draw(name, dtype, *shapes):
    rng = seeded(name, dtype)
    if dtype.startswith('int'):
        return [rng.integers(-3, 4, shape) for shape in shapes]
    return [rng.uniform(-1, 1, shape).astype(np_dtype(dtype)) for shape in shapes]


def run_forced(algorithm, name, *operands):
    """The result by an algorithm, and how a profile calls it."""
    result = compute(name, *operands) if name == 'ConvWeightGrad' else None
    with testing.force_algorithm('conv', algorithm), chx.profile() as profile:
        result = compute(name, *operands) if result is None else result()
    return result, [r.name for r in profile.rows if r.name.startswith('Conv')]


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('call', CALLS)
@pytest.mark.parametrize('algorithm', ALGORITHMS)
def test_all_compute_the_same(algorithm, call, dtype):
    x_shape, w_shape, arguments = CALLS[call]
    y_shape = conv(np.zeros(x_shape), np.zeros(w_shape), **arguments).shape
    drawn = draw(call, dtype, x_shape, w_shape, w_shape[0], y_shape)
    operands = [chx.array(a, dtype) for a in drawn]
    exact = [a.astype('i8' if dtype.startswith('int') else 'f8') for a in drawn]
    for name in PASSES:
        # col2im adds in place, so that it has no dtype that is computed in another.
        if (algorithm, name) in MISSING or (algorithm == 'col2im' and np_dtype(dtype).itemsize < 4):
            continue
        if name == 'ConvWeightGrad' and dtype.startswith('int'):
            continue  # integers have no gradients
        actual, names = run_forced(algorithm, name, *operands, arguments)
        # Implicit GEMM takes pixels as M by itself where they are few.
        names_expected = [algorithm, *(['pixels_as_m'] if algorithm == 'implicit_gemm' else [])]
        assert names in [[f'{name}[{a}]'] for a in names_expected]
        expected = expect(name, *exact, arguments)
        actual = to_numpy(actual)
        if dtype.startswith('int'):
            np.testing.assert_array_equal(actual, expected.astype(dtype))
            continue
        scale = max(1, np.abs(expected).max())
        atol = {'float32': 1e-5, 'float64': 1e-13, 'float16': 2e-3, 'bfloat16': 2e-2}[dtype]
        difference = np.abs(actual.astype('f8') - expected).max() / scale
        assert difference < atol, name


@pytest.mark.parametrize(('algorithm', 'name'), sorted(MISSING))
def test_missing_passes(algorithm, name):
    x, w, b, gy = (chx.ones(s, 'float32') for s in ((2, 4, 5, 5), (6, 4, 3, 3), 6, (2, 6, 3, 3)))
    what = {'Conv': 'forward pass', 'ConvWeightGrad': 'weight gradient'}[name]
    message = f"'{algorithm}', which is forced, can't compute the {what}"
    with pytest.raises(ValueError, match=message):
        run_forced(algorithm, name, x, w, b, gy, {})


def test_errors_of_col2im():
    gy, w = chx.ones((2, 6, 3, 3), 'float16'), chx.ones((6, 4, 3, 3), 'float16')
    with (
        testing.force_algorithm('conv', 'col2im'),
        pytest.raises(ValueError, match=r"can't compute the input gradient of .* dtype float16"),
    ):
        chx.conv_transpose(gy, w)


# Layers of networks, as shapes of x and w and other arguments; and what the passes take.
GEMM, GEMMS = ('implicit_gemm',), ('implicit_gemm',) * 3
LAYERS = {
    'LeNet-5 1': ((1, 1, 28, 28), (6, 1, 5, 5), {}, *['direct'] * 3),
    'LeNet-5 2': ((1, 6, 12, 12), (16, 6, 5, 5), {}, *GEMM, 'col2im', *GEMM),
    'LeNet 2': ((16, 20, 12, 12), (50, 20, 5, 5), {}, *GEMM, 'col2im', *GEMM),
    'ResNet-18 64': ((1, 64, 56, 56), (64, 64, 3, 3), {'pad': 1}, *GEMMS),
    'ResNet-18 512': ((1, 512, 7, 7), (512, 512, 3, 3), {'pad': 1}, *['pixels_as_m'] * 2, *GEMM),
    'ResNet-18 512, batch': ((16, 512, 7, 7), (512, 512, 3, 3), {'pad': 1}, *['chwn'] * 3),
    'MobileNet 512': ((1, 512, 14, 14), (512, 1, 3, 3), {'pad': 1, 'groups': 512}, *['direct'] * 3),
    'MobileNet 1x1': ((16, 512, 7, 7), (1024, 512, 1, 1), {}, *GEMMS),
    'DCGAN 64': ((16, 64, 32, 32), (128, 64, 4, 4), {'stride': 2, 'pad': 1}, *['chwn'] * 3),
}


def chosen(x_shape, w_shape, arguments):
    x, w = chx.ones(x_shape, 'float32'), chx.ones(w_shape, 'float32')
    x.require_grad()
    w.require_grad()
    with chx.profile() as profile:
        y = chx.conv(x, w, **arguments)
        chx.grad([y], [x, w], grad_outputs=[chx.ones(y.shape, 'float32')])
    names = (r.name for r in profile.rows if r.name.startswith('Conv'))
    return dict(name.rstrip(']').split('[') for name in names)


@pytest.mark.parametrize('layer', LAYERS)
def test_choice(layer):
    x_shape, w_shape, arguments, *expected = LAYERS[layer]
    by_pass = chosen(x_shape, w_shape, arguments)
    assert [by_pass[name] for name in PASSES] == expected


def test_each_is_chosen_by_some_layer():
    chosen_by_some = itertools.chain(*(expected for _, _, _, *expected in LAYERS.values()))
    assert set(chosen_by_some) == set(ALGORITHMS)


def test_blocks_end_one_by_one():
    x, w = chx.ones((1, 4, 5, 5), 'float32'), chx.ones((4, 4, 3, 3), 'float32')

    def name():
        with chx.profile() as profile:
            chx.conv(x, w)
        return next(row.name for row in profile.rows if row.name.startswith('Conv'))

    by_itself = name()
    with testing.force_algorithm('conv', 'direct'):
        with testing.force_algorithm('conv', 'chwn'):
            assert name() == 'Conv[chwn]'
        with contextlib.suppress(KeyError), testing.force_algorithm('conv', 'chwn'):
            raise KeyError
        assert name() == 'Conv[direct]'
        names = []
        thread = threading.Thread(target=lambda: names.append(name()))
        thread.start()
        thread.join()
        assert names == [by_itself]
    assert name() == by_itself == 'Conv[implicit_gemm]'


def test_blocks_end_in_any_order():
    def forced():
        return chx._core.kernels.force_algorithm('conv', None)

    first, second = (testing.force_algorithm('conv', name) for name in ('direct', 'chwn'))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    before = forced()
    second.__exit__(None, None, None)
    assert (before, forced()) == ('chwn', None)


def test_a_block_that_ends_in_another_thread():
    block = testing.force_algorithm('conv', 'direct')

    def enter():
        block.__enter__()
        chx._core.kernels.force_algorithm('conv', None)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="for 'conv' ended in another thread"):
        block.__exit__(None, None, None)


def test_environment_of_what_is_missing():
    """col2im has no forward pass: the call takes what it takes otherwise."""
    done = subprocess.run(
        [
            sys.executable,
            '-c',
            'import chainerx as chx\n'
            'x = chx.ones((1, 32, 5, 5), "float32")\n'
            'with chx.profile() as p:\n'
            '    chx.conv(x, x[:, :, :3, :3])\n'
            'print(*(r.name for r in p.rows))',
        ],
        env=os.environ | {'CHAINERX_CONV': 'col2im'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'Conv[implicit_gemm]' in done.stdout + done.stderr

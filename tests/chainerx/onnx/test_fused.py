"""Operators that onnxruntime adds to ONNX: as it computes them."""

import typing as tp

import chainerx
import numpy as np
import onnxruntime
import pytest
from chainerx.onnx import load
from onnx import helper
from onnx_models import info, make, node

RNG = np.random.default_rng(0)


def f(*shape):
    return RNG.uniform(-1, 1, shape).astype('f')


def ints(low, high, *shape, dtype='i4'):
    return RNG.integers(low, high, shape).astype(dtype)


def u8(*shape):
    return ints(0, 256, *shape, dtype='u1')


def one(value):
    return np.float32(value)


POINT = (one(0.02), np.uint8(120))  # scale and zero point
QUANTIZED = (u8(2, 4, 6), one(0.05), np.uint8(100))
MASKS = {
    'lengths': np.array([3, 5], 'i4'),
    'ends': np.array([3, 5, 1, 0], 'i4'),
    'keys': np.array([[1, 1, 0, 1, 1], [1, 0, 0, 0, 0]], 'i4'),
    'pairs': np.tril(np.ones((2, 5, 5), 'i4')),
}
HEADS = {'num_heads': 2}
ATTENTION = (f(2, 5, 8), f(8, 24), f(24))
QKV = (f(2, 5, 8), f(2, 7, 8), f(2, 7, 8))
NORM = (f(2, 5, 8), f(2, 5, 8), f(8))
LSTM_WEIGHTS = (
    f(6, 1, 4),
    ints(-100, 100, 2, 4, 20, dtype='i1'),
    ints(-100, 100, 2, 5, 20, dtype='i1'),
    f(2, 40),
)
BITS = (f(3, 40), ints(0, 256, 6, 3, 8, dtype='u1'), f(18))


class Case(tp.NamedTuple):
    op: str
    inputs: tuple
    attributes: tp.Mapping = {}
    outputs: tuple[int, ...] = (0,)  # those that are asked for
    domain: str = 'com.microsoft'
    opset: int = 17


CASES = {
    'gelu': Case('Gelu', (f(3, 4),)),
    'fast_gelu': Case('FastGelu', (3 * f(3, 4),)),
    'fast_gelu_bias': Case('FastGelu', (3 * f(3, 4), f(4))),
    'bias_gelu': Case('BiasGelu', (3 * f(3, 4), f(4))),
    'quick_gelu': Case('QuickGelu', (3 * f(3, 4),), {'alpha': 1.5}),
    'matmul': Case(
        'FusedMatMul', (f(2, 4, 3), f(2, 5, 4)), {'transA': 1, 'transB': 1, 'alpha': 0.5}
    ),
    'matmul_batches': Case(
        'FusedMatMul',
        (f(4, 2, 3), f(3, 2, 5)),
        {'transBatchA': 1, 'transBatchB': 1},
    ),
    'matmul_both': Case(
        'FusedMatMul',
        (f(3, 2, 4), f(5, 2, 3)),
        {'transBatchA': 1, 'transA': 1, 'transBatchB': 1, 'transB': 1},
    ),
    'gemm_elu': Case(
        'FusedGemm', (f(4, 3), f(3, 5), f(5)), {'activation': 'Elu', 'activation_alpha': 0.5}
    ),
    # ONNX has it from version 17 on.
    'norm_13': Case(
        'LayerNormalization', (f(2, 5, 8), f(8), f(8)), {'axis': -1}, domain='', opset=13
    ),
    'zeros': Case('DynamicQuantizeLinear', (0 * f(3, 4),), {}, (0, 1, 2), domain=''),
    'gemm': Case(
        'FusedGemm',
        (f(4, 3), f(3, 5), f(5)),
        {'activation': 'LeakyRelu', 'activation_alpha': 0.3, 'alpha': 2.0},
    ),
    'conv_relu': Case(
        'FusedConv',
        (f(1, 2, 6, 6), f(3, 2, 3, 3), f(3)),
        {'activation': 'Relu', 'pads': [1, 1, 1, 1]},
    ),
    'conv_clip': Case(
        'FusedConv',
        (f(1, 2, 6, 6), f(3, 2, 3, 3), f(3)),
        {'activation': 'Clip', 'activation_params': [-0.2, 0.3]},
    ),
    'conv_sum': Case(
        'FusedConv', (f(1, 2, 6, 6), f(4, 2, 3, 3), f(4), f(1, 4, 4, 4)), {'activation': 'Relu'}
    ),
    'conv_leaky': Case(
        'FusedConv',
        (f(1, 2, 6, 6), f(4, 1, 3, 3)),
        {'activation': 'LeakyRelu', 'activation_params': [0.2], 'group': 2},
    ),
    'conv_sigmoid': Case('FusedConv', (f(1, 2, 6, 6), f(3, 2, 3, 3)), {'activation': 'Sigmoid'}),
    'conv_tanh': Case('FusedConv', (f(1, 2, 6, 6), f(3, 2, 3, 3)), {'activation': 'Tanh'}),
    'conv_hard': Case(
        'FusedConv',
        (f(1, 2, 6, 6), f(3, 2, 3, 3)),
        {'activation': 'HardSigmoid', 'activation_params': [0.3, 0.4]},
    ),
    'skip_norm': Case('SkipLayerNormalization', (*NORM, f(8), f(8)), {'epsilon': 1e-3}, (0, 3)),
    'skip_norm_plain': Case('SkipLayerNormalization', NORM),
    'skip_rms': Case('SkipSimplifiedLayerNormalization', (*NORM, f(8)), {'epsilon': 1e-3}, (0, 3)),
    'rms': Case(
        'SimplifiedLayerNormalization', (f(2, 5, 8), f(8)), {'axis': -1, 'epsilon': 1e-3}, (0,), ''
    ),
    'embed': Case(
        'EmbedLayerNormalization',
        (ints(0, 9, 2, 5), ints(0, 2, 2, 5), f(9, 8), f(6, 8), f(2, 8), f(8), f(8), MASKS['keys']),
        {'epsilon': 1e-5},
        (0, 1, 2),
    ),
    'embed_plain': Case(
        'EmbedLayerNormalization',
        (ints(0, 9, 2, 5), None, f(9, 8), f(6, 8), None, f(8), f(8), None, ints(0, 6, 2, 5)),
        {},
        (0, 1),
    ),
    **{f'attention_{k}': Case('Attention', (*ATTENTION, m), HEADS) for k, m in MASKS.items()},
    'attention_past': Case(
        'Attention',
        (*ATTENTION, None, f(2, 2, 2, 3, 4)),
        {**HEADS, 'unidirectional': 1, 'scale': 0.3},
        (0, 1),
    ),
    'attention_bias': Case('Attention', (*ATTENTION, MASKS['keys'], None, f(2, 2, 5, 5)), HEADS),
    'attention_sizes': Case(
        'Attention', (f(2, 5, 8), f(8, 28), f(28)), {**HEADS, 'qkv_hidden_sizes': [8, 8, 12]}
    ),
    'heads': Case('MultiHeadAttention', QKV, HEADS),
    'heads_bias': Case(
        'MultiHeadAttention', (*QKV, f(24), ints(0, 2, 2, 7) | ints(1, 2, 2, 7)), HEADS
    ),
    'heads_lengths': Case(
        'MultiHeadAttention', (*QKV, None, np.array([2, 6], 'i4'), f(2, 2, 5, 7)), HEADS
    ),
    'heads_past': Case(
        'MultiHeadAttention',
        (f(2, 5, 8), f(2, 5, 8), f(2, 5, 8), None, None, None, f(2, 2, 3, 4), f(2, 2, 3, 4)),
        {**HEADS, 'unidirectional': 1},
        (0, 1, 2),
    ),
    'heads_4d': Case('MultiHeadAttention', (f(2, 5, 8), f(2, 2, 7, 4), f(2, 2, 7, 4)), HEADS),
    'q_add': Case('QLinearAdd', (*QUANTIZED, u8(4, 6), one(0.1), np.uint8(3), *POINT)),
    'q_mul': Case(
        'QLinearMul', (*QUANTIZED, u8(4, 6), one(0.1), np.uint8(3), one(1.5), np.uint8(99))
    ),
    'q_sigmoid': Case('QLinearSigmoid', (*QUANTIZED, one(1 / 256), np.uint8(0))),
    'q_leaky': Case('QLinearLeakyRelu', (*QUANTIZED, *POINT), {'alpha': 0.2}),
    'q_softmax': Case(
        'QLinearSoftmax', (*QUANTIZED, one(1 / 256), np.uint8(0)), {'axis': -1, 'opset': 13}
    ),
    'q_softmax_11': Case(
        'QLinearSoftmax', (*QUANTIZED, one(1 / 256), np.uint8(0)), {'axis': 1, 'opset': 11}
    ),
    'q_concat': Case(
        'QLinearConcat', (*POINT, *QUANTIZED, u8(2, 1, 6), one(0.1), np.uint8(3)), {'axis': 1}
    ),
    'q_global': Case(
        'QLinearGlobalAveragePool', (u8(2, 3, 4, 5), one(0.05), np.uint8(100), *POINT)
    ),
    'q_global_last': Case(
        'QLinearGlobalAveragePool',
        (u8(2, 4, 5, 3), one(0.05), np.uint8(100), *POINT),
        {'channels_last': 1},
    ),
    'q_pool': Case(
        'QLinearAveragePool',
        (u8(2, 3, 6, 6), one(0.05), np.uint8(100), *POINT),
        {'kernel_shape': [3, 3], 'strides': [2, 2], 'pads': [1, 1, 1, 1]},
    ),
    'q_gemm': Case(
        'QGemm',
        (
            u8(4, 6),
            one(0.05),
            np.uint8(100),
            ints(-90, 90, 5, 6, dtype='i1'),
            one(0.02),
            np.int8(0),
            ints(-500, 500, 5),
            one(0.1),
            np.uint8(130),
        ),
        {'transB': 1},
    ),
    'q_gemm_float': Case(
        'QGemm',
        (
            u8(4, 6),
            one(0.05),
            np.uint8(100),
            ints(-90, 90, 6, 5, dtype='i1'),
            one(0.02),
            np.int8(0),
            ints(-500, 500, 5),
        ),
        {'alpha': 0.5},
    ),
    'd_matmul': Case(
        'DynamicQuantizeMatMul',
        (
            f(2, 4, 6),
            ints(-90, 90, 6, 5, dtype='i1'),
            np.abs(f(5)),
            ints(-3, 3, 5, dtype='i1'),
            f(5),
        ),
    ),
    'd_matmul_plain': Case('DynamicQuantizeMatMul', (f(4, 6), u8(6, 5), one(0.1), np.uint8(100))),
    'matmul_to_float': Case(
        'MatMulIntegerToFloat',
        (
            u8(4, 6),
            ints(-90, 90, 6, 5, dtype='i1'),
            one(0.1),
            np.abs(f(5)),
            np.uint8(7),
            None,
            f(5),
        ),
    ),
    'd_lstm': Case(
        'DynamicQuantizeLSTM',
        (
            *LSTM_WEIGHTS,
            None,
            f(2, 1, 5),
            f(2, 1, 5),
            None,
            np.array([0.01, 0.02], 'f'),
            np.zeros(2, 'i1'),
            np.array([0.01, 0.02], 'f'),
            np.zeros(2, 'i1'),
        ),
        {'hidden_size': 5, 'direction': 'bidirectional'},
        (0, 1, 2),
    ),
    'd_lstm_columns': Case(
        'DynamicQuantizeLSTM',
        (
            *LSTM_WEIGHTS,
            None,
            None,
            None,
            None,
            np.abs(f(2, 20)) / 50,
            np.zeros((2, 20), 'i1'),
            np.abs(f(2, 20)) / 50,
            np.zeros((2, 20), 'i1'),
        ),
        {'hidden_size': 5, 'direction': 'bidirectional'},
        (0, 1, 2),
    ),
    'bits': Case('MatMulNBits', BITS, {'K': 40, 'N': 6, 'bits': 4, 'block_size': 16}),
    'bits_zeros': Case(
        'MatMulNBits', (*BITS, u8(12)), {'K': 40, 'N': 6, 'bits': 4, 'block_size': 16}
    ),
    'quantize': Case(
        'QuantizeLinear', (f(3, 4), np.abs(f(4)) / 9, ints(0, 9, 4, dtype='u2')), {'axis': 1}
    ),
    'dequantize': Case(
        'DequantizeLinear', (ints(0, 999, 3, 4, dtype='u2'), one(0.1), np.uint16(7))
    ),
}

#: Rounding to integers may fall to either side of a half.
STEP = {'q_mul', 'q_add', 'q_global', 'q_global_last', 'q_pool', 'q_softmax', 'q_leaky', 'q_gemm'}


def model_of(name):
    op, inputs, attributes, outputs, domain, opset = CASES[name]
    names = ['' if x is None else f'x{i}' for i, x in enumerate(inputs)]
    made = [f'y{i}' if i in outputs else '' for i in range(max(outputs) + 1)]
    step = node(op, names, made, domain=domain, **attributes)
    arrays = {n: np.asarray(x) for n, x in zip(names, inputs, strict=True) if n}
    declared = [
        info(n, x.shape, helper.np_dtype_to_tensor_dtype(x.dtype)) for n, x in arrays.items()
    ]
    # Quantized weights of this operator must be constants.
    weights = {n: a for n, a in arrays.items() if op == 'DynamicQuantizeLSTM' and n != 'x0'}
    declared = [d for d in declared if d.name not in weights]
    results = [helper.make_empty_tensor_value_info(n) for n in made if n]
    proto = make([step], declared, results, weights, opset=opset,
                 opsets=[helper.make_opsetid('com.microsoft', 1)])  # fmt: skip
    return proto, {n: a for n, a in arrays.items() if n not in weights}


@pytest.mark.parametrize('name', CASES)
def test_results(name, device):
    proto, inputs = model_of(name)
    expected = onnxruntime.InferenceSession(proto).run(None, inputs)
    found = load(proto, device)(**inputs)
    found = found if isinstance(found, tuple) else (found,)
    for y, v in zip(found, expected, strict=True):
        y = chainerx.to_numpy(y)
        assert (y.shape, y.dtype) == (v.shape, v.dtype)
        if v.dtype.kind == 'f':
            np.testing.assert_allclose(y, v, rtol=1e-4, atol=1e-4)
        else:
            distance = np.abs(y.astype('i8') - v.astype('i8'))
            assert distance.max() <= (name in STEP)
            assert (distance > 0).sum() <= max(1, v.size // 10)


@pytest.mark.parametrize('name', ['attention_keys', 'embed', 'heads_bias', 'skip_norm', 'conv_sum'])
def test_gradients(name, device):
    """Along a random direction, against differences."""
    proto, inputs = model_of(name)
    model = load(proto, device)

    def total(arrays):
        ys = model(**arrays)
        y = ys[0] if isinstance(ys, tuple) else ys
        weights = np.cos(np.arange(y.size)).reshape(y.shape)
        return (y * chainerx.array(weights, y.dtype, device=device)).sum()

    arrays = {k: chainerx.array(v, device=device) for k, v in inputs.items()}
    floats = {k: x.require_grad() for k, x in arrays.items() if x.dtype.kind == 'f'}
    total(arrays).backward()
    rng = np.random.default_rng(0)
    directions = {k: rng.standard_normal(x.shape) for k, x in floats.items()}
    found = sum(float((chainerx.to_numpy(floats[k].grad) * d).sum()) for k, d in directions.items())

    def at(shift):
        moved = {k: (inputs[k] + shift * d).astype('f') for k, d in directions.items()}
        return float(total(inputs | moved))

    assert found == pytest.approx((at(1e-3) - at(-1e-3)) / 2e-3, rel=2e-2, abs=2e-2)

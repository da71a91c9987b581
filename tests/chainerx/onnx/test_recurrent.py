"""Recurrent layers as one operation: as the composition of steps, which a clip forces."""

import chainerx
import numpy as np
import onnxruntime
import pytest
from chainerx.onnx import load
from onnx_models import TensorProto, info, make, node

STEPS, BATCH, UNITS, FEATURES = 9, 3, 5, 4
GATES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}


def model(op, direction, lengths, dtype=TensorProto.FLOAT, **attributes):
    if op == 'GRU':
        attributes['linear_before_reset'] = 1
    names = ['x', 'w', 'r', 'b', 'lengths' if lengths else '', 'h', *(['c'] * (op == 'LSTM'))]
    outputs = ['ys', 'hs', *(['cs'] * (op == 'LSTM'))]
    made = node(op, names, outputs, hidden_size=UNITS, direction=direction, **attributes)
    inputs = [info(n, None, TensorProto.INT32 if n == 'lengths' else dtype) for n in names if n]
    return make([made], inputs, [info(n, None, dtype) for n in outputs])


def arrays(op, direction, lengths):
    rng = np.random.default_rng(0)
    n = 2 if direction == 'bidirectional' else 1
    gates = GATES[op] * UNITS
    shapes = {
        'x': (STEPS, BATCH, FEATURES),
        'w': (n, gates, FEATURES),
        'r': (n, gates, UNITS),
        'b': (n, 2 * gates),
        'h': (n, BATCH, UNITS),
    }
    if op == 'LSTM':
        shapes['c'] = shapes['h']
    found = {k: rng.uniform(-1, 1, s).astype('f') for k, s in shapes.items()}
    if lengths:
        found['lengths'] = np.array(lengths, 'i4')
    return found


def run(proto, inputs, device):
    xs = {k: chainerx.array(v, device=device) for k, v in inputs.items()}
    wanted = {k: x.require_grad() for k, x in xs.items() if x.dtype.kind == 'f'}
    ys = load(proto, device)(**xs)
    terms = [
        (y * chainerx.array(np.cos(np.arange(y.size)).reshape(y.shape), y.dtype, device=device))
        .astype('float64').sum()
        for y in ys
    ]  # fmt: skip
    sum(terms[1:], terms[0]).backward()
    # What no step reads has no gradient.
    gradients = [x.grad if x.grad is not None else chainerx.zeros_like(x) for x in wanted.values()]
    return [chainerx.to_numpy(a) for a in (*ys, *gradients)]


@pytest.mark.parametrize('lengths', [None, (9, 9, 9), (2, 9, 0), (0, 0, 0), (5, 1, 3)])
@pytest.mark.parametrize('direction', ['forward', 'reverse', 'bidirectional'])
@pytest.mark.parametrize(
    ('op', 'activations'), [('LSTM', None), ('GRU', None), ('RNN', 'Tanh'), ('RNN', 'Relu')]
)
def test_one_operation_is_as_steps(op, activations, direction, lengths, device):
    inputs = arrays(op, direction, lengths)
    kwargs = {}
    if activations:
        kwargs['activations'] = [activations] * len(inputs['w'])
    fused = model(op, direction, lengths, **kwargs)
    found = run(fused, inputs, device)
    expected = run(model(op, direction, lengths, clip=1e6, **kwargs), inputs, device)
    for y, v in zip(found, expected, strict=True):
        assert (y.shape, y.dtype) == (v.shape, v.dtype)
        np.testing.assert_allclose(y, v, rtol=1e-5, atol=1e-5)
    if lengths is None or min(lengths) > 0:  # else the other runtime has other last states
        session = onnxruntime.InferenceSession(fused)
        for y, v in zip(found, session.run(None, inputs), strict=False):
            np.testing.assert_allclose(y, v, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('op', ['LSTM', 'GRU', 'RNN'])
@pytest.mark.parametrize('dtype', ['float16', 'float64'])
def test_dtypes(op, dtype, device):
    inputs = arrays(op, 'bidirectional', (2, 9, 4))
    expected = run(model(op, 'bidirectional', True), inputs, device)
    inputs = {k: v if k == 'lengths' else v.astype(dtype) for k, v in inputs.items()}
    proto = TensorProto.FLOAT16 if dtype == 'float16' else TensorProto.DOUBLE
    found = run(model(op, 'bidirectional', True, proto), inputs, device)
    tolerance = 2e-2 if dtype == 'float16' else 1e-5
    for y, v in zip(found, expected, strict=True):
        assert y.dtype == dtype
        np.testing.assert_allclose(y, v, rtol=tolerance, atol=tolerance)

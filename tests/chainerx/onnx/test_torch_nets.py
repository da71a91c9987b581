"""Networks that PyTorch's exporters wrote: its outputs and gradients, for open axes, too."""

import pathlib

import chainerx
import numpy as np
import pytest
from chainerx.onnx import load

FILES = sorted((pathlib.Path(__file__).parent / 'torch_nets').glob('*.npz'))
EXPORTERS = ('script', 'dynamo')

#: How far a float may be from PyTorch's, as a part of the largest one.
TOLERANCE = 1e-5


@pytest.fixture(params=[pytest.param(f, id=f.stem) for f in FILES])
def arrays(request):
    with np.load(request.param) as file:
        return dict(file)


def of(arrays, group):
    """The arrays of a group, without its name."""
    return {k.partition('/')[2]: v for k, v in arrays.items() if k.startswith(f'{group}/')}


def run(model, inputs):
    outputs = model(*inputs)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def assert_close(found, expected, tolerance, what):
    found = chainerx.to_numpy(found)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype), what
    if expected.dtype.kind != 'f':
        np.testing.assert_array_equal(found, expected, what)
    elif expected.size:
        atol = tolerance * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol, err_msg=what)


@pytest.mark.parametrize('exporter', EXPORTERS)
@pytest.mark.parametrize('batch', ['a', 'b'])
def test_outputs(arrays, exporter, batch, device):
    """Batch a is the one that the exporter saw; b has other lengths."""
    model = load(arrays[exporter].tobytes(), device)
    inputs, outputs = ([v for k, v in of(arrays, batch).items() if k[0] == c] for c in 'xy')
    found = run(model, inputs)
    assert len(found) == len(outputs)
    for i, (y, expected) in enumerate(zip(found, outputs, strict=True)):
        assert y.device is device
        assert_close(y, expected, TOLERANCE, f'output {i}')


@pytest.mark.parametrize('exporter', EXPORTERS)
def test_gradients(arrays, exporter, device):
    model = load(arrays[exporter].tobytes(), device)
    inputs = {
        k: chainerx.array(v, device=device) for k, v in of(arrays, 'b').items() if k[0] == 'x'
    }
    parameters = dict(model.parameters)
    wanted = {
        name: {**parameters, **inputs}[name].require_grad()
        for name in of(arrays, 'grad')
        if name in parameters or name in inputs
    }
    assert wanted
    outputs = run(model, inputs.values())
    terms = [
        (outputs[int(name[1:])] * chainerx.array(w, device=device)).sum()
        for name, w in of(arrays, 'weight').items()
    ]
    sum(terms[1:], terms[0]).backward()
    for name, x in wanted.items():
        assert_close(x.grad, of(arrays, 'grad')[name], 10 * TOLERANCE, f'gradient of {name}')

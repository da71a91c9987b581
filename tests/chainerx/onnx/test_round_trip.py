"""Functions and models of chainer, exported and loaded again: the same numbers."""

import pathlib
import sys

import chainer
import chainerx
import numpy as np
import onnx_chainer
import pytest
from chainerx.onnx import load

sys.path.append(str(pathlib.Path(__file__).parents[2] / 'onnx_chainer'))

import chainer.links as L
from function_cases import CASES
from whole_models import LARGE, MODELS, make, run

OPSETS = (9, 17, 28)
#: Before these versions, several nodes stand for GELU, layer normalization and attention, which are
#: one routine of ours each.
COMPOSED = {'transformer': 20, 'transformer encoder': 23}


@pytest.mark.parametrize(
    ('case', 'opset'),
    [pytest.param(c, o, id=f'{c}-{o}') for c in CASES for o in OPSETS if o >= c.since],
)
def test_round_trip(case, opset):
    class Model(chainer.Chain):
        def forward(self, *xs):
            return case.function(*xs)

    proto = onnx_chainer.export(Model(), case.inputs, opset_version=opset)
    with chainer.using_config('train', False):
        expected = Model()(*map(chainer.Variable, case.inputs))
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    found = load(proto.SerializeToString())(*case.inputs)
    found = found if isinstance(found, tuple) else (found,)
    for y, v in zip(found, expected, strict=True):
        assert y.dtype == v.dtype
        tolerance = max(case.tolerance, 1e-5)
        np.testing.assert_allclose(
            chainerx.to_numpy(y), chainer.cuda.to_cpu(v.array), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize(
    ('name', 'opset'), [(n, o) for n in MODELS for o in OPSETS if o == 17 or n not in LARGE]
)
def test_whole_model(name, opset, request):
    """The same routines in the same order give the same bits."""
    if name == 'VGG16Layers' and not request.config.getoption('--full', default=False):
        pytest.skip('its weights are half a gigabyte; --full has it')
    model, inputs = make(name)
    proto = onnx_chainer.export(model, inputs, opset_version=opset)
    others = [x[::-1].copy() for x in inputs]
    found = load(proto.SerializeToString())(*others)
    found = found if isinstance(found, tuple) else (found,)
    # Convolutions may be loaded with the normalizations after them folded in.
    is_exact = opset >= COMPOSED.get(name, 0) and not any(
        isinstance(link, L.BatchNormalization) for link in model.links()
    )
    for y, expected in zip(found, run(model, others), strict=True):
        tolerance = 0 if is_exact else 1e-6 * np.abs(expected).max()
        np.testing.assert_allclose(chainerx.to_numpy(y), expected, rtol=0, atol=tolerance)

"""Whole models: what onnxruntime computes of the exported file."""

import numpy as np
import onnx
import onnx_chainer
import onnx_runtime
import pytest
from whole_models import LARGE, MODELS, make, run

OPSETS = (9, 11, 17, onnx_chainer.MAXIMUM_OPSET_VERSION)


@pytest.mark.parametrize(
    ('name', 'opset'), [(n, o) for n in MODELS for o in OPSETS if o == 17 or n not in LARGE]
)
def test_model(name, opset, tmp_path, request):
    if name == 'VGG16Layers' and not request.config.getoption('--full', default=False):
        pytest.skip('its weights are half a gigabyte; --full has it')
    model, inputs = make(name)
    proto = onnx_chainer.export(model, inputs, tmp_path / 'model.onnx', opset_version=opset)
    onnx.checker.check_model(str(tmp_path / 'model.onnx'), full_check=True)
    others = [x[::-1].copy() for x in inputs]
    found = onnx_runtime.run(str(tmp_path / 'model.onnx'), others)
    for y, expected in zip(found, run(model, others), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    assert proto.opset_import[0].version == opset

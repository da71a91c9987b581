"""Each function as onnxruntime computes it, opset by opset."""

import chainer
import numpy as np
import onnx
import onnx_chainer
import pytest
from function_cases import CASES
from onnx_chainer._trace import all_have_graphs
from onnx_chainer.converters import CONVERTERS
from onnx_runtime import run

OPSETS = range(7, onnx_chainer.MAXIMUM_OPSET_VERSION + 1)


@pytest.mark.parametrize('opset', OPSETS)
@pytest.mark.parametrize('case', CASES, ids=str)
def test_function(case, opset):
    class Model(chainer.Chain):
        def forward(self, *xs):
            return case.function(*xs)

    if opset < case.since:
        with pytest.raises(ValueError, match=rf'export: .* opset \d+ has first.*is {opset}'):
            onnx_chainer.export(Model(), case.inputs, opset_version=opset)
        return
    proto, _, outputs = onnx_chainer.export(
        Model(), case.inputs, opset_version=opset, return_named_inout=True
    )
    onnx.checker.check_model(proto, full_check=True)
    if opset > case.until:
        return
    # Other numbers than those of the export show what has become a constant.
    arrays = [v[::-1].copy() if v.ndim else np.array(v + 0.5, v.dtype) for v in case.inputs]
    with chainer.using_config('train', False):
        expected = Model()(*map(chainer.Variable, arrays))
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    found = run(proto, arrays)
    assert len(found) == len(outputs) == len(expected)
    for y, v in zip(found, expected, strict=True):
        assert y.dtype == v.dtype
        assert y.shape == v.shape
        np.testing.assert_allclose(y, v.array, rtol=case.tolerance, atol=case.tolerance)


class _Kinds(chainer.FunctionHook):
    name = 'Kinds'

    def __init__(self):
        self.found = set()

    def forward_preprocess(self, function, in_data):
        self.found.add(type(function).__name__)


def test_every_converter_has_a_case():
    kinds = _Kinds()
    with kinds, all_have_graphs(), chainer.using_config('train', False):
        for case in CASES:
            case.function(*map(chainer.Variable, case.inputs))
    elsewhere = {
        *('Dropout', 'Gaussian', 'SimplifiedDropconnect', 'Zoneout', '_Gumbel'),  # test_noise.py
        'ONNXModel',  # test_imported.py
    }
    assert set(CONVERTERS) - kinds.found == elsewhere

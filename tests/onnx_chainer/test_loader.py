"""Each function as `chainerx.onnx` computes it, with the gradients that its graph has."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import onnx_chainer
import pytest
from chainerx import onnx
from function_cases import CASES


def as_list(ys):
    return list(ys) if isinstance(ys, (list, tuple)) else [ys]


def weights_of(y):
    """Different ones for all elements."""
    return np.linspace(0.5, 1.5, y.size).astype(y.dtype).reshape(y.shape)


@pytest.mark.parametrize('case', CASES, ids=str)
def test_function(case, tmp_path):
    path = str(tmp_path / 'model.onnx')
    onnx_chainer.export(case.function, case.inputs, path, opset_version=max(17, case.since))
    # Other numbers than those of the export show what has become a constant.
    arrays = [v[::-1].copy() if v.ndim else np.array(v + 0.5, v.dtype) for v in case.inputs]
    xs = [chainerx.array(v) for v in arrays]
    for x in xs:
        if x.dtype.kind == 'f':
            x.require_grad()
    vs = [chainer.Variable(v) for v in arrays]
    with chainer.using_config('train', False):
        expected = as_list(case.function(*vs))
    total, expected_total = None, None
    for y, v in zip(as_list(onnx.load(path)(*xs)), expected, strict=True):
        assert (y.dtype, y.shape) == (v.dtype, v.shape)
        tolerance = {'rtol': case.tolerance, 'atol': case.tolerance}
        np.testing.assert_allclose(chainerx.to_numpy(y), v.array, **tolerance)
        if v.creator is None or v.dtype.kind != 'f' or not case.has_gradient:
            continue
        y, v = (y * chainerx.array(weights_of(v))).sum(), F.sum(v * weights_of(v))
        total = y if total is None else total + y
        expected_total = v if expected_total is None else expected_total + v
    if total is None:
        return
    if total.is_backprop_required():
        total.backward()
    expected_total.backward()
    for x, v in zip(xs, vs, strict=True):
        # Some functions of Chainer have gradients in fewer inputs.
        if v.grad is not None and x.dtype.kind == 'f':
            gx = np.zeros(x.shape) if x.grad is None else chainerx.to_numpy(x.grad)
            np.testing.assert_allclose(gx, v.grad, rtol=1e-4, atol=1e-5)

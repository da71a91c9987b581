"""Functions of chainer, exported and loaded again: the same numbers."""

import pathlib
import sys

import chainer
import chainerx
import numpy as np
import onnx_chainer
import pytest
from chainerx.onnx import load

sys.path.append(str(pathlib.Path(__file__).parents[2] / 'onnx_chainer'))

from function_cases import CASES

OPSETS = (9, 17, 28)


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

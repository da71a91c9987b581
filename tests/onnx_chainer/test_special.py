"""Special functions that ONNX lacks, where they are small, large, infinite or not defined."""

import chainer
import chainer.functions as F
import numpy as np
import onnx_chainer
import pytest
from onnx_runtime import run

RNG = np.random.default_rng(0)
BORDERS = [0.0, -0.0, 1.0, 2.0, -1.0, -3.0, np.inf, -np.inf, np.nan, 0.5, 1e-30, -1e-30, 1e30]
REAL = np.concatenate(
    [BORDERS, np.linspace(-12, 12, 300), RNG.normal(size=100) * 3, 10 ** RNG.uniform(-20, 20, 50)]
)
UNIT = np.concatenate(
    [
        BORDERS,
        np.linspace(-1, 1, 300),
        1 - 10 ** RNG.uniform(-9, -1, 20),
        10 ** -np.arange(1.0, 300),
    ]
)
FUNCTIONS = {
    **dict.fromkeys(('lgamma', 'digamma', 'erfcx', 'erfc', 'ndtr', 'log_ndtr'), REAL),
    'ndtri': np.abs(UNIT),
    'erfinv': UNIT,
    'erfcinv': np.concatenate([UNIT, 1 + UNIT]),
}
# Relative to 1 near zeros of the function.
TOLERANCES = {'f': 2e-7, 'd': 1e-14}


def check(function, inputs, dtype, factor=1):
    proto = onnx_chainer.export(function, inputs)
    (y,) = run(proto, inputs)
    with np.errstate(all='ignore'):
        expected = function(*map(chainer.Variable, inputs)).array
    assert y.dtype == expected.dtype
    rtol = TOLERANCES[dtype] * factor
    has_zeros = function in (F.lgamma, F.digamma, F.polygamma)
    np.testing.assert_allclose(y, expected, rtol=rtol, atol=rtol if has_zeros else 0)


@pytest.mark.parametrize('dtype', ['f', 'd'])
@pytest.mark.parametrize('name', FUNCTIONS)
def test_functions_of_one_array(name, dtype):
    with np.errstate(over='ignore', under='ignore'):
        x = FUNCTIONS[name].astype(dtype)
    check(getattr(F, name), [x], dtype)


@pytest.mark.parametrize('name', FUNCTIONS)
def test_half_precision(name):
    with np.errstate(over='ignore', under='ignore'):
        x = FUNCTIONS[name][:100].astype(np.float16)
    proto = onnx_chainer.export(getattr(F, name), x)
    (y,) = run(proto, [x])
    np.testing.assert_array_equal(y, getattr(F, name)(x).array)


@pytest.mark.parametrize('dtype', ['f', 'd'])
def test_zeta(dtype):
    exponents = np.array([1, 0.5, -2, 2, 1.5, 3, 20, 150, np.inf, np.nan, 1e7], dtype)[:, None]
    check(lambda q: F.zeta(exponents, q), [REAL.astype(dtype)], dtype)
    check(lambda q: F.zeta(3, q), [REAL.astype(dtype)], dtype)


@pytest.mark.parametrize('dtype', ['f', 'd'])
def test_polygamma(dtype):
    orders = np.array([0, 1, 2, 3, 10, 60, 150, 170, -1], np.int32)[:, None]
    # Powers up to 171 multiply the rounding errors of their bases.
    check(F.polygamma, [orders, REAL.astype(dtype)], dtype, 10)

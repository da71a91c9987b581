"""Helpers for test suites of chainerx and of code written on it. Importing it needs pytest."""

from chainerx.testing.array import (
    assert_allclose,
    assert_allclose_ex,
    assert_array_equal,
    assert_array_equal_ex,
)
from chainerx.testing.dtypes import (
    all_dtypes,
    complex_dtypes,
    extended_all_dtypes,
    extended_float_dtypes,
    extended_integral_dtypes,
    extended_numeric_dtypes,
    extended_unsigned_dtypes,
    float_dtypes,
    integral_dtypes,
    nonfloat_dtypes,
    numeric_dtypes,
    parametrize_dtype_specifier,
    signed_dtypes,
    signed_integral_dtypes,
    unsigned_dtypes,
)
from chainerx.testing.helper import (
    _DeviceBuffer,
    _fromnumpy,
    ignore,
    numpy_chainerx_allclose,
    numpy_chainerx_array_equal,
)
from chainerx.testing.kernels import check_kernels, force_algorithm, forward_derivative

__all__ = [
    '_DeviceBuffer',
    '_fromnumpy',
    'all_dtypes',
    'assert_allclose',
    'assert_allclose_ex',
    'assert_array_equal',
    'assert_array_equal_ex',
    'check_kernels',
    'complex_dtypes',
    'extended_all_dtypes',
    'extended_float_dtypes',
    'extended_integral_dtypes',
    'extended_numeric_dtypes',
    'extended_unsigned_dtypes',
    'float_dtypes',
    'force_algorithm',
    'forward_derivative',
    'ignore',
    'integral_dtypes',
    'nonfloat_dtypes',
    'numeric_dtypes',
    'numpy_chainerx_allclose',
    'numpy_chainerx_array_equal',
    'parametrize_dtype_specifier',
    'signed_dtypes',
    'signed_integral_dtypes',
    'unsigned_dtypes',
]

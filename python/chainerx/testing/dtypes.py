"""Names of dtypes by kind, to parametrize tests with.

The plain tuples hold what they always held, so that a suite written for them keeps its meaning; the
``extended_`` ones and ``complex_dtypes`` add the dtypes that came later.
"""

import typing as tp

import pytest

import chainerx

signed_integral_dtypes = ('int8', 'int16', 'int32', 'int64')
unsigned_dtypes = ('uint8',)
integral_dtypes = unsigned_dtypes + signed_integral_dtypes
float_dtypes = ('float16', 'float32', 'float64')
signed_dtypes = signed_integral_dtypes + float_dtypes
numeric_dtypes = signed_dtypes + unsigned_dtypes
nonfloat_dtypes = ('bool_', *signed_integral_dtypes, *unsigned_dtypes)
all_dtypes = ('bool_', *numeric_dtypes)

extended_unsigned_dtypes = ('uint8', 'uint16', 'uint32', 'uint64')
extended_integral_dtypes = signed_integral_dtypes + extended_unsigned_dtypes
extended_float_dtypes = ('float16', 'bfloat16', 'float32', 'float64')
complex_dtypes = ('complex64', 'complex128')
extended_numeric_dtypes = extended_integral_dtypes + extended_float_dtypes + complex_dtypes
extended_all_dtypes = ('bool_', *extended_numeric_dtypes)


def parametrize_dtype_specifier(
    argname: str, dtypes: tp.Any = None, additional_args: tp.Any = None
) -> tp.Any:
    """Mark that runs a test with each way to write each dtype.

    Args:
        argname (str): Argument of the test.
        dtypes (sequence of str): Names; ``all_dtypes`` if None.
        additional_args (sequence): Further values, taken as they are.
    Returns:
        pytest.MarkDecorator: One case per name, per ``numpy.dtype`` and per character code.
    """
    names = all_dtypes if dtypes is None else tuple(dtypes)
    instances = [chainerx.dtype(name) for name in names]
    args = [*names, *instances, *(dtype.char for dtype in instances), *(additional_args or ())]
    return pytest.mark.parametrize(argname, args)

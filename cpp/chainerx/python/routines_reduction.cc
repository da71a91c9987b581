// Sums, products and statistics.
#include "chainerx/ops/reduction.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(sum, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Sum over axes.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: int64 for bool and integers (uint64 for uint64), else the dtype of ``a``. "
           "Differentiable, any order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(Sum(ToArray("sum", "a", a[0]), ToAxes("sum", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(nansum, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Sum over axes, NaN counted as 0.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: int64 for bool and integers (uint64 for uint64), else the dtype of ``a``. "
           "Differentiable, any order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(
        NanSum(ToArray("nansum", "a", a[0]), ToAxes("nansum", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(prod, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Product over axes.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: int64 for bool and integers (uint64 for uint64), else the dtype of ``a``. "
           "Differentiable, any order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(
        Prod(ToArray("prod", "a", a[0]), ToAxes("prod", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(mean, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Arithmetic mean over axes.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``a``, float32 for bool and integers. Differentiable, any "
           "order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.\nNote:\n    The "
           "mean of nothing is NaN.") {
    return Wrap(
        Mean(ToArray("mean", "a", a[0]), ToAxes("mean", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(var, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Variance of the population over axes, in two passes.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``a``, float32 for bool and integers; real for complex "
           "numbers, and then without a gradient. Differentiable, any order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(Var(ToArray("var", "a", a[0]), ToAxes("var", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(std, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Standard deviation of the population over axes: the root of var().\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``a``, float32 for bool and integers; real for complex "
           "numbers, and then without a gradient. Differentiable, any order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(Std(ToArray("std", "a", a[0]), ToAxes("std", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(logsumexp, "x: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Logarithm of the sum of exponentials over axes, without overflow.\n\n"
           "Args:\n"
           "    x (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``x``, float32 for bool and integers. Differentiable, any "
           "order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.\n"
           "    DtypeError: If ``x`` is complex.") {
    return Wrap(LogSumExp(ToArray("logsumexp", "x", a[0]), ToAxes("logsumexp", "axis", a[1]),
                          ToBool(a[2], false)));
}

CX_ROUTINE(cumsum, "a: ndarray, axis: int | None = None) -> ndarray",
           "Running sums along an axis.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis (int): The axis, or None for the flattened array.\n"
           "Returns:\n"
           "    ndarray: int64 for bool and integers (uint64 for uint64), else the dtype of ``a``. "
           "Differentiable, any order.\n"
           "Raises:\n    DimensionError: If the axis is out of range.") {
    return Wrap(CumSum(ToArray("cumsum", "a", a[0]), ToOptionalAxis("cumsum", "axis", a[1])));
}

CX_ROUTINE(cumprod, "a: ndarray, axis: int | None = None) -> ndarray",
           "Running products along an axis.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis (int): The axis, or None for the flattened array.\n"
           "Returns:\n"
           "    ndarray: int64 for bool and integers (uint64 for uint64), else the dtype of ``a``. "
           "Differentiable, any order.\n"
           "Raises:\n    DimensionError: If the axis is out of range.") {
    return Wrap(CumProd(ToArray("cumprod", "a", a[0]), ToOptionalAxis("cumprod", "axis", a[1])));
}

}  // namespace
}  // namespace chainerx::python

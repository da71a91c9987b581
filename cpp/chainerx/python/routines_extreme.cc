// Extremes, their positions, and truth values.
#include "chainerx/ops/reduction.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(max, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Largest element over axes.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``a``. Differentiable, any order. Of equal extremes, each "
           "one gets the full gradient.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.\n"
           "    DimensionError: If there is nothing to choose from.\n"
           "    DtypeError: If ``a`` is complex.\nNote:\n    A NaN is the extreme.") {
    return Wrap(AMax(ToArray("max", "a", a[0]), ToAxes("max", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(amax, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "See max().\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``a``. Differentiable, any order. Of equal extremes, each "
           "one gets the full gradient.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.\n"
           "    DimensionError: If there is nothing to choose from.\n"
           "    DtypeError: If ``a`` is complex.\nNote:\n    A NaN is the extreme.") {
    return Wrap(
        AMax(ToArray("amax", "a", a[0]), ToAxes("amax", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(min, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Smallest element over axes.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``a``. Differentiable, any order. Of equal extremes, each "
           "one gets the full gradient.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.\n"
           "    DimensionError: If there is nothing to choose from.\n"
           "    DtypeError: If ``a`` is complex.\nNote:\n    A NaN is the extreme.") {
    return Wrap(AMin(ToArray("min", "a", a[0]), ToAxes("min", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(amin, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "See min().\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: In the dtype of ``a``. Differentiable, any order. Of equal extremes, each "
           "one gets the full gradient.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.\n"
           "    DimensionError: If there is nothing to choose from.\n"
           "    DtypeError: If ``a`` is complex.\nNote:\n    A NaN is the extreme.") {
    return Wrap(
        AMin(ToArray("amin", "a", a[0]), ToAxes("amin", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(all, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Whether all elements over axes are true (not 0).\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: bool. No gradient.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(All(ToArray("all", "a", a[0]), ToAxes("all", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(any, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
           "Whether any element over axes is true (not 0).\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n"
           "    ndarray: bool. No gradient.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(Any(ToArray("any", "a", a[0]), ToAxes("any", "axis", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(argmax, "a: ndarray, axis: int | None = None) -> ndarray",
           "Position of the first largest element along an axis.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis (int): The axis, or None for the flattened array.\n"
           "Returns:\n"
           "    ndarray: int64. No gradient.\n"
           "Raises:\n    DimensionError: If the axis is out of range, or there is nothing to "
           "choose from.\n"
           "    DtypeError: If ``a`` is complex.\n"
           "Note:\n    A NaN is the extreme.") {
    return Wrap(ArgMax(ToArray("argmax", "a", a[0]), ToOptionalAxis("argmax", "axis", a[1])));
}

CX_ROUTINE(argmin, "a: ndarray, axis: int | None = None) -> ndarray",
           "Position of the first smallest element along an axis.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis (int): The axis, or None for the flattened array.\n"
           "Returns:\n"
           "    ndarray: int64. No gradient.\n"
           "Raises:\n    DimensionError: If the axis is out of range, or there is nothing to "
           "choose from.\n"
           "    DtypeError: If ``a`` is complex.\n"
           "Note:\n    A NaN is the extreme.") {
    return Wrap(ArgMin(ToArray("argmin", "a", a[0]), ToOptionalAxis("argmin", "axis", a[1])));
}

CX_ROUTINE(nanargmax, "a: ndarray, axis: int | None = None) -> ndarray",
           "Position of the first largest element along an axis.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis (int): The axis, or None for the flattened array.\n"
           "Returns:\n"
           "    ndarray: int64. No gradient.\n"
           "Raises:\n    DimensionError: If the axis is out of range, or there is nothing to "
           "choose from.\n"
           "    DtypeError: If ``a`` is complex.\n"
           "Note:\n    NaN is skipped; where there is nothing else, the position is 0.") {
    return Wrap(
        NanArgMax(ToArray("nanargmax", "a", a[0]), ToOptionalAxis("nanargmax", "axis", a[1])));
}

CX_ROUTINE(nanargmin, "a: ndarray, axis: int | None = None) -> ndarray",
           "Position of the first smallest element along an axis.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but complex ones.\n"
           "    axis (int): The axis, or None for the flattened array.\n"
           "Returns:\n"
           "    ndarray: int64. No gradient.\n"
           "Raises:\n    DimensionError: If the axis is out of range, or there is nothing to "
           "choose from.\n"
           "    DtypeError: If ``a`` is complex.\n"
           "Note:\n    NaN is skipped; where there is nothing else, the position is 0.") {
    return Wrap(
        NanArgMin(ToArray("nanargmin", "a", a[0]), ToOptionalAxis("nanargmin", "axis", a[1])));
}

CX_ROUTINE(count_nonzero, "a: ndarray, axis: Axis = None) -> ndarray",
           "Number of elements over axes that are not 0.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis: An axis, several, or None for all.\n"
           "Returns:\n"
           "    ndarray: int64. No gradient.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(
        CountNonzero(ToArray("count_nonzero", "a", a[0]), ToAxes("count_nonzero", "axis", a[1])));
}

}  // namespace
}  // namespace chainerx::python

// Reductions.
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
           "    ndarray: int64 for bool and integers, else the dtype of ``a``. Differentiable, any "
           "order.\n"
           "Raises:\n    DimensionError: If an axis is out of range or repeated.") {
    return Wrap(Sum(ToArray("sum", "a", a[0]), ToAxes("sum", "axis", a[1]), ToBool(a[2], false)));
}

}  // namespace
}  // namespace chainerx::python

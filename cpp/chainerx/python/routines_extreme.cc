// Extremes, their positions, and truth values.
#include "chainerx/python/reduction_rows.h"

namespace chainerx::python {
namespace {

#define CX_EXTREME(py, Name, says, ties)                                       \
    CX_REDUCTION(py, Name, a, says, CX_NO_COMPLEX,                             \
                 "In the dtype of ``a``. Differentiable, any order. " ties,    \
                 "\n    DimensionError: If there is nothing to choose from.\n" \
                 "    DtypeError: If ``a`` is complex.\nNote:\n    A NaN is the extreme.")
#define CX_TIES "Equal extremes, or several NaN, share the gradient."
#define CX_TIES_EACH "Of equal extremes, or several NaN, each one gets the full gradient."
CX_EXTREME(max, AMax, "Largest element over axes.", CX_TIES)
CX_ALIAS(amax, max)
CX_EXTREME(_max, AMaxEach, "As max(), with the gradient that chainer has.", CX_TIES_EACH)
CX_EXTREME(min, AMin, "Smallest element over axes.", CX_TIES)
CX_ALIAS(amin, min)
CX_EXTREME(_min, AMinEach, "As min(), with the gradient that chainer has.", CX_TIES_EACH)

#define CX_TRUTH(py, Name, says) \
    CX_REDUCTION(py, Name, a, says, CX_ANY_DTYPE, "bool. No gradient.", "")
CX_TRUTH(all, All, "Whether all elements over axes are true (not 0).")
CX_TRUTH(any, Any, "Whether any element over axes is true (not 0).")

#define CX_POSITION(py, Name, which, note)                                            \
    CX_ALONG_AXIS(py, Name, "Position of the first " which " element along an axis.", \
                  CX_NO_COMPLEX, "int64. No gradient.",                               \
                  ", or there is nothing to choose from.\n"                           \
                  "    DtypeError: If ``a`` is complex.\nNote:\n    " note)
#define CX_NAN_SKIPPED "NaN is skipped; where there is nothing else, the position is 0."
CX_POSITION(argmax, ArgMax, "largest", "A NaN is the extreme.")
CX_POSITION(argmin, ArgMin, "smallest", "A NaN is the extreme.")
CX_POSITION(nanargmax, NanArgMax, "largest", CX_NAN_SKIPPED)
CX_POSITION(nanargmin, NanArgMin, "smallest", CX_NAN_SKIPPED)

CX_ROUTINE(count_nonzero, "a: ndarray, axis: Axis = None) -> ndarray",
           "Number of elements over axes that are not 0.\n\n"
           "Args:\n"
           "    a (ndarray): " CX_ANY_DTYPE
           "\n    axis: An axis, several, or None for all.\n"
           "Returns:\n"
           "    ndarray: int64. No gradient.\n"
           "Raises:\n    " CX_BAD_AXES) {
    return Wrap(
        CountNonzero(ToArray("count_nonzero", "a", a[0]), ToAxes("count_nonzero", "axis", a[1])));
}

}  // namespace
}  // namespace chainerx::python

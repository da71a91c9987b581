// Minima and maxima, their indices, and any and all.
#include "chainerx/python/reduction_rows.h"

namespace chainerx::python {
namespace {

#define CX_EXTREME_ROW(py, Name, says, ties, note)                                      \
    CX_REDUCTION_ROUTINE(py, Name, EXTREME, ReduceExtreme, says, CX_NO_COMPLEX,         \
                         "In the dtype of ``a``. Differentiable, any order. " ties,     \
                         "\n"                                                           \
                         "    DimensionError: If the reduced axes are empty.\n"         \
                         "    ValueError: If ``where`` is given without ``initial``.\n" \
                         "    DtypeError: If ``a`` is complex.\n"                       \
                         "Note:\n"                                                      \
                         "    " note)
#define CX_TIES "Equal extremes, or several NaN, share the gradient."
CX_EXTREME_ROW(max, AMax, "Largest element over axes.", CX_TIES,
               "The result is NaN if an element is.")
CX_ALIAS(amax, max)
CX_EXTREME_ROW(min, AMin, "Smallest element over axes.", CX_TIES,
               "The result is NaN if an element is.")
CX_ALIAS(amin, min)
CX_EXTREME_ROW(nanmax, NanMax, "Largest element over axes, ignoring NaN.",
               "Equal extremes share the gradient.",
               "The result is NaN where there is nothing else.")
CX_EXTREME_ROW(nanmin, NanMin, "Smallest element over axes, ignoring NaN.",
               "Equal extremes share the gradient.",
               "The result is NaN where there is nothing else.")
CX_REDUCTION_METHOD(max, AMax, EXTREME, ReduceExtreme)
CX_REDUCTION_METHOD(min, AMin, EXTREME, ReduceExtreme)

#define CX_EACH(py, Name, says)                                                                    \
    CX_ROUTINE(py, "a: ndarray, " CX_AXES ") -> ndarray",                                          \
               says "\n\nArgs:\n    a (ndarray): " CX_NO_COMPLEX CX_AXES_ARGS                      \
                    "Returns:\n    ndarray: In the dtype of ``a``. Differentiable, any order. Of " \
                    "equal extremes, or several NaN, each one gets the full gradient.") {          \
        return Wrap(                                                                               \
            Name(ToArray(#py, "a", a[0]), ToAxes(#py, "axis", a[1]), ToBool(a[2], false)));        \
    }
CX_EACH(_max, AMaxEach, "Same as :func:`max`, with chainer's gradient.")
CX_EACH(_min, AMinEach, "Same as :func:`min`, with chainer's gradient.")

#define CX_TRUTH_ROW(py, Name, says) \
    CX_REDUCTION_ROUTINE(py, Name, TRUTH, ReduceTruth, says, CX_ANY_DTYPE, "bool. No gradient.", "")
CX_TRUTH_ROW(all, All, "Whether all elements over axes are true (not 0).")
CX_TRUTH_ROW(any, Any, "Whether any element over axes is true (not 0).")
CX_REDUCTION_METHOD(all, All, TRUTH, ReduceTruth)
CX_REDUCTION_METHOD(any, Any, TRUTH, ReduceTruth)

// Arguments in `a`: axis, out, keepdims.
PyObject* PositionOf(const char* op, const Array& x, PyObject* const* a, const auto& f) {
    if (const Array* out = ToOut(op, a[1]); out != nullptr && IsDifferentiable(out->dtype())) {
        throw DtypeError{op, ": out has dtype ", out->dtype(),
                         ", expected an integer dtype for positions, int64"};
    }
    return Finish(op, f(x, ToOptionalAxis(op, "axis", a[0]), ToKeepdims(op, a[2])), a[1]);
}
#define CX_POSITION_OF(Name)                                        \
    [](const Array& x, std::optional<int8_t> axis, bool keepdims) { \
        return keepdims ? Name(x, axis, keepdims) : Name(x, axis);  \
    }

#define CX_POSITION(py, Name, which, note)                                                         \
    CX_ROUTINE(py, "a: ndarray, " CX_POSITION_PARAMETERS ") -> ndarray",                           \
               "Position of the first " which                                                      \
               " element along an axis.\n\n"                                                       \
               "Args:\n    a (ndarray): " CX_NO_COMPLEX CX_ALONG_AXIS_ARGS CX_RESULT_OUT_ARG       \
               "    keepdims (bool): Keep reduced axes with length 1.\n"                           \
               "Returns:\n"                                                                        \
               "    ndarray: int64. No gradient.\n"                                                \
               "Raises:\n"                                                                         \
               "    DimensionError: If the axis is out of range, or the reduced axes are empty.\n" \
               "    DtypeError: If ``a`` is complex, or ``out`` not of an integer dtype.\n"        \
               "Note:\n"                                                                           \
               "    " note) {                                                                      \
        return PositionOf(#py, ToArray(#py, "a", a[0]), a + 1, CX_POSITION_OF(Name));              \
    }
#define CX_POSITION_METHOD(py, Name)                                                  \
    CX_METHOD(py, CX_POSITION_PARAMETERS ") -> ndarray", "See chainerx." #py "().") { \
        return PositionOf(#py, Self(self), a, CX_POSITION_OF(Name));                  \
    }
#define CX_NAN_SKIPPED "NaN is ignored; where there is nothing else, the index is 0."
CX_POSITION(argmax, ArgMax, "largest", "The result is NaN if an element is.")
CX_POSITION(argmin, ArgMin, "smallest", "The result is NaN if an element is.")
CX_POSITION(nanargmax, NanArgMax, "largest", CX_NAN_SKIPPED)
CX_POSITION(nanargmin, NanArgMin, "smallest", CX_NAN_SKIPPED)
CX_POSITION_METHOD(argmax, ArgMax)
CX_POSITION_METHOD(argmin, ArgMin)

CX_ROUTINE(count_nonzero, "a: ndarray, axis: Axis = None, *, keepdims: bool = False) -> ndarray",
           "Number of elements over axes that are not 0.\n\n"
           "Args:\n"
           "    a (ndarray): " CX_ANY_DTYPE CX_AXES_ARGS
           "Returns:\n"
           "    ndarray: int64. No gradient.\n"
           "Raises:\n    " CX_BAD_AXES) {
    return Wrap(CountNonzero(ToArray("count_nonzero", "a", a[0]),
                             ToAxes("count_nonzero", "axis", a[1]),
                             ToKeepdims("count_nonzero", a[2])));
}

CX_ROUTINE(ptp,
           "a: ndarray, axis: Axis = None, " CX_RESULT_OUT ", keepdims: bool = False) -> ndarray",
           "Range of values over axes: the largest element minus the smallest.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any dtype but bool and complex ones.\n"
           "    axis: One axis, several, or None for all.\n" CX_RESULT_OUT_ARG
           "    keepdims (bool): Keep reduced axes with length 1.\n"
           "Returns:\n    ndarray: In the dtype of ``a``. Differentiable, any order. " CX_TIES
           "\n"
           "Raises:\n    " CX_BAD_AXES
           "\n"
           "    DimensionError: If the reduced axes are empty.\n"
           "    DtypeError: If ``a`` is bool or complex.") {
    return Finish(
        "ptp", Ptp(ToArray("ptp", "a", a[0]), ToAxes("ptp", "axis", a[1]), ToKeepdims("ptp", a[3])),
        a[2]);
}

}  // namespace
}  // namespace chainerx::python

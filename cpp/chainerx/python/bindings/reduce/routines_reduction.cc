// Sums, products and statistics.
#include "chainerx/python/reduction_rows.h"

namespace chainerx::python {
namespace {

#define CX_TOTAL_ROW(py, Name, says) \
    CX_REDUCTION_ROUTINE(py, Name, TOTAL, ReduceTotal, says, CX_ANY_DTYPE, CX_TOTAL, "")
CX_TOTAL_ROW(sum, Sum, "Sum over axes.")
CX_TOTAL_ROW(nansum, NanSum, "Sum over axes, with NaN counted as 0.")
CX_TOTAL_ROW(prod, Prod, "Product over axes.")
CX_TOTAL_ROW(nanprod, NanProd, "Product over axes, with NaN counted as 1.")
CX_REDUCTION_METHOD(sum, Sum, TOTAL, ReduceTotal)
CX_REDUCTION_METHOD(prod, Prod, TOTAL, ReduceTotal)

#define CX_MEAN_ROW(py, Name, says, note) \
    CX_REDUCTION_ROUTINE(py, Name, MEAN, ReduceMean, says, CX_ANY_DTYPE, CX_MEAN, note)
CX_MEAN_ROW(mean, Mean, "Arithmetic mean over axes.",
            "\n"
            "Note:\n"
            "    The mean of no elements is NaN.")
CX_MEAN_ROW(nanmean, NanMean, "Arithmetic mean over axes, ignoring NaN.",
            "\n"
            "Note:\n"
            "    The mean of no elements is NaN.")
CX_REDUCTION_METHOD(mean, Mean, MEAN, ReduceMean)

#define CX_SPREAD_ROW(py, Name, says) \
    CX_REDUCTION_ROUTINE(py, Name, SPREAD, ReduceSpread, says, CX_ANY_DTYPE, CX_SPREAD, "")
CX_SPREAD_ROW(
    var, Var,
    "Variance over axes, computed in two passes; the population variance unless ddof is given.")
CX_SPREAD_ROW(std, Std,
              "Standard deviation over axes: the square root of :func:`var`. The gradient of equal "
              "elements is 0.")
CX_SPREAD_ROW(nanvar, NanVar, "Variance over axes, ignoring NaN.")
CX_SPREAD_ROW(nanstd, NanStd,
              "Standard deviation over axes, ignoring NaN: the square root of :func:`nanvar`. The "
              "gradient of equal elements is 0.")
CX_REDUCTION_METHOD(var, Var, SPREAD, ReduceSpread)
CX_REDUCTION_METHOD(std, Std, SPREAD, ReduceSpread)

CX_ROUTINE(logsumexp, "x: ndarray, " CX_AXES ") -> ndarray",
           "Logarithm of the sum of exponentials over axes, without overflow.\n\n"
           "Args:\n    x (ndarray): " CX_NO_COMPLEX CX_AXES_ARGS
           "Returns:\n"
           "    ndarray: In the dtype of ``x``, float32 for bool and integers. Differentiable, any "
           "order.\n"
           "Raises:\n    " CX_BAD_AXES "\n    DtypeError: If ``x`` is complex.") {
    return Wrap(LogSumExp(ToArray("logsumexp", "x", a[0]), ToAxes("logsumexp", "axis", a[1]),
                          ToKeepdims("logsumexp", a[2])));
}

// Arguments in `a`: axis, dtype, out.
PyObject* Scan(const char* op, const Array& x, PyObject* const* a, const auto& f) {
    const std::optional<int8_t> axis = ToOptionalAxis(op, "axis", a[0]);
    std::optional<Dtype> dtype;
    if (Given(a[1])) dtype = ToDtype(a[1]);
    if (!dtype) dtype = DtypeForOut(x, ToOut(op, a[2]));
    return Finish(op, dtype ? f(x, axis, *dtype) : f(x, axis), a[2]);
}
#define CX_SCAN_OF(Name)                                            \
    [](const Array& x, std::optional<int8_t> axis, auto... dtype) { \
        return Name(x, axis, dtype...);                             \
    }

#define CX_SCAN(py, Name, says)                                                                \
    CX_ROUTINE(py, "a: ndarray, " CX_SCAN_PARAMETERS ") -> ndarray",                           \
               says "\n\nArgs:\n    a (ndarray): " CX_ANY_DTYPE CX_ALONG_AXIS_ARGS             \
                   CX_REDUCTION_DTYPE_ARG CX_RESULT_OUT_ARG "Returns:\n    ndarray: " CX_TOTAL \
                    "\nRaises:\n    DimensionError: If the axis is out of range.") {           \
        return Scan(#py, ToArray(#py, "a", a[0]), a + 1, CX_SCAN_OF(Name));                    \
    }
#define CX_SCAN_METHOD(py, Name)                                                  \
    CX_METHOD(py, CX_SCAN_PARAMETERS ") -> ndarray", "See chainerx." #py "().") { \
        return Scan(#py, Self(self), a, CX_SCAN_OF(Name));                        \
    }
CX_SCAN(cumsum, CumSum, "Cumulative sums along an axis.")
CX_SCAN(cumprod, CumProd, "Cumulative products along an axis.")
CX_SCAN(nancumsum, NanCumSum, "Cumulative sums along an axis, with NaN counted as 0.")
CX_SCAN(nancumprod, NanCumProd, "Cumulative products along an axis, with NaN counted as 1.")
CX_SCAN_METHOD(cumsum, CumSum)
CX_SCAN_METHOD(cumprod, CumProd)

}  // namespace
}  // namespace chainerx::python

// Medians and quantiles.
#include <vector>

#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/ops/sort/order_statistics.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/nested.h"

namespace chainerx::python {
namespace {

// One probability, or an array of probabilities, of any shape.
Array ToProbabilities(const char* op, PyObject* o) {
    if (IsNdArray(o)) return Self(o);
    if (TryScalar(o)) {
        return Full(Shape{}, Scalar{ToDouble(op, "q", o)}, Dtype::kFloat64, GetDefaultDevice());
    }
    if (!PyList_Check(o) && !PyTuple_Check(o) && !PyObject_TypeCheck(o, Numpy().ndarray)) {
        throw TypeError{op, ": q must be a number or an array of them, got ", Py_TYPE(o)->tp_name};
    }
    return WithGraphs(o, FromNumpy(o, std::nullopt, Sharing::kUnlessOddBools, GetDefaultDevice()));
}

QuantileMethod ToMethod(const char* op, PyObject* o) {
    if (o == nullptr) return QuantileMethod::kLinear;
    return GetQuantileMethod(op, ToString(op, "method", o));
}

PyObject* CallQuantile(const char* op, PyObject* const* a, const auto& quantile) {
    const Array& x = ToArray(op, "a", a[0]);
    const Array q = ToProbabilities(op, a[1]);
    const OptionalAxes axes = ToAxes(op, "axis", a[2]);
    const bool keepdims = ToKeepdims(op, a[4]);
    const QuantileMethod method = ToMethod(op, a[3]);
    if (Given(a[5]) && method != QuantileMethod::kInvertedCdf) {
        throw ValueError{op, ": weights are for method 'inverted_cdf' only"};
    }
    const Array y = Given(a[5]) ? quantile(x, q, ToArray(op, "weights", a[5]), axes, keepdims)
                                : quantile(x, q, axes, method, keepdims);
    return Finish(op, y, a[6]);
}

#define CX_A "    a (ndarray): Any shape, any dtype but complex ones.\n"
#define CX_AXES                                       \
    "    axis: One axis, several, or None for all.\n" \
    "    keepdims (bool): Keep reduced axes with length 1.\n"
#define CX_STATISTIC                                                                     \
    "in the dtype of ``a``, float32 for bool and integers. Differentiable, any order.\n" \
    "Raises:\n"                                                                          \
    "    DimensionError: If an axis is out of range or repeated.\n"                      \
    "    DtypeError: If ``a`` is complex.\n"
#define CX_WITH_NAN \
    "Note:\n"       \
    "    The result is NaN where there is a NaN, or no element."
#define CX_WITHOUT_NAN \
    "Note:\n"          \
    "    The result is NaN where there is no number."

#define CX_MEDIAN(py, Name, says, note)                                                            \
    CX_ROUTINE(                                                                                    \
        py,                                                                                        \
        "a: ndarray, axis: Axis = None, keepdims: bool = False, *, " CX_RESULT_OUT ") -> ndarray", \
        says "\n\nArgs:\n" CX_A CX_AXES CX_RESULT_OUT_ARG                                          \
             "Returns:\n"                                                                          \
             "    ndarray: The middle element, or the mean of the two middle ones, " CX_STATISTIC  \
                 note) {                                                                           \
        return Finish(                                                                             \
            #py, Name(ToArray(#py, "a", a[0]), ToAxes(#py, "axis", a[1]), ToKeepdims(#py, a[2])),  \
            a[3]);                                                                                 \
    }
CX_MEDIAN(median, Median, "Median over axes.", CX_WITH_NAN)
CX_MEDIAN(nanmedian, NanMedian, "Median over axes, ignoring NaN.", CX_WITHOUT_NAN)

#define CX_QUANTILE(py, Name, says, range, note)                                                   \
    CX_ROUTINE(                                                                                    \
        py,                                                                                        \
        "a: ndarray, q: ArrayLike, axis: Axis = None, *, method: str = 'linear', "                 \
        "keepdims: bool = False, weights: ndarray | None = None, " CX_RESULT_OUT ") -> ndarray",   \
        says "\n\nArgs:\n" CX_A "    q (float or array of floats): From 0 to " range               \
             ". An array is differentiable: its gradient is the slope between two elements, 0 "    \
             "where a single one is chosen.\n"                                                     \
             "    axis: One axis, several, or None for all.\n"                                     \
             "    method (str): NumPy's names: one of the nine of Hyndman and Fan, or 'lower', "   \
             "'higher', 'midpoint', 'nearest'.\n"                                                  \
             "    keepdims (bool): Keep reduced axes with length 1.\n"                             \
             "    weights (ndarray): Frequencies of the elements, of the shape of ``a``, or of "   \
             "its reduced axes.\n"                                                                 \
             "        For ``method='inverted_cdf'`` only; not differentiable.\n" CX_RESULT_OUT_ARG \
             "Returns:\n"                                                                          \
             "    ndarray: The axes of ``q``, then the remaining ones of ``a``; " CX_STATISTIC     \
             "    ValueError: If a number of ``q`` is out of range, there is no such method, "     \
             "or a weight is negative.\n" note                                                     \
             "\nSource: Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996.") {       \
        return CallQuantile(#py, a, [](const auto&... args) { return Name(args...); });            \
    }
CX_QUANTILE(quantile, Quantile, "Quantiles over axes.", "1", CX_WITH_NAN)
CX_QUANTILE(nanquantile, NanQuantile, "Quantiles over axes, ignoring NaN.", "1", CX_WITHOUT_NAN)
CX_QUANTILE(percentile, Percentile, "Percentiles over axes.", "100", CX_WITH_NAN)
CX_QUANTILE(nanpercentile, NanPercentile, "Percentiles over axes, ignoring NaN.", "100",
            CX_WITHOUT_NAN)

}  // namespace
}  // namespace chainerx::python

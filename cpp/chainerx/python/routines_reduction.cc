// Sums, products and statistics.
#include "chainerx/python/reduction_rows.h"

namespace chainerx::python {
namespace {

CX_REDUCTION(sum, Sum, a, "Sum over axes.", CX_ANY_DTYPE, CX_TOTAL, "")
CX_REDUCTION(nansum, NanSum, a, "Sum over axes, NaN counted as 0.", CX_ANY_DTYPE, CX_TOTAL, "")
CX_REDUCTION(prod, Prod, a, "Product over axes.", CX_ANY_DTYPE, CX_TOTAL, "")
CX_REDUCTION(mean, Mean, a, "Arithmetic mean over axes.", CX_ANY_DTYPE,
             "In the dtype of ``a``, float32 for bool and integers. Differentiable, any order.",
             "\nNote:\n    The mean of nothing is NaN.")

#define CX_SPREAD                                                                      \
    "In the dtype of ``a``, float32 for bool and integers; real for complex numbers, " \
    "and then without a gradient. Differentiable, any order."
CX_REDUCTION(var, Var, a, "Variance of the population over axes, in two passes.", CX_ANY_DTYPE,
             CX_SPREAD, "")
CX_REDUCTION(std, Std, a, "Standard deviation of the population over axes: the root of var().",
             CX_ANY_DTYPE, CX_SPREAD, "")

CX_REDUCTION(logsumexp, LogSumExp, x,
             "Logarithm of the sum of exponentials over axes, without overflow.", CX_NO_COMPLEX,
             "In the dtype of ``x``, float32 for bool and integers. Differentiable, any order.",
             "\n    DtypeError: If ``x`` is complex.")

CX_ALONG_AXIS(cumsum, CumSum, "Running sums along an axis.", CX_ANY_DTYPE, CX_TOTAL, ".")
CX_ALONG_AXIS(cumprod, CumProd, "Running products along an axis.", CX_ANY_DTYPE, CX_TOTAL, ".")

}  // namespace
}  // namespace chainerx::python

// Variance, log-sum-exp and the like: reductions of what depends on their result.
#include "chainerx/autograd/record.h"
#include "chainerx/kernels/reduction.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/logic.h"
#include "chainerx/ops/reduce_output.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/where.h"

namespace chainerx {
namespace {

using internal::ExpandReduced;

// The spread of complex numbers is a real function, which has no complex derivative.
void CheckSpreadGradient(const char* op, const Array& x) {
    if (IsComplex(x.dtype()) && internal::IsBackpropRequiredAny(x)) {
        throw DtypeError{op, ": has no gradient for complex numbers, the dtype is ", x.dtype()};
    }
}

// (x - mean) / n
Array Deviation(const Array& x, const Axes& axes) {
    const double n = static_cast<double>(internal::CountReduced(x.shape(), axes));
    return Multiply(Subtract(x, Mean(x, axes, true)), 1 / n);
}

}  // namespace

Array NanSum(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = NormalizeAxes("nansum", axes, x.ndim());
    Array y =
        internal::Reduce<kernels::NanSum>(x, sorted, keepdims, internal::TotalDtype(x.dtype()));
    if (Record rec{"nansum", {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x)](const Array& gy) {
            const Array from = internal::Detached(x());
            return Where(Isnan(from), Scalar{0}, ExpandReduced(gy, from.shape(), sorted));
        });
    }
    return y;
}

Array Var(const Array& x, const OptionalAxes& axes, bool keepdims) {
    CheckSpreadGradient("var", x);
    const Axes sorted = NormalizeAxes("var", axes, x.ndim());
    Array y =
        internal::Reduce<kernels::Var>(x, sorted, keepdims, RealDtype(FloatResult(x.dtype())));
    if (Record rec{"var", {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x)](const Array& gy) {
            const Array from = x();
            return Multiply(ExpandReduced(Multiply(gy, 2.0), from.shape(), sorted),
                            Deviation(from, sorted));
        });
    }
    return y;
}

Array Std(const Array& x, const OptionalAxes& axes, bool keepdims) {
    CheckSpreadGradient("std", x);
    const Axes sorted = NormalizeAxes("std", axes, x.ndim());
    Array y =
        internal::Reduce<kernels::Std>(x, sorted, keepdims, RealDtype(FloatResult(x.dtype())));
    if (Record rec{"std", {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            const Array from = x();
            return Multiply(ExpandReduced(Divide(gy, y()), from.shape(), sorted),
                            Deviation(from, sorted));
        });
    }
    return y;
}

Array LogSumExp(const Array& x, const OptionalAxes& axes, bool keepdims) {
    if (IsComplex(x.dtype())) {
        throw DtypeError{"logsumexp: needs real numbers, the dtype is ", x.dtype()};
    }
    const Axes sorted = NormalizeAxes("logsumexp", axes, x.ndim());
    Array y = internal::Reduce<kernels::LogSumExp>(x, sorted, keepdims, FloatResult(x.dtype()));
    if (Record rec{"logsumexp", {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            const Array from = x();
            return Multiply(ExpandReduced(gy, from.shape(), sorted),
                            Exp(Subtract(from, ExpandReduced(y(), from.shape(), sorted))));
        });
    }
    return y;
}

}  // namespace chainerx

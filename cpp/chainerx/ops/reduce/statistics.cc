// Variance, standard deviation, log-sum-exp: reductions whose gradients depend on the result.
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kNanSum{"nansum", &kernels::NanSum::kInfo, Batching::kAxes};
constexpr OpInfo kVar{"var", &kernels::Var::kInfo, Batching::kAxes};
constexpr OpInfo kStd{"std", &kernels::Std::kInfo, Batching::kAxes};
constexpr OpInfo kLogSumExp{"logsumexp", &kernels::LogSumExp::kInfo, Batching::kAxes};

using internal::ExpandReduced;

// The gradient of a variance or deviation, (x - mean) / n * slope; for complex numbers it is the
// sum over both parts, and is conjugated. Narrow floats can't hold 1 / n, nor the mean.
Array SpreadGradient(const Array& x, const Axes& axes, const Array& slope) {
    const Dtype wide = internal::WideDtype(x.dtype());
    const Array from = AsType(x, wide, false);
    const int64_t n = internal::CountReduced(x.shape(), axes);
    const Array factor = internal::DivideByCount(AsType(slope, RealDtype(wide), false), n);
    const Array step = Subtract(from, Mean(from, axes, true));
    return AsType(
        Multiply(ExpandReduced(factor, x.shape(), axes), IsComplex(x.dtype()) ? Conj(step) : step),
        x.dtype(), false);
}

}  // namespace

Array NanSum(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = internal::ReducedAxes("nansum", axes, x.ndim());
    Array y =
        internal::Reduce<kernels::NanSum>(x, sorted, keepdims, internal::TotalDtype(x.dtype()));
    if (Record rec{kNanSum, {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x)](const Array& gy) {
            const Array from = internal::Detached(x());
            return Where(Isnan(from), Scalar{0}, ExpandReduced(gy, from.shape(), sorted));
        });
    }
    return y;
}

Array Var(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = NormalizeAxes("var", axes, x.ndim());
    Array y =
        internal::Reduce<kernels::Var>(x, sorted, keepdims, RealDtype(FloatResult(x.dtype())));
    if (Record rec{kVar, {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x)](const Array& gy) {
            const Dtype wide = RealDtype(internal::WideDtype(gy.dtype()));
            return SpreadGradient(x(), sorted, Multiply(AsType(gy, wide, false), 2.0));
        });
    }
    return y;
}

Array Std(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = NormalizeAxes("std", axes, x.ndim());
    Array y =
        internal::Reduce<kernels::Std>(x, sorted, keepdims, RealDtype(FloatResult(x.dtype())));
    if (Record rec{kStd, {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            // Narrow floats may hold neither a small deviation nor a quotient by it.
            const Array from = x();
            const Dtype wide = RealDtype(internal::WideDtype(FloatResult(from.dtype())));
            const bool is_narrow = wide != RealDtype(from.dtype());
            const Array spread =
                is_narrow ? Reshape(Std(AsType(from, wide), sorted), gy.shape()) : y();
            // At equal elements, where it has a kink, the derivative is defined as 0.
            const Array is_zero = Equal(internal::Detached(spread), Scalar{0});
            return SpreadGradient(
                from, sorted,
                Where(is_zero, Scalar{0},
                      Divide(AsType(gy, wide, false), Where(is_zero, Scalar{1}, spread))));
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
    if (Record rec{kLogSumExp, {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            const Array from = x();
            const Array e = Exp(Subtract(from, ExpandReduced(y(), from.shape(), sorted)));
            if (e.GetTotalSize() == 0) return e;
            // If y can't represent the logarithm of large sums, the shares don't add up to 1.
            const Array share = Divide(gy, Reshape(Sum(e, sorted), gy.shape()));
            return Multiply(ExpandReduced(share, from.shape(), sorted), e);
        });
    }
    return y;
}

}  // namespace chainerx

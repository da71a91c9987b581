// Extremes and their positions.
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kMax{"max", &kernels::Max::kInfo, Batching::kAxes};
constexpr OpInfo kMin{"min", &kernels::Min::kInfo, Batching::kAxes};
constexpr OpInfo kNanMax{"nanmax", &kernels::NanMax::kInfo, Batching::kAxes};
constexpr OpInfo kNanMin{"nanmin", &kernels::NanMin::kInfo, Batching::kAxes};

void CheckOrdered(const char* op, const Array& x) {
    if (IsComplex(x.dtype())) {
        throw DtypeError{op, ": complex numbers have no order, a is ", x.dtype()};
    }
}

void CheckNotEmpty(const char* op, const Array& x, const Axes& axes, const Array& y) {
    if (x.GetTotalSize() != 0 || y.GetTotalSize() == 0) return;
    throw DimensionError{op, ": nothing to choose from in shape ", x.shape(), " over axes ", axes};
}

template <typename K>
Array Position(const char* op, const Array& x, std::optional<int8_t> axis) {
    CheckOrdered(op, x);
    const Axes sorted =
        internal::ReducedAxes(op, axis ? OptionalAxes{Axes{*axis}} : std::nullopt, x.ndim());
    Array y = EmptyUnchecked(ReduceShape(x.shape(), sorted, false), Dtype::kInt64, x.device());
    CheckNotEmpty(op, x, sorted, y);
    CallOn<K>(x.device(), x, sorted, y);
    return y;
}

enum class Nans { kWin, kSkipped };

// Returns where x equals the extreme `y`, which has been expanded to its shape; where y is NaN,
// where x is.
Array IsExtreme(const Array& x, const Array& y, Nans nans) {
    const Array is_equal = Equal(x, y);
    return nans == Nans::kWin && IsFloat(x.dtype()) ? LogicalOr(is_equal, Isnan(x)) : is_equal;
}

enum class Ties { kShare, kAll };

template <typename K>
Array Extreme(const OpInfo& op, const Array& x, const OptionalAxes& axes, bool keepdims, Ties ties,
              Nans nans = Nans::kWin) {
    CheckOrdered(op.name, x);
    const Axes sorted = internal::ReducedAxes(op.name, axes, x.ndim());
    Array y = internal::EmptyReduced(x, sorted, keepdims, x.dtype());
    CheckNotEmpty(op.name, x, sorted, y);
    CallOn<K>(x.device(), x, sorted, y);
    if (Record rec{op, {x}, y}) {
        rec.Grad(0, [sorted, ties, nans, x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            const Array from = x();
            const auto expand = [&](const Array& a) {
                return internal::ExpandReduced(a, from.shape(), sorted);
            };
            const Array chosen = IsExtreme(from, expand(y()), nans);
            if (ties == Ties::kAll) return Where(chosen, expand(gy), Scalar{0});
            const Array count = Reshape(CountNonzero(chosen, sorted), gy.shape());
            return Where(chosen, expand(internal::DivideByCount(gy, count)), Scalar{0});
        });
    }
    return y;
}

}  // namespace

Array AMax(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Extreme<kernels::Max>(kMax, x, axes, keepdims, Ties::kShare);
}
Array AMin(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Extreme<kernels::Min>(kMin, x, axes, keepdims, Ties::kShare);
}
Array AMaxEach(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Extreme<kernels::Max>(kMax, x, axes, keepdims, Ties::kAll);
}
Array AMinEach(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Extreme<kernels::Min>(kMin, x, axes, keepdims, Ties::kAll);
}

Array internal::MaxNumber(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Extreme<kernels::NanMax>(kNanMax, x, axes, keepdims, Ties::kShare, Nans::kSkipped);
}
Array internal::MinNumber(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Extreme<kernels::NanMin>(kNanMin, x, axes, keepdims, Ties::kShare, Nans::kSkipped);
}

Array ArgMax(const Array& x, std::optional<int8_t> axis) {
    return Position<kernels::ArgMax>("argmax", x, axis);
}
Array ArgMin(const Array& x, std::optional<int8_t> axis) {
    return Position<kernels::ArgMin>("argmin", x, axis);
}
Array NanArgMax(const Array& x, std::optional<int8_t> axis) {
    return Position<kernels::NanArgMax>("nanargmax", x, axis);
}
Array NanArgMin(const Array& x, std::optional<int8_t> axis) {
    return Position<kernels::NanArgMin>("nanargmin", x, axis);
}

}  // namespace chainerx

#include "chainerx/ops/reduce/reduction.h"

#include <algorithm>

#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kSum{"sum", &kernels::Sum::kInfo, Batching::kAxes};
constexpr OpInfo kWideSum{"wide_sum", &kernels::WideSum::kInfo, Batching::kAxes};
constexpr OpInfo kSumSquares{"sum_squares", &kernels::SumSquares::kInfo, Batching::kAxes};
constexpr OpInfo kProd{"prod", &kernels::Prod::kInfo, Batching::kAxes};
constexpr OpInfo kMean{"mean", &kernels::Mean::kInfo, Batching::kAxes};

using internal::CountReduced;
using internal::Reduce;
using internal::ReducedAxes;
using internal::TotalDtype;

// Returns the remaining axes, then the reduced ones.
Axes ReducedLast(int8_t ndim, const Axes& axes) {
    Axes order;
    int8_t k = 0;
    for (int8_t i = 0; i < ndim; ++i) {
        if (k < axes.ndim() && axes[k] == i) {
            ++k;
        } else {
            order.push_back(i);
        }
    }
    for (int8_t a : axes) order.push_back(a);
    return order;
}

// d prod(x) / dx: the products of the other elements over `axes`.
Array ProdGradient(const Array& given, const Axes& axes) {
    // Products of some elements may overflow 16 bits though those of all others don't.
    const Array x = AsType(given, internal::WideDtype(given.dtype()), false);
    const Axes order = ReducedLast(x.ndim(), axes);
    const Array moved = Transpose(x, order);
    Shape flat = ReduceShape(x.shape(), axes, false);
    flat.push_back(CountReduced(x.shape(), axes));
    const Array others = Reshape(internal::ProductOfOthers(Reshape(moved, flat)), moved.shape());
    Axes inverse;
    inverse.resize(order.ndim());
    for (int8_t i = 0; i < order.ndim(); ++i) inverse[order[i]] = i;
    return AsType(Transpose(others, inverse), given.dtype(), false);
}

}  // namespace

Array internal::ExpandReduced(const Array& y, const Shape& shape, const Axes& axes) {
    // If all axes are gone, a 0-d array broadcasts as it is.
    if (y.ndim() == 0 || y.ndim() == shape.ndim()) return BroadcastTo(y, shape);
    return BroadcastTo(Reshape(y, ReduceShape(shape, axes, true)), shape);
}

Array internal::DivideByCount(const Array& gy, const Array& n) {
    const Dtype wide = WideDtype(gy.dtype());
    return AsType(Divide(AsType(gy, wide, false), AsType(n, RealDtype(wide))), gy.dtype(), false);
}

Array internal::DivideByCount(const Array& gy, int64_t n) {
    const Array wide = AsType(gy, WideDtype(gy.dtype()), false);
    return AsType(Multiply(wide, 1 / static_cast<double>(n)), gy.dtype(), false);
}

Array Sum(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = ReducedAxes("sum", axes, x.ndim());
    Array y = Reduce<kernels::Sum>(x, sorted, keepdims, TotalDtype(x.dtype()));
    if (Record rec{kSum, {x}, y}) {
        rec.Grad(0, [shape = x.shape(), sorted](const Array& gy) {
            return internal::ExpandReduced(gy, shape, sorted);
        });
    }
    return y;
}

Array internal::WideSum(const Array& x, const OptionalAxes& axes, bool keepdims) {
    if (!IsFloat(x.dtype()) || x.dtype() == Dtype::kFloat64 ||
        !HasKernel<kernels::WideSum>(x.device())) {
        return Sum(AsType(x, Dtype::kFloat64, false), axes, keepdims);
    }
    const Axes sorted = ReducedAxes("sum", axes, x.ndim());
    Array y = Reduce<kernels::WideSum>(x, sorted, keepdims, Dtype::kFloat64);
    if (Record rec{kWideSum, {x}, y}) {
        rec.Grad(0, [shape = x.shape(), dtype = x.dtype(), sorted](const Array& gy) {
            return internal::ExpandReduced(AsType(gy, dtype), shape, sorted);
        });
    }
    return y;
}

Array internal::SumSquares(const Array& x, const OptionalAxes& axes, bool keepdims) {
    if (!IsFloat(x.dtype()) || !HasKernel<kernels::SumSquares>(x.device())) {
        return Sum(x * x, axes, keepdims);
    }
    const Axes sorted = ReducedAxes("sum", axes, x.ndim());
    Array y = Reduce<kernels::SumSquares>(x, sorted, keepdims, x.dtype());
    if (Record rec{kSumSquares, {x}, y}) {
        rec.Grad(0, [sorted, x = rec.Save(x)](const Array& gy) {
            const Array from = x();
            return Multiply(from, internal::ExpandReduced(gy * 2, from.shape(), sorted));
        });
    }
    return y;
}

Array Prod(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = ReducedAxes("prod", axes, x.ndim());
    Array y = Reduce<kernels::Prod>(x, sorted, keepdims, TotalDtype(x.dtype()));
    if (Record rec{kProd, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), sorted](const Array& gy) {
            const Array from = x();
            return Multiply(internal::ExpandReduced(gy, from.shape(), sorted),
                            ProdGradient(from, sorted));
        });
    }
    return y;
}

Array Mean(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = NormalizeAxes("mean", axes, x.ndim());
    Array y = Reduce<kernels::Mean>(x, sorted, keepdims, FloatResult(x.dtype()));
    if (Record rec{kMean, {x}, y}) {
        rec.Grad(0, [shape = x.shape(), sorted](const Array& gy) {
            // The mean of nothing divides by 1: no element gets an infinite share.
            const int64_t n = std::max<int64_t>(CountReduced(shape, sorted), 1);
            return internal::ExpandReduced(internal::DivideByCount(gy, n), shape, sorted);
        });
    }
    return y;
}

Array All(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Reduce<kernels::All>(x, ReducedAxes("all", axes, x.ndim()), keepdims, Dtype::kBool);
}

Array Any(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Reduce<kernels::Any>(x, ReducedAxes("any", axes, x.ndim()), keepdims, Dtype::kBool);
}

Array CountNonzero(const Array& x, const OptionalAxes& axes) {
    return Reduce<kernels::CountNonzero>(x, ReducedAxes("count_nonzero", axes, x.ndim()), false,
                                         Dtype::kInt64);
}

Array internal::SumTo(const Array& x, const Shape& shape) {
    const int8_t lead = x.ndim() - shape.ndim();
    Axes axes;
    bool stretched = false;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (i < lead) {
            axes.push_back(i);
        } else if (shape[i - lead] == 1 && x.shape()[i] != 1) {
            axes.push_back(i);
            stretched = true;
        }
    }
    if (axes.empty()) return x;
    if (x.body()->slot != nullptr) {
        const Array y = Sum(x, axes);
        return stretched ? Reshape(y, shape) : y;
    }
    // Outside graphs the kernel writes the final shape directly.
    Array y = EmptyUnchecked(shape, x.dtype(), x.device());
    CallOn<kernels::Sum>(x.device(), x, axes, y);
    return y;
}

}  // namespace chainerx

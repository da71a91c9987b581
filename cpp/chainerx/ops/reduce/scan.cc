// Cumulative sums and products, and the gradient of a product.
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kShift{"shift", nullptr, Batching::kAxes};
constexpr OpInfo kLinearScan{"linear_scan", &kernels::LinearScan::kInfo, Batching::kAxes};
constexpr OpInfo kCumSum{"cumsum", &kernels::CumSum::kInfo, Batching::kAxes};
constexpr OpInfo kCumProd{"cumprod", &kernels::CumProd::kInfo, Batching::kAxes};

using internal::TotalDtype;

Array Slice(const Array& x, int8_t axis, int64_t begin, int64_t end) {
    Shape shape = x.shape();
    shape[axis] = end - begin;
    return internal::MakeView(x, shape, x.strides(), x.raw_data() + begin * x.strides()[axis]);
}

// y[k + by] = x[k] along the axis, and `fill` elsewhere. `by` is 1 or -1.
Array Shift(const Array& x, int8_t axis, int64_t by, double fill) {
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::Fill>(x.device(), y, Scalar{fill});
    const int64_t n = x.shape()[axis];
    if (n > 1) {
        const int64_t from = by > 0 ? 0 : 1;
        CallOn<kernels::AsType>(x.device(), Slice(x, axis, from, from + n - 1),
                                Slice(y, axis, 1 - from, n - from));
    }
    if (Record rec{kShift, {x}, y}) {
        rec.Grad(0, [axis, by](const Array& gy) { return Shift(gy, axis, -by, 0); });
    }
    return y;
}

// s[k] = x[k] + a[k] s[k-1]; from the end if `reverse`. Its gradient is such a scan, too.
Array LinearScan(const Array& a, const Array& x, int8_t axis, bool reverse) {
    Array s = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::LinearScan>(x.device(), a, x, axis, reverse, s);
    const int64_t next = reverse ? -1 : 1;
    if (Record rec{kLinearScan, {a, x}, s}) {
        const auto to_x = [axis, reverse, next](const Array& a, const Array& gs) {
            return LinearScan(Shift(a, axis, -next, 0), gs, axis, !reverse);
        };
        rec.Grad(0, [axis, next, to_x, a = rec.Save(a), s = rec.SaveOutput(s)](const Array& gs) {
            return Multiply(to_x(a(), gs), Shift(s(), axis, next, 0));
        });
        rec.Grad(1, [to_x, a = rec.Save(a)](const Array& gs) { return to_x(a(), gs); });
    }
    return s;
}

Array CumSum(const Array& x, int8_t axis, bool reverse) {
    Array y = EmptyUnchecked(x.shape(), TotalDtype(x.dtype()), x.device());
    CallOn<kernels::CumSum>(x.device(), x, axis, reverse, y);
    if (Record rec{kCumSum, {x}, y}) {
        rec.Grad(0, [axis, reverse](const Array& gy) { return CumSum(gy, axis, !reverse); });
    }
    return y;
}

Array CumProd(const Array& x, int8_t axis, bool reverse) {
    Array y = EmptyUnchecked(x.shape(), TotalDtype(x.dtype()), x.device());
    CallOn<kernels::CumProd>(x.device(), x, axis, reverse, y);
    if (Record rec{kCumProd, {x}, y}) {
        // y[i] depends on x[k] for k <= i through the product of the others, so that
        //     gx[k] = prod(x[:k]) * sum over i >= k of gy[i] prod(x[k+1:i+1]):
        // no division, hence also correct for zeros.
        rec.Grad(0, [axis, reverse, x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            const int64_t next = reverse ? -1 : 1;
            return Multiply(Shift(y(), axis, next, 1),
                            LinearScan(Shift(x(), axis, -next, 0), gy, axis, !reverse));
        });
    }
    return y;
}

// The array and the axis to scan.
std::pair<Array, int8_t> Line(const char* op, const Array& x, std::optional<int8_t> axis) {
    const bool is_point = x.ndim() == 0 && axis && (*axis == 0 || *axis == -1);  // as in NumPy
    if (!axis || is_point) return {Reshape(x, Shape{x.GetTotalSize()}), int8_t{0}};
    return {x, NormalizeAxis(op, *axis, x.ndim())};
}

}  // namespace

Array CumSum(const Array& x, std::optional<int8_t> axis) {
    const auto [line, at] = Line("cumsum", x, axis);
    return CumSum(line, at, false);
}

Array CumProd(const Array& x, std::optional<int8_t> axis) {
    const auto [line, at] = Line("cumprod", x, axis);
    return CumProd(line, at, false);
}

Array internal::ProductOfOthers(const Array& x) {
    const int8_t axis = x.ndim() - 1;
    return Multiply(Shift(CumProd(x, axis, false), axis, 1, 1),
                    Shift(CumProd(x, axis, true), axis, -1, 1));
}

Array internal::ProductOfOthersInRuns(const Array& x, const Array& starts) {
    // The products before and behind each element: p[k] = x[k-1] p[k-1], and 1 where a run begins.
    const auto product = [&x](const Array& first, int64_t by) {
        const Array factors = Where(first, Scalar{0}, Shift(x, 0, by, 1));
        return LinearScan(factors, AsType(first, x.dtype()), 0, by < 0);
    };
    return Multiply(product(starts, 1), product(Shift(starts, 0, -1, 1), -1));
}

}  // namespace chainerx

#include "chainerx/ops/linalg/vecdot.h"

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

Array SumOfProducts(const Array& x1, const Array& x2) {
    if (const std::optional<Array> y = internal::TryVecdot(x1, x2)) return *y;
    return Sum(x1 * x2, Axes{static_cast<int8_t>(-1)});
}

Array VecdotForward(const ForwardInputs& f) {
    Array t;
    if (!f.tangents[0].is_null()) t = SumOfProducts(f.tangents[0], f.x[1]);
    if (!f.tangents[1].is_null()) {
        const Array part = SumOfProducts(f.x[0], f.tangents[1]);
        t = t.is_null() ? part : t + part;
    }
    return t;
}

constexpr OpInfo kVecdot{"vecdot", &kernels::Vecdot::kInfo, Batching::kUnknown, &VecdotForward, 2};

bool IsForKernel(Dtype dtype) {
    switch (dtype) {
        case Dtype::kFloat32:
        case Dtype::kFloat64:
        case Dtype::kInt32:
        case Dtype::kUInt32:
        case Dtype::kInt64:
        case Dtype::kUInt64:
        case Dtype::kComplex64:
        case Dtype::kComplex128:
            return true;
        default:
            return false;
    }
}

// Returns whether the kernel can read x as it is.
bool HasAdjacentRows(const Array& x) {
    const int64_t size = x.GetItemSize();
    for (int64_t step : x.strides()) {
        if (step % size != 0) return false;
    }
    return x.strides().back() == size || x.shape().back() <= 1;
}

Array Scaled(const Array& x, const Array& gy) { return ExpandDims(gy, Axes{gy.ndim()}) * x; }

}  // namespace

std::optional<Array> internal::TryVecdot(const Array& x1, const Array& x2) {
    // of a row; a matrix product distributes each such row over threads
    constexpr int64_t kMinLength = 4096;
    constexpr int64_t kMinRowsPerThread = 16;
    const Dtype dtype = x1.dtype();
    if (dtype != x2.dtype() || !IsForKernel(dtype)) return {};
    if (x1.ndim() < 2 || x1.shape() != x2.shape() || &x1.device() != &x2.device()) return {};
    if (!HasKernel<kernels::Vecdot>(x1.device())) return {};
    if (!HasAdjacentRows(x1) || !HasAdjacentRows(x2)) return {};
    const int64_t k = x1.shape().back();
    if (k >= kMinLength && x1.GetTotalSize() < kMinRowsPerThread * k) return {};
    Array y = EmptyUnchecked(Shape{x1.shape().begin(), x1.shape().end() - 1}, dtype, x1.device());
    CallOn<kernels::Vecdot>(y.device(), x1, x2, y);
    if (Record rec{kVecdot, {x1, x2}, y}) {
        rec.Grad(0, [x2 = rec.Save(x2)](const Array& gy) { return Scaled(x2(), gy); });
        rec.Grad(1, [x1 = rec.Save(x1)](const Array& gy) { return Scaled(x1(), gy); });
    }
    return y;
}

}  // namespace chainerx

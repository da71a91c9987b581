#include "chainerx/ops/attention/rotary.h"

#include <cmath>

#include "chainerx/kernels/attention/rotary.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kRotaryEmbedding{"rotary_embedding", &kernels::RotatePairs::kInfo};

// Returns the shape without the last axis.
Shape RowsOf(const Array& x) {
    Shape rows = x.shape();
    rows.pop_back();
    return rows;
}

void Check(const Array& x, const std::optional<Array>& positions, double base) {
    constexpr const char* kOp = kRotaryEmbedding.name;
    CheckDtype(IsFloat(x.dtype()), kOp, "x", x.dtype(), "a real float");
    const int least = positions ? 1 : 2;
    if (x.ndim() < least) {
        throw DimensionError{kOp, ": x.ndim is ", static_cast<int>(x.ndim()),
                             ", expected at least ", least};
    }
    if (x.shape().back() % 2 != 0) {
        throw DimensionError{kOp, ": x.shape[-1] is ", x.shape().back(),
                             ", expected an even number"};
    }
    if (!(base > 0) || std::isinf(base)) {
        throw ValueError{kOp, ": base is ", base, ", expected a positive number"};
    }
    if (!positions) return;
    CheckSameDevice(kOp, x.device(), positions->device());
    CheckDtype(IsInt(positions->dtype()), kOp, "positions", positions->dtype(), "integers");
    const Shape rows = RowsOf(x);
    const Shape& given = positions->shape();
    bool fits = given.ndim() <= rows.ndim();
    for (int8_t a = 1; fits && a <= given.ndim(); ++a) {
        const int64_t n = given[given.ndim() - a];
        fits = n == 1 || n == rows[rows.ndim() - a];
    }
    if (!fits) {
        throw DimensionError{kOp,   ": positions.shape is ",
                             given, ", which does not broadcast to ",
                             rows,  ", x.shape without its last"};
    }
}

// Returns angles of shape (..., n) for positions of shape (...).
Array Angles(const Array& positions, int64_t n, double base, int64_t offset) {
    Device& device = positions.device();
    const Array frequency =
        Exp(Arange(n, Dtype::kFloat64, device) * (-std::log(base) / static_cast<double>(n)));
    const Array p = AsType(internal::Detached(positions), Dtype::kFloat64, false);
    return ExpandDims(offset == 0 ? p : p + static_cast<double>(offset), Axes{-1}) * frequency;
}

// Broadcasts a table of numbers along the rows of x, as the kernel reads it.
Array AlongRows(const Array& table, const Array& x) {
    Shape shape = x.shape();
    shape.back() = table.shape().back();
    return BroadcastTo(table, shape);
}

Array Rotate(const Array& x, const Array& cos, const Array& sin, bool interleaved) {
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    const Array from = internal::Detached(x);
    const bool is_adjacent = x.strides().back() == x.GetItemSize();
    CallOn<kernels::RotatePairs>(x.device(), is_adjacent ? from : AsContiguous(from),
                                 AlongRows(cos, x), AlongRows(sin, x), interleaved, y);
    if (Record rec{kRotaryEmbedding, {x}, y}) {
        // Backward rotates by the opposite angle.
        rec.Grad(0, [cos, sin, interleaved](const Array& gy) {
            return Rotate(gy, cos, -sin, interleaved);
        });
    }
    return y;
}

}  // namespace

Array RotaryEmbedding(const Array& x, const std::optional<Array>& positions, double base,
                      bool interleaved, int64_t offset) {
    Check(x, positions, base);
    if (x.GetTotalSize() == 0) return Copy(x);
    const Dtype wide = x.dtype() == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32;
    const Array angles =
        Angles(positions ? *positions : Arange(x.shape()[x.ndim() - 2], Dtype::kInt64, x.device()),
               x.shape().back() / 2, base, offset);
    return Rotate(x, AsType(Cos(angles), wide, false), AsType(Sin(angles), wide, false),
                  interleaved);
}

}  // namespace chainerx

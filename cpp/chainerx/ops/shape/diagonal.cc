// Diagonals, triangles and grids.
#include <algorithm>

#include "chainerx/kernels/shape/creation.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/embed.h"

namespace chainerx {
namespace {

constexpr OpInfo kDiagonal{"diagonal", nullptr, Batching::kAxes};
constexpr OpInfo kTril{"tril", &kernels::Triangle::kInfo, Batching::kElementwise};
constexpr OpInfo kTriu{"triu", &kernels::Triangle::kInfo, Batching::kElementwise};

}  // namespace

Array Diagonal(const Array& x, int64_t k, int8_t axis1, int8_t axis2) {
    axis1 = NormalizeAxis("diagonal", axis1, x.ndim());
    axis2 = NormalizeAxis("diagonal", axis2, x.ndim());
    if (axis1 == axis2) {
        throw DimensionError{"diagonal: axis1 and axis2 are both ", static_cast<int>(axis1)};
    }
    const int64_t rows = x.shape()[axis1];
    const int64_t columns = x.shape()[axis2];
    k = std::clamp(k, -rows, columns);
    const int64_t n = k >= 0 ? std::min(rows, columns - k) : std::min(rows + k, columns);
    const auto offset = [k, n, axis1, axis2](const Strides& s) {
        return n == 0 ? 0 : k >= 0 ? k * s[axis2] : -k * s[axis1];
    };
    // Returns the other dimensions, followed by the diagonal's.
    const auto others_and = [axis1, axis2]<typename D>(const D& dims, int64_t last) {
        D result;
        for (int8_t i = 0; i < dims.ndim(); ++i) {
            if (i != axis1 && i != axis2) result.push_back(dims[i]);
        }
        result.push_back(last);
        return result;
    };
    const auto strides = [&](const Strides& s) { return others_and(s, s[axis1] + s[axis2]); };
    Array y = internal::MakeView(x, others_and(x.shape(), n), strides(x.strides()),
                                 x.raw_data() + offset(x.strides()));
    if (Record rec{kDiagonal, {x}, y}) {
        const Strides packed{x.shape(), x.GetItemSize()};
        rec.Grad(0, [placement = internal::Placement{x.shape(), strides(packed), offset(packed)}](
                        const Array& gy) { return internal::Embed(gy, placement); });
    }
    return y;
}

Array Diagonal(const Array& x, int64_t k) {
    if (x.ndim() != 2) throw DimensionError{"diag: shape ", x.shape(), " has not 2 dimensions"};
    return Diagonal(x, k, 0, 1);
}

Array Diag(const Array& x, int64_t k) {
    if (x.ndim() == 2) return Diagonal(x, k);
    if (x.ndim() != 1) {
        throw DimensionError{"diag: shape ", x.shape(), " has neither 1 nor 2 dimensions"};
    }
    int64_t n;
    if (k == INT64_MIN || __builtin_add_overflow(x.shape()[0], k < 0 ? -k : k, &n)) {
        throw DimensionError{"diag: k ", k, " is too large"};
    }
    const Shape shape{n, n};
    CheckedNBytes("diag", shape, x.GetItemSize());
    const Strides s{shape, x.GetItemSize()};
    return internal::Embed(x, {shape, Strides{s[0] + s[1]}, k >= 0 ? k * s[1] : -k * s[0]});
}

Array DiagFlat(const Array& x, int64_t k) { return Diag(Ravel(x), k); }

namespace {

Array Triangle(const OpInfo& op, const Array& x, int64_t k, bool lower) {
    if (x.ndim() == 0) throw DimensionError{op.name, ": an array of shape () has no triangle"};
    if (x.ndim() == 1) {
        return Triangle(op, BroadcastTo(x, {x.shape()[0], x.shape()[0]}), k, lower);
    }
    const int64_t rows = x.shape()[x.ndim() - 2];
    const int64_t columns = x.shape()[x.ndim() - 1];
    k = std::clamp(k, -rows - 1, columns + 1);
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::Triangle>(x.device(), x, k, lower, y);
    if (Record rec{op, {x}, y}) {
        rec.Grad(0, [&op, k, lower](const Array& gy) { return Triangle(op, gy, k, lower); });
    }
    return y;
}

}  // namespace

Array Tril(const Array& x, int64_t k) { return Triangle(kTril, x, k, true); }
Array Triu(const Array& x, int64_t k) { return Triangle(kTriu, x, k, false); }

std::vector<Array> Meshgrid(const std::vector<Array>& arrays, bool swap_first, bool sparse) {
    Shape shape;
    for (const Array& x : arrays) {
        CheckSameDevice("meshgrid", arrays[0].device(), x.device());
        shape.push_back(x.GetTotalSize());
    }
    const bool swap = swap_first && arrays.size() >= 2;
    const auto place = [swap](int8_t i) { return swap && i < 2 ? int8_t(1 - i) : i; };
    if (swap) std::swap(shape[0], shape[1]);
    std::vector<Array> out;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        const Array& x = arrays[static_cast<size_t>(i)];
        Shape s;
        s.resize(shape.ndim(), 1);
        s[place(i)] = x.GetTotalSize();
        out.push_back(sparse ? Reshape(x, s) : BroadcastTo(Reshape(x, s), shape));
    }
    return out;
}

}  // namespace chainerx

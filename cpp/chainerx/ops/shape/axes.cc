// Views that add, drop, permute or reverse axes.
#include <algorithm>

#include "chainerx/core/axis_error.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kSqueeze{"squeeze", nullptr, Batching::kAxes};
constexpr OpInfo kExpandDims{"expand_dims", nullptr, Batching::kAxes};
constexpr OpInfo kFlip{"flip", nullptr, Batching::kAxes};

}  // namespace

Array Squeeze(const Array& x, const OptionalAxes& axes) {
    Axes drop;
    if (axes) {
        drop = internal::ReducedAxes("squeeze", axes, x.ndim());
        for (int8_t a : drop) {
            if (x.shape()[a] != 1) {
                throw DimensionError{"squeeze: axis ", int64_t{a},   " of shape ", x.shape(),
                                     " has length ",   x.shape()[a], ", not 1"};
            }
        }
    } else {
        for (int8_t i = 0; i < x.ndim(); ++i) {
            if (x.shape()[i] == 1) drop.push_back(i);
        }
    }
    Shape shape;
    Strides strides;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (std::find(drop.begin(), drop.end(), i) != drop.end()) continue;
        shape.push_back(x.shape()[i]);
        strides.push_back(x.strides()[i]);
    }
    Array y = internal::MakeView(x, shape, strides, x.raw_data());
    if (Record rec{kSqueeze, {x}, y}) {
        rec.Grad(0, [from = x.shape()](const Array& gy) { return Reshape(gy, from); });
    }
    return y;
}

Array ExpandDims(const Array& x, const Axes& axes) {
    const int64_t ndim = x.ndim() + axes.size();
    if (ndim > kMaxNdim) {
        throw DimensionError{"expand_dims: ", ndim, " dimensions, the maximum is ",
                             int64_t{kMaxNdim}};
    }
    const Axes added = NormalizeAxes("expand_dims", axes, static_cast<int8_t>(ndim));
    Shape shape;
    Strides strides;
    int8_t from = 0;
    for (int8_t i = 0; i < ndim; ++i) {
        const bool is_new = std::find(added.begin(), added.end(), i) != added.end();
        shape.push_back(is_new ? 1 : x.shape()[from]);
        strides.push_back(is_new ? 0 : x.strides()[from]);
        if (!is_new) ++from;
    }
    Array y = internal::MakeView(x, shape, strides, x.raw_data());
    if (Record rec{kExpandDims, {x}, y}) {
        rec.Grad(0, [from = x.shape()](const Array& gy) { return Reshape(gy, from); });
    }
    return y;
}

Array Swapaxes(const Array& x, int8_t axis1, int8_t axis2) {
    const int8_t a1 = NormalizeAxis("swapaxes", axis1, x.ndim());
    const int8_t a2 = NormalizeAxis("swapaxes", axis2, x.ndim());
    Axes perm;
    for (int8_t i = 0; i < x.ndim(); ++i) perm.push_back(i);
    std::swap(perm[a1], perm[a2]);
    return internal::Permute(x, perm);
}

Array Moveaxis(const Array& x, const Axes& source, const Axes& destination) {
    if (source.size() != destination.size()) {
        throw DimensionError{"moveaxis: ", source.size(), " source axes but ", destination.size(),
                             " destinations"};
    }
    NormalizeAxes("moveaxis", source, x.ndim());  // for its errors
    NormalizeAxes("moveaxis", destination, x.ndim());
    Axes perm;
    perm.resize(x.ndim(), -1);
    uint32_t moved = 0;
    for (int8_t i = 0; i < source.ndim(); ++i) {
        const int8_t from = NormalizeAxis("moveaxis", source[i], x.ndim());
        perm[NormalizeAxis("moveaxis", destination[i], x.ndim())] = from;
        moved |= 1u << from;
    }
    int8_t next = 0;
    for (int8_t& p : perm) {
        if (p >= 0) continue;
        while ((moved >> next & 1) != 0) ++next;
        p = next++;
    }
    return internal::Permute(x, perm);
}

Array Rollaxis(const Array& x, int8_t axis, int8_t start) {
    const int8_t a = NormalizeAxis("rollaxis", axis, x.ndim());
    const int8_t ndim = x.ndim();
    if (start < -ndim || start > ndim) {
        throw AxisError{"rollaxis: start ", int64_t{start}, " is out of range for ", int64_t{ndim},
                        " dimensions"};
    }
    int8_t to = start < 0 ? start + ndim : start;
    if (to > a) --to;
    Axes perm;
    for (int8_t i = 0; i < ndim; ++i) perm.push_back(i);
    perm.erase(a);
    perm.insert(to, a);
    return internal::Permute(x, perm);
}

Array Flip(const Array& x, const OptionalAxes& axes, const char* op) {
    const Axes flipped = NormalizeAxes(op, axes, x.ndim());
    Strides strides = x.strides();
    char* data = x.raw_data();
    for (int8_t a : flipped) {
        if (x.shape()[a] == 0) continue;
        data += (x.shape()[a] - 1) * strides[a];
        strides[a] = -strides[a];
    }
    Array y = internal::MakeView(x, x.shape(), strides, data);
    if (Record rec{kFlip, {x}, y}) {
        rec.Grad(0, [flipped](const Array& gy) { return Flip(gy, flipped, "flip"); });
    }
    return y;
}

namespace {

Array FlipAxis(const char* op, const Array& x, int8_t axis) {
    if (x.ndim() <= axis) {
        throw DimensionError{
            op, ": shape ", x.shape(), " has fewer than ", int64_t{axis} + 1, " dimensions"};
    }
    return Flip(x, Axes{axis}, op);
}

}  // namespace

Array Fliplr(const Array& x) { return FlipAxis("fliplr", x, 1); }
Array Flipud(const Array& x) { return FlipAxis("flipud", x, 0); }

Array AtLeast1D(const Array& x) { return x.ndim() >= 1 ? x : ExpandDims(x, {0}); }

Array AtLeast2D(const Array& x) {
    if (x.ndim() >= 2) return x;
    return x.ndim() == 1 ? ExpandDims(x, {0}) : ExpandDims(x, {0, 1});
}

Array AtLeast3D(const Array& x) {
    switch (x.ndim()) {
        case 0:
            return ExpandDims(x, {0, 1, 2});
        case 1:
            return ExpandDims(x, {0, 2});
        case 2:
            return ExpandDims(x, {2});
        default:
            return x;
    }
}

}  // namespace chainerx

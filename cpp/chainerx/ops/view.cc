#include "chainerx/ops/view.h"

#include <algorithm>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/creation.h"

namespace chainerx {
namespace {

// Resolves a -1 and checks the size.
Shape ResolveShape(const Array& x, const Shape& shape) {
    Shape out = shape;
    int8_t unknown = -1;
    int64_t known = 1;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == -1) {
            if (unknown >= 0) throw DimensionError{"reshape: more than one -1 in shape ", shape};
            unknown = i;
        } else if (shape[i] < 0) {
            throw DimensionError{"reshape: negative dimension in shape ", shape};
        } else if (__builtin_mul_overflow(known, shape[i], &known)) {
            throw DimensionError{"reshape: shape ", shape, " is too large to address"};
        }
    }
    const int64_t size = x.GetTotalSize();
    if (unknown >= 0 && known != 0 && size % known == 0) {
        out[unknown] = size / known;
        return out;
    }
    if (unknown >= 0 || known != size) {
        throw DimensionError{"reshape: cannot reshape an array of shape ", x.shape(), " into ",
                             shape};
    }
    return out;
}

// Strides that see `x` as `shape` without copying, if there are any: each group of merged old
// dimensions must be contiguous in itself.
std::optional<Strides> ViewStrides(const Array& x, const Shape& shape) {
    if (x.IsContiguous()) return Strides{shape, x.GetItemSize()};
    Shape old_dims;
    Strides old_strides;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (x.shape()[i] == 1) continue;
        old_dims.push_back(x.shape()[i]);
        old_strides.push_back(x.strides()[i]);
    }
    Strides out;
    out.resize(shape.ndim());
    int8_t o = 0;
    int8_t n = 0;
    while (n < shape.ndim()) {
        if (shape[n] == 1) {
            out[n++] = x.GetItemSize();
            continue;
        }
        int8_t o_end = o + 1;
        int8_t n_end = n + 1;
        int64_t o_size = old_dims[o];
        int64_t n_size = shape[n];
        while (o_size != n_size) {
            if (o_size < n_size) {
                o_size *= old_dims[o_end++];
            } else {
                n_size *= shape[n_end++];
            }
        }
        for (int8_t i = o; i + 1 < o_end; ++i) {
            if (old_strides[i] != old_strides[i + 1] * old_dims[i + 1]) return std::nullopt;
        }
        int64_t stride = old_strides[o_end - 1];
        for (int8_t i = n_end - 1; i >= n; --i) {
            out[i] = stride;
            stride *= shape[i];
        }
        o = o_end;
        n = n_end;
    }
    return out;
}

}  // namespace

Array Reshape(const Array& x, const Shape& shape) {
    const Shape to = ResolveShape(x, shape);
    const std::optional<Strides> strides = ViewStrides(x, to);
    if (!strides) return Reshape(Copy(x), to);
    Array y = internal::MakeView(x, to, *strides, x.raw_data());
    if (Record rec{"reshape", {x}, y}) {
        rec.Grad(0, [from = x.shape()](const Array& gy) { return Reshape(gy, from); });
    }
    return y;
}

Array Transpose(const Array& x, const OptionalAxes& axes) {
    const int8_t ndim = x.ndim();
    Axes perm;
    if (!axes) {
        for (int8_t i = ndim - 1; i >= 0; --i) perm.push_back(i);
    } else {
        if (axes->ndim() != ndim) {
            throw DimensionError{"transpose: ", int64_t{axes->ndim()}, " axes for ", int64_t{ndim},
                                 " dimensions"};
        }
        for (int8_t a : *axes) perm.push_back(NormalizeAxis("transpose", a, ndim));
    }
    Shape shape;
    Strides strides;
    Axes inverse;
    inverse.resize(ndim, -1);
    for (int8_t i = 0; i < ndim; ++i) {
        const int8_t a = perm[i];
        if (inverse[a] != -1) throw DimensionError{"transpose: duplicate axis in ", *axes};
        inverse[a] = i;
        shape.push_back(x.shape()[a]);
        strides.push_back(x.strides()[a]);
    }
    Array y = internal::MakeView(x, shape, strides, x.raw_data());
    if (Record rec{"transpose", {x}, y}) {
        rec.Grad(0, [inverse](const Array& gy) { return Transpose(gy, inverse); });
    }
    return y;
}

Array BroadcastTo(const Array& x, const Shape& shape) {
    CheckedNBytes("broadcast_to", shape, x.GetItemSize());
    if (!IsBroadcastable(x.shape(), shape)) {
        throw DimensionError{"broadcast_to: shape ", x.shape(), " does not broadcast to ", shape};
    }
    Array y =
        internal::MakeView(x, shape, BroadcastStrides(x.shape(), x.strides(), shape), x.raw_data());
    // The engine sums the gradient back.
    if (Record rec{"broadcast_to", {x}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

Array MakeView(const Array& x) { return x.MakeView(); }

}  // namespace chainerx

// The results of routines that reduce.
#pragma once

#include <algorithm>

#include "chainerx/core/array.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::internal {

// Returns the dtype of sums and products.
inline Dtype TotalDtype(Dtype dtype) {
    if (IsDifferentiable(dtype)) return dtype;
    return GetKind(dtype) == DtypeKind::kUInt ? Dtype::kUInt64 : Dtype::kInt64;
}

// Returns a dtype for counts and sums of elements of `dtype`.
inline Dtype WideDtype(Dtype dtype) {
    return IsFloat(dtype) && GetItemSize(dtype) < 4 ? Dtype::kFloat32 : dtype;
}

// Computes f(x) of 16-bit floats in float32, since intermediate results need not fit them.
Array InWide(const Array& x, const auto& f) {
    const Dtype wide = WideDtype(x.dtype());
    if (wide == x.dtype()) return f(x);
    return AsType(f(AsType(x, wide)), x.dtype());
}

// Returns the axes of a reduction. As in NumPy, a 0-d array may be reduced over 0 and -1, except by
// the mean and its kin.
inline Axes ReducedAxes(const char* op, const OptionalAxes& axes, int8_t ndim) {
    if (ndim == 0 && axes && axes->ndim() == 1 && ((*axes)[0] == 0 || (*axes)[0] == -1))
        [[unlikely]]
        return {};
    return NormalizeAxes(op, axes, ndim);
}

// Weights that have only the dimensions of `axes`, in the order in which the caller names them:
// their shape, and the permutation that makes the order ascending.
struct NamedAxes {
    Shape shape;
    Axes order;
};

inline NamedAxes NameAxes(const char* op, const OptionalAxes& axes, const Array& x) {
    const Axes sorted = NormalizeAxes(op, axes, x.ndim());
    NamedAxes result;
    Axes named;
    for (const int8_t a : axes ? *axes : sorted) {
        const int8_t axis = NormalizeAxis(op, a, x.ndim());
        result.shape.push_back(x.shape()[axis]);
        named.push_back(axis);
    }
    for (const int8_t a : sorted) {
        result.order.push_back(
            static_cast<int8_t>(std::find(named.begin(), named.end(), a) - named.begin()));
    }
    return result;
}

inline int64_t CountReduced(const Shape& shape, const Axes& axes) {
    int64_t n = 1;
    for (int8_t a : axes) n *= shape[a];
    return n;
}

inline Array EmptyReduced(const Array& x, const Axes& axes, bool keepdims, Dtype dtype) {
    const Shape shape = ReduceShape(x.shape(), axes, keepdims);
    if (!keepdims) return EmptyUnchecked(shape, dtype, x.device());
    // Stride 0 lets the result be broadcast back without checking its shape again.
    Strides strides{shape, GetItemSize(dtype)};
    for (int8_t a : axes) strides[a] = 0;
    Buffer* buffer = x.device().Allocate(NBytesOf(shape, dtype));
    return MakeArray(shape, strides, dtype, x.device(), buffer, static_cast<char*>(buffer->data()));
}

template <typename K>
Array Reduce(const Array& x, const Axes& axes, bool keepdims, Dtype dtype) {
    Array y = EmptyReduced(x, axes, keepdims, dtype);
    CallOn<K>(x.device(), x, axes, y);
    return y;
}

}  // namespace chainerx::internal

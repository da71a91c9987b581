// Helpers that prepare the operands of convolution kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/gemm/cache_conflict.h"

namespace chainerx::native {

// Returns x[begin:end].
inline Array Images(const Array& x, int64_t begin, int64_t end) {
    Shape shape = x.shape();
    shape[0] = end - begin;
    return internal::MakeView(x, shape, x.strides(), x.raw_data() + begin * x.strides()[0]);
}

// Returns x itself if it is C-contiguous and of `dtype`, else a copy.
inline Array AsContiguousOf(const Array& x, Dtype dtype) {
    if (x.dtype() == dtype && x.IsContiguous()) return internal::Detached(x);
    const Array y = EmptyUnchecked(x.shape(), dtype, x.device());
    CallOn<kernels::AsType>(x.device(), x, y);
    return y;
}

// Allocates an array whose channel stride (axis 1) avoids cache-set conflicts.
inline Array EmptyConflictFree(const Shape& shape, Dtype dtype, Device& device) {
    const int64_t item = GetItemSize(dtype);
    Strides strides{shape, item};
    if (shape.GetTotalSize() == 0) return EmptyUnchecked(shape, dtype, device);
    const int64_t step = ConflictFreeStride(strides[1]);
    const Array memory = EmptyUnchecked({shape[0] * shape[1] * step / item}, dtype, device);
    strides[0] = shape[1] * step;
    strides[1] = step;
    return internal::MakeView(memory, shape, strides, memory.raw_data());
}

// Number of images, `nbytes` each, that are converted at a time, of n.
inline int64_t CountTogether(int64_t nbytes, int64_t n) {
    constexpr int64_t kMax = int64_t{16} << 20;
    return std::clamp<int64_t>(kMax / std::max<int64_t>(nbytes, 1), 1, n);
}

// Returns the dtype in which convolutions of `dtype` are computed: 16-bit floats upcast to float32;
// integers wrap, so 8 and 16 bits take those of 32.
constexpr Dtype ConvDtypeOf(Dtype dtype) {
    if (IsFloat(dtype)) return dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    return GetItemSize(dtype) < 4 ? Dtype::kUInt32 : dtype;
}

// Calls f(T{}, dtype) with the type and dtype in which convolutions of `dtype` are computed; the
// sign of an integer type doesn't matter.
void VisitConvDtype(Dtype dtype, const auto& f) {
    const Dtype computed = ConvDtypeOf(dtype);
    if (computed == Dtype::kFloat64) {
        f(double{}, computed);
    } else if (computed == Dtype::kFloat32) {
        f(float{}, computed);
    } else if (GetItemSize(computed) == 8) {
        f(uint64_t{}, computed);
    } else {
        f(uint32_t{}, computed);
    }
}

}  // namespace chainerx::native

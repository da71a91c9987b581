// The dimensions of a strided kernel.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/cuda/elementwise/params.h"

namespace chainerx::cuda {

// For 0 <= x < 2^31: x / size is (high half of x * multiplier, plus x) >> shift.
inline Divisor MakeDivisor(int64_t size) {
    Divisor divisor{size, 0, 0};
    if (size > INT32_MAX) return divisor;
    const int shift = std::bit_width(static_cast<uint64_t>(size) - 1);
    const uint64_t power = uint64_t{1} << shift;
    divisor.shift = static_cast<uint32_t>(shift);
    divisor.multiplier = static_cast<uint32_t>(
        (uint64_t{1} << 32) * (power - static_cast<uint64_t>(size)) / static_cast<uint64_t>(size) +
        1);
    return divisor;
}

// Merges the dimensions of arrays[0] where all arrays allow, fastest first. Other arrays broadcast
// to its shape; null ones are scalars. Returns the number of dimensions.
template <size_t kArrays>
int MergeDims(const std::array<const Array*, kArrays>& arrays, Divisor (&dims)[kMaxDims],
              int64_t (&strides)[kArrays][kMaxDims]) {
    const Shape& shape = arrays[0]->shape();
    int64_t sizes[kMaxDims] = {};
    int ndim = 0;
    for (int d = shape.ndim() - 1; d >= 0; --d) {
        if (shape[d] == 1) continue;
        int64_t next[kArrays] = {};
        for (size_t k = 0; k < kArrays; ++k) {
            if (arrays[k] == nullptr) continue;
            const int axis = d - (shape.ndim() - arrays[k]->ndim());
            if (axis >= 0 && arrays[k]->shape()[axis] != 1) next[k] = arrays[k]->strides()[axis];
        }
        const auto continues = [&](size_t k) {
            return next[k] == strides[k][ndim - 1] * sizes[ndim - 1];
        };
        bool merges = ndim > 0;
        for (size_t k = 0; k < kArrays && merges; ++k) merges = continues(k);
        if (merges) {
            sizes[ndim - 1] *= shape[d];
            continue;
        }
        sizes[ndim] = shape[d];
        for (size_t k = 0; k < kArrays; ++k) strides[k][ndim] = next[k];
        ++ndim;
    }
    for (int d = 0; d < ndim; ++d) dims[d] = MakeDivisor(sizes[d]);
    return ndim;
}

}  // namespace chainerx::cuda

// Walking over N arrays that are broadcast to one shape, in C order, in pieces of any length.
//
// Dimensions that follow each other in all operands are merged first. A position can be sought, so
// that threads start anywhere, and a piece may span several short runs: a tile of a (1000, 3) array
// is filled in one go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"
#include "chainerx/core/dtype.h"

namespace chainerx::native {

template <int N>
struct Walk {
    int ndim{0};
    int64_t total{1};
    int64_t dims[kMaxNdim];
    int64_t strides[N][kMaxNdim];  // in bytes, 0 along a broadcast axis
    char* data[N];

    // A null array stands for one value at `values[k]`.
    Walk(const Shape& shape, const Array* const (&arrays)[N], char* const (&values)[N]) {
        const int out_ndim = shape.ndim();
        for (int k = 0; k < N; ++k) {
            data[k] = arrays[k] != nullptr ? arrays[k]->raw_data() : values[k];
        }
        for (int i = 0; i < out_ndim; ++i) {
            const int64_t d = shape[i];
            total *= d;
            if (d == 1) continue;
            int64_t s[N];
            bool merge = ndim > 0;
            for (int k = 0; k < N; ++k) {
                s[k] = 0;
                if (arrays[k] != nullptr) {
                    const int j = i - (out_ndim - arrays[k]->ndim());
                    if (j >= 0 && arrays[k]->shape()[j] != 1) s[k] = arrays[k]->strides()[j];
                }
                merge = merge && strides[k][ndim - 1] == s[k] * d;
            }
            if (merge) {
                dims[ndim - 1] *= d;
            } else {
                dims[ndim++] = d;
            }
            for (int k = 0; k < N; ++k) strides[k][ndim - 1] = s[k];
        }
        if (ndim == 0) {
            ndim = 1;
            dims[0] = 1;
            for (int k = 0; k < N; ++k) strides[k][0] = 0;
        }
    }

    int64_t run_length() const { return dims[ndim - 1]; }
    int64_t run_stride(int k) const { return strides[k][ndim - 1]; }
};

template <int N>
struct Cursor {
    const Walk<N>& walk;
    int64_t index[kMaxNdim];
    char* p[N];

    // The walk must not be empty.
    Cursor(const Walk<N>& w, int64_t position) : walk{w} {
        for (int k = 0; k < N; ++k) p[k] = w.data[k];
        for (int i = w.ndim - 1; i >= 0; --i) {
            index[i] = position % w.dims[i];
            position /= w.dims[i];
            for (int k = 0; k < N; ++k) p[k] += index[i] * w.strides[k][i];
        }
    }

    // What is left of the run.
    int64_t left() const { return walk.dims[walk.ndim - 1] - index[walk.ndim - 1]; }

    // At most left() elements further.
    void Advance(int64_t n) {
        int i = walk.ndim - 1;
        for (int k = 0; k < N; ++k) p[k] += n * walk.strides[k][i];
        index[i] += n;
        while (index[i] == walk.dims[i] && i > 0) {
            for (int k = 0; k < N; ++k) {
                p[k] += walk.strides[k][i - 1] - walk.dims[i] * walk.strides[k][i];
            }
            index[i] = 0;
            ++index[--i];
        }
    }
};

// Copies n elements of `item_size` bytes between strided places.
inline void CopyStrided(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                        int64_t n, int64_t item_size) {
    VisitItemSize(item_size, [&]<typename T>() {
        constexpr int64_t kSize = sizeof(T);
        if (dst_stride == kSize && src_stride == kSize) {
            std::memcpy(dst, src, static_cast<size_t>(n * kSize));
        } else if (dst_stride == kSize && src_stride == 0) {
            T value;
            std::memcpy(&value, src, kSize);
            std::fill_n(reinterpret_cast<T*>(dst), n, value);
        } else {
            for (int64_t i = 0; i < n; ++i) {
                std::memcpy(dst + i * dst_stride, src + i * src_stride, kSize);
            }
        }
    });
}

}  // namespace chainerx::native

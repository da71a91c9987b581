// Walking over strided arrays. Dimensions that are contiguous with each other in all operands are
// merged first, so most arrays become one or two runs.
#pragma once

#include <array>
#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"

namespace chainerx::native {

// N operands of one shape, squashed. Axes of length 1 are dropped.
template <int N>
struct Squashed {
    int8_t ndim;
    int64_t dims[kMaxNdim];
    int64_t strides[N][kMaxNdim];
    char* data[N];

    template <typename... Arrays>
    explicit Squashed(const Arrays&... arrays)
        : Squashed{std::array<const Array*, N>{&arrays...}} {}

    explicit Squashed(const std::array<const Array*, N>& arrays) : ndim{0} {
        const Shape& shape = arrays[0]->shape();
        for (int k = 0; k < N; ++k) data[k] = arrays[k]->raw_data();
        for (int8_t i = 0; i < shape.ndim(); ++i) {
            const int64_t d = shape[i];
            if (d == 1) continue;
            bool merge = ndim > 0;
            for (int k = 0; k < N && merge; ++k) {
                merge = strides[k][ndim - 1] == arrays[k]->strides()[i] * d;
            }
            if (merge) {
                dims[ndim - 1] *= d;
            } else {
                dims[ndim++] = d;
            }
            for (int k = 0; k < N; ++k) strides[k][ndim - 1] = arrays[k]->strides()[i];
        }
    }

    bool empty() const {
        for (int8_t i = 0; i < ndim; ++i) {
            if (dims[i] == 0) return true;
        }
        return false;
    }

    // Calls f(pointers, strides of the run, n) for each innermost run.
    template <typename F>
    void ForEachRun(F&& f) const {
        if (empty()) return;
        std::array<char*, N> p;
        std::array<int64_t, N> s{};
        for (int k = 0; k < N; ++k) p[k] = data[k];
        if (ndim == 0) {
            f(p, s, int64_t{1});
            return;
        }
        const int last = ndim - 1;
        for (int k = 0; k < N; ++k) s[k] = strides[k][last];
        int64_t index[kMaxNdim] = {};
        while (true) {
            f(p, s, dims[last]);
            int i = last - 1;
            for (; i >= 0; --i) {
                for (int k = 0; k < N; ++k) p[k] += strides[k][i];
                if (++index[i] < dims[i]) break;
                for (int k = 0; k < N; ++k) p[k] -= strides[k][i] * dims[i];
                index[i] = 0;
            }
            if (i < 0) return;
        }
    }
};

}  // namespace chainerx::native

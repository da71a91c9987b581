// Scalar max pooling.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/pool/pooling_loops.h"

namespace chainerx::native {
namespace {

// The maximum so far and its index in the window.
template <typename T>
struct Largest {
    T value;
    int64_t number;

    // Call it with ascending indices.
    void See(T x, int64_t k) {
        // Not "x > value": NaN must beat numbers, and nothing beats NaN.
        if (!(x <= value) && value == value) {
            value = x;
            number = k;
        }
    }
};

template <typename T, typename Index>
inline void StoreLargest(const Largest<T>& largest, int64_t i, T* y, Index* index) {
    y[i] = largest.value;
    if constexpr (!std::is_void_v<Index>) index[i] = static_cast<Index>(largest.number);
}

// The initial value: the element `x`, the first of all, or the results so far.
template <typename T, typename Index>
inline Largest<T> StartLargest(const PoolRows& rows, const T* x, int64_t i, const T* y,
                               const Index* index) {
    if (!rows.resume) return {*x, rows.first[0]};
    if constexpr (std::is_void_v<Index>) {
        return {y[i], 0};
    } else {
        return {y[i], static_cast<int64_t>(index[i])};
    }
}

// Calls f(output row, its offset, the offset of its input rows).
inline void ForOutRows(const PoolRows& rows, const auto& f) {
    for (int64_t j = 0; j < rows.out_rows; ++j) f(j * rows.out_step, j * rows.in_step);
}

template <typename T, typename Index>
void ScalarMax(const PoolRows& rows, int64_t n, void* out, void* numbers) {
    T* const y = static_cast<T*>(out);
    Index* const index = static_cast<Index*>(numbers);
    ForOutRows(rows, [&](int64_t to, int64_t from) {
        for (int64_t i = 0; i < n; ++i) {
            const int64_t begin = from + i * rows.stride;
            Largest<T> largest = StartLargest(rows, rows.row<T>(0) + begin, to + i, y, index);
            for (int r = 0; r < rows.count; ++r) {
                const T* x = rows.row<T>(r) + begin;
                for (int64_t t = 0; t < rows.width; ++t) largest.See(x[t], rows.first[r] + t);
            }
            StoreLargest(largest, to + i, y, index);
        }
    });
}

}  // namespace
}  // namespace chainerx::native

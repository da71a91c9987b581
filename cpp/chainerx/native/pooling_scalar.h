// The maximum of windows, element by element.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/pooling_loops.h"

namespace chainerx::native {
namespace {

// Of all elements seen so far: the maximum, and its number in the window.
template <typename T>
struct Largest {
    T value;
    int64_t number;

    // Numbers come in ascending order.
    void See(T x, int64_t k) {
        // Not "x > value", so that NaN wins over numbers, and nothing over NaN.
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

// What to start with: the first element, or the results so far.
template <typename T, typename Index>
inline Largest<T> StartLargest(const PoolRows<T>& rows, int64_t i, const T* y, const Index* index) {
    if (!rows.resume) return {rows.data[0][i * rows.stride], rows.first[0]};
    if constexpr (std::is_void_v<Index>) {
        return {y[i], 0};
    } else {
        return {y[i], static_cast<int64_t>(index[i])};
    }
}

template <typename T, typename Index>
void ScalarMax(const PoolRows<T>& rows, int64_t n, T* y, Index* index) {
    for (int64_t i = 0; i < n; ++i) {
        Largest<T> largest = StartLargest(rows, i, y, index);
        for (int r = 0; r < rows.count; ++r) {
            const T* x = rows.data[r] + i * rows.stride;
            for (int64_t t = 0; t < rows.width; ++t) largest.See(x[t], rows.first[r] + t);
        }
        StoreLargest(largest, i, y, index);
    }
}

}  // namespace
}  // namespace chainerx::native

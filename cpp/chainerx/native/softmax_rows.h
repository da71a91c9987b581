// One row of a normalized exponential. A row has at least one element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace chainerx::native {

template <typename T>
struct RowStats {
    T max;
    T log_sum;  // log sum exp(x - max)
};

template <typename T>
T MaxOfRow(const T* x, int64_t n) {
    T max = x[0];
    for (int64_t j = 1; j < n; ++j) max = x[j] > max ? x[j] : max;
    return max;
}

template <typename T>
RowStats<T> GetRowStats(const T* x, int64_t n) {
    const T max = MaxOfRow(x, n);
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::exp(x[j] - max);
    return {max, std::log(sum)};
}

// y = exp(x - max) / sum exp(x - max)
template <typename T>
void SoftmaxRow(const T* x, T* y, int64_t n) {
    const T max = MaxOfRow(x, n);
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) {
        y[j] = std::exp(x[j] - max);
        sum += y[j];
    }
    const T scale = T{1} / sum;
    for (int64_t j = 0; j < n; ++j) y[j] *= scale;
}

// y = scale * softmax(x)
template <typename T>
void ScaledSoftmaxRow(const T* x, const RowStats<T>& stats, T scale, T* y, int64_t n) {
    for (int64_t j = 0; j < n; ++j) y[j] = std::exp((x[j] - stats.max) - stats.log_sum) * scale;
}

}  // namespace chainerx::native

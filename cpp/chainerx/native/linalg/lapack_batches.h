// Helpers of the kernels that call LAPACK: sizes, work spaces, batches, checks.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/gemm/blas_library.h"
#include "chainerx/native/linalg/lapack.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"
#include "chainerx/native/strided/scalar_traits.h"

namespace chainerx::native {

template <typename T>
const LapackRoutines<T>& Lapack(const char* op) {
    const LapackRoutines<T>* found = FindLapack<T>();
    if (found == nullptr) Fail(KernelError::NoLapack(op));
    return *found;
}

// Converts to LAPACK's integer. The work space may be several times the square of a matrix.
inline int ToInt(const char* op, int64_t m, int64_t n) {
    constexpr int64_t kMax = 20'000;
    if (std::min(m, n) > kMax || std::max(m, n) > INT_MAX / 8) {
        throw DimensionError{
            op, ": a has matrices of ", m, " x ", n, ", which 32-bit integers of LAPACK can't do"};
    }
    return static_cast<int>(m);
}

// The size of the work space, which LAPACK returns as a float.
template <typename T>
int WorkSize(T size) {
    return static_cast<int>(std::ceil(static_cast<double>(RealPart(size)) * (1 + 1e-6)));
}

// Calls f(begin, end) for groups of `count` matrices, m x n, on the thread pool.
template <typename F>
void ForGroups(int64_t count, int64_t m, int64_t n, const F& f) {
    const double work =
        static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n));
    const int64_t group = static_cast<int64_t>(std::max(1.0, 0x1p15 / (work + 1)));
    ParallelFor(CeilDiv(count, group),
                [&](int64_t g) { f(g * group, std::min(count, (g + 1) * group)); });
}

// Calls call(i, work, size) for each matrix i, with a work space of the size that call(0, &size,
// -1) returns.
template <typename T, typename F>
void ForMatrices(int64_t count, int64_t m, int64_t n, const F& call) {
    T size{};
    call(0, &size, -1);
    ForGroups(count, m, n, [&](int64_t begin, int64_t end) {
        const Scratch<T> work{WorkSize(size)};
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            call(i, work.data(), WorkSize(size));
        }
    });
}

template <typename T>
void CheckFinite(const char* op, int64_t matrix, const T* a, int64_t size) {
    const auto* parts = reinterpret_cast<const RealOf<T>*>(a);
    constexpr int64_t kParts = sizeof(T) / sizeof(RealOf<T>);
    RealOf<T> sum = 0;  // 0 times a non-finite number is NaN
    for (int64_t i = 0; i < size * kParts; ++i) sum += parts[i] * 0;
    if (sum != 0) Fail(KernelError::NotFinite(op, "a", matrix));
}

template <typename T>
void FillIdentity(int64_t n, T* a) {
    std::fill_n(a, n * n, T{0});
    for (int64_t i = 0; i < n; ++i) a[i * (n + 1)] = 1;
}

template <typename T>
void TransposeInPlace(int64_t n, T* a) {
    constexpr int64_t kTile = 16;
    for (int64_t i = 0; i < n; i += kTile) {
        for (int64_t j = i; j < n; j += kTile) {
            for (int64_t p = i; p < std::min(n, i + kTile); ++p) {
                for (int64_t q = std::max(j, p + 1); q < std::min(n, j + kTile); ++q) {
                    std::swap(a[p * n + q], a[q * n + p]);
                }
            }
        }
    }
}

}  // namespace chainerx::native

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

// Converts to LAPACK's integer. The work space may be several times the square
// of a matrix.
inline int ToInt(const char* op, int64_t m, int64_t n) {
    constexpr int64_t kMax = 20'000;
    if (std::min(m, n) > kMax || std::max(m, n) > INT_MAX / 8) {
        throw DimensionError{
            op, ": a has matrices of ", m, " x ", n, ", which 32-bit integers of LAPACK can't do"};
    }
    return static_cast<int>(m);
}

// The size of the work space, which LAPACK returns as a float.
int WorkSize(auto size) {
    return static_cast<int>(std::ceil(static_cast<double>(RealPart(size)) * (1 + 1e-6)));
}

// Calls f(begin, end) for groups of `count` matrices, m x n, on the thread
// pool.
void ForGroups(int64_t count, int64_t m, int64_t n, const auto& f) {
    const double work =
        static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n));
    const int64_t group = static_cast<int64_t>(std::max(1.0, 0x1p15 / (work + 1)));
    ParallelFor(CeilDiv(count, group),
                [&](int64_t g) { f(g * group, std::min(count, (g + 1) * group)); });
}

// Sizes of work spaces that a routine does not tell: real numbers, integers,
// and elements that the caller needs itself.
struct WorkSizes {
    int64_t reals{0};
    int64_t integers{0};
    int64_t extra{0};
};

// The work spaces of a call. A size of -1 asks for the sizes: they are to be
// written into the first elements.
template <typename T>
struct LapackWork {
    T* data;
    int size;
    RealOf<T>* reals;
    int n_reals;
    int* integers;
    int n_integers;
    T* extra;
};

// The only way in which LAPACK is called: for each of `count` matrices, m x n,
// in groups on the thread pool, prepare(i), call(i, work), finish(i, work).
// `call` calls a routine with the sizes that it asked for, or those of `least`
// if these are larger, and returns its `info`.
template <typename T, typename Prepare, typename Call, typename Finish>
void ForMatrices(const char* op, int64_t count, int64_t m, int64_t n, const WorkSizes& least,
                 const Prepare& prepare, const Call& call, const Finish& finish) {
    const auto guarded = [&](int64_t i, const LapackWork<T>& work) {
        const BlasCall guard;
        return call(i, work);
    };
    T size{};
    RealOf<T> n_reals{};
    int n_integers = 0;
    guarded(0, {&size, -1, &n_reals, -1, &n_integers, -1, nullptr});
    const int64_t sizes[] = {WorkSize(size), std::max<int64_t>(WorkSize(n_reals), least.reals),
                             std::max<int64_t>(n_integers, least.integers)};
    ForGroups(count, m, n, [&](int64_t begin, int64_t end) {
        const Scratch<T> data{sizes[0]};
        const Scratch<RealOf<T>> reals{sizes[1]};
        const Scratch<int> integers{sizes[2]};
        const Scratch<T> extra{least.extra};
        const LapackWork<T> work{
            data.data(),     static_cast<int>(sizes[0]), reals.data(), static_cast<int>(sizes[1]),
            integers.data(), static_cast<int>(sizes[2]), extra.data()};
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            prepare(i);
            const int info = guarded(i, work);
            if (info != 0) Fail(KernelError::NoConvergence(op, "a", i, info));
            finish(i, work);
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

void TransposeInPlace(int64_t n, auto* a) {
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

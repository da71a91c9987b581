// Products by the BLAS library, and our own dot products in place of its.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/native/elementwise/complex_loops.h"
#include "chainerx/native/gemm/blas_library.h"
#include "chainerx/native/gemm/matrix_product.h"
#include "chainerx/native/gemm/small_gemm.h"

namespace chainerx::native {
namespace {

// Whether there is a library whose 32-bit integers suffice. m and n are partitioned anyway.
template <typename T>
bool CanBlas(const MatrixProduct<T>& p) {
    return std::max({p.k, p.lda, p.ldb, p.ldc}) <= INT_MAX && GetBlasLibrary().handle != nullptr;
}

template <typename T>
void CallBlas(const MatrixProduct<T>& p, const BlasRoutines<T>& blas) {
    using S = CblasScalar<T>;
    const BlasCall call;
    const T alpha{1};
    const T beta{p.accumulate ? T{1} : T{0}};
    const auto m = static_cast<int>(p.m);
    const auto n = static_cast<int>(p.n);
    const auto k = static_cast<int>(p.k);
    const auto lda = static_cast<int>(p.lda);
    const auto ldb = static_cast<int>(p.ldb);
    const auto ldc = static_cast<int>(p.ldc);
    // gemv takes a half to a sixth of gemm's time, from 16 x 16 to 1000 x 1000.
    if (m == 1) {
        const int step = p.trans_a ? lda : 1;
        blas.gemv(kRowMajor, p.trans_b ? kNoTrans : kTrans, p.trans_b ? n : k, p.trans_b ? k : n,
                  S::Pass(alpha), p.b, ldb, p.a, step, S::Pass(beta), p.c, 1);
    } else if (n == 1) {
        const int step = p.trans_b ? 1 : ldb;
        blas.gemv(kRowMajor, p.trans_a ? kTrans : kNoTrans, p.trans_a ? k : m, p.trans_a ? m : k,
                  S::Pass(alpha), p.a, lda, p.b, step, S::Pass(beta), p.c, ldc);
    } else {
        blas.gemm(kRowMajor, p.trans_a ? kTrans : kNoTrans, p.trans_b ? kTrans : kNoTrans, m, n, k,
                  S::Pass(alpha), p.a, lda, p.b, ldb, S::Pass(beta), p.c, ldc);
    }
}

// Calls run(part) for parts of some ten milliseconds, since BLAS knows no interrupts. Cutting k
// costs nothing, since BLAS packs the operands in shorter panels anyway; cutting m or n packs one
// of them again. A function of shape and dtype alone, as CountBlocks.
template <typename T, typename F>
void InChunks(const MatrixProduct<T>& p, const F& run) {
    constexpr int64_t kWork = int64_t{1} << (sizeof(T) <= 4 ? 29 : sizeof(T) <= 8 ? 28 : 26);
    constexpr int64_t kMinLength = 512;
    constexpr int64_t kUnit = 64;
    const auto part = [=](int64_t length, int64_t others) {
        if (length <= kWork / others) return length;
        const int64_t count = (length - 1) / std::max(kMinLength, kWork / others) + 1;
        return ((length - 1) / count / kUnit + 1) * kUnit;
    };
    const int64_t k = part(p.k, p.m <= kWork / p.n ? p.m * p.n : kWork);
    const int64_t m = part(p.m, p.n <= kWork / k ? p.n * k : kWork);
    const int64_t n = part(p.n, m * k);
    for (int64_t j = 0; j < p.n; j += n) {
        const MatrixProduct<T> columns = p.Cols(j, std::min(p.n, j + n));
        for (int64_t i = 0; i < p.m; i += m) {
            const MatrixProduct<T> block = columns.Rows(i, std::min(p.m, i + m));
            for (int64_t q = 0; q < p.k; q += k) {
                if (i + j + q != 0) internal::CheckInterrupt();
                run(block.Depth(q, std::min(p.k, q + k)));
            }
        }
    }
}

template <typename T>
void RunBlas(const MatrixProduct<T>& p) {
    const BlasRoutines<T>& blas = GetBlasLibrary().Routines<T>();
    InChunks(p, [&](const MatrixProduct<T>& part) { CallBlas(part, blas); });
}

template <typename T>
bool CanDot(const MatrixProduct<T>& p) {
    return p.m == 1 && p.n == 1 && (!p.trans_a || p.lda == 1) && (p.trans_b || p.ldb == 1);
}

template <typename T>
T Dot(int64_t k, const T* a, const T* b) {
    if constexpr (std::is_floating_point_v<T>) {
        return small_gemm_loops().Of<T>().dot(k, a, b);
    } else {
        return complex_loops().Dots<typename T::value_type>().plain(k, a, b);
    }
}

template <typename T>
void RunDot(const MatrixProduct<T>& p) {
    InChunks(p, [](const MatrixProduct<T>& part) {
        const T sum = Dot(part.k, part.a, part.b);
        *part.c = part.accumulate ? *part.c + sum : sum;
    });
}

}  // namespace
}  // namespace chainerx::native

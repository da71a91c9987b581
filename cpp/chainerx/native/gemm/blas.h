// Matrix product of raw row-major matrices.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/ranges.h"

namespace chainerx {
namespace native {

// c = op(a) op(b), or c += op(a) op(b), where op(a) is m x k, op(b) is k x n and c is m x n.
//
// All are row-major, rows lda, ldb, ldc elements apart (at least their width); op transposes if
// asked to. Elements of a row are adjacent. c overlaps neither a nor b; it may be uninitialized
// unless `accumulate`. T is float, double, complex of these, uint32_t or uint64_t (which serve
// for the signed types as well: integers wrap).
//
// Runs on several threads when that pays. The bits of the result don't depend on their number.
template <typename T>
void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
          const T* b, int64_t ldb, T* c, int64_t ldc, bool accumulate);

// c = op(a) op(b) + row[j] in column j, followed by ReLU if `rectified`, in one pass over c.
// Returns false, and does nothing, if none of our own loops computes this product.
bool TryGemmAndRow(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                   int64_t lda, const float* b, int64_t ldb, const float* row, float* c,
                   int64_t ldc, bool rectified);

// c = op(a) op(b), and sums[i] = the sum of row i of op(a), taken while it is in cache. Returns
// false as TryGemmAndRow.
bool TryGemmAndSums(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                    int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, float* sums);

// `count` independent products of one shape. `operands(i, f)` calls f(a, b, c) with the matrices of
// product i; products may share a or b, never c.
template <typename T, typename F>
void GemmBatch(int64_t count, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
               int64_t lda, int64_t ldb, int64_t ldc, bool accumulate, const F& operands) {
    const auto run = [&](int64_t i) {
        operands(i, [&](const T* a, const T* b, T* c) {
            Gemm(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
        });
    };
    // Large products run one by one, each on all threads; small ones run in groups, a group to a
    // thread.
    constexpr double kLarge = 1 << 22;
    constexpr double kGroup = 1 << 18;
    const double work =
        static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k + 16);
    if (count == 1 || work >= kLarge) {
        for (int64_t i = 0; i < count; ++i) run(i);
        return;
    }
    const auto group = std::max<int64_t>(1, static_cast<int64_t>(kGroup / std::max(work, 1.0)));
    ParallelFor(CeilDiv(count, group), [&](int64_t g) {
        const int64_t end = std::min(count, (g + 1) * group);
        for (int64_t i = g * group; i < end; ++i) run(i);
    });
}

}  // namespace native
}  // namespace chainerx

// Matrix products of the kernels: one table of algorithms, of which one can be forced. Products
// inside of other kernels choose by themselves (Gemm in gemm/blas.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/gemm/matrix_product.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

// Gemm by the algorithm that is forced, if one is. Notes which ran.
template <typename T>
void ForcibleGemm(const MatrixProduct<T>& p);

// A row of the table.
struct GemmChoice {
    int row{0};
    bool is_forced{false};
};

// The same in two steps: chooses and notes the row that products of this shape take, whatever their
// addresses; and runs it.
template <typename T>
GemmChoice ChooseGemm(const MatrixProduct<T>& p);
template <typename T>
void RunGemm(const MatrixProduct<T>& p, const GemmChoice& choice);

// c = op(a) op(b) + row[j] in column j, followed by ReLU if `rectified`, in one pass over c.
// Returns false, and does nothing, if another than our own blocked algorithm computes the product.
bool TryGemmAndRow(const MatrixProduct<float>& p, const float* row, bool rectified);

// c = op(a) op(b), and sums[i] = the sum of row i of op(a), taken while it is in cache. Returns
// false as TryGemmAndRow.
bool TryGemmAndSums(const MatrixProduct<float>& p, float* sums);

// `count` independent products of one shape. `operands(i, f)` calls f(a, b, c) with the matrices of
// product i; products may share a or b, never c.
template <typename T, typename F>
void GemmBatch(int64_t count, const MatrixProduct<T>& shape, const F& operands) {
    const GemmChoice choice = ChooseGemm(shape);
    const auto run = [&](int64_t i) {
        operands(i, [&](const T* a, const T* b, T* c) {
            MatrixProduct<T> p = shape;
            p.a = a;
            p.b = b;
            p.c = c;
            RunGemm(p, choice);
        });
    };
    // Large products run one by one, each on all threads; small ones run in groups, a group to a
    // thread.
    constexpr double kLarge = 1 << 22;
    constexpr double kGroup = 1 << 18;
    const double work = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                        static_cast<double>(shape.k + 16);
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

}  // namespace chainerx::native

// Products of float32 matrices by loops of our own (gemm/simd/gemm.cc), blocked for the caches.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Whether GemmBlocks is to compute a large product: a function of the shape alone, of the
// instruction set and of what $CHAINERX_BLAS asks for.
bool IsForGemmBlocks(int64_t m, int64_t n, int64_t k);

// As Gemm<float>, or with a bias, which is not for `accumulate`, as TryGemmAndRow, or with
// `row_sums`, unless it is null, as TryGemmAndSums. Each element is
// one chain along k, cut where k says: so the bits depend neither on threads nor on where m and n
// are cut.
void GemmBlocks(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool accumulate,
                const float* bias = nullptr, bool rectified = false, float* row_sums = nullptr);

}  // namespace chainerx::native

// Cache-blocked GEMM for float32, with the micro-kernel of gemm/simd/gemm.cc.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Returns whether GemmBlocks should compute a large product: a function of the shape, the
// instruction set and $CHAINERX_BLAS.
bool IsForGemmBlocks(int64_t m, int64_t n, int64_t k);

// Computes Gemm<float>; or, with a bias (not with `accumulate`), TryGemmAndRow; or, with non-null
// `row_sums`, TryGemmAndSums. Each element is one chain along k, cut at positions that depend on k
// alone: so the bits depend neither on threads nor on the cuts of m and n.
void GemmBlocks(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool accumulate,
                const float* bias = nullptr, bool rectified = false, float* row_sums = nullptr);

}  // namespace chainerx::native

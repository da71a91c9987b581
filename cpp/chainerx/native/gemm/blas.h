// Matrix product of raw row-major matrices.
#pragma once

#include <cstdint>

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

}  // namespace native
}  // namespace chainerx

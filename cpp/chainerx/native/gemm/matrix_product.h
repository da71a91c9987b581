// One product of raw row-major matrices, or a block of one.
#pragma once

#include <cstdint>

namespace chainerx::native {

// c = op(a) op(b), or c += op(a) op(b): the operands of Gemm (gemm/blas.h).
template <typename T>
struct MatrixProduct {
    bool trans_a;
    bool trans_b;
    bool accumulate;
    int64_t m;
    int64_t n;
    int64_t k;
    const T* a;
    int64_t lda;
    const T* b;
    int64_t ldb;
    T* c;
    int64_t ldc;

    // The strides of op(a) and op(b).
    int64_t a_row() const { return trans_a ? 1 : lda; }
    int64_t a_column() const { return trans_a ? lda : 1; }
    int64_t b_row() const { return trans_b ? 1 : ldb; }
    int64_t b_column() const { return trans_b ? ldb : 1; }

    // The number of multiplications; INT64_MAX if a side is so long that it might overflow.
    int64_t CountWork() const {
        constexpr int64_t kLong = int64_t{1} << 20;
        return (m | n | k) < kLong ? m * n * k : INT64_MAX;
    }

    MatrixProduct Rows(int64_t begin, int64_t end) const {
        MatrixProduct p = *this;
        p.m = end - begin;
        p.a += trans_a ? begin : begin * lda;
        p.c += begin * ldc;
        return p;
    }
    // Returns the product over k in [begin, end) only; all but the first add to c.
    MatrixProduct Depth(int64_t begin, int64_t end) const {
        MatrixProduct p = *this;
        p.k = end - begin;
        p.a += trans_a ? begin * lda : begin;
        p.b += trans_b ? begin : begin * ldb;
        p.accumulate = accumulate || begin != 0;
        return p;
    }
    MatrixProduct Cols(int64_t begin, int64_t end) const {
        MatrixProduct p = *this;
        p.n = end - begin;
        p.b += trans_b ? begin * ldb : begin;
        p.c += begin;
        return p;
    }
};

}  // namespace chainerx::native

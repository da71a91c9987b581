#include "chainerx/native/gemm/blas.h"

#include <algorithm>
#include <climits>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/elementwise/complex_loops.h"
#include "chainerx/native/gemm/blas_library.h"
#include "chainerx/native/gemm/gemm_blocks.h"
#include "chainerx/native/gemm/gemm_plain.h"
#include "chainerx/native/gemm/small_gemm.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/strided/copy_block.h"

namespace chainerx {
namespace native {

CX_DISPATCH(small_gemm, SmallGemmLoops)

namespace {

// One matrix product, or a block of one.
template <typename T>
struct Product {
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

    Product Rows(int64_t begin, int64_t end) const {
        Product p = *this;
        p.m = end - begin;
        p.a += trans_a ? begin : begin * lda;
        p.c += begin * ldc;
        return p;
    }
    // Returns the product over k in [begin, end) only; all but the first add to c.
    Product Depth(int64_t begin, int64_t end) const {
        Product p = *this;
        p.k = end - begin;
        p.a += trans_a ? begin * lda : begin;
        p.b += trans_b ? begin : begin * ldb;
        p.accumulate = accumulate || begin != 0;
        return p;
    }
    Product Cols(int64_t begin, int64_t end) const {
        Product p = *this;
        p.n = end - begin;
        p.b += trans_b ? begin * ldb : begin;
        p.c += begin;
        return p;
    }
};

template <typename T>
void RunPlain(const Product<T>& p, decltype(&PlainGemm<T>) gemm) {
    gemm(p.m, p.n, p.k, p.a, p.trans_a ? 1 : p.lda, p.trans_a ? p.lda : 1, p.b,
         p.trans_b ? 1 : p.ldb, p.trans_b ? p.ldb : 1, p.c, p.ldc, p.accumulate);
}

// A BLAS call costs a lock, a buffer and 100 ns before its first multiplication; 128
// multiplications take as long.
constexpr int64_t kTinyWork = 128;

template <typename T>
void RunTiny(const Product<T>& p) {
    const int64_t a_row = p.trans_a ? 1 : p.lda;
    const int64_t a_col = p.trans_a ? p.lda : 1;
    const int64_t b_row = p.trans_b ? 1 : p.ldb;
    const int64_t b_col = p.trans_b ? p.ldb : 1;
    for (int64_t i = 0; i < p.m; ++i) {
        for (int64_t j = 0; j < p.n; ++j) {
            T sum = p.accumulate ? p.c[i * p.ldc + j] : T{};
            for (int64_t q = 0; q < p.k; ++q) {
                sum += p.a[i * a_row + q * a_col] * p.b[q * b_row + j * b_col];
            }
            p.c[i * p.ldc + j] = sum;
        }
    }
}

// BLAS takes twice as long for 8 x 8 x 8, and as long at this bound.
template <typename T>
bool IsSmall(const Product<T>& p) {
    constexpr int64_t kSmallWork = (1 << 14) / sizeof(T);
    return !p.trans_b && p.m > 1 && p.n > 1 && p.m <= kSmallWork && p.n <= kSmallWork / p.m &&
           p.k <= kSmallWork / (p.m * p.n);
}

template <typename T>
void RunSmall(const Product<T>& p) {
    small_gemm_loops().Of<T>().product(p.m, p.n, p.k, p.a, p.trans_a ? 1 : p.lda,
                                       p.trans_a ? p.lda : 1, p.b, p.ldb, p.c, p.ldc, p.accumulate);
}

// GEMV: a matrix times a column, or its transpose; each row of `a` is as long as the sum.
template <typename T>
struct MatrixVector {
    int64_t rows;
    int64_t k;
    const T* a;
    int64_t a_row;
    int64_t a_col;
    const T* x;
    int64_t x_step;
    T* y;
    int64_t y_step;
    bool accumulate;

    static MatrixVector Of(const Product<T>& p) {
        const int64_t a_row = p.trans_a ? 1 : p.lda;
        const int64_t a_col = p.trans_a ? p.lda : 1;
        const int64_t b_row = p.trans_b ? 1 : p.ldb;
        const int64_t b_col = p.trans_b ? p.ldb : 1;
        if (p.n == 1) return {p.m, p.k, p.a, a_row, a_col, p.b, b_row, p.c, p.ldc, p.accumulate};
        return {p.n, p.k, p.b, b_col, b_row, p.a, a_col, p.c, 1, p.accumulate};
    }
};

// Computes kRows sums in parallel, since additions of one sum depend on each other.
template <int kRows, typename T>
void RowSums(const MatrixVector<T>& v, int64_t i) {
    T* y = v.y + i * v.y_step;
    const T* a = v.a + i * v.a_row;
    T sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = v.accumulate ? y[r * v.y_step] : T{};
    for (int64_t q = 0; q < v.k; ++q, a += v.a_col) {
        const T x = v.x[q * v.x_step];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) sum[r] += a[r * v.a_row] * x;
    }
    for (int r = 0; r < kRows; ++r) y[r * v.y_step] = sum[r];
}

// BLAS takes twice as long for 8 x 8. Returns false if BLAS should compute the product.
template <typename T>
bool TryMatrixVector(const Product<T>& p) {
    constexpr int64_t kSmallWork = (1 << 12) / sizeof(T);
    constexpr int64_t kTurned = 16;
    constexpr int64_t kTurnedRows = 32;
    constexpr int64_t kMinRows = 8;
    if ((p.m != 1 && p.n != 1) || p.k > kSmallWork) return false;
    const auto v = MatrixVector<T>::Of(p);
    if (v.rows > kSmallWork / v.k || v.rows == 1) return false;
    // Sums too short for SIMD loops.
    const int64_t shortest = v.a_row == 1 && v.y_step == 1 ? 5 : 9;
    if (v.k < shortest) {
        int64_t i = 0;
        for (; i + 4 <= v.rows; i += 4) RowSums<4>(v, i);
        if (const int64_t rest = v.rows - i; rest == 3) {
            RowSums<3>(v, i);
        } else if (rest == 2) {
            RowSums<2>(v, i);
        } else if (rest == 1) {
            RowSums<1>(v, i);
        }
        return true;
    }
    // Each sum is sequential, hence the same for all vector widths: columns of `a` are transposed
    // first.
    const auto product = [&](const T* a, int64_t a_col) {
        small_gemm_loops().Of<T>().product(1, v.rows, v.k, v.x, 0, v.x_step, a, a_col, v.y, v.rows,
                                           v.accumulate);
    };
    if (v.y_step != 1) return false;
    if (v.a_row == 1) {
        if (v.rows < kMinRows && v.k > kMinRows) return false;  // too few for SIMD
        product(v.a, v.a_col);
        return true;
    }
    // BLAS computes longer ones in less time than transposing them takes.
    if (v.k > kTurned || v.rows > kTurnedRows || sizeof(T) != sizeof(float)) return false;
    constexpr int64_t kSize = sizeof(T);
    alignas(64) T transposed[kSmallWork];
    CopyBlock(reinterpret_cast<char*>(transposed), reinterpret_cast<const char*>(v.a),
              {v.k, v.rows, v.rows * kSize, kSize, v.a_col * kSize, v.a_row * kSize}, kSize);
    product(transposed, v.rows);
    return true;
}

// k = 1: memory-bound, and BLAS would pack both operands first.
template <typename T>
void RunOuter(const Product<T>& p) {
    const int64_t step = p.trans_a ? 1 : p.lda;
    const auto scale = small_gemm_loops().Of<T>().scale;
    for (int64_t i = 0; i < p.m; ++i) {
        scale(p.b, p.a[i * step], p.c + i * p.ldc, p.n, p.accumulate);
    }
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
void RunBlas(const Product<T>& p, const BlasRoutines<T>& blas) {
    // A dot product of 1000 numbers takes a third to two thirds of gemv's time.
    if (p.m == 1 && p.n == 1 && (!p.trans_a || p.lda == 1) && (p.trans_b || p.ldb == 1)) {
        const T sum = Dot(p.k, p.a, p.b);
        *p.c = p.accumulate ? *p.c + sum : sum;
        return;
    }
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

// BLAS knows no interrupts, so it gets chunks of some ten milliseconds. Cutting k costs nothing,
// since BLAS packs the operands in shorter panels anyway; cutting m or n packs one of them again. A
// function of shape and dtype alone, as CountBlocks.
template <typename T>
void RunParts(const Product<T>& p, const BlasRoutines<T>& blas) {
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
        const Product<T> columns = p.Cols(j, std::min(p.n, j + n));
        for (int64_t i = 0; i < p.m; i += m) {
            const Product<T> block = columns.Rows(i, std::min(p.m, i + m));
            for (int64_t q = 0; q < p.k; q += k) {
                if (i + j + q != 0) internal::CheckInterrupt();
                RunBlas(block.Depth(q, std::min(p.k, q + k)), blas);
            }
        }
    }
}

template <typename T>
void RunBlock(const Product<T>& p) {
    // Not p.m * p.n * p.k, which may overflow.
    const auto is_at_most = [&](int64_t work) {
        return p.m <= work && p.n <= work / p.m && p.k <= work / (p.m * p.n);
    };
    if constexpr (std::is_integral_v<T>) {
        // Packing a panel takes as long as some thousand multiplications.
        constexpr int64_t kThinWork = 1 << 12;
        const bool is_thin = p.m == 1 || p.n == 1 || p.k == 1;
        if (is_thin || is_at_most(kThinWork)) {
            RunPlain(p, &ThinGemm<T>);
        } else {
            RunPlain(p, &PlainGemm<T>);
        }
    } else {
        if constexpr (std::is_floating_point_v<T>) {
            constexpr int64_t kMinCount = 8;  // worth a call
            if (is_at_most(kMinCount)) {
                RunTiny(p);
                return;
            }
            if (p.k == 1 && (!p.trans_b || p.ldb == 1)) {
                RunOuter(p);
                return;
            }
            if (IsSmall(p)) {
                RunSmall(p);
                return;
            }
            if (is_at_most(kTinyWork)) {
                RunTiny(p);
                return;
            }
        }
        const BlasLibrary& library = GetBlasLibrary();
        if constexpr (std::is_same_v<T, float>) {
            if (library.is_avoided) [[unlikely]] {
                GemmBlocks(p.trans_a, p.trans_b, p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.c, p.ldc,
                           p.accumulate);
                return;
            }
        }
        // Matrices with dimensions beyond CBLAS's 32-bit integers are left to the loops.
        const int64_t largest = std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
        if (library.handle == nullptr || largest > INT_MAX) {
            RunPlain(p, &PlainGemm<T>);
        } else {
            RunParts(p, library.Routines<T>());
        }
    }
}

// Number of blocks that the longer of m and n is cut into. A function of shape and dtype alone,
// since bits may depend on where blocks end. Measured on one core, float32: four blocks of 256 cost
// 1-3 % at 1000 x 1000, 64 wide ones 6-9 %.
template <typename T>
int64_t CountBlocks(int64_t m, int64_t n, int64_t k, bool across) {
    constexpr double kWeight = sizeof(T) / 4.0 * (std::is_arithmetic_v<T> ? 1 : 2);
    const double work =
        kWeight * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    // A vector times a block of columns reads short pieces of the matrix's rows: three times
    // slower.
    if (across && work < 0x1p22) return 1;
    if (m == 1 || n == 1 || k == 1) {  // memory-bound: 2^17 takes about 6 us
        return std::clamp<int64_t>(static_cast<int64_t>(std::min(work, 0x1p40) * 0x1p-17), 1, 4);
    }
    if (work < 0x1p20) return 1;  // 20 us
    if (work < 0x1p23) return 2;
    if (work < 0x1p31) return 4;
    if (work < 0x1p34) return 8;
    return work < 0x1p37 ? 16 : 32;
}

// Thin products are not worth packing.
bool IsWorthPacking(int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kThin = 16;
    return m >= kThin && n >= kThin && k >= kThin && IsForGemmBlocks(m, n, k);
}

}  // namespace

template <typename T>
void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
          const T* b, int64_t ldb, T* c, int64_t ldc, bool accumulate) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        for (int64_t i = 0; i < m && !accumulate; ++i) std::fill_n(c + i * ldc, n, T{});
        return;
    }
    if constexpr (std::is_same_v<T, float>) {
        if (IsWorthPacking(m, n, k)) {
            GemmBlocks(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
            return;
        }
    }
    const Product<T> p{trans_a, trans_b, accumulate, m, n, k, a, lda, b, ldb, c, ldc};
    if constexpr (std::is_floating_point_v<T>) {
        if (TryMatrixVector(p)) return;
    }
    const int64_t n_blocks = CountBlocks<T>(m, n, k, (m == 1 && !trans_b) || (n == 1 && trans_a));
    constexpr int64_t kUnit = 64;
    const int64_t length = std::max(m, n);
    if (n_blocks == 1 || length <= kUnit) {
        RunBlock(p);
        return;
    }
    const int64_t n_units = CeilDiv(length, kUnit);
    const int64_t n_cuts = std::min(n_blocks, n_units);
    ParallelFor(n_cuts, [&](int64_t i) {
        const int64_t begin = n_units * i / n_cuts * kUnit;
        const int64_t end = std::min(length, n_units * (i + 1) / n_cuts * kUnit);
        // Cuts rows if m == n: blocks of columns write short pieces of the same rows, and each
        // packs all of `a`. At 1000 x 1000 x 100, two threads, cutting rows is 1.6 times as fast.
        RunBlock(n > m ? p.Cols(begin, end) : p.Rows(begin, end));
    });
}

bool TryGemmAndRow(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                   int64_t lda, const float* b, int64_t ldb, const float* row, float* c,
                   int64_t ldc, bool rectified) {
    if (!IsWorthPacking(m, n, k)) return false;
    GemmBlocks(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, false, row, rectified);
    return true;
}

bool TryGemmAndSums(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                    int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, float* sums) {
    if (!IsWorthPacking(m, n, k)) return false;
    GemmBlocks(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, false, nullptr, false, sums);
    return true;
}

#define CX_GEMM(T)                                                                            \
    template void Gemm<T>(bool, bool, int64_t, int64_t, int64_t, const T*, int64_t, const T*, \
                          int64_t, T*, int64_t, bool);
CX_GEMM(float)
CX_GEMM(double)
CX_GEMM(std::complex<float>)
CX_GEMM(std::complex<double>)
CX_GEMM(uint32_t)
CX_GEMM(uint64_t)
#undef CX_GEMM

}  // namespace native
}  // namespace chainerx

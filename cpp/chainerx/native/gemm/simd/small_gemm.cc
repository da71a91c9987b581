// Small GEMM, GEMV and dot products, without packing.
#include "chainerx/native/gemm/small_gemm.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
struct Matrices {
    int64_t k;
    const T* a;
    int64_t a_row;
    int64_t a_column;
    const T* b;
    int64_t b_row;
    T* c;
    int64_t c_row;
    bool accumulate;
};

// Computes kRows rows from row i on, and the columns from j on that `load` and `store` move.
template <int kRows, typename T, typename Load, typename Store>
inline void Tile(const Matrices<T>& p, int64_t i, int64_t j, const Load& load, const Store& store) {
    Batch<T> sum[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
        sum[r] = p.accumulate ? load(p.c + (i + r) * p.c_row + j) : Batch<T>(T(0));
    }
    const T* a = p.a + i * p.a_row;
    const T* b = p.b + j;
    for (int64_t q = 0; q < p.k; ++q, a += p.a_column, b += p.b_row) {
        const Batch<T> row = load(b);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
            sum[r] = xsimd::fma(Batch<T>(a[r * p.a_row]), row, sum[r]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) store(p.c + (i + r) * p.c_row + j, sum[r]);
}

template <typename T, typename Load, typename Store>
inline void Columns(const Matrices<T>& p, int64_t m, int64_t j, const Load& load,
                    const Store& store) {
    int64_t i = 0;
    for (; i + 8 <= m; i += 8) Tile<8>(p, i, j, load, store);
    if (i + 4 <= m) {
        Tile<4>(p, i, j, load, store);
        i += 4;
    }
    for (; i < m; ++i) Tile<1>(p, i, j, load, store);
}

template <typename T>
void Product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_column,
             const T* b, int64_t b_row, T* c, int64_t c_row, bool accumulate) {
    constexpr int64_t kSize = Batch<T>::size;
    const Matrices<T> p{k, a, a_row, a_column, b, b_row, c, c_row, accumulate};
    int64_t j = 0;
    for (; j + kSize <= n; j += kSize) {
        Columns(
            p, m, j, [](const T* x) { return Batch<T>::load_unaligned(x); },
            [](T* x, const Batch<T>& y) { y.store_unaligned(x); });
    }
    if (j < n) {
        Columns(
            p, m, j, [rest = n - j](const T* x) { return LoadPart(x, rest); },
            [rest = n - j](T* x, const Batch<T>& y) { StorePart(x, y, rest); });
    }
}

// Dot products of kRows pairs of rows, so that additions of different sums overlap.
template <int kRows, typename T>
inline void DotsOf(int64_t k, const T* a, int64_t a_step, const T* b, int64_t b_step, T* y,
                   int64_t y_step) {
    constexpr int64_t kSize = Batch<T>::size;
    Batch<T> sum[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sum[r] = Batch<T>(T(0));
    const auto add = [&](int64_t q, const auto& load) {
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            sum[r] = xsimd::fma(load(a + r * a_step + q), load(b + r * b_step + q), sum[r]);
        }
    };
    int64_t q = 0;
    for (; q + kSize <= k; q += kSize) {
        add(q, [](const T* x) { return Batch<T>::load_unaligned(x); });
    }
    if (q < k) add(q, [rest = k - q](const T* x) { return LoadPart(x, rest); });
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
        y[r * y_step] =
            FoldLanes(sum[r], [](const Batch<T>& u, const Batch<T>& v) { return u + v; });
    }
}

template <typename T>
void Dots(int64_t count, int64_t k, const T* a, int64_t a_step, const T* b, int64_t b_step, T* y,
          int64_t y_step) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        DotsOf<4>(k, a + i * a_step, a_step, b + i * b_step, b_step, y + i * y_step, y_step);
    }
    for (; i < count; ++i) {
        DotsOf<1>(k, a + i * a_step, a_step, b + i * b_step, b_step, y + i * y_step, y_step);
    }
}

// Uses four sums, since additions of one sum depend on each other.
template <typename T>
T Dot(int64_t k, const T* a, const T* b) {
    constexpr int64_t kSize = Batch<T>::size;
    Batch<T> sum[4];
    for (Batch<T>& s : sum) s = Batch<T>(T(0));
    const auto add = [&](Batch<T>& s, int64_t q) {
        s = xsimd::fma(Batch<T>::load_unaligned(a + q), Batch<T>::load_unaligned(b + q), s);
    };
    int64_t q = 0;
    for (; q + 4 * kSize <= k; q += 4 * kSize) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) add(sum[i], q + i * kSize);
    }
    for (; q + kSize <= k; q += kSize) add(sum[0], q);
    if (q < k) sum[1] = xsimd::fma(LoadPart(a + q, k - q), LoadPart(b + q, k - q), sum[1]);
    return FoldLanes((sum[0] + sum[1]) + (sum[2] + sum[3]),
                     [](const Batch<T>& u, const Batch<T>& v) { return u + v; });
}

template <typename T>
void Scale(const T* x, T factor, T* y, int64_t n, bool add) {
    if (!add) {
        ForRow(x, y, n, [=](const Batch<T>& b) { return b * factor; });
        return;
    }
    for (int64_t i = 0; i < n; ++i) y[i] += x[i] * factor;
}

template <typename T>
constexpr SmallGemmLoopsOf<T> kLoops = {&Product<T>, &Dots<T>, &Dot<T>, &Scale<T>};

}  // namespace

CX_EXPORT_LOOPS(SmallGemmLoops){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA

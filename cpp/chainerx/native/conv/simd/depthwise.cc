// Row loops of direct (depthwise) convolutions.
#include "chainerx/native/conv/depthwise_loops.h"
#include "chainerx/native/conv/simd/depthwise_window.h"
#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
constexpr int64_t kWidth = Batch<T>::size;

template <typename T>
void CopyRows(DepthwiseRows<const T> x, DepthwiseRows<T> y, int64_t n_rows, int64_t n) {
    const int64_t whole = n / kWidth<T> * kWidth<T>;
    for (int64_t r = 0; r < n_rows; ++r) {
        const T* from = x.data + r * x.step;
        T* to = y.data + r * y.step;
        for (int64_t i = 0; i < whole; i += kWidth<T>) {
            Batch<T>::load_unaligned(from + i).store_unaligned(to + i);
        }
        if (whole != n) StorePart(to + whole, LoadPart(from + whole, n - whole), n - whole);
    }
}

template <typename T>
void Split(const T* __restrict x, int64_t n, T* __restrict first, T* __restrict second) {
    for (int64_t i = 0; i < n; ++i) {
        first[i] = x[2 * i];
        second[i] = x[2 * i + 1];
    }
}

// Computes kR rows of kV vectors each, or of one vector of which the first n lanes count.
template <int kR, int kV, bool kWhole, typename T>
void SumBlock(const T* x, int64_t x_step, const int64_t* offsets, const T* w, int64_t n_taps,
              T bias, const T* limits, T* y, int64_t y_step, int64_t n) {
    Batch<T> sum[kR][kV];
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v) sum[r][v] = Batch<T>(bias);
    }
    for (int64_t t = 0; t < n_taps; ++t) {
        const Batch<T> factor(w[t]);
        const T* from = x + offsets[t];
#pragma GCC unroll 4
        for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) {
                const T* at = from + r * x_step + v * kWidth<T>;
                sum[r][v] = xsimd::fma(factor, Batch<T>::load_unaligned(at), sum[r][v]);
            }
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v) {
            T* at = y + r * y_step + v * kWidth<T>;
            if (limits != nullptr) {
                sum[r][v] = math::MinOrSecond(Batch<T>(limits[1]),
                                              math::MaxOrSecond(Batch<T>(limits[0]), sum[r][v]));
            }
            if constexpr (kWhole) {
                sum[r][v].store_unaligned(at);
            } else {
                StorePart(at, sum[r][v], n);
            }
        }
    }
}

// Computes kR complete rows, kV vectors at a time.
template <int kR, int kV, typename T>
void SumRows(const T* x, int64_t x_step, const int64_t* offsets, const T* w, int64_t n_taps, T bias,
             const T* limits, T* y, int64_t y_step, int64_t n) {
    int64_t i = 0;
    for (; i + kV * kWidth<T> <= n; i += kV * kWidth<T>) {
        SumBlock<kR, kV, true>(x + i, x_step, offsets, w, n_taps, bias, limits, y + i, y_step, 0);
    }
    for (; i + kWidth<T> <= n; i += kWidth<T>) {
        SumBlock<kR, 1, true>(x + i, x_step, offsets, w, n_taps, bias, limits, y + i, y_step, 0);
    }
    if (i != n)
        SumBlock<kR, 1, false>(x + i, x_step, offsets, w, n_taps, bias, limits, y + i, y_step,
                               n - i);
}

template <typename T>
void Sum(DepthwiseRows<const T> x, const int64_t* offsets, const T* w, int64_t n_taps, T bias,
         const T* limits, DepthwiseRows<T> y, int64_t n_rows, int64_t n) {
    int64_t r = 0;
    for (; r + 4 <= n_rows; r += 4) {
        SumRows<4, 2>(x.data + r * x.step, x.step, offsets, w, n_taps, bias, limits,
                      y.data + r * y.step, y.step, n);
    }
    const auto rest = [&]<int kR, int kV>() {
        SumRows<kR, kV>(x.data + r * x.step, x.step, offsets, w, n_taps, bias, limits,
                        y.data + r * y.step, y.step, n);
    };
    if (n_rows - r == 3) rest.template operator()<3, 2>();
    if (n_rows - r == 2) rest.template operator()<2, 4>();
    if (n_rows - r == 1) rest.template operator()<1, 4>();
}

// Computes kN taps, whose sums stay in registers.
template <int kN, typename T>
void ProductsOf(DepthwiseRows<const T> x, const int64_t* offsets, DepthwiseRows<const T> y,
                int64_t n_rows, int64_t n, T* sums) {
    Batch<T> sum[kN];
#pragma GCC unroll 16
    for (int t = 0; t < kN; ++t) sum[t] = Batch<T>::load_unaligned(sums + t * kWidth<T>);
    for (int64_t r = 0; r < n_rows; ++r) {
        const T* x_row = x.data + r * x.step;
        const T* y_row = y.data + r * y.step;
        int64_t i = 0;
        for (; i + kWidth<T> <= n; i += kWidth<T>) {
            const Batch<T> factor = Batch<T>::load_unaligned(y_row + i);
#pragma GCC unroll 16
            for (int t = 0; t < kN; ++t) {
                sum[t] =
                    xsimd::fma(factor, Batch<T>::load_unaligned(x_row + offsets[t] + i), sum[t]);
            }
        }
        if (i != n) {
            const Batch<T> factor = LoadPart(y_row + i, n - i);
#pragma GCC unroll 16
            for (int t = 0; t < kN; ++t) {
                sum[t] = xsimd::fma(factor, LoadPart(x_row + offsets[t] + i, n - i), sum[t]);
            }
        }
    }
#pragma GCC unroll 16
    for (int t = 0; t < kN; ++t) sum[t].store_unaligned(sums + t * kWidth<T>);
}

template <typename T>
void Products(DepthwiseRows<const T> x, const int64_t* offsets, int64_t n_taps,
              DepthwiseRows<const T> y, int64_t n_rows, int64_t n, T* sums) {
    int64_t t = 0;
    for (; t + 9 <= n_taps; t += 9) {
        ProductsOf<9>(x, offsets + t, y, n_rows, n, sums + t * kWidth<T>);
    }
    for (; t + 3 <= n_taps; t += 3) {
        ProductsOf<3>(x, offsets + t, y, n_rows, n, sums + t * kWidth<T>);
    }
    for (; t < n_taps; ++t) ProductsOf<1>(x, offsets + t, y, n_rows, n, sums + t * kWidth<T>);
}

template <typename T>
constexpr DepthwiseLoops<T> kLoops{&CopyRows<T>, &Split<T>, &Sum<T>, &Products<T>,
                                   static_cast<int>(kWidth<T>)};

}  // namespace

CX_EXPORT_LOOPS(DepthwiseUnit){{kLoops<float>, kLoops<double>}, kWindow};

}  // namespace chainerx::native::CX_ISA

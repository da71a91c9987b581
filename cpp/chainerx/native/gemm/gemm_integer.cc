// The integer versions of gemm_loops.h, in plain C++.
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/gemm/gemm_plain.h"

namespace chainerx::native {
namespace {

constexpr int kRows = 4;
template <typename T>
constexpr int kWidth = PlainVector<T>::kSize;
template <typename T>
constexpr int kColumns = 2 * kWidth<T>;

template <int kTo, typename T>
void Pack(const T* x, int64_t along, int64_t across, int64_t n, int64_t k, T* panel) {
    for (int64_t q = 0; q < k; ++q) {
        for (int i = 0; i < kTo; ++i) *panel++ = i < n ? x[q * along + i * across] : T{0};
    }
}

template <typename T>
void PackA(const T* x, int64_t row, int64_t column, int64_t n, int64_t k, T* panel) {
    Pack<kRows>(x, column, row, n, k, panel);
}
template <int kTo, typename T>
void Copy(const T* from, int64_t step, int64_t k, T* panel) {
    for (int64_t q = 0; q < k; ++q) std::copy_n(from + q * step, kTo, panel + q * kTo);
}
template <typename T>
void PackB(const T* x, int64_t row, int64_t column, int64_t n, int64_t k, T* panel) {
    Pack<kColumns<T>>(x, row, column, n, k, panel);
}

template <int kTo, typename T>
void GatherRows(const T* x, int64_t plane, int64_t count, const Im2colPiece* pieces,
                int64_t n_pieces, T* panel, int64_t step) {
    for (int64_t c = 0; c < count; ++c, x += plane, panel += step) {
        std::fill_n(panel, kTo, T{0});
        for (const Im2colPiece* piece = pieces; piece != pieces + n_pieces; ++piece) {
            for (int i = 0; i < kWidth<T>; ++i) {
                if ((piece->lanes >> i & 1) == 0) continue;
                panel[piece->vector * kWidth<T> + i] = x[piece->offset + i];
            }
        }
    }
}
// Multiplies with non-adjacent rows of b, which PlainTile does not support.
template <typename T>
void PlainTile(const T* a, const TileRun<T>* runs, int64_t n_runs, T* sums) {
    using Vector = typename PlainVector<T>::Type;
    Vector sum[kRows][2] = {};
    for (const TileRun<T>* run = runs; run != runs + n_runs; ++run) {
        for (int64_t q = 0; q < run->k; ++q) {
            const T* x = a + (run->at + q) * kRows;
            const T* y = run->b + q * run->b_step;
            Vector y0;
            Vector y1;
            std::memcpy(&y0, y, sizeof y0);
            std::memcpy(&y1, y + kWidth<T>, sizeof y1);
            for (int i = 0; i < kRows; ++i) {
                sum[i][0] += x[i] * y0;
                sum[i][1] += x[i] * y1;
            }
        }
    }
    std::memcpy(sums, sum, sizeof sum);
}

template <typename T>
void Tile(const T* a, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t m,
          int64_t n, bool accumulate, const T* bias) {
    T sums[kRows * kColumns<T>];
    PlainTile(a, runs, n_runs, sums);
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            T& y = c[i * ldc + j];
            y = sums[i * kColumns<T> + j] + (accumulate ? y : bias != nullptr ? bias[i] : T{0});
        }
    }
}

template <typename T>
constexpr GemmLoops<T> kLoops{kRows,
                              kColumns<T>,
                              kWidth<T>,
                              &PackA<T>,
                              &PackB<T>,
                              &Copy<kRows, T>,
                              &Copy<kColumns<T>, T>,
                              &GatherRows<kRows, T>,
                              &GatherRows<kColumns<T>, T>,
                              &Tile<T>};

}  // namespace

template <>
const GemmLoops<float>& GemmLoopsOf() {
    return gemm_loops().f32;
}
template <>
const GemmLoops<double>& GemmLoopsOf() {
    return gemm_loops().f64;
}
template <>
const GemmLoops<uint32_t>& GemmLoopsOf() {
    return kLoops<uint32_t>;
}
template <>
const GemmLoops<uint64_t>& GemmLoopsOf() {
    return kLoops<uint64_t>;
}

}  // namespace chainerx::native

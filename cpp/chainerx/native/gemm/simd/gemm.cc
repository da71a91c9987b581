// GEMM: packing, and the micro-kernel, a tile of the result in registers.
#include "chainerx/native/gemm/gemm_loops.h"

#include <type_traits>
#include <utility>

#include "chainerx/native/gemm/simd/finish_rows.h"
#include "chainerx/native/gemm/simd/im2col_panels.h"
#include "chainerx/native/gemm/simd/pack_transposed.h"
#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// The tile takes all registers but those for a row of B and an element of A.
#if defined(CX_ISA_AVX512)
constexpr int kRows = 14;
#elif defined(CX_ISA_NEON)
constexpr int kRows = 12;
#else
constexpr int kRows = 6;
#endif
constexpr int kVectors = 2;

template <typename T>
constexpr int kColumns = kVectors * kWidth<T>;

template <int kTo, typename T>
void Pack(const T* x, int64_t along, int64_t across, int64_t n, int64_t k, T* panel) {
    if (along == 1 && across != 1) {
        PackTransposed<kTo>(x, across, n, k, panel);
        return;
    }
    for (int64_t q = 0; q < k; ++q) {
        const T* from = x + q * along;
        T* to = panel + q * kTo;
        if (n == kTo && across == 1) {
            for (int i = 0; i < kTo; ++i) to[i] = from[i];
        } else if (across == 1) {
            for (int i = 0; i < n; ++i) to[i] = from[i];
            for (int i = static_cast<int>(n); i < kTo; ++i) to[i] = T{0};
        } else {
            for (int i = 0; i < kTo; ++i) to[i] = i < n ? from[i * across] : T{0};
        }
    }
}

template <typename T>
void PackA(const T* x, int64_t row, int64_t column, int64_t n, int64_t k, T* panel) {
    Pack<kRows>(x, column, row, n, k, panel);
}
template <int kTo, typename T>
void Copy(const T* from, int64_t step, int64_t k, T* panel) {
    for (int64_t q = 0; q < k; ++q, from += step, panel += kTo) {
        __builtin_memcpy(panel, from, kTo * sizeof(T));
    }
}
// Packs whole panels of rows in the order of memory, row by row, so that reads are contiguous.
template <typename T>
void CopyPanels(const T* x, int64_t row, int64_t n_panels, int64_t k, T* panel) {
    constexpr int kTo = kColumns<T>;
    for (int64_t q = 0; q < k; ++q, x += row, panel += kTo) {
        for (int64_t p = 0; p < n_panels; ++p) {
            __builtin_memcpy(panel + p * k * kTo, x + p * kTo, kTo * sizeof(T));
        }
    }
}
template <typename T>
void PackB(const T* x, int64_t row, int64_t column, int64_t n, int64_t k, T* panel) {
    constexpr int kTo = kColumns<T>;
    // Packs this many rows of panels together; more may conflict in a cache set.
    constexpr int64_t kTogether = 8;
    while (column == 1 && n >= 2 * kTo) {
        const int64_t n_panels = n / kTo < kTogether ? n / kTo : kTogether;
        CopyPanels(x, row, n_panels, k, panel);
        x += n_panels * kTo;
        n -= n_panels * kTo;
        panel += n_panels * kTo * k;
    }
    for (; n > 0; n -= kTo, x += kTo * column, panel += kTo * k) {
        Pack<kTo>(x, row, column, n < kTo ? n : kTo, k, panel);
    }
}

template <typename T>
constexpr int kLine = 64 / sizeof(T);

// Prefetches rows of two lines each, one line at a time.
template <typename T>
class LinesAhead {
 public:
    LinesAhead(const T* at, int64_t row, int64_t n_rows)
        : at_{at}, to_next_{kLine<T>}, turn_{kLine<T> ^ (row - kLine<T>)}, left_{2 * n_rows} {}
    // Returns whether that was the last line.
    bool Prefetch() {
        __builtin_prefetch(at_);
        at_ += to_next_;
        to_next_ ^= turn_;
        return --left_ <= 0;
    }

 private:
    const T* at_;
    int64_t to_next_;
    int64_t turn_;
    int64_t left_;
};

// The epilogue of a tile: the values added to its sums.
template <typename T>
struct TilePlus {
    bool accumulate;          // add c
    const T* bias;            // else: one value for each row
    const T* row{};           // or one value for each column
    bool rectified{};         // ReLU
    const TileEnd<T>* end{};  // if not null, says what is added, and the limits
};

// A tile whose rows are whole vectors.
template <int kM, int kV, typename T>
[[gnu::always_inline]] inline void StoreRectified(Batch<T> (&sum)[kM][kV], T* c, int64_t ldc,
                                                  const TilePlus<T>& plus) {
    const Batch<T> zero(T{0});
    const T* add = plus.accumulate ? c : plus.row;
    const int64_t step = plus.accumulate ? ldc : 0;
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v) {
            const Batch<T> x = Batch<T>::load_unaligned(add + i * step + v * kWidth<T>);
            math::Max(sum[i][v] + x, zero).store_unaligned(c + i * ldc + v * kWidth<T>);
        }
    }
}

template <int kM, int kV, typename T>
[[gnu::always_inline]] inline void StoreWithEnd(Batch<T> (&sum)[kM][kV], T* c, int64_t ldc,
                                                const TileEnd<T>& end) {
    const Batch<T> low(end.low);
    const Batch<T> high(end.high);
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v) {
            const int64_t at = i * ldc + v * kWidth<T>;
            if (end.accumulate) sum[i][v] += Batch<T>::load_unaligned(c + at);
            if (end.addend != nullptr) sum[i][v] += Batch<T>::load_unaligned(end.addend + at);
            math::MinOrSecond(high, math::MaxOrSecond(low, sum[i][v])).store_unaligned(c + at);
        }
    }
}

// The first rows and vectors of a tile, of which n columns are stored.
template <int kM, int kV, typename T>
void TilePart(const T* panel, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t n,
              const TilePlus<T>& plus) {
    // The processor has this many line-fill buffers. A taller tile prefetches one line of c in each
    // step, otherwise it would wait for them before it begins.
    constexpr int kRowLines = (kV * kWidth<T> + kLine<T> - 1) / kLine<T>;
    constexpr bool kStepwise = kM * kRowLines > 12;
    Batch<T> sum[kM][kV];
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v) sum[i][v] = Batch<T>(T{0});
        if constexpr (kStepwise) continue;
#pragma GCC unroll 4
        for (int j = 0; j < kRowLines; ++j) __builtin_prefetch(c + i * ldc + j * kLine<T>, 1);
    }
    // Steps that are too short are not worth a prefetch.
    constexpr bool kPrefetches = kRowLines == 2;
    LinesAhead<T> lines{c, ldc, kStepwise ? kM : 0};
    LinesAhead<T> then{runs->next, runs->next_row, runs->n_next};
    if constexpr (!kStepwise) std::swap(lines, then);
    for (const TileRun<T>* run = runs; run != runs + n_runs; ++run) {
        const T* a = panel + run->at * kRows;
        const T* b = run->b;
        const int64_t step = run->b_step;
        const T* ahead = b + 16 * step;
#pragma GCC unroll 1
        for (int64_t q = run->k; q != 0; --q) {
            Batch<T> y[kV];
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) y[v] = Batch<T>::load_unaligned(b + v * kWidth<T>);
#pragma GCC unroll 4
            for (int j = 0; j < kRowLines; ++j) __builtin_prefetch(ahead + j * kLine<T>);
#pragma GCC unroll 16
            for (int i = 0; i < kM; ++i) {
                const Batch<T> x(a[i]);
#pragma GCC unroll 4
                for (int v = 0; v < kV; ++v) sum[i][v] = xsimd::fma(x, y[v], sum[i][v]);
            }
            if (kPrefetches && lines.Prefetch()) {
                lines = then;
                then = {c, 0, int64_t{1} << 60};
            }
            a += kRows;
            b += step;
            ahead += step;
        }
    }
    if (!plus.accumulate && plus.bias != nullptr) {
#pragma GCC unroll 16
        for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) sum[i][v] += Batch<T>(plus.bias[i]);
        }
    }
    if (n == kV * kWidth<T>) {
        if (plus.end != nullptr) {
            StoreWithEnd(sum, c, ldc, *plus.end);
            return;
        }
        if (plus.rectified) {
            StoreRectified(sum, c, ldc, plus);
            return;
        }
        if (plus.row != nullptr) {
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) {
                const Batch<T> x = Batch<T>::load_unaligned(plus.row + v * kWidth<T>);
#pragma GCC unroll 16
                for (int i = 0; i < kM; ++i) sum[i][v] += x;
            }
        }
#pragma GCC unroll 16
        for (int i = 0; i < kM; ++i) {
            T* row = c + i * ldc;
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) {
                T* to = row + v * kWidth<T>;
                if (plus.accumulate) sum[i][v] += Batch<T>::load_unaligned(to);
                sum[i][v].store_unaligned(to);
            }
        }
        return;
    }
    alignas(64) T whole[kM][kV * kWidth<T>];
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v) sum[i][v].store_aligned(whole[i] + v * kWidth<T>);
    }
    for (int64_t i = 0; i < kM; ++i) {
        T* row = c + i * ldc;
        for (int64_t j = 0; j < n; ++j) {
            if (plus.end != nullptr) {
                const T sum = plus.accumulate ? row[j] + whole[i][j] : whole[i][j];
                row[j] = Ended(sum, i * ldc + j, *plus.end);
                continue;
            }
            row[j] = plus.accumulate       ? row[j] + whole[i][j]
                     : plus.row != nullptr ? plus.row[j] + whole[i][j]
                                           : whole[i][j];
            if (plus.rectified && row[j] <= T{0}) row[j] = T{0};
        }
    }
}

template <int kM, typename T>
void TileRows(const T* a, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t m,
              int64_t n, const TilePlus<T>& plus) {
    if constexpr (kM > 1) {
        if (m < kM) {
            TileRows<kM - 1>(a, runs, n_runs, c, ldc, m, n, plus);
            return;
        }
    }
    if (n <= kWidth<T>) {
        TilePart<kM, 1>(a, runs, n_runs, c, ldc, n, plus);
    } else {
        TilePart<kM, kVectors>(a, runs, n_runs, c, ldc, n, plus);
    }
}

template <typename T>
void Tile(const T* a, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t m,
          int64_t n, bool accumulate, const T* bias) {
    TileRows<kRows>(a, runs, n_runs, c, ldc, m, n, TilePlus<T>{accumulate, bias});
}

void TileOfLayer(const float* a, const TileRun<float>* runs, int64_t n_runs, float* c, int64_t ldc,
                 int64_t m, int64_t n, const float* row, bool rectified) {
    TileRows<kRows>(a, runs, n_runs, c, ldc, m, n,
                    TilePlus<float>{row == nullptr, nullptr, row, rectified});
}

void TileWithEnd(const float* a, const TileRun<float>* runs, int64_t n_runs, float* c, int64_t ldc,
                 int64_t m, int64_t n, const TileEnd<float>& end) {
    TileRows<kRows>(a, runs, n_runs, c, ldc, m, n,
                    TilePlus<float>{end.accumulate, end.bias, nullptr, false, &end});
}

void SumRows(const float* a, int64_t n, int64_t k, float* sums) {
    constexpr int kSize = kWidth<float>;
    constexpr int kBatches = (kRows + kSize - 1) / kSize;
    BatchF sum[4][kBatches];
    for (auto& part : sum) {
        for (BatchF& s : part) s = BatchF(0.0F);
    }
    int64_t q = 0;
    // Whole batches read into the next column, so the last columns are done separately.
    for (; q + 4 < k; q += 4, a += 4 * kRows) {
        for (int c = 0; c < 4; ++c) {
            for (int v = 0; v < kBatches; ++v) {
                sum[c][v] += BatchF::load_unaligned(a + c * kRows + v * kSize);
            }
        }
    }
    for (; q < k; ++q, a += kRows) {
        for (int v = 0; v < kBatches; ++v) {
            const int left = kRows - v * kSize;
            sum[0][v] += left < kSize ? LoadPart(a + v * kSize, left)
                                      : BatchF::load_unaligned(a + v * kSize);
        }
    }
    for (int v = 0; v < kBatches; ++v, sums += kSize, n -= kSize) {
        const BatchF all = (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]);
        if (n >= kSize) {
            all.store_unaligned(sums);
        } else if (n > 0) {
            StorePart(sums, all, n);
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

CX_EXPORT_LOOPS(GemmUnit){
#if defined(CX_ISA_AVX512) || defined(CX_ISA_AVX2)
    true,
#else
    false,
#endif
    kLoops<float>, kLoops<double>, &TileOfLayer,
    &TileWithEnd,  &FinishRows,    &FinishColumns<kColumns<float>>,
    &SumRows};

}  // namespace chainerx::native::CX_ISA

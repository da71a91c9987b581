// The product of matrices: packing, and the tile of the result that stays in registers.
#include "chainerx/native/gemm_loops.h"

#include <type_traits>

#include "chainerx/native/isa/batch.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

// As many registers as there are, less those for a row of b and an element of a.
#if defined(CX_ISA_AVX512)
constexpr int kRows = 14;
#elif defined(CX_ISA_NEON)
constexpr int kRows = 12;
#else
constexpr int kRows = 6;
#endif
constexpr int kVectors = 2;

template <typename T>
constexpr int kWidth = static_cast<int>(Batch<T>::size);
template <typename T>
constexpr int kColumns = kVectors * kWidth<T>;

// Rows [begin, begin + kSide) of a panel from rows that are adjacent along k; `kept` of them belong
// to the panel. The others go to the next column of it, which is written later, and not behind the
// last one.
template <int kTo, typename T>
void PackSquares(const T* x, int64_t stride, int64_t n, int64_t k, int kept, T* panel) {
    constexpr int kSide = static_cast<int>(Square<T>::size);
    const T* rows[kSide];
    for (int p = 0; p < kSide; ++p) rows[p] = x + (p < n ? p : n - 1) * stride;
    // The last column of a square that is cut off is written element by element.
    const int64_t whole = kept == kSide ? k : k - 1;
    const auto turn = [&](int64_t q) {
        Square<T> y[kSide];
#pragma GCC unroll 8
        for (int p = 0; p < kSide; ++p) y[p] = Square<T>::load_unaligned(rows[p] + q);
        xsimd::transpose(y, y + kSide);
#pragma GCC unroll 8
        for (int p = 0; p < kSide; ++p) y[p].store_unaligned(panel + (q + p) * kTo);
    };
    int64_t q = 0;
    for (; q + kSide <= whole; q += kSide) turn(q);
    if (q != 0 && q < whole) {
        turn(whole - kSide);  // some of it once more
        q = whole;
    }
    for (; q < k; ++q) {
        for (int p = 0; p < kept; ++p) panel[q * kTo + p] = rows[p][q];
    }
}

// Rows that are adjacent along k. What is filled up is zeros.
template <int kTo, typename T>
void PackTurned(const T* x, int64_t stride, int64_t n, int64_t k, T* panel) {
    constexpr int kSide = static_cast<int>(Square<T>::size);
    // From the last rows to the first ones, for each overwrites what does not belong to the last.
    for (int64_t i = (kTo - 1) / kSide * kSide; i >= 0; i -= kSide) {
        const int kept = static_cast<int>(kTo - i < kSide ? kTo - i : kSide);
        if (i < n) {
            PackSquares<kTo>(x + i * stride, stride, n - i, k, kept, panel + i);
        }
        for (int64_t p = i < n ? n : i; p < i + kept; ++p) {
            for (int64_t q = 0; q < k; ++q) panel[q * kTo + p] = T{0};
        }
    }
}

template <int kTo, typename T>
void Pack(const T* x, int64_t along, int64_t across, int64_t n, int64_t k, T* panel) {
    if (along == 1 && across != 1) {
        PackTurned<kTo>(x, across, n, k, panel);
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
template <typename T>
void PackB(const T* x, int64_t row, int64_t column, int64_t n, int64_t k, T* panel) {
    Pack<kColumns<T>>(x, row, column, n, k, panel);
}

// Loads some lanes of a batch, the others are 0; never touches memory that is not asked for.
template <typename T>
struct LaneLoad {
    uint32_t lanes;
    bool all;
#if defined(CX_ISA_AVX2)
    __m256i mask;
#endif

    explicit LaneLoad(uint32_t lanes) : lanes{lanes}, all{lanes == (uint32_t{1} << kWidth<T>)-1} {
#if defined(CX_ISA_AVX2)
        if constexpr (sizeof(T) == 4) {
            const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            mask = _mm256_cmpeq_epi32(
                _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes)), bit), bit);
        } else {
            const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
            mask = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(lanes), bit), bit);
        }
#endif
    }

    Batch<T> operator()(const T* x) const {
#if defined(CX_ISA_AVX512)
        if constexpr (sizeof(T) == 4) {
            return _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), x);
        } else {
            return _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), x);
        }
#elif defined(CX_ISA_AVX2)
        if constexpr (sizeof(T) == 4) {
            return _mm256_maskload_ps(x, mask);
        } else {
            return _mm256_maskload_pd(x, mask);
        }
#else
        if (all) return Batch<T>::load_unaligned(x);
        alignas(64) T part[kWidth<T>];
        for (int i = 0; i < kWidth<T>; ++i) part[i] = (lanes >> i & 1) != 0 ? x[i] : T{0};
        return Batch<T>::load_aligned(part);
#endif
    }
};

// Lanes that one of them has loaded; the other has zeros there.
template <typename T>
Batch<T> Union(const Batch<T>& x, const Batch<T>& y) {
    return x | y;
}

template <int kN, typename T>
void GatherVector(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces, bool add,
                  T* to, int64_t step) {
    const LaneLoad<T> load[4] = {LaneLoad<T>{pieces[0].lanes}, LaneLoad<T>{pieces[1 % kN].lanes},
                                 LaneLoad<T>{pieces[2 % kN].lanes},
                                 LaneLoad<T>{pieces[3 % kN].lanes}};
    for (int64_t c = 0; c < count; ++c) {
        const T* from = x + c * plane;
        Batch<T> y = load[0](from + pieces[0].offset);
#pragma GCC unroll 4
        for (int i = 1; i < kN; ++i) y = Union(y, load[i](from + pieces[i].offset));
        if (add) y = Union(y, Batch<T>::load_unaligned(to + c * step));
        y.store_unaligned(to + c * step);
    }
}

// Up to four pieces of one vector, in addition to what is there if `add`.
template <typename T>
void GatherUpTo4(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces, int64_t n,
                 bool add, T* to, int64_t step) {
    switch (n) {
        case 1:
            return GatherVector<1>(x, plane, count, pieces, add, to, step);
        case 2:
            return GatherVector<2>(x, plane, count, pieces, add, to, step);
        case 3:
            return GatherVector<3>(x, plane, count, pieces, add, to, step);
        default:
            return GatherVector<4>(x, plane, count, pieces, add, to, step);
    }
}

template <int kN, typename T>
void GatherVectors(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces,
                   int64_t n_pieces, T* panel, int64_t step) {
    // From the last vector to the first one: where the step is no multiple of a vector, what it
    // writes too much is written again.
    const GatherPiece* end = pieces + n_pieces;
    for (int v = kN - 1; v >= 0; --v) {
        T* to = panel + v * kWidth<T>;
        const GatherPiece* piece = end;
        while (piece != pieces && piece[-1].vector == v) --piece;
        const int64_t n = end - piece;
        end = piece;
        if (n == 0) {
            const Batch<T> zero{T{0}};
            for (int64_t c = 0; c < count; ++c) zero.store_unaligned(to + c * step);
            continue;
        }
        if (n == 1 && LaneLoad<T>{piece->lanes}.all) {
            const T* from = x + piece->offset;
            for (int64_t c = 0; c < count; ++c) {
                Batch<T>::load_unaligned(from + c * plane).store_unaligned(to + c * step);
            }
            continue;
        }
        for (int64_t i = 0; i < n; i += 4) {
            GatherUpTo4(x, plane, count, piece + i, n - i < 4 ? n - i : 4, i != 0, to, step);
        }
    }
}

template <typename T>
void Gather(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces, int64_t n_pieces,
            T* panel, int64_t step) {
    GatherVectors<kVectors>(x, plane, count, pieces, n_pieces, panel, step);
}
template <typename T>
void GatherA(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces, int64_t n_pieces,
             T* panel) {
    constexpr int kN = (kRows + kWidth<T> - 1) / kWidth<T>;
    GatherVectors<kN>(x, plane, count, pieces, n_pieces, panel, kRows);
}

// Some first rows and vectors of a tile; the first n columns of these are wanted.
template <int kM, int kV, typename T>
void TilePart(const T* panel, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t n,
              bool accumulate, const T* bias) {
    Batch<T> sum[kM][kV];
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
        __builtin_prefetch(c + i * ldc, 1);
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v) sum[i][v] = Batch<T>(T{0});
    }
    for (const TileRun<T>* run = runs; run != runs + n_runs; ++run) {
        const T* a = panel + run->at * kRows;
        const T* b = run->b;
        const int64_t step = run->b_step;
        const T* ahead = b + 8 * step;
#pragma GCC unroll 1
        for (int64_t q = run->k; q != 0; --q) {
            Batch<T> y[kV];
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) {
                y[v] = Batch<T>::load_unaligned(b + v * kWidth<T>);
                __builtin_prefetch(ahead + v * kWidth<T>);
            }
#pragma GCC unroll 16
            for (int i = 0; i < kM; ++i) {
                const Batch<T> x(a[i]);
#pragma GCC unroll 4
                for (int v = 0; v < kV; ++v) sum[i][v] = xsimd::fma(x, y[v], sum[i][v]);
            }
            a += kRows;
            b += step;
            ahead += step;
        }
    }
    if (!accumulate && bias != nullptr) {
#pragma GCC unroll 16
        for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) sum[i][v] += Batch<T>(bias[i]);
        }
    }
    if (n == kV * kWidth<T>) {
#pragma GCC unroll 16
        for (int i = 0; i < kM; ++i) {
            T* row = c + i * ldc;
#pragma GCC unroll 4
            for (int v = 0; v < kV; ++v) {
                T* to = row + v * kWidth<T>;
                if (accumulate) sum[i][v] += Batch<T>::load_unaligned(to);
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
        for (int64_t j = 0; j < n; ++j) row[j] = accumulate ? row[j] + whole[i][j] : whole[i][j];
    }
}

template <int kM, typename T>
void TileRows(const T* a, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t m,
              int64_t n, bool accumulate, const T* bias) {
    if constexpr (kM > 1) {
        if (m < kM) {
            TileRows<kM - 1>(a, runs, n_runs, c, ldc, m, n, accumulate, bias);
            return;
        }
    }
    if (n <= kWidth<T>) {
        TilePart<kM, 1>(a, runs, n_runs, c, ldc, n, accumulate, bias);
    } else {
        TilePart<kM, kVectors>(a, runs, n_runs, c, ldc, n, accumulate, bias);
    }
}

template <typename T>
void Tile(const T* a, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t m,
          int64_t n, bool accumulate, const T* bias) {
    TileRows<kRows>(a, runs, n_runs, c, ldc, m, n, accumulate, bias);
}

template <typename T>
constexpr GemmLoops<T> kLoops{
    kRows,           kColumns<T>,           kWidth<T>,  &PackA<T>,   &PackB<T>,
    &Copy<kRows, T>, &Copy<kColumns<T>, T>, &Gather<T>, &GatherA<T>, &Tile<T>};

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::GemmUnit CX_UNIT_ENTRY;
const chainerx::native::GemmUnit CX_UNIT_ENTRY = {
#if defined(CX_ISA_AVX512) || defined(CX_ISA_AVX2)
    true,
#else
    false,
#endif
    chainerx::native::CX_ISA::kLoops<float>, chainerx::native::CX_ISA::kLoops<double>};
}

// Inner loops of matrix products and convolutions: packing, and the tile of the result that stays
// in registers. Those of float and double are from the unit gemm/simd/gemm.cc, those of integers
// from gemm_integer.cc.
//
// A panel of `a` is `rows` rows, a panel of `b` is `columns` columns, both laid out along k:
// element (i, q) of a panel of `a` at q * rows + i. The last one of a matrix is filled up with
// zeros, so the kernel computes whole tiles only, and every element of the result is one chain of
// (fused) multiplications and additions along k, wherever it stands.
#pragma once

#include <cstdint>

namespace chainerx::native {

// A gathered piece of one vector in a row of a B panel: the lanes that are set in `lanes` hold
// adjacent elements, which begin at `offset` for lane 0.
struct Im2colPiece {
    int64_t offset;
    int32_t vector;
    uint32_t lanes;
};

// Rows [at, at + k) of an A panel, multiplied with k rows of B, `b_step` apart.
template <typename T>
struct TileRun {
    int64_t at;
    int64_t k;
    const T* b;
    int64_t b_step;
    // Rows of the B panel to prefetch for the tile after the one whose first run this is.
    const T* next = nullptr;
    int64_t next_row = 0;
    int64_t n_next = 0;

    // Returns whether `next`, which begins where this ends, can be merged into this.
    bool IsBefore(const TileRun& next) const {
        return at + k == next.at && b_step == next.b_step && b + k * b_step == next.b;
    }
};

// Appends a run to n others, merged with the last one if possible; returns the new count.
template <typename T>
int64_t AddRun(const TileRun<T>& run, int64_t n, TileRun<T>* runs) {
    if (n != 0 && runs[n - 1].IsBefore(run)) {
        runs[n - 1].k += run.k;
        return n;
    }
    runs[n] = run;
    return n + 1;
}

template <typename T>
struct GemmLoops {
    int rows;  // of a tile of the result
    int columns;
    int width;  // of a vector; columns is a multiple of it

    // Packs n rows (at most `rows`) of k elements: element (i, q) is at x + i * row + q * column.
    void (*pack_a)(const T* x, int64_t row, int64_t column, int64_t n, int64_t k, T* panel);
    // Packs n columns, into as many panels as they need: element (q, j) is at
    // x + q * row + j * column.
    void (*pack_b)(const T* x, int64_t row, int64_t column, int64_t n, int64_t k, T* panel);
    // Copies k columns of a panel of a (rows of one of b), `step` elements apart, to adjacent ones.
    void (*copy_a)(const T* from, int64_t step, int64_t k, T* panel);
    void (*copy_b)(const T* from, int64_t step, int64_t k, T* panel);
    // Gathers `count` columns of an A panel (rows of a B panel), `step` apart, from the same pieces
    // at x, x + plane, ... Pieces are in the order of their vectors; gaps are 0. It reads and
    // writes nothing else, except that it may read one vector beyond the last element.
    void (*gather_a)(const T* x, int64_t plane, int64_t count, const Im2colPiece* pieces,
                     int64_t n_pieces, T* panel, int64_t step);
    void (*gather_b)(const T* x, int64_t plane, int64_t count, const Im2colPiece* pieces,
                     int64_t n_pieces, T* panel, int64_t step);
    // The micro-kernel: m x n elements of c, rows ldc apart: an A panel times the B rows of the
    // runs, plus c if `accumulate`, else plus bias[i] in row i unless null. It reads whole vectors
    // of b.
    void (*tile)(const T* a, const TileRun<T>* runs, int64_t n_runs, T* c, int64_t ldc, int64_t m,
                 int64_t n, bool accumulate, const T* bias);
};

// The end of a tile that is part of a layer: what is added to its sums, and their limits.
template <typename T>
struct TileEnd {
    bool accumulate;  // add what is there
    const T* bias;    // else bias[i] in row i, unless null
    const T* addend;  // one value for each of c, rows as far apart; null for none
    T low;
    T high;
};

// The end of one sum, whose place is `at` from the first of the tile.
template <typename T>
inline T Ended(T sum, int64_t at, const TileEnd<T>& end) {
    if (end.addend != nullptr) sum += end.addend[at];
    sum = sum < end.low ? end.low : sum;
    return sum > end.high ? end.high : sum;
}

struct GemmUnit {
    bool beats_blas;  // for large products of float32 matrices
    GemmLoops<float> f32;
    GemmLoops<double> f64;
    // The float32 micro-kernel with an epilogue: adds row[j] to column j; null accumulates into c
    // instead. ReLU follows if `rectified`.
    void (*tile_of_layer)(const float* a, const TileRun<float>* runs, int64_t n_runs, float* c,
                          int64_t ldc, int64_t m, int64_t n, const float* row, bool rectified);
    // The float32 micro-kernel with another epilogue; NaN stays.
    void (*tile_with_end)(const float* a, const TileRun<float>* runs, int64_t n_runs, float* c,
                          int64_t ldc, int64_t m, int64_t n, const TileEnd<float>& end);
    // Writes n_rows x n sums, at most `columns` of f32 in a row, to y; or their transpose.
    void (*finish_rows)(const float* x, int64_t x_step, int64_t n_rows, int64_t n,
                        const TileEnd<float>& end, float* y, int64_t y_step);
    void (*finish_columns)(const float* x, int64_t x_step, int64_t n_rows, int64_t n,
                           const TileEnd<float>& end, float* y, int64_t y_step);
    // Sums n rows of an A panel along k.
    void (*sum_rows)(const float* a, int64_t n, int64_t k, float* sums);
};

const GemmUnit& gemm_loops();

// Maximum depth of panels: one of A and one of B fit in L1, or nearly so. The order of summation
// follows from it, so it is the same on all machines.
inline constexpr int64_t kPanelDepth = 320;

// Upper bound of rows * columns.
template <typename T>
inline constexpr int kMaxTile = 14 * 128 / sizeof(T);

// T is float, double, uint32_t or uint64_t, which serve for signed integers as well: they wrap.
template <typename T>
const GemmLoops<T>& GemmLoopsOf();

}  // namespace chainerx::native

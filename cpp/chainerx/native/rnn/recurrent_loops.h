// The elementwise part of recurrent layers, after the products: exported by rnn/simd/recurrent.cc.
#pragma once

#include <cstdint>

#include "chainerx/native/rnn/recurrent_units.h"
#include "chainerx/native/unit.h"

namespace chainerx::native {

// The product of one row and packed columns, those of each gate in a panel of `width`. Elements of
// x are x_step apart. Each result is one chain along k, as in a tile of more rows.
template <typename T>
struct RowOfPanels {
    const T* x;
    int64_t x_step;
    int64_t k;
    const T* b;
    int64_t n_panels;
    int64_t panel;  // to the next one in b
    int64_t width;  // also to the next gate of y
    T* y;
    bool accumulate;
};

// Indexed by RecurrentCell, or by GateLayout.
template <typename T>
struct RecurrentLoops {
    void (*forward[4])(const RecurrentStep<T>& step);
    void (*backward[4])(const RecurrentGradStep<T>& step);
    void (*cells[3])(const LstmCells<T>& cells);
    void (*cells_grad[3])(const LstmCells<T>& cells);
    // Small GEMM: y[r * y_row + j] = the product of row r of x and row j of w, both contiguous, of
    // length k.
    void (*dots)(const T* x, int64_t rows, const T* w, int64_t n, int64_t k, T* y, int64_t y_row);
    void (*row)(const RowOfPanels<T>& product);
};

using RecurrentUnit = FloatLoops<RecurrentLoops>;

const RecurrentUnit& recurrent_loops();

}  // namespace chainerx::native

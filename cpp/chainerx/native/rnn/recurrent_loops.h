// The elementwise part of recurrent layers, after the products: exported by rnn/simd/recurrent.cc.
#pragma once

#include <cstdint>

#include "chainerx/native/rnn/recurrent_units.h"
#include "chainerx/native/unit.h"

namespace chainerx::native {

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
};

using RecurrentUnit = FloatLoops<RecurrentLoops>;

const RecurrentUnit& recurrent_loops();

}  // namespace chainerx::native

// The loops of recurrent networks: what happens to the units of a step once the products are there.
// From the unit rnn/simd/recurrent.cc.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Some units of some sequences. Arrays have `size` units of each, and as many of each gate.
template <typename T>
struct RecurrentStep {
    int64_t rows;
    int64_t units;
    int64_t size;
    const T* z;
    const T* product;  // of the state with the weights
    int64_t width;     // of each of its gates
    const T* bias;     // of a GRU
    T* h;
    T* c;
    T* ys;
    T* cs;     // null if unwanted
    T* saved;  // null if unwanted
};

template <typename T>
struct RecurrentGradStep {
    int64_t rows;
    int64_t units;
    int64_t size;
    const T* gys;  // null for zeros
    const T* ys;
    const T* cs;
    const T* saved;
    const T* h;  // the state before
    const T* c;
    T* gh;  // what is added to the gradient of the state before, where that is no product
    T* gc;
    T* gz;
    T* gp;  // of the product, where it is another; for a GRU
};

// Units of cells whose gates are given; see the kernel GatedCell. Rows of cells are `size` apart,
// of which `n` are computed. Those of gates are as many times as far apart as there are gates.
template <typename T>
struct GatedCells {
    int64_t rows{};
    int64_t n{};
    int64_t size{};
    int64_t cell_at{};  // where the first one is, in arrays of cells
    int64_t gate_at{};  // in arrays of gates: of the first gate
    int64_t n_cells{};
    const T* const* cs{};
    const T* const* xs{};
    T* c{};
    T* h{};         // null for backward, which reads c
    const T* gc{};  // null for zeros, as gh
    const T* gh{};
    T* const* gcs{};  // each null if unwanted, as those of gxs
    T* const* gxs{};
};

// Of how gates lie: those of a unit side by side, in the four rows of a group, or each in one row.
enum class GateLayout : int8_t { kAdjacent, kGroups, kRows };

// By RecurrentCell; by GateLayout.
template <typename T>
struct RecurrentLoops {
    void (*forward[4])(const RecurrentStep<T>& step);
    void (*backward[4])(const RecurrentGradStep<T>& step);
    void (*cells[3])(const GatedCells<T>& cells);
    void (*cells_grad[3])(const GatedCells<T>& cells);
    // y[r * y_row + j] = the product of row r of x with row j of w, both k long and adjacent.
    void (*dots)(const T* x, int64_t rows, const T* w, int64_t n, int64_t k, T* y, int64_t y_row);
};

struct RecurrentUnit {
    RecurrentLoops<float> f32;
    RecurrentLoops<double> f64;
};

const RecurrentUnit& recurrent_loops();

template <typename T>
const RecurrentLoops<T>& RecurrentLoopsOf() {
    if constexpr (sizeof(T) == 4) {
        return recurrent_loops().f32;
    } else {
        return recurrent_loops().f64;
    }
}

}  // namespace chainerx::native

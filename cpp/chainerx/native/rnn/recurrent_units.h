// The operands of a range of units of a recurrent layer, for native's loops and for devices.
#pragma once

#include <cstdint>

namespace chainerx::native {

// A range of units of a range of sequences. Arrays have `size` units per sequence, and as many of
// each gate.
template <typename T>
struct RecurrentStep {
    int64_t rows;
    int64_t units;
    int64_t size;
    const T* z;
    const T* product;  // of states and weights
    int64_t width;     // of each gate in it
    const T* bias;     // GRU only
    T* h;
    T* c;
    T* ys;
    T* cs;     // null if not requested
    T* saved;  // null if not requested
};

template <typename T>
struct RecurrentGradStep {
    int64_t rows;
    int64_t units;
    int64_t size;
    const T* gys;  // null means zeros
    const T* ys;
    const T* cs;
    const T* saved;
    const T* h;  // the previous state
    const T* c;
    T* gh;  // the part of the previous state's gradient that is not a product
    T* gc;
    T* gz;
    T* gp;  // gradient of the product, if it is another; GRU only
};

// A range of units of LSTM cells whose gates are given; see the kernel GatedCell. Rows of cells are
// `size` apart, of which `n` are computed; rows of gates are n_gates times as far apart.
template <typename T>
using PointerList = T* const*;
template <typename T, template <typename> class List = PointerList>
struct LstmCells {
    int64_t rows{};
    int64_t n{};
    int64_t size{};
    int64_t cell_at{};  // offset in arrays of cells
    int64_t gate_at{};  // offset of the first gate in arrays of gates
    int64_t n_cells{};
    List<const T> cs{};
    List<const T> xs{};
    T* c{};
    T* h{};         // null in backward, which reads c
    const T* gc{};  // null means zeros, as for gh
    const T* gh{};
    List<T> gcs{};  // null entries are not requested, as in gxs
    List<T> gxs{};
};

// Layout of gates: interleaved by unit, in the four rows of a group, or each gate in one row.
enum class GateLayout : int8_t { kAdjacent, kGroups, kRows };

}  // namespace chainerx::native

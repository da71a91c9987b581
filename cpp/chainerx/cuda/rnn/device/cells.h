// LSTM cells whose gates are given: a cell a thread, by native's formulas.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/rnn/params.h"
#include "chainerx/native/rnn/simd/lstm_cells.h"

namespace chainerx::cuda {

using native::GateLayout;

// A list of arrays.
template <typename T>
struct CellList {
    const Ptr<char>* arrays;

    T* operator[](int64_t k) const { return At<T>(arrays[k]); }
};

// Cell i; n, gates and arrays of it. Rows are groups.
template <typename T>
struct Cell : native::LstmCells<T, CellList> {
    bool has_gates;

    Cell(const CellParams& p, int64_t i) : has_gates{i < p.n} {
        const Ptr<char>* const many = p.many;
        const Ptr<char>* const arrays = many != nullptr ? many : &p.few[0];
        const auto list = [&](int k) { return arrays + k * p.most_cells; };
        const int64_t row = i / p.size;
        this->size = p.size;
        this->cell_at = i;
        this->gate_at = row * p.size * p.n_gates + (i - row * p.size) * p.across;
        this->n_cells = p.n_cells;
        this->cs = {list(0)};
        this->xs = {list(1)};
        this->c = At<T>(p.c);
        this->h = At<T>(p.h);
        this->gc = At<const T>(p.gc);
        this->gh = At<const T>(p.gh);
        this->gcs = {list(2)};
        this->gxs = {list(3)};
    }
};

template <typename T, GateLayout kLayout>
inline void GatedCells(const CellParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.total) return;
    const Cell<T> cell{p, i};
    if (cell.has_gates) {
        native::CX_ISA::Cells<T, kLayout>(cell);
    } else {
        cell.c[i] = cell.cs[0][i];
    }
}

template <typename T, GateLayout kLayout>
inline void GatedCellsGrad(const CellParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.total) return;
    const Cell<T> cell{p, i};
    if (cell.has_gates) {
        native::CX_ISA::CellsGrad<T, kLayout>(cell);
    } else if (T* const gc = cell.gcs[0]; gc != nullptr) {
        gc[i] = cell.gc != nullptr ? cell.gc[i] : static_cast<T>(Number<T>(0));
    }
}

}  // namespace chainerx::cuda

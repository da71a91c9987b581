// A step of a recurrent layer: a block multiplies the states of its sequences and the weights of
// its units, whose elementwise part a thread each computes by native's formulas. An element of a
// product is one chain of fused multiplications and additions.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/rnn/params.h"
#include "chainerx/kernels/rnn/recurrent_cell.h"
#include "chainerx/native/rnn/simd/recurrent_steps.h"

namespace chainerx::cuda {

template <typename T, typename P>
inline T* Elements(const Ptr<P>& p, int64_t i) {
    P* const first = p;
    return first == nullptr ? nullptr : reinterpret_cast<T*>(first) + i;
}

// The rows of a step in arrays of all steps.
struct StepRows {
    int64_t rows;
    int64_t begin;
};
inline StepRows RowsOfStep(const StepParams& p, int64_t step) {
    if (step < 0) return {0, 0};
    if (p.sizes == nullptr) return {p.rows, 0};
    const int64_t rows = p.sizes[step];
    return {rows, p.ends[step] - rows};
}

// Where a block and its threads compute.
struct StepPlace {
    int64_t first_row;
    int64_t first_unit;
    int row;  // of the tile
    int unit;

    explicit StepPlace(const StepParams& p)
        : first_row{blockIdx.x / p.unit_blocks * kStepTile},
          first_unit{blockIdx.x % p.unit_blocks * kStepTile},
          row{static_cast<int>(threadIdx.x) / kStepTile},
          unit{static_cast<int>(threadIdx.x) % kStepTile} {}
};

// The products of a row and of columns of weights, kColumns for each thread. row_at(i) is row i of
// the tile, or null; weight_at(c, unit, k) is element k of a column, of a unit of the tile.
// kIsRowWise says that a column's elements are adjacent.
template <int kColumns, bool kIsRowWise, typename T, typename Index, typename Rows,
          typename Weights>
inline void MultiplyStep(Index depth, const Rows& row_at, const Weights& weight_at,
                         T (&sums)[kColumns]) {
    constexpr int kRow = kStepDepth + 1;
    CX_SHARED(T, a, kStepTile * kRow);
    CX_SHARED(T, w, kColumns * kStepTile * kRow);
    const int row = static_cast<int>(threadIdx.x) / kStepTile;
    const int unit = static_cast<int>(threadIdx.x) % kStepTile;
    for (int c = 0; c < kColumns; ++c) sums[c] = T(0);
    for (Index first = 0; first < depth; first += kStepDepth) {
        const int count = depth - first < kStepDepth ? static_cast<int>(depth - first) : kStepDepth;
        __syncthreads();
        for (int e = static_cast<int>(threadIdx.x); e < kStepTile * kStepDepth;
             e += kBlockThreads) {
            const int k = e % kStepDepth;
            const T* const from = row_at(e / kStepDepth);
            a[e / kStepDepth * kRow + k] = from != nullptr && k < count ? from[first + k] : T(0);
        }
        for (int e = static_cast<int>(threadIdx.x); e < kColumns * kStepTile * kStepDepth;
             e += kBlockThreads) {
            const int k = kIsRowWise ? e % kStepDepth : e / kStepTile % kStepDepth;
            const int j = kIsRowWise ? e / kStepDepth % kStepTile : e % kStepTile;
            const int c = e / (kStepDepth * kStepTile);
            w[(c * kStepTile + j) * kRow + k] = k < count ? weight_at(c, j, first + k) : T(0);
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < count; ++k) {
            const T x = a[row * kRow + k];
#pragma unroll
            for (int c = 0; c < kColumns; ++c) {
                sums[c] = xsimd::Fma(x, w[(c * kStepTile + unit) * kRow + k], sums[c]);
            }
        }
    }
}

template <typename T, RecurrentCell kCell, bool kHasInput>
inline void RecurrentForward(const StepParams& p) {
    constexpr int kGates = static_cast<int>(CountGates(kCell));
    constexpr int kSaved = static_cast<int>(CountSaved(kCell));
    const StepPlace at{p};
    const StepRows step = RowsOfStep(p, p.step);
    const StepRows before = RowsOfStep(p, p.before);
    if (at.first_row >= step.rows) return;
    const auto weights = [&](const Ptr<const char>(&of)[4], int64_t depth) {
        return [&of, &at, &p, depth](int gate, int unit, int64_t k) {
            const int64_t row = at.first_unit + unit;
            return row < p.size ? *Elements<const T>(of[gate], row * depth + k) : T(0);
        };
    };
    const int64_t row = at.first_row + at.row;
    const int64_t unit = at.first_unit + at.unit;
    const bool is_inside = row < step.rows && unit < p.size;
    const int64_t first = step.begin + row;
    T* const z = Elements<T>(p.z, first * kGates * p.size + unit);
    if constexpr (kHasInput) {
        T of_input[kGates];
        MultiplyStep<kGates, true>(
            p.features,
            [&](int i) -> const T* {
                const int64_t row = at.first_row + i;
                return row < step.rows ? Elements<const T>(p.x, row * p.features) : nullptr;
            },
            weights(p.w, p.features), of_input);
        for (int k = 0; is_inside && k < kGates; ++k) {
            // The last bias of a GRU is added to the product of the state.
            const T bias = *Elements<const T>(p.biases[0][k], unit);
            const bool is_alone = kCell == RecurrentCell::kGru && k == 2;
            z[k * p.size] =
                of_input[k] + (is_alone ? bias : bias + *Elements<const T>(p.biases[1][k], unit));
        }
    }
    T product[kGates];
    MultiplyStep<kGates, true>(
        static_cast<int>(p.size),
        [&](int i) -> const T* {
            const int64_t row = at.first_row + i;
            if (row >= step.rows) return nullptr;
            return row < before.rows ? Elements<const T>(p.ys, (before.begin + row) * p.size)
                                     : Elements<const T>(p.h0, row * p.size);
        },
        weights(p.u, p.size), product);
    if (!is_inside) return;
    const native::RecurrentStep<T> s{1,
                                     1,
                                     p.size,
                                     z,
                                     product,
                                     1,
                                     Elements<const T>(p.bias, unit),
                                     Elements<T>(p.h, row * p.size + unit),
                                     Elements<T>(p.c, row * p.size + unit),
                                     Elements<T>(p.ys, first * p.size + unit),
                                     Elements<T>(p.cs, first * p.size + unit),
                                     Elements<T>(p.saved, first * kSaved * p.size + unit)};
    if constexpr (kCell == RecurrentCell::kLstm) {
        native::CX_ISA::Lstm(s);
    } else if constexpr (kCell == RecurrentCell::kGru) {
        native::CX_ISA::Gru(s);
    } else {
        native::CX_ISA::Plain<T, kCell == RecurrentCell::kTanh>(s);
    }
}

// Adds the product of the gradients of step `before` to gh, then computes those of `step`.
template <typename T, RecurrentCell kCell>
inline void RecurrentBackward(const StepParams& p) {
    constexpr int kGates = static_cast<int>(CountGates(kCell));
    constexpr int kSaved = static_cast<int>(CountSaved(kCell));
    const StepPlace at{p};
    const StepRows done = RowsOfStep(p, p.before);
    const int64_t depth = kGates * p.size;
    const int64_t row = at.first_row + at.row;
    const int64_t unit = at.first_unit + at.unit;
    const int64_t place = row * p.size + unit;
    if (at.first_row < done.rows) {
        T sums[1];
        MultiplyStep<1, false>(
            static_cast<int>(depth),
            [&](int i) -> const T* {
                const int64_t row = at.first_row + i;
                if (row >= done.rows) return nullptr;
                return Elements<const T>(p.gp != nullptr ? p.gp : p.gz, (done.begin + row) * depth);
            },
            [&](int, int unit, int64_t k) {
                const int64_t column = at.first_unit + unit;
                return column < p.size ? *Elements<const T>(p.u[0], k * p.size + column) : T(0);
            },
            sums);
        if (row < done.rows && unit < p.size) *Elements<T>(p.gh, place) += sums[0];
    }
    const StepRows step = RowsOfStep(p, p.step);
    if (row >= step.rows || unit >= p.size) return;
    const StepRows last = RowsOfStep(p, p.next);
    const int64_t first = step.begin + row;
    const bool is_first = row >= last.rows;
    const int64_t then = (last.begin + row) * p.size + unit;
    const T* const h = is_first ? Elements<const T>(p.h0, place) : Elements<const T>(p.ys, then);
    const T* const c = is_first ? Elements<const T>(p.c0, place) : Elements<const T>(p.cs, then);
    if (p.states != nullptr) *Elements<T>(p.states, first * p.size + unit) = *h;
    const native::RecurrentGradStep<T> s{1,
                                         1,
                                         p.size,
                                         Elements<const T>(p.gys, first * p.size + unit),
                                         Elements<const T>(p.ys, first * p.size + unit),
                                         Elements<const T>(p.cs, first * p.size + unit),
                                         Elements<const T>(p.saved, first * kSaved * p.size + unit),
                                         h,
                                         c,
                                         Elements<T>(p.gh, place),
                                         Elements<T>(p.gc, place),
                                         Elements<T>(p.gz, first * depth + unit),
                                         Elements<T>(p.gp, first * depth + unit)};
    if constexpr (kCell == RecurrentCell::kLstm) {
        native::CX_ISA::LstmGrad(s);
    } else if constexpr (kCell == RecurrentCell::kGru) {
        native::CX_ISA::GruGrad(s);
    } else {
        native::CX_ISA::PlainGrad<T, kCell == RecurrentCell::kTanh>(s);
    }
}

}  // namespace chainerx::cuda

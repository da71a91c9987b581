// Parameters of recurrent layers, for the host and the device (cuda/rnn/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// LSTM cells with given gates. The addresses of lists of arrays are in the parameters, or in
// memory if there are many.
inline constexpr int kFewCells = 16;
struct CellParams {
    Ptr<char> few[4 * kFewCells];  // cs, xs, gcs, gxs
    Ptr<Ptr<char>> many;           // the same, or null
    int64_t most_cells;            // from list to list
    Ptr<char> c;
    Ptr<char> h;
    Ptr<char> gc;
    Ptr<char> gh;
    int64_t n_cells;
    int64_t n_gates;  // of a group
    int64_t across;   // distance of the first gates of neighbours
    int64_t size;     // of a group
    int64_t n;        // cells that have gates
    int64_t total;    // cells
};

// A step of a recurrent layer: a block has kStepTile sequences and as many units.
inline constexpr int kStepTile = 16;
inline constexpr int kStepDepth = 32;
struct StepParams {
    Ptr<const int64_t> sizes;  // rows of each step, or null: there is one step, of `rows`
    Ptr<const int64_t> ends;
    int64_t step;    // negative: none; the backward pass ends so
    int64_t before;  // the step whose states, or gradients, the product takes, or -1
    int64_t next;    // the step that the backward pass takes next, or -1
    int64_t rows;    // of all steps
    int64_t size;
    int64_t unit_blocks;
    Ptr<char> z;
    Ptr<const char> u[4];  // weights of each gate
    Ptr<const char> bias;  // of a GRU's product
    Ptr<char> h;
    Ptr<char> h0;  // what h was before all steps
    Ptr<char> c;
    Ptr<char> ys;
    Ptr<char> cs;
    Ptr<char> saved;
    // Of a single step whose input is not multiplied yet: z receives x w^T and the biases.
    Ptr<const char> x;
    int64_t features;
    Ptr<const char> w[4];
    Ptr<const char> biases[2][4];
    // Of the backward pass.
    Ptr<const char> gys;
    Ptr<char> c0;
    Ptr<char> gh;
    Ptr<char> gc;
    Ptr<char> gz;
    Ptr<char> gp;
    Ptr<char> states;  // receives the states before each step, or null
};

}  // namespace chainerx::cuda

// One layer of a recurrent network in one direction, as an operation.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/rnn/recurrent_cell.h"

namespace chainerx::internal {

struct RecurrentLayer {
    RecurrentCell cell;
    bool reverse;
    Array sizes;  // sizes of the steps, as the kernel takes them; in no graph, never written to
};

struct RecurrentResult {
    Array ys;
    Array h;
    Array c;  // null if cells have none
};

// The weights of a layer and direction as the user gave them, and the biases.
struct RecurrentParameters {
    const std::vector<Array>& ws;
    const std::vector<Array>& bs;
};

// All arrays have one dtype, float32 or float64, and any strides. The input contributes x w^T +
// bias; for the rest see the kernel Recurrence. b and c are null where cells have none.
struct RecurrentInputs {
    const Array& x;
    const Array& w;
    const Array& bias;
    const Array& u;
    const Array& h;
    const Array& b;
    const Array& c;
    // The parameters from which w, u and the biases were joined, if a step can use them directly.
    const RecurrentParameters* apart{nullptr};
    // KeptWeights of this u, which nobody writes to; null for none.
    Array kept{};
};

// Backward saves the inputs, the outputs, and what the kernel saves.
CX_API RecurrentResult RecordedRecurrence(const RecurrentLayer& layer, const RecurrentInputs& in);

// Returns whether such steps use the separate weights: with few rows, joining and packing them
// takes longer than the product.
bool IsForStep(Device& device, int64_t n_steps, int64_t rows, int64_t units);

// Runs one step, in no graph; x, h and c have one dtype, float32 or float64.
RecurrentResult RunStep(RecurrentCell cell, const Array& x, const RecurrentParameters& parameters,
                        const Array& h, const Array& c);

}  // namespace chainerx::internal

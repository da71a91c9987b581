// One layer of a recurrent network in one direction, as an operation.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/kernels/rnn/recurrent_cell.h"

namespace chainerx::internal {

struct RecurrentLayer {
    RecurrentCell cell;
    bool reverse;
    Array sizes;  // those of the steps, as the kernel takes them; in no graph, written by nobody
};

struct RecurrentResult {
    Array ys;
    Array h;
    Array c;  // null if cells have none
};

// The weights of a layer and direction as they were given, and the biases.
struct RecurrentParameters {
    const std::vector<Array>& ws;
    const std::vector<Array>& bs;
};

// All of one dtype, float32 or float64, and any strides. What comes from the input is
// x w^T + bias; for the others see the kernel Recurrence. b and c are null where there are none.
struct RecurrentInputs {
    const Array& x;
    const Array& w;
    const Array& bias;
    const Array& u;
    const Array& h;
    const Array& b;
    const Array& c;
    // What w, u and the biases were joined from, where a step is to be computed from that.
    const RecurrentParameters* apart{nullptr};
};

// What is kept for backward are the inputs, the outputs, and what the kernel saves.
RecurrentResult RecordedRecurrence(const RecurrentLayer& layer, const RecurrentInputs& in);

// Whether such steps are computed from weights as they lie: with few rows, to join and pack them
// takes longer than to multiply.
bool IsForStep(Device& device, int64_t n_steps, int64_t rows, int64_t units);

// One step, in no graph; x, h and c of one dtype, float32 or float64.
RecurrentResult RunStep(RecurrentCell cell, const Array& x, const RecurrentParameters& parameters,
                        const Array& h, const Array& c);

}  // namespace chainerx::internal

// One layer of a recurrent network in one direction, as an operation.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/recurrent_cell.h"

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
};

// What is kept for backward are the inputs, the outputs, and what the kernel saves.
RecurrentResult RecordedRecurrence(const RecurrentLayer& layer, const RecurrentInputs& in);

}  // namespace chainerx::internal

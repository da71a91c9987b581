// One layer of a recurrent network in one direction, as an operation.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/recurrent_cell.h"

namespace chainerx::internal {

struct RecurrentLayer {
    const char* op;
    RecurrentCell cell;
    bool reverse;
    Array sizes;  // those of the steps, as the kernel takes them; in no graph, written by nobody
};

struct RecurrentResult {
    Array ys;
    Array h;
    Array c;  // null if cells have none
};

// See the kernel Recurrence. All arrays have one dtype, float32 or float64, and any strides. b and
// c are null where there are none.
RecurrentResult RecordedRecurrence(const RecurrentLayer& layer, const Array& z, const Array& u,
                                   const Array& b, const Array& h, const Array& c);

}  // namespace chainerx::internal

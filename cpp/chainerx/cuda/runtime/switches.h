// What the user allows in the whole process (chainerx.cuda.allow_tf32 and its like).
#pragma once

#include <atomic>

#include "chainerx/core/macro.h"

namespace chainerx::cuda {

struct Switches {
    // Products of float32 may round their operands to ten bits.
    std::atomic<bool> tf32{false};
    // Products of 16-bit floats may add parts of a sum in their own dtype.
    std::atomic<bool> reduced_precision{true};
};

Switches& GetSwitches();

}  // namespace chainerx::cuda

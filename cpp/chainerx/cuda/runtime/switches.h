// What the user allows in the whole process (chainerx.cuda.allow_tf32 and its like).
#pragma once

#include <atomic>
#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx::cuda {

struct Switches {
    // Products and convolutions of float32 may round their operands to ten bits.
    std::atomic<bool> tf32{false};
    // Products of 16-bit floats may add parts of a sum in their own dtype.
    std::atomic<bool> reduced_precision{true};
    // Bytes of work space for a convolution.
    std::atomic<int64_t> max_workspace{int64_t{1} << 30};
};

Switches& GetSwitches();

}  // namespace chainerx::cuda

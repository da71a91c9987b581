// Integer division, by one divisor or by many: loops exported by elementwise/simd/divide.cc.
#pragma once

#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/loops.h"

namespace chainerx::native {

// Null for dtypes other than integers. Division by 0 gives 0; the one quotient that overflows
// wraps.
struct DivideLoops {
    // The first operand has step 1, the second is a single value.
    BinaryLoop floor[kNumDtypes];
    BinaryLoop remainder[kNumDtypes];
    // Any steps.
    BinaryLoop floor_of_pairs[kNumDtypes];
    BinaryLoop remainder_of_pairs[kNumDtypes];
    BinaryLoop fmod_of_pairs[kNumDtypes];
};

const DivideLoops& divide_loops();

}  // namespace chainerx::native

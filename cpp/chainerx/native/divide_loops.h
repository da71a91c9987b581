// Division of many integers by one, as raw function pointers: what the unit isa/divide.cc exports.
#pragma once

#include "chainerx/core/dtype.h"
#include "chainerx/native/loops.h"

namespace chainerx::native {

// Null for dtypes that are no integers. The first operand has step 1, the second is one value.
struct DivideLoops {
    BinaryLoop floor[kNumDtypes];
    BinaryLoop remainder[kNumDtypes];
};

const DivideLoops& divide_loops();

}  // namespace chainerx::native

// Loops over complex numbers: what the unit isa/complex.cc exports.
#pragma once

#include "chainerx/native/loops.h"

namespace chainerx::native {

struct ComplexLoops {
    UnaryLoops absolute;  // by the dtype of a part
};

const ComplexLoops& complex_loops();

}  // namespace chainerx::native

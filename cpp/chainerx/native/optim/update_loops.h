// What the unit optim/simd/update.cc exports.
#pragma once

#include <cstdint>

#include "chainerx/kernels/optim/update_rule.h"

namespace chainerx::native {

// Elements of one parameter. states: as many pointers as the rule has.
using UpdateLoop = void (*)(char* param, const char* grad, char* const* states, int64_t n,
                            const double* numbers);

struct UpdateLoops {
    UpdateLoop f32[static_cast<int>(UpdateRule::kCount)];
    UpdateLoop f64[static_cast<int>(UpdateRule::kCount)];
};

const UpdateLoops& update_loops();

}  // namespace chainerx::native

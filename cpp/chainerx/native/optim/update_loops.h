// Optimizer loops: exported by optim/simd/update.cc.
#pragma once

#include <cstdint>

#include "chainerx/kernels/optim/update_rule.h"

namespace chainerx::native {

// Updates elements of one parameter. `states` has as many pointers as the rule has states.
using UpdateLoop = void (*)(char* param, const char* grad, char* const* states, int64_t n,
                            const double* numbers);

struct UpdateLoops {
    UpdateLoop f32[static_cast<int>(UpdateRule::kCount)];
    UpdateLoop f64[static_cast<int>(UpdateRule::kCount)];
};

const UpdateLoops& update_loops();

}  // namespace chainerx::native

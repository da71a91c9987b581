// What the kernel of optimizers works on.
#pragma once

#include <cstdint>

#include "chainerx/core/dtype.h"

namespace chainerx {

enum class UpdateRule : int {
#define CX_UPDATE(Name, ...) k##Name,
#include "chainerx/ops/update.def"
#undef CX_UPDATE
    kCount
};

inline constexpr int kMaxUpdateStates = 3;

// One parameter: contiguous memory of one float dtype.
struct UpdateItem {
    Dtype dtype;
    int64_t size;
    char* param;
    const char* grad;
    char* states[kMaxUpdateStates];
};

}  // namespace chainerx

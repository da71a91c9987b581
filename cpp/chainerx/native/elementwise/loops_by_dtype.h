// The loops of one row of an elementwise table by dtype.
#pragma once

#include "chainerx/core/dtype.h"

namespace chainerx::native {

// Null where there are none.
template <typename Loop>
struct LoopsByDtype {
    Loop of[kNumDtypes];
};

}  // namespace chainerx::native

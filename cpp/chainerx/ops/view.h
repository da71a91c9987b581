// Routines that return another view of the same memory.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// A view where the layout allows it, else a copy. One dimension may be -1.
CX_API Array Reshape(const Array& x, const Shape& shape);
CX_API Array Transpose(const Array& x, const OptionalAxes& axes = std::nullopt);
CX_API Array BroadcastTo(const Array& x, const Shape& shape);
CX_API Array MakeView(const Array& x);

}  // namespace chainerx

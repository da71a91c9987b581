// The error for an axis out of range: a DimensionError, and in Python an IndexError, too.
#pragma once

#include "chainerx/core/error.h"

namespace chainerx {

class CX_API AxisError : public DimensionError {
 public:
    using DimensionError::DimensionError;
};

}  // namespace chainerx

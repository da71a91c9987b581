// The error of an axis that is not there: a DimensionError, and in Python an IndexError, too.
#pragma once

#include "chainerx/core/error.h"

namespace chainerx {

class CX_API AxisError : public DimensionError {
 public:
    using DimensionError::DimensionError;
};

}  // namespace chainerx

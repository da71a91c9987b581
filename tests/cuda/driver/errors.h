// Inside of the driver errors are thrown as the CUresult that the call returns.
#pragma once

#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

inline void Require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
    if (!condition) throw otherwise;
}

}  // namespace chainerx::cuda

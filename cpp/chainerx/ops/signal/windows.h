// Window functions for spectra and filters: symmetric vectors of m samples, empty for m < 1,
// computed in float64. They are in no graph.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

CX_API Array Bartlett(int64_t m, Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice());
CX_API Array Blackman(int64_t m, Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice());
CX_API Array Hamming(int64_t m, Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice());
CX_API Array Hanning(int64_t m, Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice());
CX_API Array Kaiser(int64_t m, double beta, Dtype dtype = kDefaultFloat,
                    Device& device = GetDefaultDevice());

}  // namespace chainerx

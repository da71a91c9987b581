// Helpers of the normalization kernels.
#pragma once

#include <cstdint>

#include "chainerx/core/dtype.h"
#include "chainerx/native/norm/normalization_loops.h"

namespace chainerx::native {

// Merges the mean of `count` numbers and the sum of squared deviations with those of more numbers.
inline void JoinMoments(double* mean, double* square, int64_t count, double more_mean,
                        double more_square, int64_t more_count) {
    const double part = static_cast<double>(more_count) / static_cast<double>(count + more_count);
    const double delta = more_mean - *mean;
    *mean += delta * part;
    *square += more_square + delta * delta * static_cast<double>(count) * part;
}

}  // namespace chainerx::native

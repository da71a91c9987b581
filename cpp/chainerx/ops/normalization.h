// Normalizations. x is a float array; gamma, beta and statistics may have other float dtypes. The
// result has the shape, dtype and memory order of x, and is computed in float64 where x is that,
// else in float32. Differentiable in x, gamma and beta, any order.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// ---- batch_norm.cc ----
// (x - mean) / sqrt(var + eps) * gamma + beta, with the statistics of x over `axis`; without one,
// over the first axis. The other arrays have the shape of x without these axes, or with length 1
// there. In place, running = decay * running + (1 - decay) * statistic, where the variance is the
// unbiased one; each may be left out. They stay as they are if x is empty.
CX_API Array BatchNorm(const Array& x, const Array& gamma, const Array& beta,
                       const std::optional<Array>& running_mean,
                       const std::optional<Array>& running_var, double eps = 2e-5,
                       double decay = 0.9, const OptionalAxes& axis = std::nullopt);

// The same with the statistics that it computed, of the shape of x without `axis`.
struct BatchNormResult {
    Array y;
    Array mean;
    Array inv_std;  // 1 / sqrt(var + eps)
};
CX_API BatchNormResult BatchNormWithStatistics(const Array& x, const Array& gamma,
                                               const Array& beta,
                                               const std::optional<Array>& running_mean,
                                               const std::optional<Array>& running_var,
                                               double eps = 2e-5, double decay = 0.9,
                                               const OptionalAxes& axis = std::nullopt);

// With statistics that are given. Differentiable in them, too.
CX_API Array FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta,
                            const Array& mean, const Array& var, double eps = 2e-5,
                            const OptionalAxes& axis = std::nullopt);

}  // namespace chainerx

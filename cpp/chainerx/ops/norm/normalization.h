// Normalizations. x is a float array; gamma, beta and statistics may have other float dtypes. The
// result has the shape, dtype and memory order of x; a float64 x is computed in float64, others in
// float32. Differentiable in x, gamma and beta, any order.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// ---- batch_norm.cc ----
// Returns (x - mean) / sqrt(var + eps) * gamma + beta, with the statistics of x over `axis`, by
// default the first axis. The other arrays have the shape of x without these axes, or with length 1
// there. Updates running = decay * running + (1 - decay) * statistic in place, with the unbiased
// variance; each may be omitted. They are not updated if x is empty.
CX_API Array BatchNorm(const Array& x, const Array& gamma, const Array& beta,
                       const std::optional<Array>& running_mean,
                       const std::optional<Array>& running_var, double eps = 2e-5,
                       double decay = 0.9, const OptionalAxes& axis = std::nullopt);

// Also returns the computed statistics, of the shape of x without `axis`.
struct Normalized {
    Array y;
    Array mean;
    Array inv_std;  // 1 / sqrt(var + eps)
};
CX_API Normalized BatchNormWithStatistics(const Array& x, const Array& gamma, const Array& beta,
                                          const std::optional<Array>& running_mean,
                                          const std::optional<Array>& running_var,
                                          double eps = 2e-5, double decay = 0.9,
                                          const OptionalAxes& axis = std::nullopt);

// Uses the given statistics. Differentiable in them, too.
CX_API Array FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta,
                            const Array& mean, const Array& var, double eps = 2e-5,
                            const OptionalAxes& axis = std::nullopt);

// ---- row_norm.cc ----
// Layer normalization: (x - mean) / sqrt(var + eps) * gamma + beta, with the statistics of x over
// all `axis` together, for each position on the other axes. gamma and beta have the shape of x
// along these axes; the default is the last axes, as many as gamma has. Backward recomputes
// statistics that are not kept.
CX_API Array LayerNorm(const Array& x, const Array& gamma, const Array& beta, double eps = 1e-5,
                       const OptionalAxes& axis = std::nullopt, bool keeps_statistics = true);
// Returns x / sqrt(mean of x^2 + eps) * gamma, by default over the axes of gamma, or else the last
// axis.
CX_API Array RmsNorm(const Array& x, const std::optional<Array>& gamma = std::nullopt,
                     double eps = 1e-6, const OptionalAxes& axis = std::nullopt);
// Normalizes x (n, channels, ...) with statistics over the channels of a group and all axes behind
// them. gamma and beta are (channels,).
CX_API Array GroupNorm(const Array& x, int64_t groups, const Array& gamma, const Array& beta,
                       double eps = 1e-5);
// Also returns the statistics, as vectors: all groups of the first image, then of the second, ...
CX_API Normalized GroupNormWithStatistics(const Array& x, int64_t groups, const Array& gamma,
                                          const Array& beta, double eps = 1e-5);
// Normalizes with groups of one channel each.
CX_API Array InstanceNorm(const Array& x, const std::optional<Array>& gamma = std::nullopt,
                          const std::optional<Array>& beta = std::nullopt, double eps = 1e-5);

// ---- local_response.cc ----
// Returns x / (k + alpha * sum of x^2)^beta, where the sum runs over the channels (axis 1) from n /
// 2 before to n / 2 after each.
CX_API Array LocalResponseNormalization(const Array& x, int64_t n = 5, double k = 2,
                                        double alpha = 1e-4, double beta = 0.75);

}  // namespace chainerx

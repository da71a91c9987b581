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

// With statistics that are given. Differentiable in them, too.
CX_API Array FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta,
                            const Array& mean, const Array& var, double eps = 2e-5,
                            const OptionalAxes& axis = std::nullopt);

// ---- row_norm.cc ----
// (x - mean) / sqrt(var + eps) * gamma + beta, with the statistics of x over all `axis` together,
// for each place of the other axes. gamma and beta have the shape of x along these axes, which
// without `axis` are the last ones, as many as gamma has.
// Statistics that are not kept are computed again in backward.
CX_API Array LayerNorm(const Array& x, const Array& gamma, const Array& beta, double eps = 1e-5,
                       const OptionalAxes& axis = std::nullopt, bool keeps_statistics = true);
// x / sqrt(mean of x^2 + eps) * gamma. Without `axis`, over the axes of gamma, or else the last
// one.
CX_API Array RmsNorm(const Array& x, const std::optional<Array>& gamma = std::nullopt,
                     double eps = 1e-6, const OptionalAxes& axis = std::nullopt);
// Of x (n, channels, ...), with statistics over the channels of a group and all that is behind
// them. gamma and beta are (channels,).
CX_API Array GroupNorm(const Array& x, int64_t groups, const Array& gamma, const Array& beta,
                       double eps = 1e-5);
// The same with the statistics, as vectors: all groups of the first image, then of the second, ...
CX_API Normalized GroupNormWithStatistics(const Array& x, int64_t groups, const Array& gamma,
                                          const Array& beta, double eps = 1e-5);
// Groups of one channel each.
CX_API Array InstanceNorm(const Array& x, const std::optional<Array>& gamma = std::nullopt,
                          const std::optional<Array>& beta = std::nullopt, double eps = 1e-5);

// ---- local_response.cc ----
// x / (k + alpha * sum of x^2)^beta, where the sum runs over the channels (axis 1) from n / 2
// before to n / 2 behind each.
CX_API Array LocalResponseNormalization(const Array& x, int64_t n = 5, double k = 2,
                                        double alpha = 1e-4, double beta = 0.75);

}  // namespace chainerx

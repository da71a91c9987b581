// Weighted means, covariances and correlations.
#pragma once

#include <optional>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns the weighted mean over axes, and the sum of the weights in the shape of the mean. The
// weights have the shape of x, or that of the axes alone.
CX_API std::pair<Array, Array> Average(const Array& x, const OptionalAxes& axes = std::nullopt,
                                       const Array* weights = nullptr, bool keepdims = false);

struct CovarianceOptions {
    const Array* y{nullptr};         // more variables
    bool rowvar{true};               // variables are rows, observations columns
    bool bias{false};                // divides by the number of observations, not by one less
    std::optional<int64_t> ddof{};   // subtracted from that number, instead of `bias`
    const Array* fweights{nullptr};  // number of times each observation occurs: integers
    const Array* aweights{nullptr};  // weights of the observations
    std::optional<Dtype> dtype{};
};
// Returns the covariance matrix of variables. x has at most two dimensions.
CX_API Array Cov(const Array& x, const CovarianceOptions& options = {});
// Returns the matrix of correlation coefficients, from -1 to 1.
CX_API Array Corrcoef(const Array& x, const CovarianceOptions& options = {});

}  // namespace chainerx

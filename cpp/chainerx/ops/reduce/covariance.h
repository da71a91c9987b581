// Weighted means, and how variables go together.
#pragma once

#include <optional>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// The mean over axes in which elements count as much as `weights` say, and the sum of these, in the
// shape of the mean. The weights have the shape of x, or that of the axes alone.
CX_API std::pair<Array, Array> Average(const Array& x, const OptionalAxes& axes = std::nullopt,
                                       const Array* weights = nullptr, bool keepdims = false);

struct CovarianceOptions {
    const Array* y{nullptr};         // more variables
    bool rowvar{true};               // variables are rows, observations columns
    bool bias{false};                // divides by the number of observations, not by one less
    std::optional<int64_t> ddof{};   // what is taken off that number, in the place of `bias`
    const Array* fweights{nullptr};  // how often observations occur: integers
    const Array* aweights{nullptr};  // how much they count
    std::optional<Dtype> dtype{};
};
// The matrix of the covariances of variables. x has at most two dimensions.
CX_API Array Cov(const Array& x, const CovarianceOptions& options = {});
// The same of variables divided by their standard deviations: from -1 to 1.
CX_API Array Corrcoef(const Array& x, const CovarianceOptions& options = {});

}  // namespace chainerx

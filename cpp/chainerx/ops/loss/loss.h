// Losses and evaluation. Each is elementwise or per sample; nothing is averaged. (absolute_error
// and squared_error are in composed.h.)
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// KL divergence of N(mean, exp(ln_var)) from the standard normal distribution.
CX_API Array GaussianKlDivergence(const Array& mean, const Array& ln_var);

// Quadratic where |x1 - x2| <= delta, linear beyond.
CX_API Array HuberLoss(const Array& x1, const Array& x2, double delta);

// x2 has integers 0 or 1, or -1 where the loss is 0.
CX_API Array SigmoidCrossEntropy(const Array& x1, const Array& x2);

// max(0, 1 - s x1)^norm, where s is 1 in column x2[i] of each row i of x1, else -1.
CX_API Array Hinge(const Array& x1, const Array& x2, double norm = 1.0);

// The fraction of correct predictions argmax(y, axis 1) among the labels that are not ignored; 0 if
// all are. Not differentiable.
CX_API Array Accuracy(const Array& y, const Array& t,
                      std::optional<int64_t> ignore_label = std::nullopt);

}  // namespace chainerx

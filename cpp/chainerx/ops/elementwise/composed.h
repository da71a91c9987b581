// Elementwise routines that are compositions of rows of the tables.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// Absolute value in the float dtype of `x`.
CX_API Array Fabs(const Array& x);
// ValueError if both bounds are missing.
CX_API Array Clip(const Array& a, const std::optional<Scalar>& a_min,
                  const std::optional<Scalar>& a_max);
// min(max(x, 0), z)
CX_API Array ClippedRelu(const Array& x, double z = 20.0);
// log(1 + exp(beta x)) / beta
CX_API Array Softplus(const Array& x, double beta);
// Like the row of this name, but for alpha >= 0 backward saves the result instead of x: the next
// operation is likely to save it anyway.
CX_API Array Elu(const Array& x, double alpha);

// x N(x), where N is the standard normal distribution function, or its approximation by tanh.
enum class GeluApproximation : int8_t { kNone, kTanh };
CX_API Array Gelu(const Array& x, GeluApproximation approximate = GeluApproximation::kNone);

// Leaky rectifier whose slope is an array.
CX_API Array Prelu(const Array& x, const Array& slope);
// x * sigmoid(beta x). Backward saves only the inputs.
CX_API Array Swish(const Array& x, const Array& beta);
// relu(x) and relu(-x), joined along `axis`.
CX_API Array Crelu(const Array& x, int8_t axis = 1);

CX_API Array AbsoluteError(const Array& x1, const Array& x2);
// Backward saves only the inputs.
CX_API Array SquaredError(const Array& x1, const Array& x2);

}  // namespace chainerx

// Compares gradients with finite differences. For tests: slow, and in double precision on the host.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Maps inputs to outputs. It is called often, with copies of the inputs, and must be deterministic.
using CheckedFunction = std::function<std::vector<Array>(const std::vector<Array>&)>;

// Throws GradientCheckError, with input, index and both values, unless the gradients of
// sum(grad_outputs * func(inputs)) agree with central differences of step `eps` (one array per
// input, of its shape): |backward - numerical| <= atol + rtol * |numerical|. Checks the inputs with
// require_grad(); the others are constants. No stored gradient changes.
CX_API void CheckBackward(const CheckedFunction& func, const std::vector<Array>& inputs,
                          const std::vector<Array>& grad_outputs, const std::vector<Array>& eps,
                          double atol = 1e-5, double rtol = 1e-4,
                          const std::optional<BackpropId>& id = std::nullopt);

// The same for the gradients of `func` as a function of inputs and grad_outputs, whose own
// gradients start at `grad_grad_inputs` (one per input with require_grad()). `eps` has one array
// per input and then one per grad_output; grad_outputs without require_grad() are constants.
CX_API void CheckDoubleBackward(const CheckedFunction& func, const std::vector<Array>& inputs,
                                const std::vector<Array>& grad_outputs,
                                const std::vector<Array>& grad_grad_inputs,
                                const std::vector<Array>& eps, double atol = 1e-5,
                                double rtol = 1e-4,
                                const std::optional<BackpropId>& id = std::nullopt);

// Returns the central differences of sum(grad_outputs * func(inputs)) by each element of each
// input, in float64, or in complex128 for a complex input: then Re(gx * dx) = Re(gy * dy) for every
// dx, by the convention of backward.
CX_API std::vector<Array> CalculateNumericalGradient(const CheckedFunction& func,
                                                     const std::vector<Array>& inputs,
                                                     const std::vector<Array>& grad_outputs,
                                                     const std::vector<Array>& eps);

}  // namespace chainerx

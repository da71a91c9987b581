// Backpropagation. Iterative and re-entrant; gradients of any order.
#pragma once

#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/macro.h"

namespace chainerx {

enum class DoubleBackpropOption : bool { kDisable, kEnable };

// Adds to the gradients of all arrays with require_grad() on which the outputs depend. An output
// without a gradient gets ones, times `loss_scale`; resulting gradients are divided by it. Unless
// double backprop is enabled, the graph is freed at the very end: if the call fails, all is as
// before. Traversing a freed part of a graph is a GradientError.
CX_API void Backward(const std::vector<ConstArrayRef>& outputs,
                     const std::optional<BackpropId>& id = std::nullopt,
                     DoubleBackpropOption double_backprop = DoubleBackpropOption::kDisable,
                     std::optional<double> loss_scale = std::nullopt);

CX_API void Backward(const Array& output, const std::optional<BackpropId>& id = std::nullopt,
                     DoubleBackpropOption double_backprop = DoubleBackpropOption::kDisable,
                     std::optional<double> loss_scale = std::nullopt);

// Returns the gradients of the outputs with respect to the inputs, nullopt where there is no path.
// Like Backward, starts from the outputs' own gradients where `grad_outputs` has none. Stored
// gradients are unchanged unless `set_grad` (inputs) or `retain_grad` (all intermediate arrays).
CX_API std::vector<std::optional<Array>> Grad(
    const std::vector<ConstArrayRef>& outputs, const std::vector<ConstArrayRef>& inputs,
    const std::optional<BackpropId>& id = std::nullopt,
    DoubleBackpropOption double_backprop = DoubleBackpropOption::kDisable, bool set_grad = false,
    bool retain_grad = false, const std::vector<std::optional<Array>>& grad_outputs = {},
    std::optional<double> loss_scale = std::nullopt);

}  // namespace chainerx

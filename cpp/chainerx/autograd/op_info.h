// The description of an operation: one constant per operation, which its nodes point to.
#pragma once

#include <cstdint>
#include <span>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

struct KernelInfo;  // kernels/kernel.h

// How the operation applies to a batch of its inputs, whose batch axis is axis 0.
enum class Batching : int8_t {
    kUnknown,      // unknown: computed example by example
    kElementwise,  // unchanged, once the inputs have the same number of dimensions
    kAxes,         // unchanged, but axes in its arguments are shifted by one
    kShape         // unchanged, but a shape in its arguments gets the batch in front
};

// The arguments of a forward derivative. A tangent that is a null array is zero.
struct ForwardInputs {
    std::span<const Array> x;
    const Array& y;
    std::span<const Array> tangents;     // one for each of x
    std::span<const double> attributes;  // those of the node
};
// Returns the tangent of y = op(x..., attributes...); null if there is none. Composed of array
// operations, so it is differentiable itself.
using ForwardDerivative = Array(const ForwardInputs& f);

struct OpInfo {
    const char* name;
    const KernelInfo* kernel{nullptr};  // null for views and compositions
    Batching batching{Batching::kUnknown};
    ForwardDerivative* forward{nullptr};  // null if there is none
    // The number of inputs that `forward` takes; 0 for any number. A node has fewer if operands are
    // numbers.
    int8_t forward_inputs{0};
};

// An operation that Python defines, by its name: always the same object for the same name.
CX_API const OpInfo& UserOp(const char* name);

}  // namespace chainerx

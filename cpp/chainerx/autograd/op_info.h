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
    kUnknown,      // nothing is known: example by example
    kElementwise,  // as it is, once the inputs have one number of dimensions
    kAxes,         // as it is, where arguments that are axes count one more
    kShape         // as it is, where the shape that is an argument begins with the batch
};

// What a forward derivative is of. A tangent that is a null array is zero.
struct ForwardInputs {
    std::span<const Array> x;
    const Array& y;
    std::span<const Array> tangents;     // one for each of x
    std::span<const double> attributes;  // those of the node
};
// The change of y = op(x..., attributes...) for small changes of the inputs; null if there is none.
// Array operations, so it is differentiable itself.
using ForwardDerivative = Array(const ForwardInputs& f);

struct OpInfo {
    const char* name;
    const KernelInfo* kernel{nullptr};  // the one that computes it; null for views and compositions
    Batching batching{Batching::kUnknown};
    ForwardDerivative* forward{nullptr};  // null where it is not known
    // How many inputs that is of; 0 for any number. A node has fewer where operands are numbers.
    int8_t forward_inputs{0};
};

// An operation that Python defines, by its name: the same object for the same name, for good.
CX_API const OpInfo& UserOp(const char* name);

}  // namespace chainerx

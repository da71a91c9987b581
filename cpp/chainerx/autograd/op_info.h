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

// The change of y = op(x...) for small changes of the inputs. A tangent that is a null array is
// zero; so is a null result. Array operations, so it is differentiable itself.
using ForwardDerivative = Array(std::span<const Array> x, const Array& y,
                                std::span<const Array> tangents);

struct OpInfo {
    const char* name;
    const KernelInfo* kernel{nullptr};  // the one that computes it; null for views and compositions
    Batching batching{Batching::kUnknown};
    ForwardDerivative* forward{nullptr};  // null where it is not known
};

// An operation that Python defines, by its name: the same object for the same name, for good.
CX_API const OpInfo& UserOp(const char* name);

}  // namespace chainerx

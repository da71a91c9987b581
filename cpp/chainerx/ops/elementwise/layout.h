// The memory order of elementwise results, conversions of dtype included. (Copy() gives C order: v7
// promises it, and it is how one gets memory in C order.)
#pragma once

#include <span>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// An uninitialized array whose axes lie in memory in the order that the strides of `operands`,
// which broadcast to `shape`, agree on, as NumPy's order "K": C order where they contradict each
// other or don't care. A null operand has no say.
CX_API Array EmptyInOrderOf(const Shape& shape, Dtype dtype, Device& device,
                            std::span<const Array* const> operands);

// The result of an elementwise operation on `x`.
inline Array EmptyResult(const Array& x, Dtype dtype) {
    if (x.IsContiguous()) [[likely]]
        return EmptyUnchecked(x.shape(), dtype, x.device());
    const Array* const operands[] = {&x};
    return EmptyInOrderOf(x.shape(), dtype, x.device(), operands);
}

// The result of an elementwise operation on x1 and x2, which broadcast to `shape`.
inline Array EmptyResult(const Shape& shape, const Array& x1, const Array& x2, Dtype dtype) {
    if (x1.IsContiguous() && x2.IsContiguous()) [[likely]]
        return EmptyUnchecked(shape, dtype, x1.device());
    const Array* const operands[] = {&x1, &x2};
    return EmptyInOrderOf(shape, dtype, x1.device(), operands);
}

}  // namespace chainerx::internal

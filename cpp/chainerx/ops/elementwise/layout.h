// The memory layout of elementwise results and dtype conversions. (Copy() always gives C order: v7
// promises it, and it is the way to get memory in C order.)
#pragma once

#include <span>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// Returns an uninitialized array whose axes are in the memory order on which the strides of
// `operands` agree, as NumPy's order "K"; C order where they contradict each other or have no
// preference. `operands` broadcast to `shape`; null ones are ignored.
CX_API Array EmptyInOrderOf(const Shape& shape, Dtype dtype, Device& device,
                            std::span<const Array* const> operands);

// Allocates the result of an elementwise operation on `x`.
inline Array EmptyResult(const Array& x, Dtype dtype) {
    if (x.IsContiguous()) [[likely]]
        return EmptyUnchecked(x.shape(), dtype, x.device());
    const Array* const operands[] = {&x};
    return EmptyInOrderOf(x.shape(), dtype, x.device(), operands);
}

// Allocates the result of an elementwise operation on x1 and x2, which broadcast to `shape`.
inline Array EmptyResult(const Shape& shape, const Array& x1, const Array& x2, Dtype dtype) {
    if (x1.IsContiguous() && x2.IsContiguous()) [[likely]]
        return EmptyUnchecked(shape, dtype, x1.device());
    const Array* const operands[] = {&x1, &x2};
    return EmptyInOrderOf(shape, dtype, x1.device(), operands);
}

}  // namespace chainerx::internal

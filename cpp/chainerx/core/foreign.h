// Arrays over memory that belongs to someone else: NumPy, CuPy.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// Who owns the memory. `release(owner)` runs when the last array goes, on whichever thread that
// happens, with or without the GIL.
struct Owner {
    void* owner;
    void (*release)(void* owner);
};

// `data` is the address of element (0, ..., 0); strides, in bytes, may be negative.
CX_API Array WrapForeign(void* data, const Shape& shape, const Strides& strides, Dtype dtype,
                         Device& device, Owner owner, bool writable);

// Whether every element lies where a load of its type may read it. Arrays that we allocate do.
CX_API bool IsAligned(const Array& x);

}  // namespace chainerx::internal

// Arrays over memory that other libraries own: NumPy, CuPy.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// The owner of the memory. Calls `release(owner)` when the last array goes, on whichever thread
// that happens, with or without the GIL.
struct Owner {
    void* owner;
    void (*release)(void* owner);
};

// `data` is the address of element (0, ..., 0); strides, in bytes, may be negative.
CX_API Array WrapForeign(void* data, const Shape& shape, const Strides& strides, Dtype dtype,
                         Device& device, Owner owner, bool writable);

// The owner that memory was wrapped with, together with this function; null for other memory.
CX_API void* FindOwner(const Buffer& buffer, void (*release)(void* owner));

// Returns whether every element is aligned for a load of its type. Our own arrays always are.
CX_API bool IsAligned(const Array& x);

}  // namespace chainerx::internal

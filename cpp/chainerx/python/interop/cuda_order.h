// The order of work on memory that is shared with other libraries on a GPU. Streams are handles of
// CUDA's driver as numbers, as the protocols pass them.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/foreign.h"

namespace chainerx::python {

// The legacy default stream, and that of each thread.
inline constexpr uintptr_t kLegacyStream = 1;
inline constexpr uintptr_t kPerThreadStream = 2;

// False for other devices, and for GPUs that are no devices of the plug-in cuda.
bool HasCudaStreams(const Device& device);

// The index of the GPU that has the memory at an address; -1 if none has. Of GPUs with streams.
int FindGpu(Device& any, const void* data);

// The current stream of a GPU with streams.
uintptr_t CurrentCudaStream(Device& device);
// What `stream` is given from now on by others runs after what this thread has queued.
void OrderOthersAfterUs(Device& device, uintptr_t stream);
// What this thread queues from now on runs after what others have given to `stream`.
void OrderUsAfterOthers(Device& device, uintptr_t stream);

// The memory of `x` is not used again before `stream` has passed its use by others. False if the
// stream may be gone by then: the caller waits for all of them before it lets the array go.
bool KeepForOthers(const Array& x, uintptr_t stream);
void WaitForAllStreams(Device& device);

// An owner of memory of a GPU that is released when our streams are done with it.
internal::Owner ReleaseInOrder(Device& device, internal::Owner owner);

}  // namespace chainerx::python

// Owners of foreign memory, released when Python may run.
#pragma once

namespace chainerx::python {

// Calls release(owner) with the GIL: now if this thread has it, else soon, on a thread that has.
// An array may go on any thread, and to wait for the GIL there could be a deadlock. After the
// interpreter has gone nothing is called.
void ReleaseWithGil(void* owner, void (*release)(void* owner)) noexcept;

// Releases what waits. Cheap if nothing does; the caller holds the GIL.
void ReleaseDeferred();

}  // namespace chainerx::python

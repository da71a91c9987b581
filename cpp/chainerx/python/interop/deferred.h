// Owners of foreign memory, released when Python may run.
#pragma once

namespace chainerx::python {

// Calls release(owner) with the GIL: now if this thread has it, else soon, on a thread that has.
// Chains of owners, each of which lets go of the next, may have any length.
// An array may go on any thread, and to wait for the GIL there could be a deadlock. After the
// interpreter has gone nothing is called.
void ReleaseWithGil(void* owner, void (*release)(void* owner)) noexcept;

// While one lives, what this thread lets go of waits, with the GIL too: where Python may not run.
class DeferReleases {
 public:
    DeferReleases();
    ~DeferReleases();
    DeferReleases(const DeferReleases&) = delete;
    DeferReleases& operator=(const DeferReleases&) = delete;
};

// Releases what waits. Cheap if nothing does; the caller holds the GIL.
void ReleaseDeferred();

}  // namespace chainerx::python

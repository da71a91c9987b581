// Releases owners of foreign memory when Python code may run.
#pragma once

namespace chainerx::python {

// Calls release(owner) with the GIL: immediately if this thread holds it, else soon, on a thread
// that does. Chains of owners, each of which releases the next, may have any length. Any thread may
// destroy an array, and waiting for the GIL there could deadlock. After the interpreter is
// finalized nothing is called.
void ReleaseWithGil(void* owner, void (*release)(void* owner)) noexcept;

// Defers all releases by this thread during its lifetime, even with the GIL: for code during which
// Python code must not run.
class DeferReleases {
 public:
    DeferReleases();
    ~DeferReleases();
    DeferReleases(const DeferReleases&) = delete;
    DeferReleases& operator=(const DeferReleases&) = delete;
};

// Releases the queued owners. Cheap if there are none; the caller holds the GIL.
void ReleaseDeferred();

}  // namespace chainerx::python

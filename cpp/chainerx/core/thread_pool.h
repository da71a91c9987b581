// The threads of kernels.
#pragma once

#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

// Returns the number of threads that a kernel may use, including the calling one. The default is
// $CHAINERX_NUM_THREADS, else the CPUs that this process may use (affinity mask, cgroup quota).
CX_API int GetNumThreads();

// Applies to the whole process, from the next ParallelFor on. Throws ValueError unless 1 <= n <=
// 1024.
CX_API void SetNumThreads(int n);

namespace internal {

using BlockFunction = void (*)(const void* context, int64_t block);

CX_API void RunBlocks(int64_t n_blocks, BlockFunction function, const void* context);

}  // namespace internal

// Calls f(block) once for every 0 <= block < n_blocks, in no order, from up to GetNumThreads()
// threads, and returns when all calls have returned. The caller works too. If a result could depend
// on the partition of the work, make blocks by shape and dtype alone: then it doesn't depend on the
// number of threads.
//
// Called from within a block, or while another thread uses the pool, it runs all blocks in the
// calling thread: it never waits for a thread that may not make progress. The first exception of a
// block ends the loop early and is rethrown here, and so does an interrupt (core/interrupt.h):
// blocks of more than a millisecond must call CheckInterrupt() themselves. A forked child makes a
// new pool; a block itself must not fork.
template <typename F>
void ParallelFor(int64_t n_blocks, const F& f) {
    if (n_blocks == 1) {
        f(int64_t{0});
        return;
    }
    internal::RunBlocks(
        n_blocks,
        [](const void* context, int64_t block) { (*static_cast<const F*>(context))(block); }, &f);
}

}  // namespace chainerx

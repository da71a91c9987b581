// Memory for a device with streams: freed blocks are reused in the order of the streams, so that an
// array may be freed while queued kernels still need it.
#pragma once

#include <cstdint>

#include "chainerx/core/buffer.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/memory_stats.h"
#include "chainerx/core/stream.h"

namespace chainerx {

// A block is bound to the stream that is current when it is allocated. Once freed, it may be reused
// on that stream at once: all its uses have been queued before. Uses on other streams must be
// recorded; the block then waits until those streams have passed them.
class CX_API StreamPool {
 public:
    explicit StreamPool(Device& device) : device_{device} {}
    virtual ~StreamPool();
    StreamPool(const StreamPool&) = delete;
    StreamPool& operator=(const StreamPool&) = delete;

    // For Device::Allocate. OutOfMemoryError, with the largest blocks in use, if there is no memory
    // even after all free and pending blocks have been released.
    Buffer* Allocate(int64_t nbytes);

    // For every operand of a kernel, before it is queued to `stream`. Ignores buffers of other
    // pools.
    void RecordUse(Buffer& buffer, Stream& stream);
    // The same for a buffer of whichever pool, or of none.
    static void KeepFor(Buffer& buffer, Stream& stream);

    // Releases unused blocks; waits for those that the streams still need.
    void Release();

    int64_t bytes_in_use() const;

    // For Device::ReadMemoryStats and ResetMemoryPeaks. Blocks that other streams still need count
    // as cached.
    MemoryStats GetStats() const;
    void ResetPeaks();

 protected:
    // Returns memory of the device, aligned to 64 bytes, or null; `nbytes` is a multiple of 256.
    virtual void* AllocateBlock(int64_t nbytes) = 0;
    virtual void FreeBlock(void* data, int64_t nbytes) noexcept = 0;
    // Returns how many bytes there are still, for messages; -1 if that is not known.
    virtual int64_t ReadFreeBytes() { return -1; }

 private:
    friend struct internal::LayoutAccess;

    struct Block;
    struct PooledBuffer;
    // Eight size classes per doubling: at most a ninth of a block is unused.
    static constexpr int kNumClasses = 8 * 56;

    static int ClassOf(int64_t nbytes);
    static int64_t ClassSize(int c);
    static void Delete(Buffer* buffer);
    void Free(Block* block) noexcept;
    Block* TakeFree(int c, Stream* home) noexcept;
    void CountTaken(int c) noexcept;
    void Collect() noexcept;
    Block* TakeAll() noexcept;
    // Null if there is no memory even then.
    CX_COLD void* ReleaseAndAllocate(int64_t nbytes);
    CX_COLD void ThrowOutOfMemory(int64_t nbytes);

    Device& device_;
    internal::ForkMutex& mutex_{*new internal::ForkMutex};  // never destroyed
    int64_t in_use_{0};
    int64_t peak_in_use_{0};
    int64_t allocations_{0};
    int64_t cached_{0};
    // Free lists that are linked through the blocks: freeing never allocates.
    Block* free_[kNumClasses]{};
    int32_t counts_[kNumClasses]{};  // of blocks in use
    Block* pending_{nullptr};
};

}  // namespace chainerx

// Memory for a device with streams: freed blocks are reused in the order of the streams, so that an
// array may be dropped while queued kernels still need it.
#pragma once

#include <cstdint>

#include "chainerx/core/buffer.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/memory_stats.h"
#include "chainerx/core/stream.h"

namespace chainerx {

// A block is bound to the stream that is current when it is allocated. Once freed, it may be used
// again on that stream at once: whatever needs it is queued before. Uses on other streams have to
// be recorded; the block then waits until those streams have passed them.
class CX_API StreamPool {
 public:
    explicit StreamPool(Device& device) : device_{device} {}
    virtual ~StreamPool();
    StreamPool(const StreamPool&) = delete;
    StreamPool& operator=(const StreamPool&) = delete;

    // For Device::Allocate. OutOfMemoryError if there is no memory even after all that is free or
    // about to be has been given back.
    Buffer* Allocate(int64_t nbytes);

    // For every operand of a kernel, before it is put into `stream`. Does nothing for buffers that
    // are not of this pool.
    void RecordUse(Buffer& buffer, Stream& stream);

    // Gives back what nobody uses; waits for what the streams still need.
    void Release();

    int64_t bytes_in_use() const;

    // For Device::ReadMemoryStats and ResetMemoryPeaks. Blocks that other streams still need count
    // as cached.
    MemoryStats GetStats() const;
    void ResetPeaks();

 protected:
    // Memory of the device, aligned to 64 bytes, or null; `nbytes` is a multiple of 256.
    virtual void* AllocateBlock(int64_t nbytes) = 0;
    virtual void FreeBlock(void* data, int64_t nbytes) noexcept = 0;

 private:
    friend struct internal::LayoutAccess;

    struct Block;
    struct PooledBuffer;
    // Eight sizes per doubling: at most a ninth of a block is unused.
    static constexpr int kNumClasses = 8 * 56;

    static int ClassOf(int64_t nbytes);
    static int64_t ClassSize(int c);
    static void Delete(Buffer* buffer);
    void Free(Block* block) noexcept;
    Block* TakeFree(int c, Stream* home) noexcept;
    void Collect() noexcept;
    Block* TakeAll() noexcept;

    Device& device_;
    internal::ForkMutex& mutex_{*new internal::ForkMutex};  // which is for good
    int64_t in_use_{0};
    int64_t peak_in_use_{0};
    int64_t allocations_{0};
    int64_t cached_{0};
    // Lists that run through the blocks: freeing never allocates.
    Block* free_[kNumClasses]{};
    Block* pending_{nullptr};
};

}  // namespace chainerx

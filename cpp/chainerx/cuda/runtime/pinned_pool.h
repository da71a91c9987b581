// Page-locked memory of the host. Locking pages takes the driver longer than copying them, so
// blocks are kept.
#pragma once

#include <atomic>

#include "chainerx/core/stream_pool.h"

namespace chainerx::cuda {

// A freed block waits for the streams that copy from it or to it: no stream is its home, since the
// host writes at once.
class PinnedPool : public StreamPool {
 public:
    // Buffers are of this device of the host.
    explicit PinnedPool(Device& host) : StreamPool{host} {}

    Buffer* Allocate(int64_t nbytes) {
        Buffer* buffer = StreamPool::Allocate(nbytes);
        deleter_ = buffer->deleter();
        return buffer;
    }
    // For a buffer of the host.
    bool Owns(const Buffer& buffer) const { return buffer.deleter() == deleter_; }

 protected:
    // The context of a GPU is current.
    void* AllocateBlock(int64_t nbytes) override;
    void FreeBlock(void* data, int64_t nbytes) noexcept override;

 private:
    std::atomic<Buffer::Deleter> deleter_{nullptr};
};

}  // namespace chainerx::cuda

#include "chainerx/cuda/runtime/graph_memory.h"

#include <tuple>

#include "chainerx/cuda/runtime/cuda_device.h"

namespace chainerx::cuda {

struct GraphMemory::Scratch : Buffer {
    Scratch(GraphMemory& memory, void* data, int64_t nbytes, int64_t block)
        : Buffer{&memory.device_, data, nbytes, &GraphMemory::Delete},
          memory{memory},
          block{block} {}

    GraphMemory& memory;
    int64_t block;  // bytes of the memory that it was cut from, all of it
};

GraphMemory::~GraphMemory() {
    for (Buffer* buffer : buffers_) buffer->Unref();
}

// Of the pool of the device, as memory of the stream outside.
Buffer& GraphMemory::Take(int64_t nbytes) {
    buffers_.reserve(buffers_.size() + 1);
    const StreamScope outside{outside_};
    Buffer* const buffer = device_.Allocate(nbytes);
    buffers_.push_back(buffer);
    nbytes_ += nbytes;
    return *buffer;
}

Buffer* GraphMemory::Allocate(int64_t nbytes) {
    int64_t block = nbytes;
    void* data = nullptr;
    const auto found = free_.lower_bound(nbytes);
    if (found != free_.end()) {
        std::tie(block, data) = *found;
        free_.erase(found);
    } else {
        data = Take(nbytes).data();
    }
    return new Scratch{*this, data, nbytes, block};
}

void GraphMemory::Delete(Buffer* buffer) {
    auto* const scratch = static_cast<Scratch*>(buffer);
    scratch->memory.free_.emplace(scratch->block, scratch->data());
    delete scratch;
}

void* GraphMemory::counters() {
    if (counters_ == nullptr) {
        constexpr int64_t kBytes = CudaStream::kCounters * sizeof(uint32_t);
        void* const made = Take(kBytes).data();
        CX_CU(MemsetD8Async, reinterpret_cast<CUdeviceptr>(made), 0, kBytes, outside_.handle());
        counters_ = made;
    }
    return counters_;
}

void GraphMemory::CopyFromHost(void* dst, const void* src, int64_t nbytes, CudaStream& recording) {
    void* const kept = Take(nbytes).data();
    {
        const StreamScope outside{outside_};
        device_.CopyFromHost(kept, src, nbytes);
    }
    CX_CU(MemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(kept),
          static_cast<size_t>(nbytes), recording.handle());
}

void GraphMemory::KeepFor(Stream& stream) const {
    for (Buffer* buffer : buffers_) StreamPool::KeepFor(*buffer, stream);
}

}  // namespace chainerx::cuda

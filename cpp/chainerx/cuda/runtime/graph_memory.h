// What kernels use besides their operands while a graph of them is recorded: the graph keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "chainerx/core/buffer.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx {
class Stream;
}

namespace chainerx::cuda {

class CudaDevice;
class CudaStream;

// In place of the pool of the device and of the counters of the stream, on the stream that records.
class GraphMemory {
 public:
    // What has to be there before the graph is launched is queued to the stream `outside`.
    GraphMemory(CudaDevice& device, CudaStream& outside) : device_{device}, outside_{outside} {}
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    // For scratch memory: what is freed in the recording is used again by later calls of it.
    Buffer* Allocate(int64_t nbytes);
    // As CudaStream::counters.
    void* counters();
    // Keeps the bytes, and records that they are copied.
    void CopyFromHost(void* dst, const void* src, int64_t nbytes, CudaStream& recording);

    // A launch on this stream uses the memory.
    void KeepFor(Stream& stream) const;
    int64_t nbytes() const { return nbytes_; }

 private:
    struct Scratch;

    static void Delete(Buffer* buffer);
    Buffer& Take(int64_t nbytes);

    CudaDevice& device_;
    CudaStream& outside_;
    std::vector<Buffer*> buffers_;        // owned
    std::multimap<int64_t, void*> free_;  // by size
    void* counters_{nullptr};
    int64_t nbytes_{0};
};

}  // namespace chainerx::cuda

#include "chainerx/cuda/runtime/pinned_pool.h"

#include "chainerx/cuda/driver/driver.h"

namespace chainerx::cuda {

void* PinnedPool::AllocateBlock(int64_t nbytes) {
    void* data = nullptr;
    const CUresult result =
        GetDriver().MemHostAlloc(&data, static_cast<size_t>(nbytes), CU_MEMHOSTALLOC_PORTABLE);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
    Check(result, "cuMemHostAlloc");
    return data;
}

void PinnedPool::FreeBlock(void* data, int64_t /*nbytes*/) noexcept {
    GetDriver().MemFreeHost(data);
}

}  // namespace chainerx::cuda

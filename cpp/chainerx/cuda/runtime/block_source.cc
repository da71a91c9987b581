#include "chainerx/cuda/runtime/block_source.h"

#include <iterator>
#include <mutex>

#include "chainerx/cuda/driver/driver.h"

namespace chainerx::cuda {
namespace {

char* AllocateOfDriver(int64_t nbytes) {
    CUdeviceptr p = 0;
    const CUresult result = GetDriver().MemAlloc(&p, static_cast<size_t>(nbytes));
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
    Check(result, "cuMemAlloc");
    return reinterpret_cast<char*>(p);
}

}  // namespace

void* BlockSource::Allocate(int64_t nbytes) {
    return nbytes <= kMaxSmall ? AllocateSmall(nbytes) : AllocateOfDriver(nbytes);
}

void* BlockSource::AllocateSmall(int64_t nbytes) {
    const std::lock_guard lock{mutex_};
    auto slab = slabs_.find(current_);
    if (slab == slabs_.end() || kSlab - slab->second.used < nbytes) {
        char* data = AllocateOfDriver(kSlab);
        if (data == nullptr) return AllocateOfDriver(nbytes);
        slab = slabs_.emplace(data, Slab{}).first;
        current_ = data;
    }
    char* data = slab->first + slab->second.used;
    slab->second.used += nbytes;
    ++slab->second.live;
    return data;
}

void BlockSource::Free(void* data, int64_t nbytes) noexcept {
    const Driver& driver = GetDriver();
    if (nbytes <= kMaxSmall) {
        const std::lock_guard lock{mutex_};
        auto slab = slabs_.upper_bound(static_cast<char*>(data));
        if (slab != slabs_.begin()) {
            --slab;
            if (static_cast<char*>(data) < slab->first + kSlab) {
                if (--slab->second.live != 0) return;
                if (slab->first == current_) current_ = nullptr;
                driver.MemFree(reinterpret_cast<CUdeviceptr>(slab->first));
                slabs_.erase(slab);
                return;
            }
        }
    }
    driver.MemFree(reinterpret_cast<CUdeviceptr>(data));
}

}  // namespace chainerx::cuda

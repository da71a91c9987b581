#include "chainerx/cuda/runtime/block_source.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "chainerx/cuda/driver/driver.h"

namespace chainerx::cuda {
namespace {

CUdeviceptr Address(char* p) { return reinterpret_cast<CUdeviceptr>(p); }

// Throws for errors other than a lack of memory.
bool HasMemory(CUresult result, const char* function) {
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return false;
    Check(result, function);
    return true;
}

}  // namespace

void BlockSource::Start(CUdevice device) {
    is_started_ = true;
    const Driver& driver = GetDriver();
    int can_map = 0;
    driver.DeviceGetAttribute(&can_map, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                              device);
    property_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    property_.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    access_.push_back({property_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    size_t granularity = 0;
    if (can_map != 0 &&
        driver.MemGetAllocationGranularity(&granularity, &property_,
                                           CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS) {
        granularity_ = static_cast<int64_t>(granularity);
    }
}

void* BlockSource::Allocate(CUdevice device, int64_t nbytes, CUstream stream) {
    const std::lock_guard lock{mutex_};
    if (!is_started_) Start(device);
    if (granularity_ == 0) {
        CUdeviceptr p = 0;
        const CUresult result = GetDriver().MemAllocAsync(&p, static_cast<size_t>(nbytes), stream);
        return HasMemory(result, "cuMemAllocAsync") ? reinterpret_cast<void*>(p) : nullptr;
    }
    if (nbytes <= kMaxSmall) {
        if (char* data = CutFromSlab(nbytes)) return data;
        if (char* slab = Map(kSlab, true)) {
            GiveToSlab(mappings_.find(slab), slab, kSlab);
            return CutFromSlab(nbytes);
        }
    }
    return Map(nbytes, false);
}

char* BlockSource::Map(int64_t nbytes, bool is_slab) {
    const Driver& driver = GetDriver();
    nbytes = (nbytes + granularity_ - 1) / granularity_ * granularity_;
    const auto size = static_cast<size_t>(nbytes);
    Mapping mapping{0, nbytes, is_slab};
    if (!HasMemory(driver.MemCreate(&mapping.handle, size, &property_, 0), "cuMemCreate")) {
        return nullptr;
    }
    CUdeviceptr p = 0;
    CUresult result = driver.MemAddressReserve(&p, size, 0, 0, 0);
    const char* function = "cuMemAddressReserve";
    if (result == CUDA_SUCCESS) {
        result = driver.MemMap(p, size, 0, mapping.handle, 0);
        function = "cuMemMap";
        if (result == CUDA_SUCCESS) {
            result = driver.MemSetAccess(p, size, access_.data(), access_.size());
            function = "cuMemSetAccess";
            if (result == CUDA_SUCCESS) {
                char* const data = reinterpret_cast<char*>(p);
                // Free ranges are at most as many as blocks and slabs: giving back needs no memory.
                mappings_.emplace(data, mapping);
                free_.reserve(live_ + mappings_.size() + 1);
                return data;
            }
            driver.MemUnmap(p, size);
        }
        driver.MemAddressFree(p, size);
    }
    driver.MemRelease(mapping.handle);
    HasMemory(result, function);
    return nullptr;
}

void BlockSource::Unmap(Mappings::iterator mapping) noexcept {
    const Driver& driver = GetDriver();
    const CUdeviceptr p = Address(mapping->first);
    const auto size = static_cast<size_t>(mapping->second.nbytes);
    driver.MemUnmap(p, size);
    driver.MemAddressFree(p, size);
    driver.MemRelease(mapping->second.handle);
    mappings_.erase(mapping);
}

// The smallest range that is large enough, so that large ones remain; null if there is none.
char* BlockSource::CutFromSlab(int64_t nbytes) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
        if (it->nbytes < nbytes || (best != free_.end() && best->nbytes <= it->nbytes)) continue;
        best = it;
    }
    if (best == free_.end()) return nullptr;
    char* const data = best->begin;
    const auto at = best - free_.begin();
    ++live_;
    free_.reserve(live_ + mappings_.size() + 1);
    best = free_.begin() + at;
    best->begin += nbytes;
    best->nbytes -= nbytes;
    if (best->nbytes == 0) free_.erase(best);
    return data;
}

// Joins it with its neighbours in the slab, and unmaps a slab that is free.
void BlockSource::GiveToSlab(Mappings::iterator slab, char* begin, int64_t nbytes) noexcept {
    char* const slab_end = slab->first + slab->second.nbytes;
    const bool is_new = nbytes == slab->second.nbytes;
    auto next = std::ranges::lower_bound(free_, begin, {}, &Range::begin);
    if (next != free_.end() && begin + nbytes == next->begin && next->begin < slab_end) {
        nbytes += next->nbytes;
        next = free_.erase(next);
    }
    if (next != free_.begin() && begin > slab->first) {
        const auto last = std::prev(next);
        if (last->begin + last->nbytes == begin) {
            begin = last->begin;
            nbytes += last->nbytes;
            next = free_.erase(last);
        }
    }
    if (nbytes == slab->second.nbytes && !is_new) return Unmap(slab);
    free_.insert(next, {begin, nbytes});
}

BlockSource::Mappings::iterator BlockSource::Find(void* data) {
    auto* const p = static_cast<char*>(data);
    const auto next = mappings_.upper_bound(p);
    if (next == mappings_.begin()) return mappings_.end();
    const auto mapping = std::prev(next);
    return p < mapping->first + mapping->second.nbytes ? mapping : mappings_.end();
}

bool BlockSource::Share(void* data, CUdevice peer) {
    const std::lock_guard lock{mutex_};
    if (Find(data) == mappings_.end()) return false;  // of another library, perhaps before Start()
    auto known = std::ranges::find(peers_, peer, &Peer::device);
    if (known == peers_.end()) known = peers_.insert(known, {peer, ShareAll(peer)});
    return known->has_access;
}

bool BlockSource::ShareAll(CUdevice peer) {
    const Driver& driver = GetDriver();
    int can_access = 0;
    if (driver.DeviceCanAccessPeer(&can_access, peer, property_.location.id) != CUDA_SUCCESS ||
        can_access == 0) {
        return false;
    }
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, peer},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (const auto& [data, mapping] : mappings_) {
        const auto size = static_cast<size_t>(mapping.nbytes);
        if (driver.MemSetAccess(Address(data), size, &access, 1) != CUDA_SUCCESS) return false;
    }
    access_.push_back(access);
    return true;
}

void BlockSource::Free(void* data, int64_t nbytes) noexcept {
    const std::lock_guard lock{mutex_};
    auto* const p = static_cast<char*>(data);
    const auto mapping = Find(p);
    if (mapping == mappings_.end()) {
        GetDriver().MemFree(Address(p));
    } else if (!mapping->second.is_slab) {
        Unmap(mapping);
    } else {
        --live_;
        GiveToSlab(mapping, p, nbytes);
    }
}

}  // namespace chainerx::cuda

// Memory of the devices and pinned memory of the host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "chainerx/cuda/driver/types.h"
#include "kernel_abi.h"
#include "range_allocator.h"

namespace chainerx::cuda::test {

struct Allocation {
    enum Kind { kPlain, kPinned, kMapped };

    Kind kind = kPlain;
    int device = 0;
    CUdeviceptr address = 0;
    std::size_t nbytes = 0;
    std::size_t extent = 0;              // with the guard behind it
    bool accessible = true;              // false: before cuMemSetAccess, or after cuMemFreeAsync
    std::size_t handle = 0, offset = 0;  // of mapped memory
};

// All functions may be called from several threads.
class Memory {
 public:
    static constexpr std::size_t kGranularity = std::size_t{2} << 20;

    static Memory& Get();

    // Where kernels see a byte of the device, or of pinned memory.
    static char* View(CUdeviceptr p) { return reinterpret_cast<char*>(p + kKernelView); }

    // Throws CUresult::CUDA_ERROR_OUT_OF_MEMORY.
    CUdeviceptr Allocate(Allocation::Kind kind, int device, std::size_t nbytes);
    // Returns what was found to be wrong around the allocation; throws if there is none.
    std::string Free(Allocation::Kind kind, CUdeviceptr p);
    // Frees all of a device: its context is destroyed.
    void FreeAll(int device);

    std::optional<Allocation> Find(CUdeviceptr p) const;
    // Throws CUDA_ERROR_INVALID_VALUE unless one allocation, or adjacent mappings, have all bytes.
    void Check(CUdeviceptr p, std::size_t nbytes) const;
    // The same for memory that a call promised to free, as long as it is not.
    bool Exists(CUdeviceptr p, std::size_t nbytes) const;
    // From now on, calls find it no more; throws if it is no allocation.
    void PromiseFree(CUdeviceptr p);
    bool IsPinned(const void* p) const;
    bool WasFreed(CUdeviceptr p) const;
    // Changes whenever memory is freed or unmapped.
    std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }
    // Does it lie among the addresses of devices, or in the kernels' view of them?
    bool IsAddress(CUdeviceptr p) const { return p - base_ < kKernelView; }
    bool IsView(const void* p) const {
        return IsAddress(reinterpret_cast<std::uintptr_t>(p) - kKernelView);
    }

    // Virtual memory management; throws CUresult.
    CUdeviceptr Reserve(std::size_t nbytes, std::size_t alignment);
    void Unreserve(CUdeviceptr p, std::size_t nbytes);
    std::size_t Create(int device, std::size_t nbytes);
    void Release(std::size_t handle);
    void Map(CUdeviceptr p, std::size_t nbytes, std::size_t offset, std::size_t handle);
    void Unmap(CUdeviceptr p, std::size_t nbytes);
    void SetAccess(CUdeviceptr p, std::size_t nbytes);

    std::size_t used(int device) const { return used_[device].load(); }
    std::size_t peak(int device) const { return peak_[device].load(); }
    // Allocations and handles that are alive, of all devices and of the host.
    std::size_t Live() const;

 private:
    struct Handle {
        int device;
        std::uint64_t begin;
        std::size_t nbytes;
        int uses;  // the creator's and one per mapping
    };

    Memory();
    bool Covers(CUdeviceptr p, std::size_t nbytes, bool accessible) const;
    void Use(int device, std::size_t nbytes);
    void Unuse(int device, std::size_t nbytes) { used_[device] -= nbytes; }
    void Drop(std::size_t handle);
    void EraseMapping(std::map<CUdeviceptr, Allocation>::iterator it);
    std::string FreeLocked(std::map<CUdeviceptr, Allocation>::iterator it);

    CUdeviceptr base_ = 0;
    int physical_ = -1;  // a file
    std::vector<RangeAllocator> addresses_;
    RangeAllocator reservable_, physical_ranges_;
    mutable std::shared_mutex mutex_;
    std::map<CUdeviceptr, Allocation> allocations_;
    std::map<CUdeviceptr, std::size_t> reservations_;
    std::map<std::size_t, Handle> handles_;
    std::deque<Allocation> freed_;
    std::size_t next_handle_ = 1;
    std::atomic<std::uint64_t> generation_{0};
    std::atomic<std::size_t> used_[9] = {}, peak_[9] = {};
};

}  // namespace chainerx::cuda::test

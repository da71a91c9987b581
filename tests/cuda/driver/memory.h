// Memory of the devices and pinned memory of the host. All functions may be called from several
// threads; they throw a CUresult.
#pragma once

#include <array>
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
    bool accessible = true;  // false: before cuMemSetAccess, or after cuMemFreeAsync
    std::size_t handle = 0;  // of mapped memory
    unsigned peers = 0;      // a bit for each other device that may access mapped memory

    bool IsFor(int other) const {
        return kind == kPinned || device == other || (peers >> other & 1) != 0;
    }
};

class Memory {
 public:
    static constexpr std::size_t kGranularity = std::size_t{2} << 20;

    static Memory& Get();

    // Where kernels see a byte of the device, or of pinned memory.
    static char* View(CUdeviceptr p) { return reinterpret_cast<char*>(p + kKernelView); }
    // Is it among the addresses of devices and pinned memory, or among the kernels' views of them?
    bool IsAddress(CUdeviceptr p) const { return p - base_ < kKernelView; }
    bool IsView(CUdeviceptr p) const { return IsAddress(p - kKernelView); }

    CUdeviceptr Allocate(Allocation::Kind kind, int device, std::size_t nbytes);
    // Returns what was found to be wrong around the allocation.
    std::string Free(Allocation::Kind kind, CUdeviceptr p);
    // From now on, calls find it no more.
    void PromiseFree(CUdeviceptr p);
    // Frees all of a device: its context is destroyed.
    void FreeAll(int device);

    std::optional<Allocation> Find(CUdeviceptr p) const;
    // Does one allocation, or do adjacent mappings, contain all these bytes?
    bool Covers(CUdeviceptr p, std::size_t nbytes, bool accessible) const;
    bool WasFreed(CUdeviceptr p) const;
    // Changes whenever memory is freed or unmapped.
    std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

    // Virtual memory management.
    CUdeviceptr Reserve(std::size_t nbytes, std::size_t alignment);
    void Unreserve(CUdeviceptr p, std::size_t nbytes);
    std::size_t Create(int device, std::size_t nbytes);
    void Release(std::size_t handle);
    void Map(CUdeviceptr p, std::size_t nbytes, std::size_t handle);
    void Unmap(CUdeviceptr p, std::size_t nbytes);
    void SetAccess(CUdeviceptr p, std::size_t nbytes, int device);

    // Of a device; of the host's pinned memory, where the number is that after the last device.
    std::size_t used(int device) const { return used_[device]; }
    // Allocations and handles that are alive, of all devices and of the host.
    std::size_t Live() const;

 private:
    struct Handle {
        int device;
        std::uint64_t begin;  // in the file of physical memory
        std::size_t nbytes;
        int uses;  // the creator's and one per mapping
    };
    using Iterator = std::map<CUdeviceptr, Allocation>::iterator;

    Memory();
    // Both take the place of `nbytes` among those of a device.
    std::uint64_t Take(int device, std::size_t nbytes, RangeAllocator& ranges, std::size_t extent,
                       std::size_t alignment);
    void Drop(std::size_t handle);
    std::string Erase(Iterator it);
    // The mappings of a range, which consists of whole ones.
    std::vector<Iterator> Mappings(CUdeviceptr p, std::size_t nbytes);

    CUdeviceptr base_ = 0;
    int physical_ = -1;  // a file
    std::vector<RangeAllocator> addresses_;
    RangeAllocator reservable_, physical_ranges_;
    mutable std::shared_mutex mutex_;
    std::map<CUdeviceptr, Allocation> allocations_;
    std::map<CUdeviceptr, std::size_t> reservations_;
    std::map<std::size_t, Handle> handles_;
    std::deque<Allocation> freed_;  // the last ones
    std::size_t next_handle_ = 1;
    std::atomic<std::uint64_t> generation_{0};
    std::array<std::atomic<std::size_t>, 9> used_ = {};
};

}  // namespace chainerx::cuda::test

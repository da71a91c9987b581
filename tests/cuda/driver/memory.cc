#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "settings.h"

namespace chainerx::cuda::test {

namespace {

// The addresses: eight devices, pinned memory, and ranges to be reserved.
constexpr std::size_t kRegion = std::size_t{4} << 30;
constexpr int kDevices = 8;
constexpr std::size_t kPinnedBegin = kDevices * kRegion;
constexpr std::size_t kReservableBegin = kPinnedBegin + kRegion;
// Each device has a part of the file of physical memory; so has the host.
constexpr std::size_t kPhysical = std::size_t{64} << 30;

constexpr std::size_t kPage = 65536;
constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kGuard = 512;
constexpr int kFresh = 0xb6, kFreed = 0xdb, kGuardByte = 0xfd;

constexpr std::size_t RoundUp(std::size_t n, std::size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

[[noreturn]] void Die(const char* what) {
    std::perror(what);
    std::abort();
}

void Remap(CUdeviceptr view, std::size_t nbytes, int protection, int flags, int file,
           std::size_t offset) {
    void* p = reinterpret_cast<void*>(view);
    if (mmap(p, nbytes, protection, flags | MAP_FIXED | MAP_NORESERVE, file,
             static_cast<off_t>(offset)) == MAP_FAILED) {
        Die("chainerx test driver: mmap");
    }
}

}  // namespace

Memory& Memory::Get() {
    static auto* const memory = new Memory;  // threads of streams may outlive static objects
    return *memory;
}

Memory::Memory() : reservable_{0, 0}, physical_ranges_{0, kPhysical} {
    void* p = mmap(nullptr, 2 * kKernelView, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED) Die("chainerx test driver: mmap of addresses");
    // Aligned to the granularity, for which the last device gives the room.
    base_ = RoundUp(reinterpret_cast<std::uintptr_t>(p), kGranularity);
    physical_ = memfd_create("chainerx_test_driver", MFD_CLOEXEC);
    if (physical_ < 0 || ftruncate(physical_, kPhysical + kRegion) != 0) {
        Die("chainerx test driver: memfd_create");
    }
    for (int i = 0; i <= kDevices; ++i) addresses_.emplace_back(base_ + i * kRegion, kRegion);
    reservable_ =
        RangeAllocator{base_ + kReservableBegin, kKernelView - kReservableBegin - kGranularity};
    const CUdeviceptr pinned = base_ + kPinnedBegin;
    for (const CUdeviceptr view : {pinned, pinned + kKernelView}) {
        Remap(view, kRegion, PROT_READ | PROT_WRITE, MAP_SHARED, physical_, kPhysical);
    }
}

void Memory::Use(int device, std::size_t nbytes) {
    if (device < kDevices && used_[device] + nbytes > GetSettings().memory) {
        throw CUDA_ERROR_OUT_OF_MEMORY;
    }
    used_[device] += nbytes;
    peak_[device] = std::max(peak_[device].load(), used_[device].load());
}

CUdeviceptr Memory::Allocate(Allocation::Kind kind, int device, std::size_t nbytes) {
    const int region = kind == Allocation::kPinned ? kDevices : device;
    const bool large = nbytes >= kLarge;
    // Large ones have pages of their own, and an inaccessible one behind them.
    const std::size_t extent =
        large ? RoundUp(nbytes, kPage) + kPage : RoundUp(nbytes, kGuard) + kGuard;
    const std::lock_guard lock{mutex_};
    Use(region, nbytes);
    const auto p = addresses_[region].Take(extent, large ? kPage : kGuard);
    if (!p) {
        Unuse(region, nbytes);
        throw CUDA_ERROR_OUT_OF_MEMORY;
    }
    char* view = View(*p);
    const std::size_t usable = large ? extent - kPage : extent;
    if (kind != Allocation::kPinned) {
        const std::size_t begin = (*p - base_) / kPage * kPage;
        const std::size_t end = RoundUp(*p + usable - base_, kPage);
        if (mprotect(View(base_ + begin), end - begin, PROT_READ | PROT_WRITE) != 0) {
            Die("chainerx test driver: mprotect");
        }
    }
    std::memset(view, kFresh, nbytes);
    std::memset(view + nbytes, kGuardByte, usable - nbytes);
    allocations_[*p] = {kind, device, *p, nbytes, extent};
    return *p;
}

std::string Memory::FreeLocked(std::map<CUdeviceptr, Allocation>::iterator it) {
    const Allocation a = it->second;
    const int region = a.kind == Allocation::kPinned ? kDevices : a.device;
    const bool large = a.nbytes >= kLarge;
    char* view = View(a.address);
    std::string fault;
    const char* end = view + (large ? a.extent - kPage : a.extent);
    const char* changed = std::find_if(view + a.nbytes, const_cast<char*>(end),
                                       [](char c) { return c != static_cast<char>(kGuardByte); });
    if (changed != end) {
        fault = "something wrote behind an allocation of " + std::to_string(a.nbytes) +
                " bytes, at its byte " + std::to_string(changed - view);
    }
    if (!large) {
        std::memset(view, kFreed, a.extent);
    } else if (a.kind == Allocation::kPinned) {
        madvise(view, a.extent, MADV_REMOVE);
    } else {
        Remap(a.address + kKernelView, a.extent, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    addresses_[region].Give(a.address, a.extent);
    Unuse(region, a.nbytes);
    allocations_.erase(it);
    freed_.push_back(a);
    if (freed_.size() > 1000) freed_.pop_front();
    ++generation_;
    return fault;
}

std::string Memory::Free(Allocation::Kind kind, CUdeviceptr p) {
    const std::lock_guard lock{mutex_};
    const auto it = allocations_.find(p);
    if (it == allocations_.end() || it->second.kind != kind) throw CUDA_ERROR_INVALID_VALUE;
    return FreeLocked(it);
}

void Memory::FreeAll(int device) {
    const std::lock_guard lock{mutex_};
    for (auto it = allocations_.begin(); it != allocations_.end();) {
        const auto next = std::next(it);
        if (it->second.device == device) {
            if (it->second.kind == Allocation::kMapped) {
                EraseMapping(it);
            } else {
                FreeLocked(it);
            }
        }
        it = next;
    }
    for (auto it = handles_.begin(); it != handles_.end();) {
        const auto next = std::next(it);
        if (it->second.device == device) Drop(it->first);
        it = next;
    }
}

std::optional<Allocation> Memory::Find(CUdeviceptr p) const {
    const std::shared_lock lock{mutex_};
    auto it = allocations_.upper_bound(p);
    if (it == allocations_.begin()) return std::nullopt;
    --it;
    if (p - it->first >= it->second.nbytes) return std::nullopt;
    return it->second;
}

bool Memory::Covers(CUdeviceptr p, std::size_t nbytes, bool accessible) const {
    const CUdeviceptr end = p + nbytes;
    for (;;) {
        const auto a = Find(p);
        if (!a || (accessible && !a->accessible)) return false;
        p = a->address + a->nbytes;
        if (p >= end) return true;
    }
}

void Memory::Check(CUdeviceptr p, std::size_t nbytes) const {
    if (!Covers(p, nbytes, true)) throw CUDA_ERROR_INVALID_VALUE;
}

bool Memory::Exists(CUdeviceptr p, std::size_t nbytes) const { return Covers(p, nbytes, false); }

void Memory::PromiseFree(CUdeviceptr p) {
    const std::lock_guard lock{mutex_};
    const auto it = allocations_.find(p);
    if (it == allocations_.end() || it->second.kind != Allocation::kPlain ||
        !it->second.accessible) {
        throw CUDA_ERROR_INVALID_VALUE;
    }
    it->second.accessible = false;
}

bool Memory::IsPinned(const void* p) const {
    return reinterpret_cast<std::uintptr_t>(p) - base_ - kPinnedBegin < kRegion;
}

bool Memory::WasFreed(CUdeviceptr p) const {
    const std::shared_lock lock{mutex_};
    return std::any_of(freed_.begin(), freed_.end(),
                       [&](const Allocation& a) { return p - a.address < a.nbytes; });
}

std::size_t Memory::Live() const {
    const std::shared_lock lock{mutex_};
    return static_cast<std::size_t>(
               std::count_if(allocations_.begin(), allocations_.end(),
                             [](const auto& a) { return a.second.kind != Allocation::kMapped; })) +
           handles_.size();
}

CUdeviceptr Memory::Reserve(std::size_t nbytes, std::size_t alignment) {
    if (nbytes == 0 || nbytes % kGranularity != 0 || (alignment & (alignment - 1)) != 0) {
        throw CUDA_ERROR_INVALID_VALUE;
    }
    const std::lock_guard lock{mutex_};
    // A part that is nobody's lies between two ranges.
    const auto p = reservable_.Take(nbytes + kGranularity, std::max(alignment, kGranularity));
    if (!p) throw CUDA_ERROR_OUT_OF_MEMORY;
    reservations_[*p] = nbytes;
    return *p;
}

void Memory::Unreserve(CUdeviceptr p, std::size_t nbytes) {
    const std::lock_guard lock{mutex_};
    const auto it = reservations_.find(p);
    if (it == reservations_.end() || it->second != nbytes) throw CUDA_ERROR_INVALID_VALUE;
    const auto mapping = allocations_.lower_bound(p);
    if (mapping != allocations_.end() && mapping->first < p + nbytes)
        throw CUDA_ERROR_INVALID_VALUE;
    reservations_.erase(it);
    reservable_.Give(p, nbytes + kGranularity);
}

std::size_t Memory::Create(int device, std::size_t nbytes) {
    if (nbytes == 0 || nbytes % kGranularity != 0) throw CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock{mutex_};
    Use(device, nbytes);
    const auto begin = physical_ranges_.Take(nbytes, kGranularity);
    if (!begin) {
        Unuse(device, nbytes);
        throw CUDA_ERROR_OUT_OF_MEMORY;
    }
    void* p = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, physical_,
                   static_cast<off_t>(*begin));
    if (p == MAP_FAILED) Die("chainerx test driver: mmap");
    std::memset(p, kFresh, nbytes);
    munmap(p, nbytes);
    handles_[next_handle_] = {device, *begin, nbytes, 1};
    return next_handle_++;
}

void Memory::Drop(std::size_t handle) {
    const auto it = handles_.find(handle);
    if (--it->second.uses > 0) return;
    const Handle h = it->second;
    fallocate(physical_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(h.begin),
              static_cast<off_t>(h.nbytes));
    physical_ranges_.Give(h.begin, h.nbytes);
    Unuse(h.device, h.nbytes);
    handles_.erase(it);
}

void Memory::Release(std::size_t handle) {
    const std::lock_guard lock{mutex_};
    if (!handles_.contains(handle)) throw CUDA_ERROR_INVALID_VALUE;
    Drop(handle);
}

void Memory::Map(CUdeviceptr p, std::size_t nbytes, std::size_t offset, std::size_t handle) {
    const std::lock_guard lock{mutex_};
    const auto h = handles_.find(handle);
    if (h == handles_.end() || offset != 0 || nbytes == 0 || nbytes % kGranularity != 0 ||
        nbytes > h->second.nbytes) {
        throw CUDA_ERROR_INVALID_VALUE;
    }
    auto reservation = reservations_.upper_bound(p);
    if (reservation == reservations_.begin()) throw CUDA_ERROR_INVALID_VALUE;
    --reservation;
    if (p % kGranularity != 0 || p + nbytes > reservation->first + reservation->second) {
        throw CUDA_ERROR_INVALID_VALUE;
    }
    const auto next = allocations_.lower_bound(p);
    if (next != allocations_.end() && next->first < p + nbytes) throw CUDA_ERROR_INVALID_VALUE;
    if (next != allocations_.begin()) {
        const Allocation& last = std::prev(next)->second;
        if (last.address + last.nbytes > p) throw CUDA_ERROR_INVALID_VALUE;
    }
    Remap(p + kKernelView, nbytes, PROT_NONE, MAP_SHARED, physical_, h->second.begin);
    ++h->second.uses;
    allocations_[p] = {Allocation::kMapped, h->second.device, p, nbytes, nbytes, false, handle, 0};
}

void Memory::EraseMapping(std::map<CUdeviceptr, Allocation>::iterator it) {
    const Allocation a = it->second;
    Remap(a.address + kKernelView, a.nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    allocations_.erase(it);
    Drop(a.handle);
    freed_.push_back(a);
    if (freed_.size() > 1000) freed_.pop_front();
    ++generation_;
}

// Calls `f` for each mapping of a range, which consists of whole mappings.
template <typename M, typename F>
static void ForEachMapping(M& allocations, CUdeviceptr p, std::size_t nbytes, F f) {
    if (nbytes == 0) throw CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr end = p;
    while (end < p + nbytes) {
        const auto it = allocations.find(end);
        if (it == allocations.end() || it->second.kind != Allocation::kMapped) {
            throw CUDA_ERROR_INVALID_VALUE;
        }
        end += it->second.nbytes;
    }
    if (end != p + nbytes) throw CUDA_ERROR_INVALID_VALUE;
    while (p < end) {
        const auto it = allocations.find(p);
        p += it->second.nbytes;
        f(it);
    }
}

void Memory::Unmap(CUdeviceptr p, std::size_t nbytes) {
    const std::lock_guard lock{mutex_};
    ForEachMapping(allocations_, p, nbytes, [&](auto it) { EraseMapping(it); });
}

void Memory::SetAccess(CUdeviceptr p, std::size_t nbytes) {
    const std::lock_guard lock{mutex_};
    ForEachMapping(allocations_, p, nbytes, [&](auto it) {
        it->second.accessible = true;
        if (mprotect(View(it->first), it->second.nbytes, PROT_READ | PROT_WRITE) != 0) {
            Die("chainerx test driver: mprotect");
        }
    });
}

}  // namespace chainerx::cuda::test

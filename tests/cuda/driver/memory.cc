#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "errors.h"
#include "settings.h"

namespace chainerx::cuda::test {

namespace {

// The addresses: eight devices, pinned memory, and ranges to be reserved.
constexpr int kDevices = 8;
constexpr std::size_t kRegion = std::size_t{4} << 30;
constexpr std::size_t kPinnedBegin = kDevices * kRegion, kReservableBegin = kPinnedBegin + kRegion;
constexpr std::size_t kPhysical = std::size_t{64} << 30;  // in the file; pinned memory follows

constexpr std::size_t kPage = 65536;  // a multiple of any page size in use
constexpr std::size_t kGuard = 512;
constexpr int kFresh = 0xb6, kGuardByte = 0xfd;
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

constexpr std::size_t RoundUp(std::size_t n, std::size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// An allocation has pages of its own, and an inaccessible one behind them.
constexpr std::size_t Extent(std::size_t nbytes) { return RoundUp(nbytes, kPage) + kPage; }
constexpr std::size_t GuardBytes(std::size_t nbytes) {
    return std::min(kGuard, RoundUp(nbytes, kPage) - nbytes);
}

void RequireSystem(bool success) {
    if (success) return;
    std::perror("chainerx test driver: memory");
    std::abort();
}

void* Remap(void* p, std::size_t nbytes, int protection, int flags, int file, std::size_t offset) {
    p = mmap(p, nbytes, protection, flags, file, static_cast<off_t>(offset));
    RequireSystem(p != MAP_FAILED);
    return p;
}

}  // namespace

Memory& Memory::Get() {
    static auto* const memory = new Memory;  // threads of streams may outlive static objects
    return *memory;
}

Memory::Memory() : reservable_{0, 0}, physical_ranges_{0, kPhysical} {
    void* p = Remap(nullptr, 2 * kKernelView + kGranularity, PROT_NONE, kNothing, -1, 0);
    base_ = RoundUp(reinterpret_cast<std::uintptr_t>(p), kGranularity);
    physical_ = memfd_create("chainerx_test_driver", MFD_CLOEXEC);
    RequireSystem(physical_ >= 0 && ftruncate(physical_, kPhysical + kRegion) == 0);
    for (int i = 0; i <= kDevices; ++i) addresses_.emplace_back(base_ + i * kRegion, kRegion);
    reservable_ = RangeAllocator{base_ + kReservableBegin, kKernelView - kReservableBegin};
    for (char* pinned : {View(base_ + kPinnedBegin), View(base_ + kPinnedBegin) - kKernelView}) {
        Remap(pinned, kRegion, PROT_NONE, MAP_SHARED | MAP_FIXED, physical_, kPhysical);
    }
}

std::uint64_t Memory::Take(int device, std::size_t nbytes, RangeAllocator& ranges,
                           std::size_t extent, std::size_t alignment) {
    Require(device == kDevices || used_[device] + nbytes <= GetSettings().memory,
            CUDA_ERROR_OUT_OF_MEMORY);
    const auto begin = ranges.Take(extent, alignment);
    Require(begin.has_value(), CUDA_ERROR_OUT_OF_MEMORY);
    used_[device] += nbytes;
    return *begin;
}

CUdeviceptr Memory::Allocate(Allocation::Kind kind, int device, std::size_t nbytes) {
    const int region = kind == Allocation::kPinned ? kDevices : device;
    const std::size_t usable = Extent(nbytes) - kPage;
    const std::lock_guard lock{mutex_};
    const CUdeviceptr p = Take(region, nbytes, addresses_[region], Extent(nbytes), kPage);
    RequireSystem(mprotect(View(p), usable, kReadWrite) == 0);
    if (kind == Allocation::kPinned) mprotect(View(p) - kKernelView, usable, kReadWrite);
    std::memset(View(p), kFresh, nbytes);
    std::memset(View(p) + nbytes, kGuardByte, GuardBytes(nbytes));
    allocations_[p] = {kind, device, p, nbytes};
    return p;
}

std::string Memory::Erase(Iterator it) {
    const Allocation a = it->second;
    char* view = View(a.address);
    std::string fault;
    if (a.kind == Allocation::kMapped) {
        Remap(view, a.nbytes, PROT_NONE, kNothing | MAP_FIXED, -1, 0);
        Drop(a.handle);
    } else {
        const char* end = view + a.nbytes + GuardBytes(a.nbytes);
        const char* changed = std::find_if<const char*>(
            view + a.nbytes, end, [](char c) { return c != static_cast<char>(kGuardByte); });
        if (changed != end) {
            fault = Format("something wrote behind an allocation of %zu bytes, at its byte %zu",
                           a.nbytes, static_cast<std::size_t>(changed - view));
        }
        const int region = a.kind == Allocation::kPinned ? kDevices : a.device;
        if (region == kDevices) {
            madvise(view, Extent(a.nbytes), MADV_REMOVE);
            mprotect(view, Extent(a.nbytes), PROT_NONE);
            mprotect(view - kKernelView, Extent(a.nbytes), PROT_NONE);
        } else {
            Remap(view, Extent(a.nbytes), PROT_NONE, kNothing | MAP_FIXED, -1, 0);
        }
        addresses_[region].Give(a.address, Extent(a.nbytes));
        used_[region] -= a.nbytes;
    }
    allocations_.erase(it);
    freed_.push_back(a);
    if (freed_.size() > 1000) freed_.pop_front();
    ++generation_;
    return fault;
}

std::string Memory::Free(Allocation::Kind kind, CUdeviceptr p) {
    const std::lock_guard lock{mutex_};
    const auto it = allocations_.find(p);
    Require(it != allocations_.end() && it->second.kind == kind);
    return Erase(it);
}

void Memory::PromiseFree(CUdeviceptr p) {
    const std::lock_guard lock{mutex_};
    const auto it = allocations_.find(p);
    Require(it != allocations_.end() && it->second.kind == Allocation::kPlain);
    Require(it->second.accessible);
    it->second.accessible = false;
}

void Memory::FreeAll(int device) {
    const std::lock_guard lock{mutex_};
    for (auto it = allocations_.begin(); it != allocations_.end();) {
        const auto next = std::next(it);
        if (it->second.device == device) Erase(it);
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
    const auto it = allocations_.upper_bound(p);
    if (it == allocations_.begin()) return std::nullopt;
    const Allocation& a = std::prev(it)->second;
    return p - a.address < a.nbytes ? std::optional{a} : std::nullopt;
}

bool Memory::Covers(CUdeviceptr p, std::size_t nbytes, bool accessible) const {
    for (const CUdeviceptr end = p + nbytes;;) {
        const auto a = Find(p);
        if (!a || (accessible && !a->accessible)) return false;
        p = a->address + a->nbytes;
        if (p >= end) return true;
    }
}

bool Memory::WasFreed(CUdeviceptr p) const {
    const std::shared_lock lock{mutex_};
    return std::any_of(freed_.begin(), freed_.end(),
                       [&](const Allocation& a) { return p - a.address < a.nbytes; });
}

std::size_t Memory::Live() const {
    const std::shared_lock lock{mutex_};
    const auto n = std::count_if(allocations_.begin(), allocations_.end(), [](const auto& a) {
        return a.second.kind != Allocation::kMapped;
    });
    return static_cast<std::size_t>(n) + handles_.size();
}

CUdeviceptr Memory::Reserve(std::size_t nbytes, std::size_t alignment) {
    Require(nbytes > 0 && nbytes % kGranularity == 0 && (alignment & (alignment - 1)) == 0);
    const std::lock_guard lock{mutex_};
    // A part that is nobody's lies between two ranges.
    const auto p = reservable_.Take(nbytes + kGranularity, std::max(alignment, kGranularity));
    Require(p.has_value(), CUDA_ERROR_OUT_OF_MEMORY);
    reservations_[*p] = nbytes;
    return *p;
}

void Memory::Unreserve(CUdeviceptr p, std::size_t nbytes) {
    const std::lock_guard lock{mutex_};
    const auto it = reservations_.find(p);
    Require(it != reservations_.end() && it->second == nbytes);
    const auto mapping = allocations_.lower_bound(p);
    Require(mapping == allocations_.end() || mapping->first >= p + nbytes);
    reservations_.erase(it);
    reservable_.Give(p, nbytes + kGranularity);
}

std::size_t Memory::Create(int device, std::size_t nbytes) {
    Require(nbytes > 0 && nbytes % kGranularity == 0);
    const std::lock_guard lock{mutex_};
    const auto begin = Take(device, nbytes, physical_ranges_, nbytes, kGranularity);
    if (!GetSettings().empty) {  // else there may be more than this machine has
        void* p = Remap(nullptr, nbytes, kReadWrite, MAP_SHARED, physical_, begin);
        std::memset(p, kFresh, nbytes);
        munmap(p, nbytes);
    }
    handles_[next_handle_] = {device, begin, nbytes, 1};
    return next_handle_++;
}

void Memory::Drop(std::size_t handle) {
    const auto it = handles_.find(handle);
    const Handle h = it->second;
    if (--it->second.uses > 0) return;
    fallocate(physical_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(h.begin),
              static_cast<off_t>(h.nbytes));
    physical_ranges_.Give(h.begin, h.nbytes);
    used_[h.device] -= h.nbytes;
    handles_.erase(it);
}

void Memory::Release(std::size_t handle) {
    const std::lock_guard lock{mutex_};
    Require(handles_.contains(handle));
    Drop(handle);
}

void Memory::Map(CUdeviceptr p, std::size_t nbytes, std::size_t handle) {
    const std::lock_guard lock{mutex_};
    const auto h = handles_.find(handle);
    Require(h != handles_.end() && nbytes > 0 && nbytes <= h->second.nbytes);
    Require(nbytes % kGranularity == 0 && p % kGranularity == 0);
    const auto reservation = reservations_.upper_bound(p);
    Require(reservation != reservations_.begin());
    const auto [begin, size] = *std::prev(reservation);
    Require(p + nbytes <= begin + size);
    const auto next = allocations_.lower_bound(p);
    Require(next == allocations_.end() || next->first >= p + nbytes);
    if (next != allocations_.begin()) {
        const Allocation& last = std::prev(next)->second;
        Require(last.address + last.nbytes <= p);
    }
    Remap(View(p), nbytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical_, h->second.begin);
    ++h->second.uses;
    allocations_[p] = {Allocation::kMapped, h->second.device, p, nbytes, false, handle};
}

std::vector<Memory::Iterator> Memory::Mappings(CUdeviceptr p, std::size_t nbytes) {
    std::vector<Iterator> found;
    const CUdeviceptr end = p + nbytes;
    while (p < end) {
        found.push_back(allocations_.find(p));
        Require(found.back() != allocations_.end() &&
                found.back()->second.kind == Allocation::kMapped);
        p += found.back()->second.nbytes;
    }
    Require(p == end && !found.empty());
    return found;
}

void Memory::Unmap(CUdeviceptr p, std::size_t nbytes) {
    const std::lock_guard lock{mutex_};
    for (const auto it : Mappings(p, nbytes)) Erase(it);
}

void Memory::SetAccess(CUdeviceptr p, std::size_t nbytes, int device) {
    const std::lock_guard lock{mutex_};
    for (const auto it : Mappings(p, nbytes)) {
        if (device != it->second.device) {
            it->second.peers |= 1U << device;
            continue;
        }
        it->second.accessible = true;
        RequireSystem(mprotect(View(it->first), it->second.nbytes, kReadWrite) == 0);
    }
}

}  // namespace chainerx::cuda::test

#include "chainerx/core/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "chainerx/core/error.h"

namespace chainerx {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCache = false;  // so that the sanitizer sees every free
#else
constexpr bool kCache = true;
#endif

constexpr size_t kHugePage = size_t{2} << 20;
// Classes of four steps per doubling from 1 KiB on: at most a fifth of a block is unused.
constexpr int kNumClasses = 4 * 40;

int ClassOf(size_t size) {
    const size_t units = (size + 255) / 256;  // >= 1
    if (units <= 4) return static_cast<int>(units) - 1;
    const int log = std::bit_width(units - 1) - 1;  // 4 .. -> 2 ..
    const size_t step = size_t{1} << (log - 2);
    return 4 * (log - 1) + static_cast<int>((units - 1 - (size_t{1} << log)) / step);
}

size_t ClassSize(int c) {
    if (c < 4) return static_cast<size_t>(c + 1) * 256;
    const int log = c / 4 + 1;
    const size_t step = size_t{1} << (log - 2);
    return ((size_t{1} << log) + static_cast<size_t>(c % 4 + 1) * step) * 256;
}

bool IsMapped(size_t class_size) { return class_size >= 2 * kHugePage; }

size_t MappedSize(size_t class_size) {
    return (class_size + kHugePage - 1) / kHugePage * kHugePage;
}

// A fresh mapping, aligned to a huge page so that it can use them. null if there is no memory.
void* Map(size_t size) {
    void* p =
        mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<uintptr_t>(p);
    const uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
    const uintptr_t end = begin + size + kHugePage;
    if (aligned != begin) munmap(p, aligned - begin);
    if (aligned + size != end)
        munmap(reinterpret_cast<void*>(aligned + size), end - aligned - size);
    madvise(reinterpret_cast<void*>(aligned), size, MADV_HUGEPAGE);
    return reinterpret_cast<void*>(aligned);
}

int64_t DefaultLimit() {
    if (const char* s = std::getenv("CHAINERX_CACHE_LIMIT")) return std::atoll(s);
    return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 4;
}

struct Cache {
    std::mutex mutex;
    std::vector<void*> free[kNumClasses];
    int64_t in_use{0};
    int64_t cached{0};
    int64_t limit{DefaultLimit()};
};

// Never destroyed: arrays in static storage may be freed after it would be.
Cache& GetCache() {
    static Cache& cache = *new Cache;
    return cache;
}

void GiveBack(void* p, size_t class_size) {
    if (IsMapped(class_size)) {
        munmap(p, MappedSize(class_size));
    } else {
        std::free(p);
    }
}

void* Fresh(size_t class_size) {
    if (IsMapped(class_size)) return Map(MappedSize(class_size));
    return std::aligned_alloc(64, class_size);
}

}  // namespace

void* AllocLarge(size_t size) {
    if (size > (size_t{1} << 46)) {
        throw OutOfMemoryError{"out of memory: ", size, " bytes asked for"};
    }
    const int c = ClassOf(size);
    const size_t class_size = ClassSize(c);
    Cache& cache = GetCache();
    {
        const std::lock_guard lock{cache.mutex};
        cache.in_use += static_cast<int64_t>(class_size);
        if (!cache.free[c].empty()) {
            void* p = cache.free[c].back();
            cache.free[c].pop_back();
            cache.cached -= static_cast<int64_t>(class_size);
            return p;
        }
    }
    void* p = Fresh(class_size);
    if (p == nullptr) {
        ReleaseCachedMemory();
        p = Fresh(class_size);
    }
    if (p == nullptr) {
        const std::lock_guard lock{cache.mutex};
        cache.in_use -= static_cast<int64_t>(class_size);
        throw OutOfMemoryError{"out of memory: ", size, " bytes asked for"};
    }
    return p;
}

void FreeLarge(void* p, size_t size) noexcept {
    const int c = ClassOf(size);
    const size_t class_size = ClassSize(c);
    const auto bytes = static_cast<int64_t>(class_size);
    Cache& cache = GetCache();
    {
        const std::lock_guard lock{cache.mutex};
        cache.in_use -= bytes;
        if (kCache && cache.cached + bytes <= cache.limit) {
            cache.free[c].push_back(p);
            cache.cached += bytes;
            return;
        }
    }
    GiveBack(p, class_size);
}

MemoryInfo GetMemoryInfo() {
    Cache& cache = GetCache();
    const std::lock_guard lock{cache.mutex};
    return {cache.in_use, cache.cached, cache.limit};
}

void SetCacheLimit(int64_t bytes) {
    {
        const std::lock_guard lock{GetCache().mutex};
        GetCache().limit = bytes;
    }
    if (bytes < GetMemoryInfo().cached) ReleaseCachedMemory();
}

void ReleaseCachedMemory() {
    Cache& cache = GetCache();
    for (int c = 0; c < kNumClasses; ++c) {
        std::vector<void*> blocks;
        {
            const std::lock_guard lock{cache.mutex};
            blocks.swap(cache.free[c]);
            cache.cached -= static_cast<int64_t>(ClassSize(c) * blocks.size());
        }
        for (void* p : blocks) GiveBack(p, ClassSize(c));
    }
}

}  // namespace chainerx

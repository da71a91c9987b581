#include "chainerx/core/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/core/memory_stats.h"

namespace chainerx {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCache = false;  // so that the sanitizer sees every free
#else
constexpr bool kCache = true;
#endif

constexpr size_t kHugePage = size_t{2} << 20;
// Four size classes per doubling from 1 KiB on: at most a fifth of a block is unused.
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

// Returns a fresh mapping, aligned to a huge page so that it can use them. null if out of memory.
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
    if (const char* text = std::getenv("CHAINERX_CACHE_LIMIT"); text != nullptr && *text != 0) {
        char* end = nullptr;
        errno = 0;
        const long long limit = std::strtoll(text, &end, 10);
        if (errno != 0 || *end != 0 || limit < 0) {
            throw ValueError{"CHAINERX_CACHE_LIMIT is '", text,
                             "', expected a number of bytes, at least 0"};
        }
        return limit;
    }
    return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 4;
}

// A cached block. The links are stored in the blocks themselves, since a caller that frees one may
// be out of memory.
struct Kept {
    Kept* next;
    int size_class;
};

struct Cache {
    struct Class {
        Kept* head;
        uint64_t last_use;
    };
    Class classes[kNumClasses];
    uint64_t now;  // counts uses
    int64_t in_use;
    int64_t cached;
    std::optional<int64_t> limit;  // null: the default, which has not been read yet

    int64_t Limit() {
        if (!limit) limit = DefaultLimit();
        return *limit;
    }

    void Push(void* p, int c) {
        classes[c].head = new (p) Kept{classes[c].head, c};
        cached += static_cast<int64_t>(ClassSize(c));
    }

    Kept* Pop(int c) {
        Kept* block = classes[c].head;
        classes[c].head = block->next;
        cached -= static_cast<int64_t>(ClassSize(c));
        return block;
    }

    // Removes blocks until `most` bytes are left, from the least recently used class first. Returns
    // them as a list.
    Kept* Evict(int64_t most) {
        Kept* evicted = nullptr;
        while (cached > most) {
            int oldest = -1;
            for (int c = 0; c < kNumClasses; ++c) {
                if (classes[c].head == nullptr) continue;
                if (oldest < 0 || classes[c].last_use < classes[oldest].last_use) oldest = c;
            }
            while (cached > most && classes[oldest].head != nullptr) {
                Kept* block = Pop(oldest);
                block->next = evicted;
                evicted = block;
            }
        }
        return evicted;
    }
};

// Never destroyed: arrays in static storage may be freed later than a static destructor runs.
constinit Cache g_cache{};
constinit internal::ForkMutex g_cache_mutex;

void GiveBack(void* p, size_t class_size) {
    if (IsMapped(class_size)) {
        munmap(p, MappedSize(class_size));
    } else {
        std::free(p);
    }
}

void GiveBackAll(Kept* blocks) {
    while (blocks != nullptr) {
        Kept* next = blocks->next;
        GiveBack(blocks, ClassSize(blocks->size_class));
        blocks = next;
    }
}

void* Fresh(size_t class_size) {
    if (IsMapped(class_size)) return Map(MappedSize(class_size));
    return std::aligned_alloc(64, class_size);
}

void* AllocBlock(size_t size, int c) {
    const size_t class_size = ClassSize(c);
    {
        const std::lock_guard lock{g_cache_mutex};
        g_cache.Limit();  // throws here instead of when the block is freed
        g_cache.in_use += static_cast<int64_t>(class_size);
        g_cache.classes[c].last_use = ++g_cache.now;
        if (g_cache.classes[c].head != nullptr) return g_cache.Pop(c);
    }
    void* p = Fresh(class_size);
    if (p == nullptr) {
        ReleaseCachedMemory();
        p = Fresh(class_size);
    }
    if (p == nullptr) {
        const std::lock_guard lock{g_cache_mutex};
        g_cache.in_use -= static_cast<int64_t>(class_size);
        throw OutOfMemoryError{"out of memory: ", size, " bytes asked for"};
    }
    return p;
}

void FreeBlock(void* p, int c) noexcept {
    const size_t class_size = ClassSize(c);
    const auto bytes = static_cast<int64_t>(class_size);
    Kept* evicted = nullptr;
    bool kept = false;
    {
        const std::lock_guard lock{g_cache_mutex};
        g_cache.in_use -= bytes;
        g_cache.classes[c].last_use = ++g_cache.now;
        if (kCache && bytes <= g_cache.Limit()) {
            evicted = g_cache.Evict(g_cache.Limit() - bytes);
            g_cache.Push(p, c);
            kept = true;
        }
    }
    if (!kept) GiveBack(p, class_size);
    GiveBackAll(evicted);
}

int CheckedClassOf(size_t size) {
    if (size > (size_t{1} << 46)) {
        throw OutOfMemoryError{"out of memory: ", size, " bytes asked for"};
    }
    return ClassOf(size);
}

// Precedes a workspace, which may be freed when its thread works for another device.
struct alignas(64) WorkspaceHeader {
    MemoryCounter* counter;
};

}  // namespace

void* AllocLarge(size_t size, MemoryCounter& counter) {
    const int c = CheckedClassOf(size);
    void* p = AllocBlock(size, c);
    internal::UseCounter(counter);
    counter.Add(static_cast<int64_t>(ClassSize(c)), 1, internal::UntoldBytes(counter));
    return p;
}

void FreeLarge(void* p, size_t size, MemoryCounter& counter) noexcept {
    const int c = ClassOf(size);
    FreeBlock(p, c);
    counter.Add(-static_cast<int64_t>(ClassSize(c)), -1);
}

void* AllocLarge(size_t size) {
    const int c = CheckedClassOf(size + sizeof(WorkspaceHeader));
    void* p = AllocBlock(size, c);
    const auto bytes = static_cast<int64_t>(ClassSize(c));
    MemoryCounter* counter = internal::CounterOfWorkspaces();
    if (counter != nullptr) counter->AddWorkspace(bytes);
    internal::TrackWorkspace(bytes);
    return new (p) WorkspaceHeader{counter} + 1;
}

void FreeLarge(void* p, size_t size) noexcept {
    WorkspaceHeader* header = static_cast<WorkspaceHeader*>(p) - 1;
    const int c = ClassOf(size + sizeof(WorkspaceHeader));
    const auto bytes = static_cast<int64_t>(ClassSize(c));
    if (header->counter != nullptr) header->counter->AddWorkspace(-bytes);
    internal::TrackWorkspace(-bytes);
    FreeBlock(header, c);
}

MemoryInfo GetMemoryInfo() {
    const std::lock_guard lock{g_cache_mutex};
    return {g_cache.in_use, g_cache.cached, g_cache.Limit()};
}

namespace {

void ShrinkCache(int64_t most, bool set_limit) {
    Kept* evicted;
    {
        const std::lock_guard lock{g_cache_mutex};
        if (set_limit) g_cache.limit = most;
        evicted = g_cache.Evict(std::max<int64_t>(most, 0));
    }
    GiveBackAll(evicted);
}

}  // namespace

void SetCacheLimit(int64_t bytes) {
    if (bytes < 0) {
        throw ValueError{"set_memory_cache_limit: nbytes is ", bytes, ", expected at least 0"};
    }
    ShrinkCache(bytes, true);
}

void ReleaseCachedMemory() { ShrinkCache(0, false); }

}  // namespace chainerx

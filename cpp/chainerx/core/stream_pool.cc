#include "chainerx/core/stream_pool.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/device.h"
#include "chainerx/core/error.h"
#include "chainerx/core/pool.h"

namespace chainerx {
namespace {

constexpr int64_t kGrain = 256;
constexpr int64_t kMaxBytes = int64_t{1} << 46;
constexpr int kMaxReleases = 8;

// Of all pools, for when memory is short: what one thread releases is in no list until it has been
// released, so that another would find nothing.
constinit internal::ForkMutex g_release_mutex;

struct Use {
    Stream* stream;
    Stream::Ticket ticket;  // of the moment when the block was freed
};

}  // namespace

struct StreamPool::Block {
    void* data;
    int size_class;
    Stream* home;
    Block* next{nullptr};
    std::vector<Use> uses{};  // on other streams than `home`
};

struct StreamPool::PooledBuffer : Buffer {
    PooledBuffer(StreamPool* pool, Device* device, Block* block, int64_t nbytes)
        : Buffer{device, block->data, nbytes, &StreamPool::Delete}, pool{pool}, block{block} {}

    void* operator new(size_t size) { return internal::PoolAlloc(size); }
    void operator delete(void* p, size_t size) { internal::PoolFree(p, size); }

    StreamPool* pool;
    Block* block;
};

int StreamPool::ClassOf(int64_t nbytes) {
    const auto units = static_cast<uint64_t>(std::max<int64_t>(1, (nbytes + kGrain - 1) / kGrain));
    if (units <= 8) return static_cast<int>(units) - 1;
    const int log = std::bit_width(units - 1) - 1;  // 2^log < units <= 2^(log + 1), log >= 3
    const uint64_t step = uint64_t{1} << (log - 3);
    return 8 * (log - 2) + static_cast<int>((units - 1 - (uint64_t{1} << log)) / step);
}

int64_t StreamPool::ClassSize(int c) {
    if (c < 8) return (c + 1) * kGrain;
    const int log = c / 8 + 2;
    return ((int64_t{1} << log) + (c % 8 + 1) * (int64_t{1} << (log - 3))) * kGrain;
}

// Derived classes and their streams are gone by now: the remaining blocks are freed without a call.
StreamPool::~StreamPool() {
    for (Block* b = TakeAll(); b != nullptr;) delete std::exchange(b, b->next);
}

Buffer* StreamPool::Allocate(int64_t nbytes) {
    if (nbytes > kMaxBytes) {
        throw OutOfMemoryError{device_.name(), ": out of memory: ", nbytes, " bytes asked for"};
    }
    Stream* home = GetCurrentStream(device_);
    const int c = ClassOf(nbytes);
    Block* block;
    {
        const std::lock_guard lock{mutex_};
        Collect();
        block = TakeFree(c, home);
        if (block != nullptr) CountTaken(c);
    }
    if (block == nullptr) {
        void* data = AllocateBlock(ClassSize(c));
        if (data == nullptr) data = ReleaseAndAllocate(ClassSize(c));
        if (data == nullptr) ThrowOutOfMemory(nbytes);
        try {
            block = new Block{data, c, home};
        } catch (...) {  // nobody else has the memory
            FreeBlock(data, ClassSize(c));
            throw;
        }
        const std::lock_guard lock{mutex_};
        CountTaken(c);
    }
    try {
        return new PooledBuffer{this, &device_, block, nbytes};
    } catch (...) {
        Free(block);
        throw;
    }
}

void* StreamPool::ReleaseAndAllocate(int64_t nbytes) {
    const std::lock_guard turn{g_release_mutex};
    void* data = AllocateBlock(nbytes);
    for (int i = 0; i < kMaxReleases && data == nullptr; ++i) {
        Release();
        data = AllocateBlock(nbytes);
        const std::lock_guard lock{mutex_};
        if (cached_ == 0) break;  // else others have freed memory meanwhile
    }
    return data;
}

void StreamPool::CountTaken(int c) noexcept {
    in_use_ += ClassSize(c);
    peak_in_use_ = std::max(peak_in_use_, in_use_);
    ++allocations_;
    ++counts_[c];
}

void StreamPool::ThrowOutOfMemory(int64_t nbytes) {
    const int64_t free = ReadFreeBytes();
    const std::lock_guard lock{mutex_};
    std::string text = StrCat(device_.name(), ": out of memory: ", nbytes, " bytes asked for, ",
                              in_use_, " are in use, ", cached_, " are cached");
    if (free >= 0) text += StrCat(", ", free, " are free");
    int left = 4;
    for (int c = kNumClasses - 1; c >= 0 && left > 0; --c) {
        if (counts_[c] == 0) continue;
        text += StrCat(left == 4 ? "; the largest blocks in use: " : ", ", counts_[c], " of ",
                       ClassSize(c));
        --left;
    }
    throw OutOfMemoryError{text};
}

void StreamPool::RecordUse(Buffer& buffer, Stream& stream) {
    if (buffer.deleter() != &Delete) return;
    auto& pooled = static_cast<PooledBuffer&>(buffer);
    Block* block = pooled.block;
    if (pooled.pool != this || block->home == &stream) return;
    const std::lock_guard lock{mutex_};
    for (const Use& use : block->uses) {
        if (use.stream == &stream) return;
    }
    block->uses.push_back({&stream, 0});
}

void StreamPool::KeepFor(Buffer& buffer, Stream& stream) {
    if (buffer.deleter() == &Delete) {
        static_cast<PooledBuffer&>(buffer).pool->RecordUse(buffer, stream);
    }
}

void StreamPool::Delete(Buffer* buffer) {
    auto* pooled = static_cast<PooledBuffer*>(buffer);
    StreamPool* pool = pooled->pool;
    Block* block = pooled->block;
    delete pooled;
    pool->Free(block);
}

void StreamPool::Free(Block* block) noexcept {
    // All uses have been queued by now, since their callers hold the buffer.
    for (Use& use : block->uses) use.ticket = use.stream->Mark();
    const std::lock_guard lock{mutex_};
    in_use_ -= ClassSize(block->size_class);
    cached_ += ClassSize(block->size_class);
    --allocations_;
    --counts_[block->size_class];
    Block*& list = block->uses.empty() ? free_[block->size_class] : pending_;
    block->next = std::exchange(list, block);
}

StreamPool::Block* StreamPool::TakeFree(int c, Stream* home) noexcept {
    for (Block** p = &free_[c]; *p != nullptr; p = &(*p)->next) {
        if ((*p)->home != home) continue;
        cached_ -= ClassSize(c);
        return std::exchange(*p, (*p)->next);
    }
    return nullptr;
}

void StreamPool::Collect() noexcept {
    for (Block** p = &pending_; *p != nullptr;) {
        Block* block = *p;
        std::erase_if(block->uses, [](const Use& u) { return u.stream->IsDone(u.ticket); });
        if (!block->uses.empty()) {
            p = &block->next;
            continue;
        }
        *p = block->next;
        block->next = std::exchange(free_[block->size_class], block);
    }
}

StreamPool::Block* StreamPool::TakeAll() noexcept {
    const std::lock_guard lock{mutex_};
    cached_ = 0;
    Block* all = std::exchange(pending_, nullptr);
    for (Block*& list : free_) {
        while (list != nullptr) {
            Block* block = std::exchange(list, list->next);
            block->next = std::exchange(all, block);
        }
    }
    return all;
}

void StreamPool::Release() {
    for (Block* block = TakeAll(); block != nullptr;) {
        for (const Use& use : block->uses) use.stream->Wait(use.ticket);
        if (block->home != nullptr) block->home->Wait(block->home->Mark());
        FreeBlock(block->data, ClassSize(block->size_class));
        delete std::exchange(block, block->next);
    }
}

MemoryStats StreamPool::GetStats() const {
    const std::lock_guard lock{mutex_};
    MemoryStats stats;
    stats.in_use = in_use_;
    stats.peak_in_use = peak_in_use_;
    stats.allocations = allocations_;
    stats.cached = cached_;
    return stats;
}

void StreamPool::ResetPeaks() {
    const std::lock_guard lock{mutex_};
    peak_in_use_ = in_use_;
}

int64_t StreamPool::bytes_in_use() const {
    const std::lock_guard lock{mutex_};
    return in_use_;
}

}  // namespace chainerx

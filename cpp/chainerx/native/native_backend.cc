#include "chainerx/native/native_backend.h"

#include <cstdlib>
#include <type_traits>

#include "chainerx/core/context.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/host_memory.h"
#include "chainerx/core/pool.h"
#include "chainerx/native/isa.h"

namespace chainerx::native {
namespace {

constexpr int64_t kHeader = 64;
static_assert(sizeof(Buffer) <= kHeader);
constexpr int64_t kSmallLimit = static_cast<int64_t>(internal::kPoolMaxSize) - kHeader;

size_t BlockSize(int64_t nbytes) { return static_cast<size_t>(nbytes + kHeader); }

// Rounds as the pool does.
int32_t SmallBytes(size_t size) {
    constexpr size_t kGrain = internal::kPoolGrain;
    return static_cast<int32_t>((size + kGrain - 1) / kGrain * kGrain);
}

MemoryCounter& CounterOf(const Buffer& b) {
    return static_cast<NativeDevice*>(b.device())->memory_counter();
}

// Tail calls, so that the fast path saves no registers for them.
[[gnu::noinline, gnu::cold]] void TellAndFree(Buffer* b, size_t size) {
    internal::TellSmall();
    internal::PoolFreeSmall(b, size);
}
[[gnu::noinline, gnu::cold]] void FreeOfAnotherCounter(Buffer* b, size_t size) {
    MemoryCounter& counter = CounterOf(*b);
    internal::UseCounter(counter);
    counter.Add(-SmallBytes(size), -1);
    internal::PoolFreeSmall(b, size);
}

static_assert(std::is_trivially_destructible_v<Buffer>);

void DeleteSmall(Buffer* b) {
    const size_t size = BlockSize(b->nbytes());
    if (!internal::UsesCounter(CounterOf(*b))) [[unlikely]]
        return FreeOfAnotherCounter(b, size);
    if (internal::CountSmallGiven(SmallBytes(size))) [[unlikely]]
        return TellAndFree(b, size);
    internal::PoolFreeSmall(b, size);
}

void DeleteLarge(Buffer* b) {
    const size_t size = BlockSize(b->nbytes());
    MemoryCounter& counter = CounterOf(*b);
    b->~Buffer();
    FreeLarge(b, size, counter);
}

const bool kRegistered = [] {
    internal::RegisterBackendFactory("native", [](Context& context) -> std::unique_ptr<Backend> {
        return std::make_unique<NativeBackend>(context);
    });
    return true;
}();

}  // namespace

KernelTable& Kernels() {
    static KernelTable table;
    return table;
}

Buffer* NativeDevice::Allocate(int64_t nbytes) {
    const size_t size = BlockSize(nbytes);
    if (nbytes <= kSmallLimit && internal::UsesCounter(counter_) && !internal::IsTracking())
        [[likely]] {
        if (void* p = internal::PoolTryAlloc(size)) [[likely]] {
            auto* b = new (p) Buffer{this, static_cast<char*>(p) + kHeader, nbytes, &DeleteSmall,
                                     Buffer::Untracked{}};
            if (internal::CountSmallTaken(SmallBytes(size))) [[unlikely]]
                return Told(b);
            return b;
        }
    }
    return AllocateSlow(nbytes);
}

Buffer* NativeDevice::Told(Buffer* b) {
    internal::TellSmall();
    return b;
}

Buffer* NativeDevice::AllocateSlow(int64_t nbytes) {
    const size_t size = BlockSize(nbytes);
    const bool small = nbytes <= kSmallLimit;
    void* p;
    if (small) {
        p = internal::PoolAlloc(size);
        internal::UseCounter(counter_);
        counter_.Add(SmallBytes(size), 1, internal::UntoldBytes(counter_));
    } else {
        p = AllocLarge(size, counter_);
    }
    return new (p)
        Buffer{this, static_cast<char*>(p) + kHeader, nbytes, small ? &DeleteSmall : &DeleteLarge};
}

MemoryStats NativeDevice::ReadMemoryStats() {
    MemoryStats stats = counter_.Read();
    const MemoryInfo host = GetMemoryInfo();
    stats.cached = host.cached;
    stats.limit = host.limit;
    return stats;
}

int NativeBackend::GetDeviceCount() const {
    static constinit internal::Lazy<const int> count;
    return count.Get([] {
        const char* limit = std::getenv("CHAINERX_TEST_NATIVE_DEVICE_LIMIT");
        const int n = limit != nullptr ? std::atoi(limit) : kDeviceCount;
        return new int{n > 0 && n < kDeviceCount ? n : kDeviceCount};
    });
}

std::unique_ptr<Device> NativeBackend::CreateDevice(int index) {
    CheckIsa();
    return std::make_unique<NativeDevice>(this, index);
}

}  // namespace chainerx::native

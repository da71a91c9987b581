#include "chainerx/native/native_backend.h"

#include <cstdlib>
#include <cstring>

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

// memcpy may not be given the null pointers that stand for no bytes.
void CopyBytes(void* dst, const void* src, int64_t nbytes) {
    if (nbytes != 0) std::memcpy(dst, src, static_cast<size_t>(nbytes));
}

void DeleteSmall(Buffer* b) {
    const size_t size = BlockSize(b->nbytes());
    b->~Buffer();
    internal::PoolFree(b, size);
}

void DeleteLarge(Buffer* b) {
    const size_t size = BlockSize(b->nbytes());
    b->~Buffer();
    FreeLarge(b, size);
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
    const bool small = nbytes <= kSmallLimit;
    void* p = small ? internal::PoolAlloc(BlockSize(nbytes)) : AllocLarge(BlockSize(nbytes));
    return new (p)
        Buffer{this, static_cast<char*>(p) + kHeader, nbytes, small ? &DeleteSmall : &DeleteLarge};
}

void NativeDevice::CopyFromHost(void* dst, const void* src, int64_t nbytes) {
    CopyBytes(dst, src, nbytes);
}

void NativeDevice::ReadToHost(void* dst, const void* src, int64_t nbytes) {
    CopyBytes(dst, src, nbytes);
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

// A backend in a library of its own. It computes on host memory with native's kernels, replaces one
// of them, and counts what it allocates. docs/adding_a_backend.md walks through it.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "chainerx/core/backend.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/plugin.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/native_backend.h"

namespace {

using chainerx::Array;
using chainerx::Buffer;
using chainerx::Context;
using chainerx::KernelTable;
using chainerx::Scalar;
namespace kernels = chainerx::kernels;

std::atomic<int64_t> allocated{0};
std::atomic<int64_t> filled{0};

// Memory. The backend places the header, Buffer; here it is allocated separately.
class ToyDevice : public chainerx::Device {
 public:
    using Device::Device;

    Buffer* Allocate(int64_t nbytes) override {
        void* data = std::aligned_alloc(64, static_cast<size_t>((nbytes + 64) / 64 * 64));
        if (data == nullptr) throw chainerx::OutOfMemoryError{"toy: ", nbytes, " bytes asked for"};
        allocated += nbytes;
        return new Buffer{this, data, nbytes, [](Buffer* buffer) {
                              allocated -= buffer->nbytes();
                              std::free(buffer->data());
                              delete buffer;
                          }};
    }
    // Native's kernels read and write the memory directly, so this must hold.
    bool IsHostAccessible() const override { return true; }
    void CopyFromHost(void* dst, const void* src, int64_t nbytes) override {
        std::memcpy(dst, src, static_cast<size_t>(nbytes));
        if (auto* capture = chainerx::internal::CurrentCapture()) {
            capture->CopiedFromHost(*this, dst, src, nbytes);
        }
    }
    void ReadToHost(void* dst, const void* src, int64_t nbytes) override {
        std::memcpy(dst, src, static_cast<size_t>(nbytes));
    }
};

// Our own kernel: it inspects its operands, then calls native's.
void Fill(const Array& out, const Scalar& value) {
    ++filled;
    chainerx::native::Kernels().Get<kernels::Fill>()(out, value);
}

const KernelTable& Table() {
    static const KernelTable table = [] {
        KernelTable t = chainerx::native::Kernels();
        t.Set<kernels::Fill>(&Fill);
        return t;
    }();
    return table;
}

class ToyBackend : public chainerx::Backend {
 public:
    explicit ToyBackend(Context& context) : Backend{context, "toy", Table().fns} {}
    int GetDeviceCount() const override { return 2; }

 protected:
    std::unique_ptr<chainerx::Device> CreateDevice(int index) override {
        return std::make_unique<ToyDevice>(this, index);
    }
};

}  // namespace

CX_BACKEND_PLUGIN(ToyBackend)

// For the test.
extern "C" CX_API int64_t ToyAllocatedBytes() { return allocated; }
extern "C" CX_API int64_t ToyFills() { return filled; }

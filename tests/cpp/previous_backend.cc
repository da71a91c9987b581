// A backend as it was built against earlier lists of kernels (previous/, changed/), which stay as
// they are. It is not to be brought up to date: that it loads is the test.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/indexing.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/kernels/plugin.h"
#include "chainerx/native/native_backend.h"

namespace {

using chainerx::Array;
using chainerx::Context;
using chainerx::IndexBoundsMode;
using chainerx::KernelTable;
namespace kernels = chainerx::kernels;

#if defined(CHANGED)
void Fill(const Array&, double, double) {}
#else
void Take(const char* op, const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
          const Array& out) {
    chainerx::native::Kernels().Get<kernels::Take>()(op, x, axis, indices, mode, out);
    auto* p = reinterpret_cast<double*>(out.raw_data());
    for (int64_t i = 0; i < out.GetTotalSize(); ++i) p[i] = -p[i];
}
#endif

const KernelTable& Table() {
    static const KernelTable table = [] {
        KernelTable t = chainerx::native::Kernels();
#if defined(CHANGED)
        t.Set<kernels::Fill>(&Fill);
#else
        t.Set<kernels::Take>(&Take);
#endif
        return t;
    }();
    return table;
}

class PreviousDevice : public chainerx::native::NativeDevice {
    using NativeDevice::NativeDevice;
};

class PreviousBackend : public chainerx::Backend {
 public:
    explicit PreviousBackend(Context& context) : Backend{context, "previous", Table().fns} {}
    int GetDeviceCount() const override { return 1; }

 protected:
    std::unique_ptr<chainerx::Device> CreateDevice(int index) override {
        return std::make_unique<PreviousDevice>(this, index);
    }
};

}  // namespace

CX_BACKEND_PLUGIN(PreviousBackend)

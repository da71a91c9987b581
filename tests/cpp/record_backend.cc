// A backend that records the kernel calls of a step and replays them, like a graph capture. It
// computes with native's kernels on host memory.
#include <cstdint>
#include <memory>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/context.h"
#include "chainerx/kernels/kept_call.h"
#include "chainerx/kernels/plugin.h"
#include "chainerx/native/native_backend.h"

namespace {

using chainerx::Array;
using chainerx::Context;
using chainerx::Device;
using chainerx::KeptCall;
using chainerx::KernelCallData;

std::vector<std::unique_ptr<KeptCall>> calls;  // of the recorded step, which lives in one thread
bool recording = false;
bool inside = false;  // kernels call others, which are not calls of the step

class RecordBackend : public chainerx::Backend {
 public:
    explicit RecordBackend(Context& context) : Backend{context, "record_toy"} {}
    int GetDeviceCount() const override { return 1; }

    void Launch(const KernelCallData& call) override {
        const chainerx::KernelFn kernel = chainerx::native::Kernels().fns[call.kernel.id];
        if (inside || !recording) return call.invoke(kernel, call.operands);
        // The original arrays, which the recording keeps alive.
        calls.push_back(std::make_unique<KeptCall>(call, [](const Array& x) { return x; }));
        struct Inside {
            Inside() { inside = true; }
            ~Inside() { inside = false; }
        } scope;
        call.invoke(kernel, call.operands);
    }

 protected:
    std::unique_ptr<Device> CreateDevice(int index) override {
        return std::make_unique<chainerx::native::NativeDevice>(this, index);
    }
};

}  // namespace

CX_BACKEND_PLUGIN(RecordBackend)

// For the test.
extern "C" CX_API void Record(bool on) {
    if (on) calls.clear();
    recording = on;
}
extern "C" CX_API int64_t RecordedCalls() { return static_cast<int64_t>(calls.size()); }
extern "C" CX_API void Replay() {
    for (const auto& call : calls) call->Run(chainerx::native::Kernels().fns[call->kernel().id]);
}
extern "C" CX_API void Forget() { calls.clear(); }

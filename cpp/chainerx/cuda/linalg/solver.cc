#include "chainerx/cuda/linalg/solver.h"

#include <map>
#include <utility>

#include "chainerx/cuda/runtime/launch.h"

namespace chainerx::cuda {
namespace {

struct Handle {
    cusolverDnHandle_t solver;
    cusolverDnParams_t params;
};

// Each has memory of its own, so that a stream does not wait for others. They are never destroyed:
// a stream that takes the place of another takes its handle.
using Handles = std::map<std::pair<int, CUstream>, Handle>;

constinit internal::ForkMutex g_solver_mutex;
constinit internal::Lazy<Handles> g_handles;

Handle MakeHandle(CUstream stream) {
    Handle handle{};
    CX_CUSOLVER_CALL(Create, &handle.solver);
    CX_CUSOLVER_CALL(SetStream, handle.solver, stream);
    CX_CUSOLVER_CALL(CreateParams, &handle.params);
    return handle;
}

const Handle& FindHandle(CudaDevice& device) {
    device.current_stream().CheckMayUse("cuSOLVER");
    Handles& handles = g_handles.Get();
    const CUstream stream = device.current_stream().handle();
    const std::pair key{device.index(), stream};
    auto found = handles.find(key);
    if (found == handles.end()) {
        Handle made{};
        try {
            made = MakeHandle(stream);
        } catch (const OutOfMemoryError&) {  // what is free is in the pool
            device.ReleaseCachedMemory();
            made = MakeHandle(stream);
        }
        found = handles.emplace(key, made).first;
    }
    return found->second;
}

}  // namespace

Solver::Solver(CudaDevice& device, int64_t count) : device_{device}, lock_{g_solver_mutex} {
    device.Activate();
    const Handle& handle = FindHandle(device);
    handle_ = handle.solver;
    params_ = handle.params;
    info_ = EmptyUnchecked(Shape{count}, Dtype::kInt32, device);
    Prepare(info_);
}

void Solver::Reserve(size_t device_size, size_t host_size) {
    device_size_ = device_size;
    if (device_size != 0) {
        device_work_ =
            EmptyUnchecked(Shape{static_cast<int64_t>(device_size)}, Dtype::kUInt8, device_);
        Prepare(device_work_);
    }
    host_work_.resize(host_size);
}

}  // namespace chainerx::cuda

// Random permutations: see cuda/random/device/permutation.h.
#include <cstdint>

#include "chainerx/core/error.h"
#include "chainerx/cuda/random/calls.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/kernels/random/random.h"

namespace chainerx::cuda {
namespace {

// Up to here, one block of threads is faster than five launches.
constexpr int64_t kAtOnce = 16 * kRandomThreads;

// Kernels, and functions of cuda/random/device/permutation.h.
constexpr const char* kPhases[] = {"ClearLists", "AddSteps", "FindLeast", "FollowChains",
                                   "ShuffleAtOnce"};
constexpr int kAtOncePhase = 4;

constinit const FunctionTable<2, 5> g_functions{};

CUfunction GetPhase(CudaDevice& device, bool is_wide, int phase) {
    return g_functions.Get(device, is_wide ? 1 : 0, phase, [&] {
        const char* function = kPhases[phase];
        return WriteRandomSource(StrCat("RandomPermutation_", function, is_wide ? "_wide" : ""),
                                 "permutation.h", "PermutationParams",
                                 StrCat(function, is_wide ? "<int64_t>" : "<int32_t>"));
    });
}

void RandomPermutation(const Array& state, const Array& out) {
    PermutationParams params{};
    params.size = out.GetTotalSize();
    const bool at_once = params.size <= kAtOnce;
    const RandomLaunch launch{state, at_once && params.size != 0 ? 1 : params.size};
    params.call = launch.call();
    if (params.size == 0) return;
    CudaDevice& device = launch.device();
    device.RecordUse(out, launch.stream());
    const bool is_wide = params.size > INT32_MAX;
    const int64_t bytes = params.size * (is_wide ? 8 : 4);
    const Array lists = EmptyUnchecked(Shape{3, bytes}, Dtype::kUInt8, device);
    params.out = out.raw_data();
    params.heads = lists.raw_data();
    params.next = lists.raw_data() + bytes;
    params.least = lists.raw_data() + 2 * bytes;
    if (at_once) {
        launch.Run(GetPhase(device, is_wide, kAtOncePhase), params);
        return;
    }
    for (int phase = 0; phase < kAtOncePhase; ++phase) {
        launch.Run(GetPhase(device, is_wide, phase), params);
    }
}
CX_CUDA_KERNEL(RandomPermutation)

}  // namespace
}  // namespace chainerx::cuda

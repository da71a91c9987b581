// Random permutations: see cuda/random/device/permutation.h.
#include <cstdint>

#include "chainerx/cuda/random/calls.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/kernels/random/random.h"

namespace chainerx::cuda {
namespace {

// Up to here, one block of threads is faster than five launches.
constexpr int64_t kAtOnce = 16 * kBlockThreads;

#define CX_PERMUTATION_KERNEL(variable, function) \
    CX_DEVICE_KERNEL(variable, "random/device/permutation.h", PermutationParams, function, Dtype)
CX_PERMUTATION_KERNEL(kClearLists, "ClearLists<T>")
CX_PERMUTATION_KERNEL(kAddSteps, "AddSteps<T>")
CX_PERMUTATION_KERNEL(kFindLeast, "FindLeast<T>")
CX_PERMUTATION_KERNEL(kFollowChains, "FollowChains<T>")
CX_PERMUTATION_KERNEL(kShuffleAtOnce, "ShuffleAtOnce<T>")
#undef CX_PERMUTATION_KERNEL

void RandomPermutation(const Array& state, const Array& out) {
    PermutationParams params{};
    params.size = out.GetTotalSize();
    const bool at_once = params.size <= kAtOnce;
    const RandomLaunch launch{state, at_once && params.size != 0 ? 1 : params.size};
    params.call = launch.call();
    if (params.size == 0) return;
    launch.Use(out);
    const Dtype place = params.size > INT32_MAX ? Dtype::kInt64 : Dtype::kInt32;
    const int64_t bytes = params.size * GetItemSize(place);
    const Array lists = EmptyUnchecked(Shape{3, bytes}, Dtype::kUInt8, out.device());
    params.out = out.raw_data();
    params.heads = lists.raw_data();
    params.next = lists.raw_data() + bytes;
    params.least = lists.raw_data() + 2 * bytes;
    if (at_once) return launch.Run(kShuffleAtOnce, params, place);
    for (const auto* kernel : {&kClearLists, &kAddSteps, &kFindLeast, &kFollowChains}) {
        launch.Run(*kernel, params, place);
    }
}
CX_CUDA_KERNEL(RandomPermutation)

}  // namespace
}  // namespace chainerx::cuda

// Casts of many arrays in few launches. cuda/optim/device/cast.h computes.
#include <span>

#include "chainerx/cuda/optim/params.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/optim/update.h"

namespace chainerx::cuda {
namespace {

CX_DEVICE_KERNEL(kCastAll, "optim/device/cast.h", CastParams, "CastAll<T, U>", Dtype, Dtype)

using Arrays = std::span<const ConstArrayRef>;

void CastAll(bool keeps, Arrays xs, Arrays outs) {
    CastParams params{};
    params.keeps = keeps;
    int64_t blocks = 0;
    const auto run = [&] {
        if (params.count == 0) return;
        const Array& x = xs.front();
        const Array& out = outs.front();
        kCastAll.Launch(static_cast<CudaDevice&>(out.device()), {blocks}, params, x.dtype(),
                        out.dtype());
        params.count = 0;
        blocks = 0;
    };
    for (size_t i = 0; i < xs.size(); ++i) {
        const Array& x = xs[i];
        const Array& out = outs[i];
        const int64_t size = out.GetTotalSize();
        if (size == 0) continue;
        if (params.count == CastParams::kMax) run();
        Prepare(out, x);
        params.arrays[params.count++] = {x.raw_data(), out.raw_data(), size, blocks};
        blocks += CeilDiv(size, kBlockThreads * kCastItems);
    }
    run();
}
CX_CUDA_KERNEL(CastAll)

}  // namespace
}  // namespace chainerx::cuda

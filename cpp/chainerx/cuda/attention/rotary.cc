// Rotary embedding.
#include "chainerx/kernels/attention/rotary.h"

#include "chainerx/core/error.h"
#include "chainerx/cuda/attention/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"

namespace chainerx::cuda {
namespace {

constinit const FunctionTable<kNumDtypes, 1> g_functions;

void RotatePairs(const Array& x, const Array& cos, const Array& sin, bool interleaved,
                 const Array& out) {
    if (out.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(x, cos, sin, out);
    RotaryParams params{};
    const Array* const in[] = {&x, &cos, &sin};
    params.ndim = x.ndim() - 1;
    for (int o = 0; o < 3; ++o) {
        params.in[o] = in[o]->raw_data();
        for (int8_t d = 0; d < params.ndim; ++d) params.strides[o][d] = in[o]->strides()[d];
    }
    for (int8_t d = 0; d < params.ndim; ++d) params.sizes[d] = x.shape()[d];
    params.out = out.raw_data();
    params.n = cos.shape().back();
    params.total = out.GetTotalSize() / 2;
    params.across = interleaved ? 2 : 1;
    params.gap = interleaved ? 1 : params.n;
    const CUfunction function = g_functions.Get(device, static_cast<int>(x.dtype()), 0, [&] {
        return MakeSource(StrCat("RotatePairs_", GetDtypeName(x.dtype())),
                          "attention/device/rotary.h", "RotaryParams",
                          StrCat("RotatePairs<", DeviceTypeOf(x.dtype()), ">(p);"));
    });
    constexpr int kThreads = 256;
    Launch(device.current_stream(), function, {CeilDiv(params.total, kThreads), kThreads}, params);
}
CX_CUDA_KERNEL(RotatePairs)

}  // namespace
}  // namespace chainerx::cuda

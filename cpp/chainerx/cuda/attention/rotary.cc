// Rotary embedding.
#include "chainerx/kernels/attention/rotary.h"

#include "chainerx/cuda/attention/params.h"
#include "chainerx/cuda/runtime/kernel.h"

namespace chainerx::cuda {
namespace {

CX_DEVICE_KERNEL(kRotate, "attention/device/rotary.h", RotaryParams, "RotatePairs<T>", Dtype)

void RotatePairs(const Array& x, const Array& cos, const Array& sin, bool interleaved,
                 const Array& out) {
    if (out.GetTotalSize() == 0) return;
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
    kRotate.Launch(Prepare(x, cos, sin, out), ThreadsFor(params.total), params, x.dtype());
}
CX_CUDA_KERNEL(RotatePairs)

}  // namespace
}  // namespace chainerx::cuda

// Matrix products, and fully connected layers.
#include <algorithm>

#include "chainerx/core/error.h"
#include "chainerx/cuda/gemm/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

constinit const FunctionTable<kNumDtypes, 3> g_functions;

// As GemmEnd of cuda/gemm/device/gemm.h.
enum End { kNone, kRectifies, kSumsRows };

DeviceSource WriteSource(Dtype dtype, End end) {
    static constexpr const char* kEnds[] = {"kNone", "kRectifies", "kSumsRows"};
    return MakeSource(StrCat("Matmul_", GetDtypeName(dtype), "_", kEnds[end]), "gemm/device/gemm.h",
                      "GemmParams",
                      StrCat("Multiply<", DeviceTypeOf(dtype), ", GemmEnd::", kEnds[end], ">(p);"));
}

// Runs the product; the sizes, strides and addresses are in `params`.
void Run(GemmParams& params, const Array& x1, const Array& x2, const Array* bias, const Array& out,
         End end) {
    if (out.GetTotalSize() == 0 && (end != kSumsRows || params.m == 0)) return;
    CudaDevice& device = Prepare(out, x1, x2);
    CudaStream& stream = device.current_stream();
    if (bias != nullptr) device.RecordUse(*bias, stream);
    params.x1 = x1.raw_data();
    params.x2 = x2.raw_data();
    params.bias = bias != nullptr ? bias->raw_data() : nullptr;
    params.bias_stride = bias != nullptr ? bias->strides()[0] : 0;
    params.out = out.raw_data();
    params.row_blocks = CeilDiv(params.m, kGemmTile);
    params.column_blocks = std::max<int64_t>(CeilDiv(params.n, kGemmTile), 1);
    int64_t batch = 1;
    for (int d = 0; d < params.batch_ndim; ++d) batch *= params.batch_sizes[d];
    const CUfunction function = g_functions.Get(device, static_cast<int>(out.dtype()), end,
                                                [&] { return WriteSource(out.dtype(), end); });
    Launch(stream, function, {batch * params.row_blocks * params.column_blocks, kGemmThreads},
           params);
}

void Matmul(const Array& x1, const Array& x2, const Array& out) {
    GemmParams params{};
    const int8_t ndim = out.ndim();
    params.m = out.shape()[ndim - 2];
    params.n = out.shape()[ndim - 1];
    params.k = x1.shape()[ndim - 1];
    for (int k = 0; k < 2; ++k) {
        params.strides1[k] = x1.strides()[ndim - 2 + k];
        params.strides2[k] = x2.strides()[ndim - 2 + k];
    }
    params.batch_ndim = ndim - 2;
    for (int8_t d = 0; d < ndim - 2; ++d) {
        params.batch_sizes[d] = out.shape()[d];
        params.batch_strides[0][d] = x1.strides()[d];
        params.batch_strides[1][d] = x2.strides()[d];
    }
    Run(params, x1, x2, nullptr, out, kNone);
}
CX_CUDA_KERNEL(Matmul)

void RunLinear(const Array& x, const Array& w, const Array& b, const Array& out, End end) {
    GemmParams params{};
    params.m = out.shape()[0];
    params.n = out.shape()[1];
    params.k = x.shape()[1];
    params.strides1[0] = x.strides()[0];
    params.strides1[1] = x.strides()[1];
    params.strides2[0] = w.strides()[1];
    params.strides2[1] = w.strides()[0];
    Run(params, x, w, &b, out, end);
}

void Linear(const Array& x, const Array& w, const Array& b, const Array& out) {
    RunLinear(x, w, b, out, kNone);
}
CX_CUDA_KERNEL(Linear)

void RectifiedLinear(const Array& x, const Array& w, const Array& b, const Array& out) {
    RunLinear(x, w, b, out, kRectifies);
}
CX_CUDA_KERNEL(RectifiedLinear)

void LinearParamGrad(const Array& gy, const Array& x, const Array& gw, const Array& gb) {
    GemmParams params{};
    params.m = gw.shape()[0];
    params.n = gw.shape()[1];
    params.k = gy.shape()[0];
    params.strides1[0] = gy.strides()[1];
    params.strides1[1] = gy.strides()[0];
    params.strides2[0] = x.strides()[0];
    params.strides2[1] = x.strides()[1];
    Run(params, gy, x, &gb, gw, kSumsRows);
}
CX_CUDA_KERNEL(LinearParamGrad)

}  // namespace
}  // namespace chainerx::cuda

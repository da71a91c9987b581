// Attention without materialized scores, and its gradients.
#include "chainerx/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "chainerx/core/error.h"
#include "chainerx/cuda/attention/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"

namespace chainerx::cuda {
namespace {

struct AttentionKernel {
    const char* name;
    const char* header;
    FunctionTable<kNumDtypes, 3> functions{};
};
constinit const AttentionKernel kForward{"Attention", "attention/device/attention.h"};
constinit const AttentionKernel kDeltas{"AttentionDeltas", "attention/device/attention_grad.h"};
constinit const AttentionKernel kQueries{"AttentionGradQueries",
                                         "attention/device/attention_grad.h"};
constinit const AttentionKernel kKeys{"AttentionGradKeys", "attention/device/attention_grad.h"};
constinit const AttentionKernel kMask{"AttentionGradMask", "attention/device/attention_grad.h"};

// `arguments` follow the dtype in the kernel's template.
void LaunchAttention(const AttentionKernel& kernel, const Array& q, int variant,
                     const char* arguments, int64_t blocks, const AttentionParams& params) {
    if (blocks == 0) return;
    auto& device = static_cast<CudaDevice&>(q.device());
    const CUfunction function =
        kernel.functions.Get(device, static_cast<int>(q.dtype()), variant, [&] {
            return MakeSource(
                StrCat(kernel.name, "_", GetDtypeName(q.dtype()), "_", variant), kernel.header,
                "AttentionParams",
                StrCat(kernel.name, "<", DeviceTypeOf(q.dtype()), arguments, ">(p);"));
        });
    Launch(device.current_stream(), function, {blocks, kGemmThreads}, params);
}

MatricesOf ToMatrices(const Array& x) {
    MatricesOf of{};
    const int8_t ndim = x.ndim();
    if (ndim < 2) return of;
    of.data = x.raw_data();
    for (int8_t d = 0; d < ndim - 2; ++d) of.batch_strides[d] = x.strides()[d];
    of.row = x.strides()[ndim - 2];
    of.column = x.strides()[ndim - 1];
    return of;
}

int MaskDtype(const Array& mask) {
    if (mask.ndim() < 2) return 0;
    constexpr Dtype kDtypes[] = {Dtype::kBool, Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32,
                                 Dtype::kFloat64};
    return 1 + static_cast<int>(std::find(kDtypes, kDtypes + 5, mask.dtype()) - kDtypes);
}

AttentionParams ParamsOf(const Array& q, const Array& k, const Array& v, const Array& mask,
                         const Array& key, const AttentionOptions& options) {
    AttentionParams params{};
    const int8_t ndim = q.ndim();
    params.q = ToMatrices(q);
    params.k = ToMatrices(k);
    params.v = ToMatrices(v);
    params.mask = ToMatrices(mask);
    params.mask_dtype = MaskDtype(mask);
    params.batch_ndim = ndim - 2;
    params.matrices = 1;
    params.group = 1;
    for (int8_t d = 0; d < ndim - 2; ++d) {
        params.batch_sizes[d] = q.shape()[d];
        params.matrices *= q.shape()[d];
    }
    if (ndim > 2 && k.shape()[ndim - 3] != 0) {
        params.group = std::max<int64_t>(1, q.shape()[ndim - 3] / k.shape()[ndim - 3]);
    }
    params.queries = q.shape()[ndim - 2];
    params.keys = k.shape()[ndim - 2];
    params.width = q.shape()[ndim - 1];
    params.value_width = v.shape()[ndim - 1];
    params.is_causal = options.is_causal ? 1 : 0;
    params.scale = options.scale;
    if (key.GetTotalSize() != 0) {
        params.key = key.raw_data();
        // As in the kernel Dropout.
        params.threshold =
            static_cast<uint32_t>(std::min(std::ceil(options.dropout * 0x1p32), 0x1p32 - 1));
        params.factor = 1 / (1 - options.dropout);
    }
    return params;
}

int64_t CountTiles(int64_t n) { return CeilDiv(n, kGemmTile); }

void Attention(const Array& q, const Array& k, const Array& v, const Array& mask, const Array& key,
               const AttentionOptions& options, const Array& y, const Array& stats) {
    AttentionParams params = ParamsOf(q, k, v, mask, key, options);
    Prepare(q, k, v, mask, key, y, stats);
    params.y = ToMatrices(y);
    params.stats = stats.GetTotalSize() != 0 ? stats.raw_data() : nullptr;
    params.row_blocks = CountTiles(params.queries);
    const int64_t tiles = std::max<int64_t>(1, CountTiles(params.value_width));
    const bool is_wide = tiles > 1 && q.dtype() != Dtype::kFloat64;
    params.column_blocks = CeilDiv(tiles, is_wide ? 2 : 1);
    LaunchAttention(kForward, q, is_wide ? 1 : 0, is_wide ? ", 2" : ", 1",
                    params.matrices * params.row_blocks * params.column_blocks, params);
}
CX_CUDA_KERNEL(Attention)

// What all gradients need; returns what `params` has the address of.
Array SetGradient(AttentionParams& params, const Array& y, const Array& stats, const Array& gy) {
    params.y = ToMatrices(y);
    params.gy = ToMatrices(gy);
    params.stats = stats.raw_data();
    const Array deltas = EmptyUnchecked(stats.shape(), stats.dtype(), y.device());
    params.deltas = deltas.raw_data();
    LaunchAttention(kDeltas, y, 0, "", CeilDiv(params.matrices * params.queries, 8), params);
    return deltas;
}

void AttentionGrad(const Array& q, const Array& k, const Array& v, const Array& mask,
                   const Array& key, const AttentionOptions& options, const Array& y,
                   const Array& stats, const Array& gy, const Array& gq, const Array& gk,
                   const Array& gv) {
    AttentionParams params = ParamsOf(q, k, v, mask, key, options);
    Prepare(q, k, v, mask, key, y, stats, gy, gq, gk, gv);
    const Array deltas = SetGradient(params, y, stats, gy);
    params.gq = ToMatrices(gq);
    params.gk = ToMatrices(gk);
    params.gv = ToMatrices(gv);
    if (gq.ndim() >= 2) {
        params.row_blocks = CountTiles(params.queries);
        params.column_blocks = CountTiles(params.width);
        LaunchAttention(kQueries, q, 0, "",
                        params.matrices * params.row_blocks * params.column_blocks, params);
    }
    if (gk.ndim() >= 2 || gv.ndim() >= 2) {
        params.row_blocks = CountTiles(params.keys);
        params.column_blocks = CountTiles(
            std::max(gk.ndim() >= 2 ? params.width : 0, gv.ndim() >= 2 ? params.value_width : 0));
        const int64_t blocks =
            params.matrices / params.group * params.row_blocks * params.column_blocks;
        if (q.dtype() == Dtype::kFloat64) {  // both need more registers than there are
            if (gk.ndim() >= 2) LaunchAttention(kKeys, q, 0, ", true, false", blocks, params);
            if (gv.ndim() >= 2) LaunchAttention(kKeys, q, 1, ", false, true", blocks, params);
        } else {
            LaunchAttention(kKeys, q, 2, ", true, true", blocks, params);
        }
    }
}
CX_CUDA_KERNEL(AttentionGrad)

void AttentionMaskGrad(const Array& q, const Array& k, const Array& v, const Array& mask,
                       const Array& key, const AttentionOptions& options, const Array& y,
                       const Array& stats, const Array& gy, const Array& gmask) {
    AttentionParams params = ParamsOf(q, k, v, mask, key, options);
    Prepare(q, k, v, mask, key, y, stats, gy, gmask);
    const Array deltas = SetGradient(params, y, stats, gy);
    const int8_t ndim = gmask.ndim();
    params.gmask = gmask.raw_data();
    params.mask_dtype = MaskDtype(gmask);
    int64_t blocks = 1;
    for (int8_t d = 0; d < ndim - 2; ++d) {
        params.mask_sizes[d] = gmask.shape()[d];
        blocks *= gmask.shape()[d];
    }
    params.has_queries = gmask.shape()[ndim - 2] == params.queries ? 1 : 0;
    params.has_keys = gmask.shape()[ndim - 1] == params.keys ? 1 : 0;
    params.row_blocks = params.has_queries != 0 ? CountTiles(params.queries) : 1;
    params.column_blocks = params.has_keys != 0 ? CountTiles(params.keys) : 1;
    LaunchAttention(kMask, q, 0, "", blocks * params.row_blocks * params.column_blocks, params);
}
CX_CUDA_KERNEL(AttentionMaskGrad)

}  // namespace
}  // namespace chainerx::cuda

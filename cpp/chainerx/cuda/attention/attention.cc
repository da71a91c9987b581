// Attention without materialized scores, and its gradients.
#include "chainerx/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "chainerx/cuda/attention/params.h"
#include "chainerx/cuda/runtime/kernel.h"

namespace chainerx::cuda {
namespace {

#define CX_ATTENTION_KERNEL(variable, header, function) \
    CX_DEVICE_KERNEL(variable, "attention/device/" header, AttentionParams, function, Dtype)
CX_ATTENTION_KERNEL(kForward, "attention.h", "Attention<T, 1>")
CX_ATTENTION_KERNEL(kWideForward, "attention.h", "Attention<T, 2>")
CX_ATTENTION_KERNEL(kDeltas, "attention_grad.h", "AttentionDeltas<T>")
CX_ATTENTION_KERNEL(kQueries, "attention_grad.h", "AttentionGradQueries<T>")
CX_ATTENTION_KERNEL(kKeys, "attention_grad.h", "AttentionGradKeys<T, true, false>")
CX_ATTENTION_KERNEL(kValues, "attention_grad.h", "AttentionGradKeys<T, false, true>")
CX_ATTENTION_KERNEL(kKeysAndValues, "attention_grad.h", "AttentionGradKeys<T, true, true>")
CX_ATTENTION_KERNEL(kMask, "attention_grad.h", "AttentionGradMask<T>")
#undef CX_ATTENTION_KERNEL

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
    params.y = ToMatrices(y);
    params.stats = stats.GetTotalSize() != 0 ? stats.raw_data() : nullptr;
    params.row_blocks = CountTiles(params.queries);
    const int64_t tiles = std::max<int64_t>(1, CountTiles(params.value_width));
    const bool is_wide = tiles > 1 && q.dtype() != Dtype::kFloat64;
    params.column_blocks = CeilDiv(tiles, is_wide ? 2 : 1);
    (is_wide ? kWideForward : kForward)
        .Launch(Prepare(q, k, v, mask, key, y, stats),
                {params.matrices * params.row_blocks * params.column_blocks}, params, q.dtype());
}
CX_CUDA_KERNEL(Attention)

// What all gradients need; returns what `params` has the address of.
Array SetGradient(AttentionParams& params, CudaDevice& device, const Array& y, const Array& stats,
                  const Array& gy) {
    params.y = ToMatrices(y);
    params.gy = ToMatrices(gy);
    params.stats = stats.raw_data();
    const Array deltas = EmptyUnchecked(stats.shape(), stats.dtype(), device);
    params.deltas = deltas.raw_data();
    kDeltas.Launch(device, {CeilDiv(params.matrices * params.queries, 8)}, params, y.dtype());
    return deltas;
}

void AttentionGrad(const Array& q, const Array& k, const Array& v, const Array& mask,
                   const Array& key, const AttentionOptions& options, const Array& y,
                   const Array& stats, const Array& gy, const Array& gq, const Array& gk,
                   const Array& gv) {
    AttentionParams params = ParamsOf(q, k, v, mask, key, options);
    CudaDevice& device = Prepare(q, k, v, mask, key, y, stats, gy, gq, gk, gv);
    const Array deltas = SetGradient(params, device, y, stats, gy);
    params.gq = ToMatrices(gq);
    params.gk = ToMatrices(gk);
    params.gv = ToMatrices(gv);
    if (gq.ndim() >= 2) {
        params.row_blocks = CountTiles(params.queries);
        params.column_blocks = CountTiles(params.width);
        kQueries.Launch(device, {params.matrices * params.row_blocks * params.column_blocks},
                        params, q.dtype());
    }
    if (gk.ndim() >= 2 || gv.ndim() >= 2) {
        params.row_blocks = CountTiles(params.keys);
        params.column_blocks = CountTiles(
            std::max(gk.ndim() >= 2 ? params.width : 0, gv.ndim() >= 2 ? params.value_width : 0));
        const Grid grid{params.matrices / params.group * params.row_blocks * params.column_blocks};
        if (q.dtype() == Dtype::kFloat64) {  // both need more registers than there are
            if (gk.ndim() >= 2) kKeys.Launch(device, grid, params, q.dtype());
            if (gv.ndim() >= 2) kValues.Launch(device, grid, params, q.dtype());
        } else {
            kKeysAndValues.Launch(device, grid, params, q.dtype());
        }
    }
}
CX_CUDA_KERNEL(AttentionGrad)

void AttentionMaskGrad(const Array& q, const Array& k, const Array& v, const Array& mask,
                       const Array& key, const AttentionOptions& options, const Array& y,
                       const Array& stats, const Array& gy, const Array& gmask) {
    AttentionParams params = ParamsOf(q, k, v, mask, key, options);
    CudaDevice& device = Prepare(q, k, v, mask, key, y, stats, gy, gmask);
    const Array deltas = SetGradient(params, device, y, stats, gy);
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
    kMask.Launch(device, {blocks * params.row_blocks * params.column_blocks}, params, q.dtype());
}
CX_CUDA_KERNEL(AttentionMaskGrad)

}  // namespace
}  // namespace chainerx::cuda

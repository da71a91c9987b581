// Matrix products, and fully connected layers.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/gemm/library_product.h"
#include "chainerx/cuda/gemm/params.h"
#include "chainerx/cuda/gemm/plan.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/linalg/linalg.h"

namespace chainerx::cuda {
namespace {

using GemmEnd = Choice<3>;
constexpr GemmEnd kNone{0, "GemmEnd::kNone"};
constexpr GemmEnd kRectifies{1, "GemmEnd::kRectifies"};
constexpr GemmEnd kSumsRows{2, "GemmEnd::kSumsRows"};

#define CX_GEMM_KERNEL(variable, function) \
    CX_DEVICE_KERNEL(variable, "gemm/device/gemm.h", GemmParams, function, Dtype, GemmEnd)
CX_GEMM_KERNEL(kTiles, "Multiply<T, U, kGemmTile>")
CX_GEMM_KERNEL(kLargeTiles, "Multiply<T, U, kGemmLargeTile>")
CX_GEMM_KERNEL(kDots, "Dots<T, U>")
#undef CX_GEMM_KERNEL

// Whether rows (strides[0]), or steps of k, are adjacent in x, and four of them aligned.
bool LoadsQuads(const Array& x, const GemmParams& params, int operand, int64_t rows,
                const int64_t (&strides)[2]) {
    const int64_t item = x.GetItemSize();
    const int64_t align = AlignOfQuad(item);
    const bool rows_first = strides[0] < strides[1];
    bool is_aligned = strides[rows_first ? 0 : 1] == item &&
                      strides[rows_first ? 1 : 0] % align == 0 &&
                      (rows_first ? rows : params.k) % 4 == 0 && IsAligned(x, align);
    for (int d = 0; d < params.batch_ndim; ++d) {
        is_aligned = is_aligned && params.batch_strides[operand][d] % align == 0;
    }
    return is_aligned;
}

// Runs the product; the sizes and strides are in `params`. How it is cut depends on them alone, as
// the bits do.
void Run(GemmParams& params, const Array& x1, const Array& x2, const Array* bias, const Array& out,
         GemmEnd end) {
    constexpr int64_t kFewElements = 16;  // of a matrix
    constexpr int64_t kShort = 64;
    constexpr int64_t kLeastPiece = 256;
    params.n_out = out.GetTotalSize();
    const bool sums_rows = end.index == kSumsRows.index;
    const ProductEnd library_end = sums_rows                       ? ProductEnd::kSumsRows
                                   : end.index == kRectifies.index ? ProductEnd::kRectifies
                                   : bias != nullptr               ? ProductEnd::kAddsBias
                                                                   : ProductEnd::kNone;
    params.n_sums = params.n_out + (sums_rows ? params.m : 0);
    if (params.n_sums == 0) return;
    if (TryLibraryProduct(params, x1, x2, bias, out, library_end)) return;
    CudaDevice& device = Prepare(out, x1, x2);
    if (bias != nullptr) {
        device.RecordUse(*bias, device.current_stream());
        params.bias = bias->raw_data();
        params.bias_stride = bias->strides()[0];
    }
    params.x1 = x1.raw_data();
    params.x2 = x2.raw_data();
    params.out = out.raw_data();
    params.quads[0] = LoadsQuads(x1, params, 0, params.m, params.strides1);
    const int64_t strides2[2] = {params.strides2[1], params.strides2[0]};
    params.quads[1] = LoadsQuads(x2, params, 1, params.n, strides2);
    int64_t batch = 1;
    for (int d = 0; d < params.batch_ndim; ++d) batch *= params.batch_sizes[d];
    const bool is_large = PrefersLargeTiles(out.dtype(), batch, params.m, params.n);
    const int64_t tile = is_large ? kGemmLargeTile : kGemmTile;
    const int64_t row_blocks = CeilDiv(params.m, tile);
    const int64_t column_blocks = std::max<int64_t>(CeilDiv(params.n, tile), 1);
    const int64_t tiles = batch * row_blocks * column_blocks;
    params.row_blocks = static_cast<uint32_t>(row_blocks);
    params.column_blocks = static_cast<uint32_t>(column_blocks);
    // Most of a tile would be empty.
    const bool sums_each = !sums_rows && params.n_out < INT32_MAX / 256 &&
                           params.m * params.n <= (params.k <= kShort ? 256 : kFewElements);
    params.lanes = params.k < 2048 ? static_cast<int>(std::clamp<uint64_t>(
                                         std::bit_ceil(static_cast<uint64_t>(params.k)) / 8, 1, 32))
                                   : kBlockThreads;
    const int64_t blocks = sums_each ? CeilDiv(params.n_out * params.lanes, kBlockThreads) : tiles;
    const int64_t least = sums_each ? params.lanes * 8 : kLeastPiece;
    const int64_t pieces = CountPieces(blocks, params.k, least);
    params.pieces = static_cast<uint32_t>(pieces);
    params.piece = CeilDiv(CeilDiv(params.k, pieces), params.lanes) * params.lanes;
    Array parts;
    if (pieces > 1) {
        const int64_t size = std::max<int64_t>(4, out.GetItemSize());
        parts = EmptyUnchecked(Shape{pieces * params.n_sums * size}, Dtype::kUInt8, device);
        params.parts = parts.raw_data();
        params.counters = device.current_stream().counters();
    }
    if (sums_each) {
        kDots.Launch(device, ThreadsFor(pieces * params.n_out * params.lanes), params, out.dtype(),
                     end);
    } else {
        (is_large ? kLargeTiles : kTiles)
            .Launch(device, {tiles * pieces}, params, out.dtype(), end);
    }
}

void SetBatch(GemmParams& params, const Array& x1, const Array& x2, const Array& out, int ndim) {
    params.batch_ndim = ndim;
    for (int d = 0; d < ndim; ++d) {
        params.batch_sizes[d] = out.shape()[d];
        params.batch_strides[0][d] = x1.strides()[d];
        params.batch_strides[1][d] = x2.strides()[d];
    }
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
    SetBatch(params, x1, x2, out, ndim - 2);
    Run(params, x1, x2, nullptr, out, kNone);
}
CX_CUDA_KERNEL(Matmul)

// A product of a row by a column for each element.
void Vecdot(const Array& x1, const Array& x2, const Array& out) {
    GemmParams params{};
    const int8_t last = out.ndim();
    params.m = params.n = 1;
    params.k = x1.shape()[last];
    params.strides1[1] = x1.strides()[last];
    params.strides2[0] = x2.strides()[last];
    SetBatch(params, x1, x2, out, last);
    Run(params, x1, x2, nullptr, out, kNone);
}
CX_CUDA_KERNEL(Vecdot)

// The product of x1 (m, k), or of its transpose, by x2 (k, n), or by its transpose.
void RunLinear(const Array& x1, bool transposes1, const Array& x2, bool transposes2, const Array& b,
               const Array& out, GemmEnd end) {
    GemmParams params{};
    params.m = out.shape()[0];
    params.n = out.shape()[1];
    params.k = x1.shape()[transposes1 ? 0 : 1];
    for (int k = 0; k < 2; ++k) {
        params.strides1[k] = x1.strides()[transposes1 ? 1 - k : k];
        params.strides2[k] = x2.strides()[transposes2 ? 1 - k : k];
    }
    Run(params, x1, x2, &b, out, end);
}

void Linear(const Array& x, const Array& w, const Array& b, const Array& out) {
    RunLinear(x, false, w, true, b, out, kNone);
}
CX_CUDA_KERNEL(Linear)

void RectifiedLinear(const Array& x, const Array& w, const Array& b, const Array& out) {
    RunLinear(x, false, w, true, b, out, kRectifies);
}
CX_CUDA_KERNEL(RectifiedLinear)

void LinearParamGrad(const Array& gy, const Array& x, const Array& gw, const Array& gb) {
    RunLinear(gy, true, x, false, gb, gw, kSumsRows);
}
CX_CUDA_KERNEL(LinearParamGrad)

}  // namespace
}  // namespace chainerx::cuda

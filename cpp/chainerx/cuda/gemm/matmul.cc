// Matrix products, and fully connected layers.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "chainerx/core/error.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/gemm/params.h"
#include "chainerx/cuda/gemm/plan.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

// As GemmEnd of cuda/gemm/device/gemm.h.
enum End { kNone, kRectifies, kSumsRows };

enum Algorithm { kTiles, kLargeTiles, kDots, kCombine };

constinit const FunctionTable<kNumDtypes, 12> g_functions;

void LaunchProduct(CudaDevice& device, Algorithm algorithm, Dtype dtype, End end, int64_t blocks,
                   const GemmParams& params) {
    static constexpr const char* kEnds[] = {"kNone", "kRectifies", "kSumsRows"};
    static constexpr const char* kFunctions[] = {"Multiply", "Multiply", "Dots", "CombineProducts"};
    static constexpr const char* kTile[] = {", kGemmTile", ", kGemmLargeTile", "", ""};
    const CUfunction function =
        g_functions.Get(device, static_cast<int>(dtype), algorithm * 3 + end, [&] {
            return MakeSource(
                StrCat(kFunctions[algorithm], algorithm == kLargeTiles ? "_large_" : "_",
                       GetDtypeName(dtype), "_", kEnds[end]),
                "gemm/device/gemm.h", "GemmParams",
                StrCat(kFunctions[algorithm], "<", DeviceTypeOf(dtype), ", GemmEnd::", kEnds[end],
                       kTile[algorithm], ">(p);"));
        });
    Launch(device.current_stream(), function, {blocks, kGemmThreads}, params);
}

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
         End end) {
    constexpr int64_t kFewElements = 16;  // of a matrix
    constexpr int64_t kShort = 64;
    constexpr int64_t kLeastPiece = 256;
    params.n_out = out.GetTotalSize();
    params.n_sums = params.n_out + (end == kSumsRows ? params.m : 0);
    if (params.n_sums == 0) return;
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
    const bool sums_each = end != kSumsRows && params.n_out < INT32_MAX / 256 &&
                           params.m * params.n <= (params.k <= kShort ? 256 : kFewElements);
    params.lanes = params.k < 2048 ? static_cast<int>(std::clamp<uint64_t>(
                                         std::bit_ceil(static_cast<uint64_t>(params.k)) / 8, 1, 32))
                                   : kGemmThreads;
    const int64_t blocks = sums_each ? CeilDiv(params.n_out * params.lanes, kGemmThreads) : tiles;
    const int64_t least = sums_each ? params.lanes * 8 : kLeastPiece;
    const int64_t pieces = CountPieces(blocks, params.k, least);
    params.pieces = static_cast<uint32_t>(pieces);
    params.piece = CeilDiv(CeilDiv(params.k, pieces), params.lanes) * params.lanes;
    Array parts;
    if (pieces > 1) {
        const int64_t size = std::max<int64_t>(4, out.GetItemSize());
        parts = EmptyUnchecked(Shape{pieces * params.n_sums * size}, Dtype::kUInt8, device);
        params.parts = parts.raw_data();
    }
    const auto launch = [&](Algorithm algorithm, int64_t n) {
        LaunchProduct(device, algorithm, out.dtype(), end, n, params);
    };
    if (sums_each) {
        launch(kDots, CeilDiv(pieces * params.n_out * params.lanes, kGemmThreads));
    } else {
        launch(is_large ? kLargeTiles : kTiles, tiles * pieces);
    }
    if (pieces > 1) launch(kCombine, CeilDiv(params.n_sums, kGemmThreads));
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

// A product of a row by a column for each element.
void Vecdot(const Array& x1, const Array& x2, const Array& out) {
    GemmParams params{};
    const int8_t last = out.ndim();
    params.m = params.n = 1;
    params.k = x1.shape()[last];
    params.strides1[1] = x1.strides()[last];
    params.strides2[0] = x2.strides()[last];
    params.batch_ndim = last;
    for (int8_t d = 0; d < last; ++d) {
        params.batch_sizes[d] = out.shape()[d];
        params.batch_strides[0][d] = x1.strides()[d];
        params.batch_strides[1][d] = x2.strides()[d];
    }
    Run(params, x1, x2, nullptr, out, kNone);
}
CX_CUDA_KERNEL(Vecdot)

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

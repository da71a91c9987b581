// Convolutions as products of matrices whose elements are gathered while tiles are loaded (implicit
// GEMM), and directly where groups have few channels. Sums of pieces of k are combined in order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/conv/device/axes.h"
#include "chainerx/cuda/conv/params.h"
#include "chainerx/cuda/device/last_block.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/gemm/device/pieces.h"
#include "chainerx/cuda/gemm/device/tile.h"

namespace chainerx::cuda {

template <typename T>
inline const T& ConvItem(const char* p) {
    return *reinterpret_cast<const T*>(p);
}

// Stores the sum of an element of `out`. `row` counts all groups.
template <typename T>
inline void StoreSum(const ConvParams& p, int64_t row, int64_t i, Number<T> sum) {
    if (p.bias != nullptr) {
        sum += AsNumbers::Load(ConvItem<T>(static_cast<char*>(p.bias) + row * p.bias_stride));
    }
    At<T>(p.out)[i] = AsNumbers::Store<T>(sum);
}
// The same of a piece of the sum.
template <typename T>
inline void StorePiece(const ConvParams& p, int64_t piece, int64_t row, int64_t i, Number<T> sum) {
    if (p.pieces > 1) {
        At<Number<T>>(p.parts)[piece * p.n_out + i] = sum;
    } else {
        StoreSum<T>(p, row, i, sum);
    }
}
template <typename T>
inline void CombinePieces(const ConvParams& p, int64_t row, int64_t i) {
    StoreSum<T>(p, row, i, SumPieces<Number<T>>(p.parts, p.pieces, p.n_out, i));
}

template <typename T, int kDims, ConvPass kPass, int kTile>
inline void ConvTiles(const ConvParams& p) {
    using Product = TileProduct<T, kTile>;
    using Place = ConvPlace<kDims>;
    CX_SHARED(typename Product::Memory, tile_a, Product::kMemory);
    CX_SHARED(typename Product::Memory, tile_b, Product::kMemory);
    CX_SHARED(ConvAxes<kDims>, shared_axes, 1);
    CX_SHARED(Place, columns, kTile);
    CX_SHARED(Place, steps, 2 * kGemmDepth);  // of this tile and the next, in turn
    ConvAxes<kDims>& axes = shared_axes[0];
    const int thread = static_cast<int>(threadIdx.x);

    uint32_t block = blockIdx.x;
    const int64_t first_row = static_cast<int64_t>(block % p.row_tiles) * kTile;
    block /= p.row_tiles;
    const int64_t first_column = static_cast<int64_t>(block % p.column_tiles) * kTile;
    block /= p.column_tiles;
    const uint32_t piece = block % static_cast<uint32_t>(p.pieces);
    block /= static_cast<uint32_t>(p.pieces);
    const uint32_t tile =
        blockIdx.x % (p.row_tiles * p.column_tiles) + block * (p.row_tiles * p.column_tiles);
    const uint32_t group = block % static_cast<uint32_t>(p.groups);
    axes.template Set<kPass>(p, block / static_cast<uint32_t>(p.groups));
    const int64_t n = p.n_outer * axes.CountPositions();
    if (first_column >= n) return;
    const PieceRange range{p.k_outer * axes.CountTaps(), p.piece, piece};

    const auto set_step = [&](int slot, int64_t k) {
        Place place{};
        place.at[0] = kOutside<kDims>;
        if (k < range.end) place = PlaceOf<false>(p, axes, k);
        steps[slot] = place;
    };
    if (thread < kTile) {
        Place place{};
        place.at[0] = kOutside<kDims>;
        if (first_column + thread < n) place = PlaceOf<true>(p, axes, first_column + thread);
        columns[thread] = place;
    } else if (thread < kTile + 2 * kGemmDepth) {
        set_step(thread - kTile, range.begin + thread - kTile);
    }
    __syncthreads();

    const char* a = p.a + group * p.a_group;
    const char* b = p.b + group * p.b_group;
    int64_t out_offset = group * p.out_group;
#pragma unroll
    for (int d = 0; d < kDims; ++d) {
        a += axes.a_offsets[d];
        out_offset += axes.out_offsets[d];
    }
    // Neighbouring threads load neighbouring columns, but along k for the weight gradient.
    constexpr bool kColumnsFirst = kPass != ConvPass::kWeightGrad;
    TileLoads<T, kTile> loads_a{p.a_rows_first, p.a_quads};
    TileLoads<T, kTile> loads_b{kColumnsFirst, false};
    Place own;
    if constexpr (kColumnsFirst) own = columns[thread % kTile];
    const auto fetch = [&](int slot, int64_t k) {
        loads_a.Fetch([&](int row, int step) -> const char* {
            if (first_row + row >= p.m || k + step >= range.end) return nullptr;
            return a + (first_row + row) * p.a_row + steps[slot + step].other;
        });
        loads_b.Fetch([&](int column, int step) -> const char* {
            const Place& place = kColumnsFirst ? own : columns[column];
            const Place& of_k = steps[slot + step];
            if (!IsInside(axes, place, of_k)) return nullptr;
            return b + place.offset + of_k.offset;
        });
    };
    Product product;
    int slot = 0;
    fetch(slot, range.begin);
    __syncthreads();  // the first slot is written anew
    for (int64_t k = range.begin; k < range.end; k += kGemmDepth) {
        loads_a.Put(tile_a);
        loads_b.Put(tile_b);
        if (thread < kGemmDepth) set_step(slot + thread, k + 2 * kGemmDepth + thread);
        __syncthreads();
        slot ^= kGemmDepth;
        if (k + kGemmDepth < range.end) fetch(slot, k + kGemmDepth);
        product.Add(tile_a, tile_b, kGemmDepth);
        __syncthreads();
    }
    product.ForEach([&](int i, int j, Number<T> sum) {
        const int64_t row = first_row + i;
        if (row >= p.m || first_column + j >= n) return;
        StorePiece<T>(p, piece, group * p.m + row, out_offset + row * p.out_row + columns[j].other,
                      sum);
    });
    if (p.pieces == 1) return;
    if (!IsLastBlock(At<uint32_t>(p.counters, tile), static_cast<uint32_t>(p.pieces))) return;
    for (int e = thread; e < kTile * kTile; e += kBlockThreads) {
        const int64_t row = first_row + e / kTile;
        const int j = e % kTile;
        if (row >= p.m || first_column + j >= n) continue;
        CombinePieces<T>(p, group * p.m + row, out_offset + row * p.out_row + columns[j].other);
    }
}

// The window of a thread.
template <typename T, int kDims>
struct DirectWindow {
    using C = Number<T>;
    using I = Coordinate<kDims>;
    struct Axis {
        I at;  // of the first element of the window
        I step;
        I taps;
        I length;
        int64_t a_stride;
        int64_t b_stride;
    };
    Axis axes[kDims];
    C sum;

    // Adds the part along the axes from kAxis on.
    template <int kAxis = 0>
    void Add(const char* a, const char* b) {
        if constexpr (kAxis == kDims) {
            sum =
                MultiplyAdd(AsNumbers::Load(ConvItem<T>(a)), AsNumbers::Load(ConvItem<T>(b)), sum);
        } else {
            const Axis& axis = axes[kAxis];
            I at = axis.at;
            for (I t = 0; t < axis.taps; ++t, a += axis.a_stride) {
                if (at >= 0 && at < axis.length) Add<kAxis + 1>(a, b + at * axis.b_stride);
                at += axis.step;
            }
        }
    }
};

// A thread computes an element of the result.
template <typename T, int kDims, ConvPass kPass>
inline void ConvDirect(const ConvParams& p) {
    using Index = typename ConvAxes<kDims>::Index;
    const int64_t i = ThreadNumber();
    if (i >= p.n_out) return;
    DirectWindow<T, kDims> window;
    window.sum = 0;
    const char* a = p.a;
    auto rest = static_cast<Index>(i);
#pragma unroll
    for (int d = kDims - 1; d >= 0; --d) {
        const auto size = static_cast<Index>(p.axes[d].n_size);
        const auto at = static_cast<Coordinate<kDims>>(rest % size);
        rest /= size;
        const auto stride =
            static_cast<Coordinate<kDims>>(kPass == ConvPass::kInputGrad ? p.axes[d].n_step : 1);
        int64_t a_offset = 0;
        int64_t out_offset = 0;
        const ConvAxis axis = AxisOf<kPass>(p.axes[d], at % stride, &a_offset, &out_offset);
        using I = Coordinate<kDims>;
        a += a_offset;
        window.axes[d] = {static_cast<I>(axis.origin + at / stride * axis.n_step),
                          static_cast<I>(axis.k_step),
                          static_cast<I>(axis.k_size),
                          static_cast<I>(axis.length),
                          axis.a_stride,
                          axis.b_stride};
    }
    const auto rows = static_cast<Index>(p.groups * p.m);
    const Index row = rest % rows;
    const Index outer = rest / rows;
    const Index group = row / static_cast<Index>(p.m);
    a += group * p.a_group + (row - group * p.m) * p.a_row;
    const char* b = p.b + group * p.b_group + outer * p.b_n_outer;
    for (int64_t k = 0; k < p.k_outer; ++k) {
        window.Add(a, b);
        a += p.a_outer;
        b += p.b_k_outer;
    }
    StoreSum<T>(p, row, i, window.sum);
}

// A block computes an element of a weight gradient, or a piece of it.
template <typename T, int kDims>
inline void ConvDirectWeightGrad(const ConvParams& p) {
    using C = Number<T>;
    CX_SHARED(ConvAxes<kDims>, shared_axes, 1);
    CX_SHARED(C, sums, kBlockThreads);
    ConvAxes<kDims>& axes = shared_axes[0];
    axes.template Set<ConvPass::kWeightGrad>(p, 0);
    const int thread = static_cast<int>(threadIdx.x);
    const auto n_out = static_cast<uint32_t>(p.n_out);
    const uint32_t i = blockIdx.x % n_out;
    const uint32_t piece = blockIdx.x / n_out;
    const auto n = static_cast<uint32_t>(p.out_row);
    const uint32_t row = i / n;
    const uint32_t group = row / static_cast<uint32_t>(p.m);
    const ConvPlace<kDims> place = PlaceOf<true>(p, axes, i - row * n);
    const char* a = p.a + group * p.a_group + (row - group * p.m) * p.a_row;
    const char* b = p.b + group * p.b_group + place.offset;
    const PieceRange range{p.k_outer * axes.CountTaps(), p.piece, piece};
    C sum = 0;
    for (int64_t k = range.begin + thread; k < range.end; k += kBlockThreads) {
        const ConvPlace<kDims> of_k = PlaceOf<false>(p, axes, k);
        if (!IsInside(axes, place, of_k)) continue;
        sum = MultiplyAdd(AsNumbers::Load(ConvItem<T>(a + of_k.other)),
                          AsNumbers::Load(ConvItem<T>(b + of_k.offset)), sum);
    }
    sum = FoldLanes(sum, sums, kBlockThreads, [](C a, C b) { return a + b; });
    if (thread == 0) StorePiece<T>(p, piece, row, i, sum);
    if (p.pieces == 1) return;
    const auto pieces = static_cast<uint32_t>(p.pieces);
    if (IsLastBlock(At<uint32_t>(p.counters, i), pieces) && thread == 0)
        CombinePieces<T>(p, row, i);
}

}  // namespace chainerx::cuda

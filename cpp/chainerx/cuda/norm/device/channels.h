// Normalizations: sums of each channel of (n, c, s), what follows from them, and results. A block
// has kLanes threads for each of its channels; channels of one element are columns, whose
// neighbours are adjacent. A channel of one piece takes one kernel, else there are three.
#pragma once

#include <cstdint>
#include <limits>

#include "chainerx/cuda/norm/device/group.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::cuda {

inline constexpr int kBatch = 4;  // elements that are summed in T

template <typename C>
inline C Fma(C a, C b, C c) {
    return xsimd::fma(xsimd::batch<C>(a), xsimd::batch<C>(b), xsimd::batch<C>(c)).v;
}
inline int64_t Quotient(int64_t a, int64_t b) {
    if (b == 1) return a;
    if (a <= 0x7fffffff && b <= 0x7fffffff) {
        return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
    }
    return a / b;
}

// Some elements of a channel: their places in memory.
struct Elements {
    int count;
    int64_t at[kBatch];
};

// Element e of a channel.
inline int64_t PlaceOf(const NormParams& p, int64_t channel, int64_t e) {
    const int64_t image = Quotient(e, p.s);
    return (image * p.c + channel) * p.s + (e - image * p.s);
}

template <int kLanes, bool kColumns>
struct Tile {
    static constexpr int kChannels = kNormThreads / kLanes;
    static constexpr int kStep = kColumns ? kChannels : 1;  // between lanes

    int lane;
    int own;  // channel of the block
    int64_t channel;
    int64_t piece;
    int64_t begin;
    int64_t end;

    explicit Tile(const NormParams& p) {
        const int j = static_cast<int>(threadIdx.x);
        const int64_t tiles = (p.c + kChannels - 1) / kChannels;
        lane = kColumns ? j / kChannels : j % kLanes;
        own = kColumns ? j % kChannels : j / kLanes;
        piece = blockIdx.x / tiles;
        channel = (blockIdx.x - piece * tiles) * kChannels + own;
        const int64_t n = channel < p.c ? p.n * p.s : 0;
        begin = piece * p.piece;
        end = begin + p.piece < n ? begin + p.piece : n;
    }
};

// Op has State, Param, Zero(), AddBatch(p, state, channel, elements), Join(), Finish(p, channel,
// state), which stores what is of the channel and returns what results are written with, and
// Write(p, param, channel, place).
template <typename Op, int kLanes, bool kColumns>
inline typename Op::State SumTile(const NormParams& p, const Tile<kLanes, kColumns>& tile) {
    using State = typename Op::State;
    CX_SHARED(State, shared, kNormThreads);
    State state = Op::Zero();
    for (int64_t e = tile.begin + tile.lane; e < tile.end; e += kBatch * kLanes) {
        Elements elements{0, {}};
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
            const bool is_inside = e + u * kLanes < tile.end;
            elements.at[u] = PlaceOf(p, tile.channel, is_inside ? e + u * kLanes : e);
            elements.count += is_inside ? 1 : 0;
        }
        Op::AddBatch(p, state, tile.channel, elements);
    }
    const int j = static_cast<int>(threadIdx.x);
    for (int w = kLanes / 2; w > 0; w /= 2) {
        __syncthreads();
        if (tile.lane < 2 * w) shared[j] = state;
        __syncthreads();
        if (tile.lane < w) Op::Join(state, shared[j + w * tile.kStep]);
    }
    return state;  // of lane 0
}

template <typename Op, int kLanes, bool kColumns>
inline void WriteTile(const NormParams& p, const Tile<kLanes, kColumns>& tile,
                      const typename Op::Param& param) {
    for (int64_t e = tile.begin + tile.lane; e < tile.end; e += kLanes) {
        Op::Write(p, param, tile.channel, PlaceOf(p, tile.channel, e));
    }
}

// All of a channel, if it is one piece; else the sums of a piece.
template <typename Op, int kLanes, bool kColumns>
inline void NormSums(const NormParams& p) {
    using Param = typename Op::Param;
    const Tile<kLanes, kColumns> tile{p};
    constexpr int kChannels = Tile<kLanes, kColumns>::kChannels;
    CX_SHARED(Param, params, kChannels);
    const auto state = SumTile<Op>(p, tile);
    const bool is_first = tile.lane == 0 && tile.channel < p.c;
    if (p.pieces > 1) {
        if (is_first) *At<typename Op::State>(p.sums, tile.piece * p.c + tile.channel) = state;
        return;
    }
    if (is_first) params[tile.own] = Op::Finish(p, tile.channel, state);
    if (p.y == nullptr) return;
    __syncthreads();
    if (tile.channel < p.c) WriteTile<Op>(p, tile, params[tile.own]);
}

// A thread joins the pieces of a channel.
template <typename Op>
inline void NormFinish(const NormParams& p) {
    const int64_t channel = static_cast<int64_t>(blockIdx.x) * kNormThreads + threadIdx.x;
    if (channel >= p.c) return;
    auto state = *At<const typename Op::State>(p.sums, channel);
    for (int64_t piece = 1; piece < p.pieces; ++piece) {
        Op::Join(state, *At<const typename Op::State>(p.sums, piece * p.c + channel));
    }
    const auto param = Op::Finish(p, channel, state);
    if (p.y != nullptr) *At<typename Op::Param>(p.of_channels, channel) = param;
}

template <typename Op, int kLanes, bool kColumns>
inline void NormWrite(const NormParams& p) {
    const Tile<kLanes, kColumns> tile{p};
    if (tile.channel >= p.c) return;
    WriteTile<Op>(p, tile, *At<const typename Op::Param>(p.of_channels, tile.channel));
}

}  // namespace chainerx::cuda

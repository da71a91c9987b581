// Normalizations: sums of each channel of (n, c, s), what follows from them, and results.
// native/norm/row_order.h has the order of sums: units, whose states are joined by a thread of each
// channel. Units of runs have a thread for each lane; those of columns have one, whose neighbours
// are adjacent. A channel of one unit takes one kernel. Else there are two, for sums and results,
// and one between them that joins states, unless the last block of each channel has done it.
#pragma once

#include <cstdint>
#include <limits>

#include "chainerx/cuda/norm/device/group.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::cuda {

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
inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// What is summed in T: `runs` runs of `length` elements of a channel, the first at `at`, `step`
// apart; no runs if there is no such unit.
struct Unit {
    int64_t channel;
    int64_t at;
    int64_t step;
    int64_t runs;
    int64_t length;
};

inline Unit RunsOf(const NormParams& p, int64_t index) {
    const int64_t channel = Quotient(index, p.units);
    const int64_t piece = Quotient(index - channel * p.units, p.units_of_piece);
    const int64_t unit = index - channel * p.units - piece * p.units_of_piece;
    const int64_t cut = p.cuts == 1 ? 0 : piece % p.cuts;
    int64_t image = (p.cuts == 1 ? piece : piece / p.cuts) * p.block;
    int64_t runs = Least(p.block, p.n - image);
    int64_t begin = cut * native::kNormPiece;
    int64_t length = p.cuts == 1 ? p.s : Least(native::kNormPiece, p.s - begin);
    if (length > native::kNormUnit) {
        const int64_t of_run = (length + native::kNormUnit - 1) / native::kNormUnit;
        const int64_t run = Quotient(unit, of_run);
        const int64_t first = (unit - run * of_run) * native::kNormUnit;
        runs = run < runs ? 1 : 0;
        image += run;
        begin += first;
        length = Least(native::kNormUnit, length - first);
    } else {
        const int64_t most = length > 0 ? native::NormRunsOfUnit(length) : 1;
        runs = Least(most, runs - unit * most);
        image += unit * most;
    }
    if (channel >= p.c || runs < 0 || length <= 0) runs = 0;
    return {channel, (image * p.c + channel) * p.s + begin, p.c * p.s, runs, length};
}

// A column is a run of each row; the rest, a part of a row, comes last.
inline Unit ColumnOf(const NormParams& p, int64_t index) {
    const int64_t group = Quotient(index, p.period);
    const int64_t column = index - group * p.period;
    const int64_t channel = Quotient(column, p.s) % p.c;
    int64_t row = p.rows;
    int64_t count = column < p.rest ? 1 : 0;
    if (group < p.units) {
        const int64_t block = Quotient(group, p.units_of_piece);
        const int64_t first = (group - block * p.units_of_piece) * native::kNormRows;
        row = block * p.block + first;
        count = Least(Least(native::kNormRows, p.block - first), p.rows - row);
    } else if (group > p.units) {
        count = 0;
    }
    return {channel, row * p.period + column, p.period, count < 0 ? 0 : count, 1};
}

template <bool kColumns>
inline Unit UnitOf(const NormParams& p, int64_t index) {
    return kColumns ? ColumnOf(p, index) : RunsOf(p, index);
}

// Calls f(place) for the elements of a lane.
template <int kLanes, typename F>
inline void ForElements(const Unit& unit, int lane, const F& f) {
    for (int64_t run = 0; run < unit.runs; ++run) {
        const int64_t at = unit.at + run * unit.step;
#pragma unroll 4
        for (int64_t i = lane; i < unit.length; i += kLanes) f(at + i);
    }
}

template <int kLanes, typename C>
inline C SumOfLanes(C x) {
#pragma unroll
    for (int w = kLanes / 2; w > 0; w /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, w, kLanes);
    }
    return x;
}

// In what follows, Op has State, Param, Zero(), SumUnit<kLanes>(p, unit, lane), which returns the
// sums in every lane, Join(), JoinColumns() within a piece of columns, Finish(p, channel, state),
// which stores what is of the channel and returns what results are written with, and Write(p,
// param, channel, place).

// The sums of a channel of several units.
template <typename Op>
inline typename Op::State SumOfRuns(const NormParams& p, int64_t channel) {
    auto all = Op::Zero();
    for (int64_t first = 0; first < p.units; first += p.units_of_piece) {
        auto piece = Op::Zero();
        for (int64_t u = first; u < first + p.units_of_piece; ++u) {
            const int64_t index = channel * p.units + u;
            if (RunsOf(p, index).runs == 0) break;
            Op::Join(piece, *At<const typename Op::State>(p.sums, index));
        }
        Op::Join(all, piece);
    }
    return all;
}
template <typename Op>
inline typename Op::State SumOfColumns(const NormParams& p, int64_t channel) {
    auto all = Op::Zero();
    const auto add = [&](int64_t column) {
        auto sums = Op::Zero();
        for (int64_t first = 0; first < p.units; first += p.units_of_piece) {
            auto piece = Op::Zero();
            for (int64_t u = first; u < first + p.units_of_piece && u < p.units; ++u) {
                const int64_t index = u * p.period + column;
                if (ColumnOf(p, index).runs == 0) break;
                Op::JoinColumns(piece, *At<const typename Op::State>(p.sums, index));
            }
            Op::Join(sums, piece);
        }
        Op::Join(all, sums);
    };
    for (int64_t i = channel * p.s; i < p.period; i += p.c * p.s) {
        for (int64_t j = 0; j < p.s; ++j) add(i + j);
    }
    for (int64_t i = channel * p.s; i < p.rest; i += p.c * p.s) {
        for (int64_t j = 0; j < p.s; ++j) {
            auto one = Op::Zero();
            Op::JoinColumns(one, *At<const typename Op::State>(p.sums, p.units * p.period + i + j));
            Op::Join(all, one);
        }
    }
    return all;
}

template <typename Op, bool kColumns>
inline void FinishChannel(const NormParams& p, int64_t channel) {
    const auto all = kColumns ? SumOfColumns<Op>(p, channel) : SumOfRuns<Op>(p, channel);
    const auto param = Op::Finish(p, channel, all);
    if (p.y != nullptr) *At<typename Op::Param>(p.of_channels, channel) = param;
}
template <typename Op, bool kColumns>
inline void NormFinish(const NormParams& p) {
    const int64_t channel = ThreadNumber();
    if (channel < p.c) FinishChannel<Op, kColumns>(p, channel);
}

// Finishes the channels of this block, in the last of the blocks that have units of them: the
// thread of a channel's first unit here counts the block (cuda/device/last_block.h).
template <typename Op, int kUnits>
inline void FinishChannels(const NormParams& p) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x >= kUnits) return;
    const int64_t index = static_cast<int64_t>(blockIdx.x) * kUnits + threadIdx.x;
    const int64_t channel = Quotient(index, p.units);
    if (channel >= p.c || (threadIdx.x > 0 && index > channel * p.units)) return;
    const int64_t first = channel * p.units / kUnits;
    const int64_t last = (channel * p.units + p.units - 1) / kUnits;
    if (first < last) {
        uint32_t* const counter = At<uint32_t>(p.counters, channel);
        if (atomicAdd(counter, 1u) != static_cast<uint32_t>(last - first)) return;
        *counter = 0;
        __threadfence();
    }
    FinishChannel<Op, false>(p, channel);
}

template <typename Op, int kLanes>
inline void NormSums(const NormParams& p) {
    using Param = typename Op::Param;
    constexpr bool kColumns = kLanes == 1;
    constexpr int kUnits = kBlockThreads / kLanes;
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int own = static_cast<int>(threadIdx.x) / kLanes;
    const int64_t index = static_cast<int64_t>(blockIdx.x) * kUnits + own;
    const Unit unit = UnitOf<kColumns>(p, index);
    const auto state = Op::template SumUnit<kLanes>(p, unit, lane);
    const bool stores = lane == 0 && unit.runs > 0;
    if (kColumns || p.units > 1) {
        if (stores) *At<typename Op::State>(p.sums, index) = state;
        if constexpr (!kColumns) {
            if (p.counters != nullptr) FinishChannels<Op, kUnits>(p);
        }
        return;
    }
    CX_SHARED(Param, params, kUnits);
    if (stores) {
        auto all = Op::Zero();
        Op::Join(all, state);
        params[own] = Op::Finish(p, unit.channel, all);
    }
    if (p.y == nullptr) return;
    __syncthreads();
    const Param param = params[unit.runs > 0 ? own : 0];
    ForElements<kLanes>(unit, lane, [&](int64_t at) { Op::Write(p, param, unit.channel, at); });
}

template <typename Op, int kLanes>
inline void NormWrite(const NormParams& p) {
    constexpr int kUnits = kBlockThreads / kLanes;
    const Unit unit =
        UnitOf<kLanes == 1>(p, static_cast<int64_t>(blockIdx.x) * kUnits + threadIdx.x / kLanes);
    if (unit.runs == 0) return;
    const auto param = *At<const typename Op::Param>(p.of_channels, unit.channel);
    ForElements<kLanes>(unit, static_cast<int>(threadIdx.x) % kLanes,
                        [&](int64_t at) { Op::Write(p, param, unit.channel, at); });
}

}  // namespace chainerx::cuda

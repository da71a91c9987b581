// Implicit GEMM with output pixels as M: convolutions with few positions, which become the rows of
// the product; output channels are its columns.
#include <cstdint>
#include <optional>
#include <type_traits>

#include "chainerx/native/conv/im2col.h"
#include "chainerx/native/conv/packed_weights.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/gemm/work_partition.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// Writes sums of positions (`ld` apart) and columns to y.
template <typename T>
void WriteTransposed(const T* sums, int64_t ld, int64_t n_columns, const PositionPanel<T>& place,
                     int64_t y_step, int64_t y_channel, const T* bias, const TileEnd<T>& end,
                     T* y) {
    for (int64_t s = 0; s < place.n_segments; ++s) {
        const Segment& segment = place.segments[s];
        const T* from = sums + segment.column * ld;
        if constexpr (std::is_same_v<T, float>) {
            if (y_step == 1 && segment.length <= GemmLoopsOf<T>().columns) {
                TileEnd<T> of_segment = end;
                of_segment.bias = bias;
                if (end.addend != nullptr) of_segment.addend += segment.y;
                gemm_loops().finish_columns(from, ld, n_columns, segment.length, of_segment,
                                            y + segment.y, y_channel);
                continue;
            }
        }
        for (int64_t o = 0; o < n_columns; ++o) {
            T* to = y + o * y_channel + segment.y;
            const T add = bias != nullptr ? bias[o] : T{0};
            if (std::is_same_v<T, float>) {
                const int64_t at = o * y_channel + segment.y;
                for (int64_t i = 0; i < segment.length; ++i) {
                    to[i * y_step] = Ended(from[i * ld + o] + add, at + i * y_step, end);
                }
                continue;
            }
            for (int64_t i = 0; i < segment.length; ++i) to[i * y_step] = from[i * ld + o] + add;
        }
    }
}

// Computes some panels of channels of one group.
template <typename T>
void RunBlock(const ConvOperands<T>& conv, const Im2col<T>& im2col, const WeightPanels<T>& weights,
              const PackedWeights<T>* packed_before, const PositionPanel<T>* places,
              int64_t n_places, int64_t group, const Range& panels) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const int64_t n_positions = im2col.n_columns();
    const int64_t ld = panels.size() * loops.columns;
    const int64_t most_runs = im2col.n_taps();
    const int64_t block_size = weights.largest_depth() * loops.rows + loops.width;
    const Scratch<T> sums{n_positions * ld};
    const Scratch<T> packed{n_places * block_size};
    const Scratch<TileRun<T>> runs{n_places * most_runs};
    const Scratch<int64_t> n_runs{n_places};
    // No other task reads these panels of weights, so they are packed just before use, unless they
    // are kept.
    const int64_t n_parts = CeilDiv(panels.size(), weights.n_together());
    const int64_t panel_size = weights.largest_depth() * loops.columns;
    const Scratch<T> near_weights{
        packed_before != nullptr ? 0 : CeilDiv(panels.size(), n_parts) * panel_size};
    for (int64_t d = 0; d < weights.n_depths(); ++d) {
        const DepthCut cut = weights.depth(d);
        internal::CheckInterrupt();
        const ChannelView<T> x{conv.x + (group * conv.ins + cut.channels.begin) * conv.x_channel,
                               conv.x_channel};
        for (int64_t i = 0; i < n_places; ++i) {
            n_runs.data()[i] =
                im2col.Pack(WeightOperand::kA, x, places[i].runs, places[i].n_runs, cut,
                            packed.data() + i * block_size, runs.data() + i * most_runs);
        }
        for (int64_t part = 0; part < n_parts; ++part) {
            const Range cut_panels{panels.size(), n_parts, part};
            const Range at_hand{panels.begin + cut_panels.begin, panels.begin + cut_panels.end};
            const T* at_first = near_weights.data();
            if (packed_before != nullptr) {
                at_first = packed_before->panel(group, d, at_hand.begin);
            } else {
                weights.Pack(group, d, at_hand, near_weights.data());
            }
            for (int64_t p = at_hand.begin; p < at_hand.end; ++p) {
                const T* b = at_first + (p - at_hand.begin) * cut.size() * loops.columns;
                const int64_t n = weights.channels(p).size();
                for (int64_t i = 0; i < n_places; ++i) {
                    const Range rows{n_positions, n_places, i};
                    T* to = sums.data() + rows.begin * ld + (p - panels.begin) * loops.columns;
                    TileRun<T>* of_place = runs.data() + i * most_runs;
                    for (int64_t r = 0; r < n_runs.data()[i]; ++r) {
                        of_place[r].b = b + of_place[r].at * loops.columns;
                        of_place[r].b_step = loops.columns;
                    }
                    if (n_runs.data()[i] == 0 && d != 0) continue;
                    loops.tile(packed.data() + i * block_size, of_place, n_runs.data()[i], to, ld,
                               rows.size(), n, d != 0, nullptr);
                }
            }
        }
    }
    const int64_t first = group * conv.outs + weights.channels(panels.begin).begin;
    const int64_t end = group * conv.outs + weights.channels(panels.end - 1).end;
    const TileEnd<T> ending = conv.EndAt(first * conv.y_channel, false, nullptr);
    for (int64_t i = 0; i < n_places; ++i) {
        const Range rows{n_positions, n_places, i};
        WriteTransposed(sums.data() + rows.begin * ld, ld, end - first, places[i],
                        conv.axes[conv.ndim - 1].y_stride, conv.y_channel,
                        conv.bias != nullptr ? conv.bias + first : nullptr, ending,
                        conv.y + first * conv.y_channel);
    }
}

}  // namespace

template <typename T>
WeightOperand WeightOperandOf(int64_t n_positions, int64_t outs) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    constexpr int64_t kMax = 256;
    if (n_positions > kMax || outs < loops.columns) return WeightOperand::kA;
    // Columns are computed in whole vectors.
    constexpr double kWaste = 1.03;
    const int64_t computed = CeilDiv(n_positions, loops.width) * loops.width;
    return static_cast<double>(computed) > kWaste * static_cast<double>(n_positions)
               ? WeightOperand::kB
               : WeightOperand::kA;
}

template <typename T>
void RunPixelRows(const ConvOperands<T>& conv, const Im2col<T>& im2col) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const WeightPanels<T> weights{conv, im2col.n_taps(), WeightOperand::kB};
    std::optional<PackedWeights<T>> packed_before;
    if (conv.kept != nullptr) packed_before.emplace(conv, im2col.n_taps(), WeightOperand::kB);
    const int64_t n_positions = im2col.n_columns();
    const int64_t n_places = CeilDiv(n_positions, loops.rows);
    const Scratch<PositionPanel<T>> places{n_places};
    for (int64_t i = 0; i < n_places; ++i) {
        const Range rows{n_positions, n_places, i};
        places.data()[i].Find(im2col, rows.begin, rows.end);
    }
    const double work = static_cast<double>(n_positions) * static_cast<double>(conv.outs) *
                        static_cast<double>(conv.ins * im2col.n_taps());
    constexpr int64_t kMaxPanels = 16;  // panels of weights for each packing of all positions
    const WorkPartition partition = PartitionWork(
        conv.groups, {1, 1}, {weights.n_panels(), CeilDiv(weights.n_panels(), kMaxPanels)}, work);
    const auto run = [&](int64_t item) {
        RunBlock(conv, im2col, weights, packed_before ? &*packed_before : nullptr, places.data(),
                 n_places, item / partition.rows,
                 Range{weights.n_panels(), partition.rows, item % partition.rows});
    };
    const int64_t n_items = conv.groups * partition.rows;
    RunItems(n_items, work, run);
}

#define CX_ROWS(T)                                               \
    template WeightOperand WeightOperandOf<T>(int64_t, int64_t); \
    template void RunPixelRows(const ConvOperands<T>&, const Im2col<T>&);
CX_ROWS(float)
CX_ROWS(double)
CX_ROWS(uint32_t)
CX_ROWS(uint64_t)
#undef CX_ROWS

}  // namespace chainerx::native

#include "chainerx/native/conv/implicit_gemm.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "chainerx/kernels/algorithm.h"
#include "chainerx/native/conv/im2col.h"
#include "chainerx/native/conv/packed_weights.h"
#include "chainerx/native/conv/staged_input.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/gemm/work_partition.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// im2col columns in a block: at the depth of a weight cut they fit in L2.
constexpr int64_t kBlockColumns = 256;

// Scatters a computed tile to the segments of its columns.
template <typename T>
void Scatter(const T* tile, int64_t columns, int64_t rows, const Segment* segments,
             int64_t n_segments, int64_t y_step, int64_t y_channel, bool accumulate,
             const TileEnd<T>* end, T* y) {
    for (int64_t s = 0; s < n_segments; ++s) {
        const Segment& segment = segments[s];
        if constexpr (std::is_same_v<T, float>) {
            if (end != nullptr && y_step == 1) {
                TileEnd<T> of_segment = *end;
                of_segment.accumulate = accumulate;
                if (end->addend != nullptr) of_segment.addend += segment.y;
                gemm_loops().finish_rows(tile + segment.column, columns, rows, segment.length,
                                         of_segment, y + segment.y, y_channel);
                continue;
            }
        }
        for (int64_t i = 0; i < rows; ++i) {
            const T* from = tile + i * columns + segment.column;
            const int64_t at = i * y_channel + segment.y;
            T* to = y + at;
            if (end != nullptr) {
                for (int64_t j = 0; j < segment.length; ++j) {
                    const T sum = accumulate ? to[j * y_step] + from[j] : from[j];
                    to[j * y_step] = Ended(sum, at + j * y_step, *end);
                }
            } else if (accumulate) {
                for (int64_t j = 0; j < segment.length; ++j) to[j * y_step] += from[j];
            } else {
                for (int64_t j = 0; j < segment.length; ++j) to[j * y_step] = from[j];
            }
        }
    }
}

// Computes a block of columns and a range of row panels of one group.
template <typename T>
void RunBlock(const ConvOperands<T>& conv, const Im2col<T>& im2col, const PackedWeights<T>& weights,
              int64_t group, const Range& columns, const Range& panels) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const int64_t n_blocks = CeilDiv(columns.size(), loops.columns);
    const Scratch<PositionPanel<T>> places{n_blocks};
    for (int64_t b = 0; b < n_blocks; ++b) {
        const int64_t begin = columns.begin + b * loops.columns;
        places.data()[b].Find(im2col, begin, std::min(columns.end, begin + loops.columns));
    }
    const StagedInput<T> near{conv,          im2col,  columns, weights.most_channels(),
                              places.data(), n_blocks};
    const int64_t most_runs = im2col.n_taps();
    const Scratch<TileRun<T>> runs{n_blocks * most_runs};
    const int64_t block_size = weights.largest_depth() * loops.columns;
    const Scratch<T> packed{n_blocks * block_size};
    const int64_t y_step = conv.axes[conv.ndim - 1].y_stride;
    alignas(64) T tile[kMaxTile<T>];
    for (int64_t d = 0; d < weights.n_depths(); ++d) {
        const DepthCut cut = weights.depth(d);
        internal::CheckInterrupt();
        const ChannelView<T> seen = near.Give(group, cut.channels);
        const bool ends = conv.has_end && d == weights.n_depths() - 1;
        for (int64_t b = 0; b < n_blocks; ++b) {
            PositionPanel<T>& place = places.data()[b];
            place.n_tile_runs =
                im2col.Pack(WeightOperand::kB, seen, place.runs, place.n_runs, cut,
                            packed.data() + b * block_size, runs.data() + b * most_runs);
        }
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Range rows = weights.channels(p);
            const T* a = weights.panel(group, d, p);
            const int64_t row = group * conv.outs + rows.begin;
            const T* bias = conv.bias != nullptr && d == 0 ? conv.bias + row : nullptr;
            T* y = conv.y + row * conv.y_channel;
            for (int64_t b = 0; b < n_blocks; ++b) {
                const PositionPanel<T>& place = places.data()[b];
                if (place.n_tile_runs == 0 && d != 0 && !ends) continue;
                const int64_t n =
                    std::min<int64_t>(loops.columns, columns.size() - b * loops.columns);
                const bool is_direct = place.n_segments == 1 && y_step == 1;
                T* to = is_direct ? y + place.segments[0].y : tile;
                const int64_t ld = is_direct ? conv.y_channel : loops.columns;
                TileRun<T>* const of_place = runs.data() + b * most_runs;
                if (place.n_tile_runs != 0) of_place->n_next = 0;
                if (p == panels.begin && place.n_tile_runs != 0 && b + 1 < n_blocks &&
                    places.data()[b + 1].n_tile_runs == 1) {
                    // The first panel of rows may read the input in place.
                    const TileRun<T>& after = of_place[most_runs];
                    of_place->next = after.b;
                    of_place->next_row = after.b_step;
                    of_place->n_next = after.k;
                }
                const bool accumulate = is_direct && d != 0;
                if constexpr (std::is_same_v<T, float>) {
                    if (ends && is_direct) {
                        const TileEnd<T> end = conv.EndAt(to - conv.y, accumulate, bias);
                        gemm_loops().tile_with_end(a, of_place, place.n_tile_runs, to, ld,
                                                   rows.size(), n, end);
                        continue;
                    }
                }
                loops.tile(a, of_place, place.n_tile_runs, to, ld, rows.size(), n, accumulate,
                           bias);
                if (!is_direct) {
                    const TileEnd<T> end = conv.EndAt(y - conv.y, false, nullptr);
                    Scatter(tile, loops.columns, rows.size(), place.segments, place.n_segments,
                            y_step, conv.y_channel, d != 0, ends ? &end : nullptr, y);
                }
            }
        }
    }
}

// Whether pixels are columns, though some lanes of the last vector are empty: weights that are kept
// need no packing, and pixels of a shallow product neither, as they are read in place.
template <typename T>
bool IsForKept(const Im2col<T>& im2col, const ConvOperands<T>& conv) {
    constexpr int64_t kMaxDepth = 128;
    constexpr double kWaste = 1.1;
    const int64_t width = GemmLoopsOf<T>().width;
    const int64_t n = im2col.n_columns();
    return conv.kept != nullptr && im2col.n_taps() == 1 && conv.ins <= kMaxDepth &&
           static_cast<double>(CeilDiv(n, width) * width) <= kWaste * static_cast<double>(n);
}

}  // namespace

template <typename T>
void RunImplicitGemm(const ConvOperands<T>& conv) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const Im2col<T> im2col{conv};
    const int64_t n_columns = im2col.n_columns();
    if (n_columns == 0 || conv.outs == 0 || conv.groups == 0) return;
    const WeightOperand weights_as = conv.w_side ? *conv.w_side
                                     : IsForKept(im2col, conv)
                                         ? WeightOperand::kA
                                         : WeightOperandOf<T>(n_columns, conv.outs);
    if (weights_as == WeightOperand::kB) {
        internal::NoteAlgorithm("pixels_as_m");
        RunPixelRows(conv, im2col);
        return;
    }
    const PackedWeights<T> weights{conv, im2col.n_taps(), WeightOperand::kA};
    const int64_t n_panels = CeilDiv(n_columns, loops.columns);
    // Rows are split among threads too if there are few columns. This changes no bits.
    const double work = static_cast<double>(n_columns) * static_cast<double>(conv.outs) *
                        static_cast<double>(conv.ins * im2col.n_taps());
    const WorkPartition partition =
        PartitionWork(conv.groups, {n_panels, CeilDiv(n_panels * loops.columns, kBlockColumns)},
                      {weights.n_panels(), 1}, work);
    const int64_t n_items = conv.groups * partition.columns * partition.rows;
    const auto run = [&](int64_t item) {
        const Range panels{n_panels, partition.columns, item / partition.rows % partition.columns};
        const Range columns_of{panels.begin * loops.columns,
                               std::min(n_columns, panels.end * loops.columns)};
        RunBlock(conv, im2col, weights, item / partition.rows / partition.columns, columns_of,
                 Range{weights.n_panels(), partition.rows, item % partition.rows});
    };
    RunItems(n_items, work, run);
}

template void RunImplicitGemm(const ConvOperands<float>&);
template void RunImplicitGemm(const ConvOperands<double>&);
template void RunImplicitGemm(const ConvOperands<uint32_t>&);
template void RunImplicitGemm(const ConvOperands<uint64_t>&);

}  // namespace chainerx::native

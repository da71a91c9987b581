#include "chainerx/native/conv_gather.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/gemm_loops.h"
#include "chainerx/native/packed_weights.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {
namespace {

// Of gathered input, as deep as weights are cut, these stay in the second-level cache.
constexpr int64_t kBlockColumns = 256;

constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - static_cast<int64_t>(a % b < 0); }

// Adjacent output positions of one row, in a panel.
struct PositionRun {
    int64_t column;  // of the panel
    int64_t length;
    int64_t x;  // the offset of what tap 0 of each axis would see without `offset`
    int64_t y;
    int64_t at[kMaxSpatial];
};

// Where elements of the result that are adjacent in a panel go.
struct Segment {
    int64_t column;
    int64_t length;
    int64_t y;
};

// What all panels of one convolution share.
template <typename T>
class Gatherer {
 public:
    explicit Gatherer(const GatherConv<T>& conv)
        : conv_{conv},
          last_{conv.axes[conv.ndim - 1]},
          positions_{conv.CountPositions()},
          n_taps_{conv.CountTaps()} {}

    int64_t n_columns() const { return conv_.batch * positions_; }
    int64_t n_taps() const { return n_taps_; }

    // The runs of the columns [begin, end), fewer than `runs` has room for.
    int64_t FindRuns(int64_t begin, int64_t end, PositionRun* runs) const {
        int64_t n = 0;
        for (int64_t j = begin; j < end;) {
            PositionRun& run = runs[n++];
            const int64_t image = j / positions_;
            int64_t rest = j % positions_;
            run.column = j - begin;
            run.x = image * conv_.x_image;
            run.y = image * conv_.y_image;
            for (int a = conv_.ndim - 1; a >= 0; --a) {
                const GatherAxis& axis = conv_.axes[a];
                const int64_t at = rest % axis.out;
                rest /= axis.out;
                run.at[a] = at;
                // Positions of the last axis are one element apart, whatever the step.
                run.x += a == conv_.ndim - 1 ? at : at * axis.step * axis.x_stride;
                run.y += at * axis.y_stride;
            }
            run.length = std::min(end - j, last_.out - run.at[conv_.ndim - 1]);
            j += run.length;
        }
        return n;
    }

    // The rows of the panel that are one cut of the depth, but for taps that see nothing of the
    // input. Returns how many ranges of taps are left.
    int64_t Pack(int64_t group, const PositionRun* runs, int64_t n_runs, const DepthCut& cut,
                 T* panel, Part* ranges) const {
        const GemmLoops<T>& loops = GemmLoopsOf<T>();
        const T* x = conv_.x + (group * conv_.ins + cut.channels.begin) * conv_.x_channel;
        const int64_t n_channels = cut.channels.size();
        // Zeros take less time than another tile, where there are few.
        constexpr int64_t kLeastChannels = 8;
        int64_t tap[kMaxSpatial];
        int64_t rest = cut.taps.begin;
        for (int a = conv_.ndim - 1; a >= 0; --a) {
            tap[a] = rest % conv_.axes[a].taps;
            rest /= conv_.axes[a].taps;
        }
        GatherPiece pieces[kMostPieces];
        int64_t n = 0;
        for (int64_t t = 0; t < cut.taps.size(); ++t) {
            const int64_t n_pieces = FindPieces(tap, runs, n_runs, loops.width, pieces);
            if (n_pieces != 0 || n_channels < kLeastChannels) {
                loops.gather(x, conv_.x_channel, n_channels, pieces, n_pieces,
                             panel + t * n_channels * loops.columns, loops.columns);
                if (n != 0 && ranges[n - 1].end == t) {
                    ++ranges[n - 1].end;
                } else {
                    ranges[n++] = {t, t + 1};
                }
            }
            for (int a = conv_.ndim - 1; a >= 0 && ++tap[a] == conv_.axes[a].taps; --a) tap[a] = 0;
        }
        return n;
    }

    // What the tile of these columns is written to; one segment where it is adjacent memory.
    int64_t FindSegments(const PositionRun* runs, int64_t n_runs, Segment* segments) const {
        int64_t n = 0;
        for (int64_t i = 0; i < n_runs; ++i) {
            const PositionRun& run = runs[i];
            if (n != 0 && last_.y_stride == 1 &&
                segments[n - 1].y + segments[n - 1].length == run.y) {
                segments[n - 1].length += run.length;
            } else {
                segments[n++] = {run.column, run.length, run.y};
            }
        }
        return n;
    }

    // Vectors of a panel and runs in it, at most; a run is cut where vectors end.
    static constexpr int64_t kMostRuns = 32;
    static constexpr int64_t kMostPieces = 2 * kMostRuns;

 private:
    int64_t FindPieces(const int64_t* tap, const PositionRun* runs, int64_t n_runs, int64_t width,
                       GatherPiece* pieces) const {
        int64_t outer = 0;
        for (int a = 0; a < conv_.ndim - 1; ++a) outer += Shift(a, tap) * conv_.axes[a].x_stride;
        const int64_t shift = Shift(conv_.ndim - 1, tap);
        const int64_t index = FloorDiv(shift, last_.step);
        const int64_t phase = shift - index * last_.step;
        const int64_t low = -index;
        const int64_t high = CeilDiv(std::max<int64_t>(last_.in - phase, 0), last_.step) - index;
        const int64_t offset = outer + phase * conv_.phase + index;
        int64_t n = 0;
        for (int64_t i = 0; i < n_runs; ++i) {
            const PositionRun& run = runs[i];
            if (!IsInside(run, tap)) continue;
            const int64_t at = run.at[conv_.ndim - 1];
            int64_t begin = run.column + std::max<int64_t>(low - at, 0);
            const int64_t end = run.column + std::min(high - at, run.length);
            const int64_t base = run.x + offset - run.column;
            while (begin < end) {
                const int64_t vector = begin / width;
                const int64_t from = begin - vector * width;
                const int64_t to = std::min(end - vector * width, width);
                pieces[n++] = {base + vector * width, static_cast<int32_t>(vector),
                               static_cast<uint32_t>((uint64_t{1} << to) - (uint64_t{1} << from))};
                begin = (vector + 1) * width;
            }
        }
        return n;
    }

    int64_t Shift(int a, const int64_t* tap) const {
        return conv_.axes[a].offset + tap[a] * conv_.axes[a].dilate;
    }

    bool IsInside(const PositionRun& run, const int64_t* tap) const {
        for (int a = 0; a < conv_.ndim - 1; ++a) {
            const int64_t at = run.at[a] * conv_.axes[a].step + Shift(a, tap);
            if (at < 0 || at >= conv_.axes[a].in) return false;
        }
        return true;
    }

    const GatherConv<T>& conv_;
    const GatherAxis& last_;
    const int64_t positions_;
    const int64_t n_taps_;
};

// Writes a tile to the segments of its columns.
template <typename T>
void Scatter(const T* tile, int64_t columns, int64_t rows, const Segment* segments,
             int64_t n_segments, int64_t y_step, int64_t y_channel, bool accumulate, T* y) {
    for (int64_t s = 0; s < n_segments; ++s) {
        const Segment& segment = segments[s];
        for (int64_t i = 0; i < rows; ++i) {
            const T* from = tile + i * columns + segment.column;
            T* to = y + i * y_channel + segment.y;
            if (accumulate) {
                for (int64_t j = 0; j < segment.length; ++j) to[j * y_step] += from[j];
            } else {
                for (int64_t j = 0; j < segment.length; ++j) to[j * y_step] = from[j];
            }
        }
    }
}

// Some columns and panels of rows of one group.
template <typename T>
void RunBlock(const GatherConv<T>& conv, const Gatherer<T>& gatherer,
              const PackedWeights<T>& weights, int64_t group, const Part& columns,
              const Part& panels) {
    using G = Gatherer<T>;
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const int64_t n_blocks = CeilDiv(columns.size(), loops.columns);
    struct PanelColumns {
        int64_t n_runs;
        int64_t n_segments;
        int64_t n_ranges;  // of taps
        PositionRun runs[G::kMostRuns];
        Segment segments[G::kMostRuns];
    };
    const Scratch<PanelColumns> places{n_blocks};
    for (int64_t b = 0; b < n_blocks; ++b) {
        PanelColumns& place = places.data()[b];
        const int64_t begin = columns.begin + b * loops.columns;
        place.n_runs =
            gatherer.FindRuns(begin, std::min(columns.end, begin + loops.columns), place.runs);
        place.n_segments = gatherer.FindSegments(place.runs, place.n_runs, place.segments);
    }
    const int64_t most_ranges = gatherer.n_taps() / 2 + 1;
    const Scratch<Part> ranges{n_blocks * most_ranges};
    const int64_t block_size = weights.largest_depth() * loops.columns;
    const Scratch<T> packed{n_blocks * block_size};
    const int64_t y_step = conv.axes[conv.ndim - 1].y_stride;
    alignas(64) T tile[kMostTile<T>];
    for (int64_t d = 0; d < weights.n_depths(); ++d) {
        const DepthCut cut = weights.depth(d);
        internal::CheckInterrupt();
        for (int64_t b = 0; b < n_blocks; ++b) {
            PanelColumns& place = places.data()[b];
            place.n_ranges =
                gatherer.Pack(group, place.runs, place.n_runs, cut, packed.data() + b * block_size,
                              ranges.data() + b * most_ranges);
        }
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Part rows = weights.rows(p);
            const T* a = weights.panel(group, d, p);
            const int64_t row = group * conv.outs + rows.begin;
            const T* bias = conv.bias != nullptr && d == 0 ? conv.bias + row : nullptr;
            T* y = conv.y + row * conv.y_channel;
            for (int64_t b = 0; b < n_blocks; ++b) {
                const PanelColumns& place = places.data()[b];
                const Part* range = ranges.data() + b * most_ranges;
                const int64_t n_ranges = place.n_ranges;
                if (n_ranges == 0 && d != 0) continue;
                const int64_t n =
                    std::min<int64_t>(loops.columns, columns.size() - b * loops.columns);
                const T* x = packed.data() + b * block_size;
                const bool is_direct = place.n_segments == 1 && y_step == 1;
                T* to = is_direct ? y + place.segments[0].y : tile;
                const int64_t ld = is_direct ? conv.y_channel : loops.columns;
                bool accumulate = is_direct && d != 0;
                // At least once, if only for the bias.
                for (int64_t i = 0; i < std::max<int64_t>(n_ranges, 1); ++i) {
                    const Part taps = n_ranges == 0 ? Part{0, 0} : range[i];
                    const int64_t begin = taps.begin * cut.channels.size();
                    loops.tile(taps.size() * cut.channels.size(), a + begin * loops.rows,
                               x + begin * loops.columns, to, ld, rows.size(), n, accumulate, bias);
                    accumulate = true;
                }
                if (!is_direct) {
                    Scatter(tile, loops.columns, rows.size(), place.segments, place.n_segments,
                            y_step, conv.y_channel, d != 0, y);
                }
            }
        }
    }
}

}  // namespace

template <typename T>
void RunGatherConv(const GatherConv<T>& conv) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const Gatherer<T> gatherer{conv};
    const int64_t n_columns = gatherer.n_columns();
    if (n_columns == 0 || conv.outs == 0 || conv.groups == 0) return;
    const PackedWeights<T> weights{conv, gatherer.n_taps()};
    const int64_t n_panels = CeilDiv(n_columns, loops.columns);
    const int64_t n_blocks = CeilDiv(n_panels * loops.columns, kBlockColumns);
    // Rows are shared out as well where there are few columns, each part at the price of packing
    // those again. This changes no bits.
    const double work = static_cast<double>(n_columns) * static_cast<double>(conv.outs) *
                        static_cast<double>(conv.ins * gatherer.n_taps());
    constexpr double kLeast = 0x1p19;  // 10 us
    const int64_t wanted = std::min(static_cast<int64_t>(std::min(work / kLeast, 0x1p20)),
                                    int64_t{GetNumThreads()} * 4);
    constexpr int64_t kLeastPanels = 4;
    const int64_t n_row_parts =
        std::clamp<int64_t>(wanted / (n_blocks * conv.groups), 1,
                            std::max<int64_t>(1, weights.n_panels() / kLeastPanels));
    const int64_t n_items = conv.groups * n_blocks * n_row_parts;
    const auto run = [&](int64_t item) {
        const Part panels{n_panels, n_blocks, item / n_row_parts % n_blocks};
        const Part columns_of{panels.begin * loops.columns,
                              std::min(n_columns, panels.end * loops.columns)};
        RunBlock(conv, gatherer, weights, item / n_row_parts / n_blocks, columns_of,
                 Part{weights.n_panels(), n_row_parts, item % n_row_parts});
    };
    if (GetNumThreads() == 1 || work < 2 * kLeast) {
        for (int64_t i = 0; i < n_items; ++i) run(i);
    } else {
        ParallelFor(n_items, run);
    }
}

template void RunGatherConv(const GatherConv<float>&);
template void RunGatherConv(const GatherConv<double>&);
template void RunGatherConv(const GatherConv<uint32_t>&);
template void RunGatherConv(const GatherConv<uint64_t>&);

}  // namespace chainerx::native

// im2col: maps the columns of the implicit product to output positions and packs the input that
// they read.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "chainerx/native/conv/implicit_gemm.h"
#include "chainerx/native/conv/packed_weights.h"
#include "chainerx/native/gemm/cache_conflict.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {

inline constexpr int64_t FloorDiv(int64_t a, int64_t b) {
    return a / b - static_cast<int64_t>(a % b < 0);
}

// Adjacent output positions of one row, within a panel.
struct PositionRun {
    int64_t column;  // first column in the panel
    int64_t length;
    int64_t x;  // input offset that tap 0 of each axis would read without `offset`
    int64_t y;
    int64_t at[kMaxSpatial];
};

// The destination of elements of the result that are adjacent in a panel.
struct Segment {
    int64_t column;
    int64_t length;
    int64_t y;
};

// A range of input channels: the address of the first, and their stride.
template <typename T>
struct ChannelView {
    const T* data;
    int64_t step;
};

// State that all panels of one convolution share.
template <typename T>
class Im2col {
 public:
    explicit Im2col(const ConvOperands<T>& conv)
        : conv_{conv},
          last_{conv.axes[conv.ndim - 1]},
          positions_{conv.CountPositions()},
          n_taps_{conv.CountTaps()},
          last_taps_{last_.taps} {
        for (int64_t t = 0; t < last_.taps; ++t) last_taps_.data()[t] = FindLastTap(t);
    }

    int64_t n_columns() const { return conv_.batch * positions_; }
    int64_t n_taps() const { return n_taps_; }

    // Fills in the runs of the columns [begin, end). `runs` must have room for them.
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
                const ConvAxis& axis = conv_.axes[a];
                const int64_t at = rest % axis.out;
                rest /= axis.out;
                run.at[a] = at;
                // Positions of the last axis are one element apart whatever the step, since it is
                // split into phases.
                run.x += a == conv_.ndim - 1 ? at : at * axis.step * axis.x_stride;
                run.y += at * axis.y_stride;
            }
            run.length = std::min(end - j, last_.out - run.at[conv_.ndim - 1]);
            j += run.length;
        }
        return n;
    }

    // Packs the rows of a panel that are one cut of the depth, skipping taps that see only padding.
    // Returns the number of runs of rows. Rows that lie in x as they would in a panel of B are read
    // in place.
    int64_t Pack(WeightOperand weights_as, const ChannelView<T>& x, const PositionRun* runs,
                 int64_t n_runs, const DepthCut& cut, T* panel, TileRun<T>* found) const {
        const GemmLoops<T>& loops = GemmLoopsOf<T>();
        const int64_t n_channels = cut.channels.size();
        // Below this many channels, zeros cost less than starting another tile.
        constexpr int64_t kMinChannels = 8;
        int64_t tap[kMaxSpatial];
        int64_t rest = cut.taps.begin;
        for (int a = conv_.ndim - 1; a >= 0; --a) {
            tap[a] = rest % conv_.axes[a].taps;
            rest /= conv_.axes[a].taps;
        }
        const bool is_one = weights_as == WeightOperand::kB && n_runs == 1 &&
                            runs[0].length == loops.columns && !HasCacheConflict<T>(x.step);
        const auto gather = weights_as == WeightOperand::kA ? loops.gather_a : loops.gather_b;
        const int64_t width = weights_as == WeightOperand::kA ? loops.rows : loops.columns;
        Im2colPiece pieces[kMaxPieces];
        int64_t n = 0;
        for (int64_t t = 0; t < cut.taps.size(); ++t) {
            const int64_t n_pieces = FindPieces(tap, runs, n_runs, loops.width, pieces);
            const int64_t at = t * n_channels;
            if (cut.by_channels) {
                gather(x.data, x.step, n_channels, pieces, n_pieces, panel + t * width,
                       cut.taps.size() * width);
            } else if (is_one && CoversPanel(pieces, n_pieces, loops)) {
                n = AddRun({at, n_channels, x.data + pieces[0].offset, x.step}, n, found);
            } else if (n_pieces != 0 || n_channels < kMinChannels) {
                gather(x.data, x.step, n_channels, pieces, n_pieces, panel + at * width, width);
                n = AddRun(InPanel(weights_as, panel, at, n_channels), n, found);
            }
            for (int a = conv_.ndim - 1; a >= 0 && ++tap[a] == conv_.axes[a].taps; --a) tap[a] = 0;
        }
        if (cut.by_channels) n = AddRun(InPanel(weights_as, panel, 0, cut.size()), 0, found);
        return n;
    }

    // Finds the destinations of a tile of these columns; one segment if it is adjacent memory.
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

    // Vectors of a panel and runs in it, at most; runs are cut at vector boundaries.
    static constexpr int64_t kMaxRuns = 32;
    static constexpr int64_t kMaxPieces = 2 * kMaxRuns;

 private:
    // Rows of the current panel; a run of A gets its rows of weights later.
    static TileRun<T> InPanel(WeightOperand weights_as, const T* panel, int64_t at, int64_t k) {
        if (weights_as == WeightOperand::kA) return {at, k, nullptr, 0};
        const int64_t columns = GemmLoopsOf<T>().columns;
        return {at, k, panel + at * columns, columns};
    }

    // Whether one run covers all columns without padding.
    static bool CoversPanel(const Im2colPiece* pieces, int64_t n, const GemmLoops<T>& loops) {
        if (n * loops.width != loops.columns) return false;
        const auto all = static_cast<uint32_t>((uint64_t{1} << loops.width) - 1);
        for (int64_t i = 0; i < n; ++i) {
            if (pieces[i].lanes != all) return false;
        }
        return true;
    }

    // The range that one tap of the last axis reads, at any position.
    struct LastTap {
        int64_t low;  // Positions [low, high) read an element of the input.
        int64_t high;
        int64_t offset;
    };

    LastTap FindLastTap(int64_t t) const {
        const int64_t shift = last_.offset + t * last_.dilate;
        const int64_t index = FloorDiv(shift, last_.step);
        const int64_t phase = shift - index * last_.step;
        return {-index, CeilDiv(std::max<int64_t>(last_.in - phase, 0), last_.step) - index,
                phase * conv_.phase + index};
    }

    int64_t FindPieces(const int64_t* tap, const PositionRun* runs, int64_t n_runs, int64_t width,
                       Im2colPiece* pieces) const {
        const LastTap& last = last_taps_.data()[tap[conv_.ndim - 1]];
        int64_t offset = last.offset;
        for (int a = 0; a < conv_.ndim - 1; ++a) offset += Shift(a, tap) * conv_.axes[a].x_stride;
        // A shift: with few channels, divisions would dominate the gathering of a panel.
        const int log2_width = std::countr_zero(static_cast<uint64_t>(width));
        int64_t n = 0;
        for (int64_t i = 0; i < n_runs; ++i) {
            const PositionRun& run = runs[i];
            if (!IsInside(run, tap)) continue;
            const int64_t at = run.at[conv_.ndim - 1];
            int64_t begin = run.column + std::max<int64_t>(last.low - at, 0);
            const int64_t end = run.column + std::min(last.high - at, run.length);
            const int64_t base = run.x + offset - run.column;
            while (begin < end) {
                const int64_t vector = begin >> log2_width;
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

    const ConvOperands<T>& conv_;
    const ConvAxis& last_;
    const int64_t positions_;
    const int64_t n_taps_;
    const Scratch<LastTap> last_taps_;
};

// The positions of a panel, and the number of runs it reads in the current cut.
template <typename T>
struct PositionPanel {
    int64_t n_runs;
    int64_t n_segments;
    int64_t n_tile_runs;
    PositionRun runs[Im2col<T>::kMaxRuns];
    Segment segments[Im2col<T>::kMaxRuns];

    void Find(const Im2col<T>& im2col, int64_t begin, int64_t end) {
        n_runs = im2col.FindRuns(begin, end, runs);
        n_segments = im2col.FindSegments(runs, n_runs, segments);
    }
};

// Chooses the operand that the weights are. Few positions serve better as rows of the product,
// since a tile can have any number of rows but only whole vectors of columns. A function of the
// shape and the instruction set.
template <typename T>
WeightOperand WeightOperandOf(int64_t n_positions, int64_t outs);
// The product with the weights as B.
template <typename T>
void RunPixelRows(const ConvOperands<T>& conv, const Im2col<T>& im2col);

}  // namespace chainerx::native

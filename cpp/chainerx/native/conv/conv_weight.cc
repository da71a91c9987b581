#include "chainerx/native/conv/conv_weight.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "chainerx/native/gemm/cache_conflict.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/gemm/work_partition.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// Columns, i.e. taps and channels, whose panels stay in L2.
constexpr int64_t kBlockColumns = 256;

// Packs gy into row panels, one for each group, cut of the positions and panel. It packs all
// beforehand if several blocks of columns read them; else each just before use, while it is in
// cache.
template <typename T>
class PackedGrad {
 public:
    PackedGrad(const WeightConv<T>& conv, int64_t positions)
        : conv_{conv},
          positions_{positions},
          rows_{GemmLoopsOf<T>().rows},
          depth_{conv.batch * positions},
          n_depths_{CeilDiv(depth_, kPanelDepth)},
          n_panels_{CeilDiv(conv.outs, rows_)} {}

    int64_t n_depths() const { return n_depths_; }
    int64_t n_panels() const { return n_panels_; }
    Range depth(int64_t i) const { return {depth_, n_depths_, i}; }
    Range rows(int64_t panel) const { return {conv_.outs, n_panels_, panel}; }

    void PackAll() {
        all_.emplace(conv_.groups * n_panels_ * rows_ * depth_);
        ParallelFor(conv_.groups * n_depths_, [&](int64_t i) {
            internal::CheckInterrupt();
            for (int64_t p = 0; p < n_panels_; ++p) {
                Pack(i / n_depths_, i % n_depths_, p, At(i / n_depths_, i % n_depths_, p));
            }
        });
    }

    // Scratch elements for one panel, if they are not packed beforehand.
    int64_t CountScratch() const { return all_ ? 0 : rows_ * (depth(0).size() + 1); }

    const T* Give(int64_t group, int64_t i_depth, int64_t i, T* scratch) const {
        if (all_) return At(group, i_depth, i);
        Pack(group, i_depth, i, scratch);
        return scratch;
    }

 private:
    T* At(int64_t group, int64_t i_depth, int64_t i) const {
        const Range q = depth(i_depth);
        return all_->data() + rows_ * ((group * depth_ + q.begin) * n_panels_ + i * q.size());
    }

    void Pack(int64_t group, int64_t i_depth, int64_t i_panel, T* to) const {
        const Range q = depth(i_depth);
        const Range i = rows(i_panel);
        for (int64_t j = q.begin; j < q.end;) {
            const int64_t image = j / positions_;
            const int64_t at = j - image * positions_;
            const int64_t n = std::min(q.end - j, positions_ - at);
            GemmLoopsOf<T>().pack_a(conv_.gy + image * conv_.gy_image +
                                        (group * conv_.outs + i.begin) * conv_.gy_channel + at,
                                    conv_.gy_channel, 1, i.size(), n, to);
            to += n * rows_;
            j += n;
        }
    }

    const WeightConv<T>& conv_;
    const int64_t positions_;
    const int64_t rows_;
    const int64_t depth_;
    const int64_t n_depths_;
    const int64_t n_panels_;
    std::optional<Scratch<T>> all_;
};

// Packs the input that the positions read into column panels: taps, and channels within them.
template <typename T>
class Im2colPacker {
 public:
    Im2colPacker(const WeightConv<T>& conv, int64_t group, int64_t positions)
        : conv_{conv}, group_{group}, positions_{positions}, last_{conv.axes[conv.ndim - 1]} {}

    // Packs columns [begin, end), at most one panel, for positions q, skipping positions that see
    // only padding. Returns the number of runs. Input that lies in x as in a panel is read in
    // place.
    int64_t Pack(int64_t begin, int64_t end, const Range& q, T* panel, TileRun<T>* runs) {
        using Columns = typename WeightConv<T>::Columns;
        if (conv_.columns == Columns::kPlain) return PackPlain(begin, end, q, panel, runs);
        const bool by_taps = conv_.columns == Columns::kTaps;
        if (by_taps) {
            FindTapPieces(begin, end);
        } else {
            FindTaps(begin, end);
        }
        const T* x = conv_.x + group_ * conv_.ins * conv_.x_channel;
        const int64_t width = GemmLoopsOf<T>().columns;
        const bool is_direct = !by_taps && IsOneTap();
        int64_t n_runs = 0;
        for (int64_t j = q.begin; j < q.end;) {
            const int64_t image = j / positions_;
            int64_t rest = j - image * positions_;
            int64_t at[kMaxSpatial] = {};
            for (int a = conv_.ndim - 1; a >= 0; --a) {
                at[a] = rest % conv_.axes[a].out;
                rest /= conv_.axes[a].out;
            }
            const int64_t n = std::min(q.end - j, last_.out - at[conv_.ndim - 1]);
            const T* image_x = x + image * conv_.x_image;
            if (by_taps) PackTapRow(image_x, at, n, panel);
            if (is_direct) {
                const int64_t base = FindInBounds(at, n);
                const Tap& tap = taps_[0];
                const int64_t step = last_.step * last_.x_stride;
                if (tap.begin < tap.end) {
                    n_runs = AddRun({j - q.begin + tap.begin, tap.end - tap.begin,
                                     image_x + base + tap.offset + tap.begin * step, step},
                                    n_runs, runs);
                }
            } else if (by_taps || PackRow(image_x, at, n, panel)) {
                n_runs = AddRun({j - q.begin, n, panel, width}, n_runs, runs);
            }
            panel += n * width;
            j += n;
        }
        return n_runs;
    }

 private:
    // A tap's columns in the panel, and the range it reads of a row of positions.
    struct Tap {
        int64_t at[kMaxSpatial];  // input offset from that of position 0
        int64_t offset;           // in elements, of the first channel here
        int64_t column;
        int64_t length;
        int64_t begin;  // positions of the row that read the input
        int64_t end;
    };

    void FindTaps(int64_t begin, int64_t end) {
        n_taps_ = 0;
        for (int64_t column = begin; column < end;) {
            Tap& tap = taps_[n_taps_++];
            int64_t t = column / conv_.ins;
            const int64_t channel = column - t * conv_.ins;
            tap.column = column - begin;
            tap.length = std::min(end - column, conv_.ins - channel);
            tap.offset = channel;
            for (int a = conv_.ndim - 1; a >= 0; --a) {
                const ConvAxis& axis = conv_.axes[a];
                tap.at[a] = axis.offset + t % axis.taps * axis.dilate;
                tap.offset += tap.at[a] * axis.x_stride;
                t /= axis.taps;
            }
            column += tap.length;
        }
    }

    // Whether the panel is channels of a single tap, so that x is read in place, unless its rows
    // would conflict in a cache set.
    bool IsOneTap() const {
        return n_taps_ == 1 && taps_[0].length == GemmLoopsOf<T>().columns &&
               !HasCacheConflict<T>(last_.step * last_.x_stride);
    }

    int64_t PackPlain(int64_t begin, int64_t end, const Range& q, T* panel, TileRun<T>* runs) {
        const GemmLoops<T>& loops = GemmLoopsOf<T>();
        runs[0] = {0, q.size(), panel, loops.columns};
        for (int64_t j = q.begin; j < q.end;) {
            const int64_t image = j / positions_;
            const int64_t at = j - image * positions_;
            const int64_t n = std::min(q.end - j, positions_ - at);
            loops.pack_b(conv_.x + image * conv_.x_image +
                             (group_ * conv_.ins + begin) * conv_.x_channel + at,
                         1, conv_.x_channel, end - begin, n, panel);
            panel += n * loops.columns;
            j += n;
        }
        return 1;
    }

    // Lists the elements that columns [begin, end) read from position 0.
    void FindTapPieces(int64_t begin, int64_t end) {
        const GemmLoops<T>& loops = GemmLoopsOf<T>();
        n_pieces_ = 0;
        for (int64_t column = begin; column < end;) {
            const int64_t last = column % last_.taps;
            int64_t rest = column / last_.taps;
            int64_t offset = last;
            for (int a = conv_.ndim - 2; a >= 0; --a) {
                const ConvAxis& axis = conv_.axes[a];
                offset += rest % axis.taps * axis.dilate * axis.x_stride;
                rest /= axis.taps;
            }
            offset += rest * conv_.x_channel;
            const int64_t n = std::min(end - column, last_.taps - last);
            n_pieces_ += AddPieces(column - begin, n, offset, loops.width, pieces_ + n_pieces_);
            column += n;
        }
    }

    void PackTapRow(const T* x, const int64_t* at, int64_t n, T* panel) const {
        const GemmLoops<T>& loops = GemmLoopsOf<T>();
        for (int a = 0; a < conv_.ndim; ++a)
            x += at[a] * conv_.axes[a].step * conv_.axes[a].x_stride;
        loops.gather_b(x, last_.step, n, pieces_, n_pieces_, panel, loops.columns);
    }

    // Adds columns [begin, begin + n) of a panel, which are adjacent at x + offset.
    static int64_t AddPieces(int64_t begin, int64_t n, int64_t offset, int64_t width,
                             Im2colPiece* pieces) {
        int64_t count = 0;
        const int64_t end = begin + n;
        for (int64_t column = begin; column < end;) {
            const int64_t vector = column / width;
            const int64_t from = column - vector * width;
            const int64_t to = std::min<int64_t>(end - vector * width, width);
            pieces[count++] = {offset + vector * width - begin, static_cast<int32_t>(vector),
                               static_cast<uint32_t>((uint64_t{1} << to) - (uint64_t{1} << from))};
            column = (vector + 1) * width;
        }
        return count;
    }

    // Finds which of n positions of an output row, from `at` on, read the input by each tap.
    // Returns the input offset of these positions without a tap.
    int64_t FindInBounds(const int64_t* at, int64_t n) {
        const int last = conv_.ndim - 1;
        int64_t base = 0;
        for (int a = 0; a <= last; ++a) {
            base += at[a] * conv_.axes[a].step * conv_.axes[a].x_stride;
        }
        for (int64_t i = 0; i < n_taps_; ++i) {
            Tap& tap = taps_[i];
            tap.begin = 0;
            tap.end = 0;
            bool is_inside = true;
            for (int a = 0; a < last; ++a) {
                const int64_t in = at[a] * conv_.axes[a].step + tap.at[a];
                is_inside = is_inside && in >= 0 && in < conv_.axes[a].in;
            }
            if (!is_inside) continue;
            const int64_t in = at[last] * last_.step + tap.at[last];
            if (in < 0) tap.begin = std::min(n, CeilDiv(-in, last_.step));
            if (in < last_.in) tap.end = std::min(n, CeilDiv(last_.in - in, last_.step));
        }
        return base;
    }

    // Packs positions of one output row as above. Returns false, and writes nothing, if all of them
    // see only padding.
    bool PackRow(const T* x, const int64_t* at, int64_t n, T* panel) {
        const int64_t base = FindInBounds(at, n);
        // Below this many, zeros cost less than starting another tile.
        constexpr int64_t kMinZeros = 8;
        bool is_seen = n < kMinZeros;
        for (int64_t i = 0; i < n_taps_; ++i) is_seen = is_seen || taps_[i].begin < taps_[i].end;
        if (!is_seen) return false;
        // Handles ranges of positions that the same taps read.
        for (int64_t begin = 0; begin < n;) {
            int64_t end = n;
            for (int64_t i = 0; i < n_taps_; ++i) {
                if (taps_[i].begin > begin) end = std::min(end, taps_[i].begin);
                if (taps_[i].end > begin) end = std::min(end, taps_[i].end);
            }
            PackPart(x + base, begin, end, panel);
            begin = end;
        }
        return true;
    }

    void PackPart(const T* x, int64_t begin, int64_t end, T* panel) {
        const GemmLoops<T>& loops = GemmLoopsOf<T>();
        const int64_t step = last_.step * last_.x_stride;
        int64_t n = 0;
        for (int64_t i = 0; i < n_taps_; ++i) {
            const Tap& tap = taps_[i];
            if (tap.begin > begin || tap.end <= begin) continue;
            n += AddPieces(tap.column, tap.length, tap.offset + begin * step, loops.width,
                           pieces_ + n);
        }
        loops.gather_b(x, step, end - begin, pieces_, n, panel + begin * loops.columns,
                       loops.columns);
    }

    static constexpr int64_t kMaxTaps = 32;

    const WeightConv<T>& conv_;
    const int64_t group_;
    const int64_t positions_;
    const ConvAxis& last_;
    int64_t n_taps_{0};
    int64_t n_pieces_{0};
    Tap taps_[kMaxTaps];
    Im2colPiece pieces_[2 * kMaxTaps];
};

// Number of partial sums over the positions: with few columns, threads need the sum as well to
// share work. It depends on the shape alone, not on tiles, since the bits depend on it. Each part
// has its own sum, which must be small compared to the work.
int64_t CountSums(int64_t n_columns, int64_t n_depths, int64_t gw_size) {
    constexpr int64_t kMaxColumns = 256;
    constexpr int64_t kMinDepths = 16;
    constexpr int64_t kMaxSize = 1 << 17;
    if (n_columns > kMaxColumns || gw_size > kMaxSize) return 1;
    return std::clamp<int64_t>(n_depths / kMinDepths, 1, 8);
}

// Accumulates depths of positions into gw, or into the partial sum of one part.
template <typename T>
void RunBlock(const WeightConv<T>& conv, const PackedGrad<T>& grad, int64_t positions,
              int64_t n_columns, int64_t group, const Range& columns, const Range& panels,
              const Range& depths, T* to, bool adds) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    Im2colPacker<T> packer{conv, group, positions};
    const int64_t n_blocks = CeilDiv(columns.size(), loops.columns);
    const int64_t depth = grad.depth(0).size() + 1;
    const Scratch<T> packed{n_blocks * loops.columns * depth};
    const Scratch<TileRun<T>> runs{n_blocks * depth};
    const Scratch<int64_t> n_runs{n_blocks};
    const Scratch<T> panel{grad.CountScratch()};
    for (int64_t d = depths.begin; d < depths.end; ++d) {
        const Range q = grad.depth(d);
        internal::CheckInterrupt();
        for (int64_t b = 0; b < n_blocks; ++b) {
            const int64_t begin = columns.begin + b * loops.columns;
            n_runs.data()[b] =
                packer.Pack(begin, std::min(columns.end, begin + loops.columns), q,
                            packed.data() + b * loops.columns * depth, runs.data() + b * depth);
        }
        const bool accumulate = adds || d != depths.begin;
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Range rows = grad.rows(p);
            const T* a = grad.Give(group, d, p, panel.data());
            T* gw = to + (group * conv.outs + rows.begin) * n_columns + columns.begin;
            for (int64_t b = 0; b < n_blocks; ++b) {
                const int64_t begin = b * loops.columns;
                const int64_t n = n_runs.data()[b];
                if (n == 0 && accumulate) continue;
                loops.tile(a, runs.data() + b * depth, n, gw + begin, n_columns, rows.size(),
                           std::min<int64_t>(loops.columns, columns.size() - begin), accumulate,
                           nullptr);
            }
        }
    }
}

}  // namespace

template <typename T>
void RunWeightConv(const WeightConv<T>& conv) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    int64_t positions = 1;
    int64_t n_columns = conv.ins;
    for (int a = 0; a < conv.ndim; ++a) {
        positions *= conv.axes[a].out;
        n_columns *= conv.axes[a].taps;
    }
    PackedGrad<T> grad{conv, positions};
    const int64_t n_panels = CeilDiv(n_columns, loops.columns);
    const double work = static_cast<double>(n_columns) * static_cast<double>(conv.outs) *
                        static_cast<double>(conv.batch * positions);
    const int64_t size = conv.groups * conv.outs * n_columns;
    const int64_t n_sums = CountSums(conv.groups * n_columns, grad.n_depths(), size);
    const WorkPartition partition = PartitionWork(
        conv.groups * n_sums, {n_panels, CeilDiv(n_panels * loops.columns, kBlockColumns)},
        {grad.n_panels(), 1}, work);
    if (partition.columns != 1) grad.PackAll();
    const Scratch<T> sums{(n_sums - 1) * size};
    const int64_t n_items = n_sums * conv.groups * partition.columns * partition.rows;
    const auto run = [&](int64_t item) {
        const Range panels{grad.n_panels(), partition.rows, item % partition.rows};
        item /= partition.rows;
        const Range of{n_panels, partition.columns, item % partition.columns};
        item /= partition.columns;
        const int64_t i = item / conv.groups;
        RunBlock(conv, grad, positions, n_columns, item % conv.groups,
                 Range{of.begin * loops.columns, std::min(n_columns, of.end * loops.columns)},
                 panels, Range{grad.n_depths(), n_sums, i},
                 i == 0 ? conv.gw : sums.data() + (i - 1) * size, conv.accumulate && i == 0);
    };
    RunItems(n_items, work, run);
    for (int64_t i = 1; i < n_sums; ++i) {
        const T* sum = sums.data() + (i - 1) * size;
        for (int64_t j = 0; j < size; ++j) conv.gw[j] += sum[j];
    }
}

template void RunWeightConv(const WeightConv<float>&);
template void RunWeightConv(const WeightConv<double>&);
template void RunWeightConv(const WeightConv<uint32_t>&);
template void RunWeightConv(const WeightConv<uint64_t>&);

}  // namespace chainerx::native

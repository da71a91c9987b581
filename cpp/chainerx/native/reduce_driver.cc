// How a reduction is cut into pieces for the loops and the threads.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/copy_block.h"
#include "chainerx/native/reduce.h"

namespace chainerx::native {
namespace {

// Elements of one piece of work for a thread.
constexpr int64_t kPiece = 1 << 16;
// The most pieces that one output is reduced from.
constexpr int64_t kMaxPieces = 256;
// Outputs whose accumulators are stored together.
constexpr int64_t kRunsAtOnce = 64;
// Below, the start of a loop costs more than its elements: then go by rows, whatever the strides.
constexpr int64_t kShortRun = 32;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A position in a nest of up to two strides, moved by one element at a time.
class Odometer {
 public:
    Odometer(const Nest& nest, const int64_t* second, int64_t linear)
        : nest_{nest}, second_{second} {
        for (int8_t i = nest.ndim - 1; i >= 0; --i) {
            index_[i] = linear % nest.dims[i];
            linear /= nest.dims[i];
            offset_ += index_[i] * nest.strides[i];
            if (second != nullptr) second_offset_ += index_[i] * second[i];
        }
    }
    int64_t offset() const { return offset_; }
    int64_t second_offset() const { return second_offset_; }
    // Of the innermost dimension.
    int64_t index() const { return nest_.ndim == 0 ? 0 : index_[nest_.ndim - 1]; }

    void Advance(int64_t by = 1) {
        for (int8_t i = nest_.ndim - 1; i >= 0; --i) {
            Move(i, by);
            index_[i] += by;
            if (index_[i] < nest_.dims[i]) return;
            Move(i, -index_[i]);
            index_[i] = 0;
            by = 1;
        }
    }

 private:
    void Move(int8_t i, int64_t by) {
        offset_ += by * nest_.strides[i];
        if (second_ != nullptr) second_offset_ += by * second_[i];
    }

    const Nest& nest_;
    const int64_t* second_;
    int64_t offset_{0};
    int64_t second_offset_{0};
    int64_t index_[kMaxNdim];
};

// One dimension on its way into a plan.
struct Dim {
    int64_t size;
    int64_t stride;
    int64_t out_stride;
};

// Drops, turns, sorts and merges dimensions. Returns how many are left.
int8_t Squash(Dim* dims, int8_t n, bool keep_order) {
    int8_t m = 0;
    for (int8_t i = 0; i < n; ++i) {
        if (dims[i].size != 1) dims[m++] = dims[i];
    }
    if (!keep_order) {
        // Insertion sort: there are few, and usually they are in order.
        for (int8_t i = 1; i < m; ++i) {
            for (int8_t j = i; j > 0 && std::abs(dims[j - 1].stride) < std::abs(dims[j].stride);
                 --j) {
                std::swap(dims[j - 1], dims[j]);
            }
        }
    }
    int8_t k = 0;
    for (int8_t i = 0; i < m; ++i) {
        if (k > 0 && dims[k - 1].stride == dims[i].stride * dims[i].size &&
            dims[k - 1].out_stride == dims[i].out_stride * dims[i].size) {
            dims[k - 1] = {dims[k - 1].size * dims[i].size, dims[i].stride, dims[i].out_stride};
        } else {
            dims[k++] = dims[i];
        }
    }
    return k;
}

}  // namespace

const char* FetchBlock(const char* data, const Nest& nest, int64_t item_size, int64_t begin,
                       int64_t n, char* buffer) {
    if (nest.ndim == 0) return data;
    const int last = nest.ndim - 1;
    const int64_t run = nest.dims[last];
    const int64_t stride = nest.strides[last];
    if (nest.ndim == 1 && stride == item_size) return data + begin * item_size;
    Odometer at{nest, nullptr, begin};
    if (stride == item_size && run - at.index() >= n) return data + at.offset();
    char* to = buffer;
    while (n > 0) {
        const int64_t k = std::min(n, run - at.index());
        if (stride == item_size) {
            std::memcpy(to, data + at.offset(), static_cast<size_t>(k * item_size));
        } else {
            CopyStrided(to, item_size, data + at.offset(), stride, k, item_size);
        }
        at.Advance(k);
        to += k * item_size;
        n -= k;
    }
    return buffer;
}

void FetchRows(const char* data, const Nest& nest, int64_t begin, int64_t n, const char** rows) {
    Odometer at{nest, nullptr, begin};
    for (int64_t i = 0; i < n; ++i, at.Advance()) rows[i] = data + at.offset();
}

ReducePlan::ReducePlan(const Array& array, const Axes& axes, const Array& result, bool keep_order)
    : x{array.raw_data()}, out{result.raw_data()}, n_out{1}, n_reduced{1}, by_rows{false} {
    Dim kept_dims[kMaxNdim];
    Dim reduced_dims[kMaxNdim];
    int8_t n_kept = 0;
    int8_t n_red = 0;
    int8_t next_axis = 0;
    int8_t o = 0;
    for (int8_t i = 0; i < array.ndim(); ++i) {
        Dim dim{array.shape()[i], array.strides()[i], 0};
        const bool is_reduced = next_axis < axes.ndim() && axes[next_axis] == i;
        if (is_reduced) {
            ++next_axis;
            n_reduced *= dim.size;
        } else if (dim.size != 1) {
            while (result.shape()[o] == 1) ++o;
            dim.out_stride = result.strides()[o++];
            n_out *= dim.size;
        }
        // Backward is as good as forward, unless the order counts.
        if (dim.stride < 0 && !(is_reduced && keep_order)) {
            x += dim.stride * (dim.size - 1);
            out += dim.out_stride * (dim.size - 1);
            dim.stride = -dim.stride;
            dim.out_stride = -dim.out_stride;
        }
        if (is_reduced) {
            reduced_dims[n_red++] = dim;
        } else {
            kept_dims[n_kept++] = dim;
        }
    }
    kept.ndim = Squash(kept_dims, n_kept, false);
    for (int8_t i = 0; i < kept.ndim; ++i) {
        kept.dims[i] = kept_dims[i].size;
        kept.strides[i] = kept_dims[i].stride;
        out_strides[i] = kept_dims[i].out_stride;
    }
    reduced.ndim = Squash(reduced_dims, n_red, keep_order);
    for (int8_t i = 0; i < reduced.ndim; ++i) {
        reduced.dims[i] = reduced_dims[i].size;
        reduced.strides[i] = reduced_dims[i].stride;
    }
    if (kept.ndim == 0 || reduced.ndim == 0) {
        by_rows = kept.ndim != 0;
        return;
    }
    const int64_t kept_stride = kept.strides[kept.ndim - 1];
    const int64_t n_columns = kept.dims[kept.ndim - 1];
    int64_t reduced_stride = INT64_MAX;
    for (int8_t i = 0; i < reduced.ndim; ++i) {
        reduced_stride = std::min(reduced_stride, std::abs(reduced.strides[i]));
    }
    by_rows = kept_stride < reduced_stride || (n_reduced < kShortRun && n_columns > n_reduced);
}

ReducePlan ReducePlan::Into(void* to, int64_t item_size) const {
    ReducePlan plan = *this;
    plan.out = static_cast<char*>(to);
    for (int8_t i = kept.ndim - 1; i >= 0; --i) {
        plan.out_strides[i] = item_size;
        item_size *= kept.dims[i];
    }
    return plan;
}

namespace {

// Output by output.
void ReduceRuns(const ReducePlan& plan, const ReduceLoops& loops, const char* centers,
                int64_t center_size) {
    const int64_t n = plan.n_reduced;
    const int64_t piece = CeilDiv(std::max(kPiece, CeilDiv(n, kMaxPieces)), kPiece) * kPiece;
    const int64_t n_pieces = CeilDiv(n, piece);
    const auto center_of = [&](int64_t i) {
        return centers == nullptr ? nullptr : centers + i * center_size;
    };
    if (n_pieces == 1) {
        const int64_t group = std::max<int64_t>(1, kPiece / n);
        const int last = plan.kept.ndim - 1;
        const int64_t n_inner = last < 0 ? 1 : plan.kept.dims[last];
        const int64_t step = last < 0 ? 0 : plan.kept.strides[last];
        const int64_t out_step = last < 0 ? 0 : plan.out_strides[last];
        ParallelFor(CeilDiv(plan.n_out, group), [&](int64_t g) {
            const int64_t begin = g * group;
            const int64_t end = std::min(plan.n_out, begin + group);
            Odometer at{plan.kept, plan.out_strides, begin};
            alignas(64) char acc[kRunsAtOnce * 16];
            for (int64_t i = begin; i < end;) {
                const int64_t k = std::min({kRunsAtOnce, end - i, n_inner - at.index()});
                loops.runs(plan.x + at.offset(), step, k, plan.reduced, n, center_of(i), acc);
                loops.store(acc, k, n, center_of(i), plan.out + at.second_offset(), out_step);
                at.Advance(k);
                i += k;
            }
        });
        return;
    }
    // The pieces of all outputs at once, then their combination in order.
    const int64_t acc_size = loops.acc_size;
    const auto size = static_cast<size_t>(plan.n_out * n_pieces * acc_size);
    const std::unique_ptr<char[]> parts{new char[size]};
    ParallelFor(plan.n_out * n_pieces, [&](int64_t k) {
        const int64_t i = k / n_pieces;
        const int64_t begin = (k - i * n_pieces) * piece;
        const Odometer at{plan.kept, nullptr, i};
        loops.run(plan.x + at.offset(), plan.reduced, begin, std::min(piece, n - begin),
                  center_of(i), parts.get() + k * acc_size);
    });
    Odometer at{plan.kept, plan.out_strides, 0};
    for (int64_t i = 0; i < plan.n_out; ++i, at.Advance()) {
        // In halves, as the loops do: the error stays logarithmic.
        char* part = parts.get() + i * n_pieces * acc_size;
        for (int64_t m = n_pieces; m > 1;) {
            const int64_t half = CeilDiv(m, 2);
            loops.combine(part, part + half * acc_size, m - half);
            m = half;
        }
        loops.store(part, 1, n, center_of(i), plan.out + at.second_offset(), 0);
    }
}

// loops.rows() over rows [begin, begin + n) of a plan. Narrow rows that follow each other are taken
// many at a time, as one wide row, and its parts combined in halves afterwards.
void RunRows(const ReducePlan& plan, const ReduceLoops& loops, const char* data, int64_t begin,
             int64_t n, int64_t width, const char* center, int64_t center_size, char* acc) {
    constexpr int64_t kNarrow = 64;
    const int64_t stride = plan.kept.strides[plan.kept.ndim - 1];
    const int64_t row = width * loops.item_size;
    int64_t k = 1;
    while (k * width < 2 * kNarrow) k *= 2;
    if (width >= kNarrow || n < 4 * k || stride != loops.item_size || plan.reduced.ndim != 1 ||
        plan.reduced.strides[0] != row) {
        loops.rows(data, plan.reduced, begin, n, stride, width, center, acc);
        return;
    }
    alignas(64) char centers[4 * kNarrow * 16];
    const char* wide_center = nullptr;
    if (center != nullptr) {
        wide_center = centers;
        for (int64_t i = 0; i < k; ++i) {
            std::memcpy(centers + i * width * center_size, center,
                        static_cast<size_t>(width * center_size));
        }
    }
    alignas(64) char wide[4 * kNarrow * 16];
    const Nest nest{1, {n / k}, {k * row}};
    loops.rows(data + begin * row, nest, 0, n / k, stride, k * width, wide_center, wide);
    const int64_t acc_row = width * loops.acc_size;
    for (int64_t m = k / 2; m > 0; m /= 2) loops.combine(wide, wide + m * acc_row, m * width);
    if (const int64_t rest = n % k; rest != 0) {
        loops.rows(data, plan.reduced, begin + n - rest, rest, stride, width, center, acc);
        loops.combine(wide, acc, width);
    }
    std::memcpy(acc, wide, static_cast<size_t>(acc_row));
}

// A row of outputs at a time.
void ReduceRows(const ReducePlan& plan, const ReduceLoops& loops, const char* centers,
                int64_t center_size) {
    const int last = plan.kept.ndim - 1;
    const int64_t n_columns = plan.kept.dims[last];
    const int64_t stride = plan.kept.strides[last];
    const int64_t out_stride = plan.out_strides[last];
    const int64_t acc_size = loops.acc_size;
    Nest outer = plan.kept;
    --outer.ndim;
    const int64_t n_outer = plan.n_out / n_columns;
    const int64_t tile = ReduceColumns(loops.item_size, acc_size);
    const int64_t n_tiles = CeilDiv(n_columns, tile);
    const int64_t width = std::min(tile, n_columns);

    // Rows are cut so that a piece is worth a thread, unless there are enough rows of outputs.
    const int64_t n = plan.n_reduced;
    int64_t piece = n;
    if (n_outer * n_tiles < 16) {
        piece = std::max(CeilDiv(kPiece, width), CeilDiv(n, 64));
        piece = CeilDiv(piece, 64) * 64;
    }
    const int64_t n_pieces = CeilDiv(n, piece);
    const auto center_of = [&](int64_t i) {
        return centers == nullptr ? nullptr : centers + i * center_size;
    };
    if (n_pieces == 1) {
        const int64_t group = std::max<int64_t>(1, kPiece / (n * width));
        ParallelFor(CeilDiv(n_outer * n_tiles, group), [&](int64_t g) {
            const int64_t end = std::min(n_outer * n_tiles, (g + 1) * group);
            alignas(64) char acc[kReduceRowBytes];
            for (int64_t k = g * group; k < end; ++k) {
                const int64_t i = k / n_tiles;
                const int64_t begin = (k - i * n_tiles) * tile;
                const int64_t w = std::min(tile, n_columns - begin);
                const Odometer at{outer, plan.out_strides, i};
                const char* center = center_of(i * n_columns + begin);
                RunRows(plan, loops, plan.x + at.offset() + begin * stride, 0, n, w, center,
                        center_size, acc);
                loops.store(acc, w, n, center, plan.out + at.second_offset() + begin * out_stride,
                            out_stride);
            }
        });
        return;
    }
    const int64_t n_rows = n_outer * n_pieces;
    const int64_t row_size = n_columns * acc_size;
    const std::unique_ptr<char[]> parts{new char[static_cast<size_t>(n_rows * row_size)]};
    ParallelFor(n_rows * n_tiles, [&](int64_t k) {
        const int64_t row = k / n_tiles;
        const int64_t i = row / n_pieces;
        const int64_t first = (row - i * n_pieces) * piece;
        const int64_t begin = (k - row * n_tiles) * tile;
        const Odometer at{outer, nullptr, i};
        RunRows(plan, loops, plan.x + at.offset() + begin * stride, first,
                std::min(piece, n - first), std::min(tile, n_columns - begin),
                center_of(i * n_columns + begin), center_size,
                parts.get() + row * row_size + begin * acc_size);
    });
    for (int64_t i = 0; i < n_outer; ++i) {
        char* part = parts.get() + i * n_pieces * row_size;
        for (int64_t m = n_pieces; m > 1;) {
            const int64_t half = CeilDiv(m, 2);
            loops.combine(part, part + half * row_size, (m - half) * n_columns);
            m = half;
        }
        const Odometer at{outer, plan.out_strides, i};
        loops.store(part, n_columns, n, center_of(i * n_columns), plan.out + at.second_offset(),
                    out_stride);
    }
}

}  // namespace

void RunReduce(const ReducePlan& plan, const ReduceLoops& loops, const char* centers,
               int64_t center_size) {
    if (plan.n_out == 0) return;
    if (plan.by_rows) {
        ReduceRows(plan, loops, centers, center_size);
    } else {
        ReduceRuns(plan, loops, centers, center_size);
    }
}

}  // namespace chainerx::native

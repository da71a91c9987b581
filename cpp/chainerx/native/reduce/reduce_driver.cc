// Partitions a reduction into chunks for the loops and the threads.
#include <algorithm>
#include <cstring>
#include <memory>

#include "chainerx/native/native_kernel.h"
#include "chainerx/native/reduce/reduce.h"
#include "chainerx/native/reduce/reduce_algorithms.h"
#include "chainerx/native/reduce/reduce_cascade.h"
#include "chainerx/native/strided/copy_block.h"

namespace chainerx::native {
namespace {

constexpr int64_t kGrain = kReduceGrain;
// Maximum partial accumulators (of up to 16 bytes) kept at a time.
constexpr int64_t kMaxPartials = 1024;
// Outputs whose accumulators are stored together.
constexpr int64_t kRunsAtOnce = 64;

// A cursor at element `i` of a nest that begins at `data`.
StridedCursor<1> At(const Nest& nest, const char* data, int64_t i) {
    char* const base[1] = {const_cast<char*>(data)};
    return {nest, i, base};
}

}  // namespace

const char* FetchBlock(const char* data, const Nest& nest, int64_t item_size, int64_t begin,
                       int64_t n, char* buffer) {
    if (nest.ndim == 0) return data;
    const int64_t stride = nest.run_stride(0);
    if (nest.ndim == 1 && stride == item_size) return data + begin * item_size;
    StridedCursor<1> at = At(nest, data, begin);
    if (stride == item_size && at.left() >= n) return at.p[0];
    char* to = buffer;
    while (n > 0) {
        const int64_t k = std::min(n, at.left());
        CopyStrided(to, item_size, at.p[0], stride, k, item_size);
        at.Advance(k);
        to += k * item_size;
        n -= k;
    }
    return buffer;
}

void FetchRows(const char* data, const Nest& nest, int64_t begin, int64_t n, const char** rows) {
    StridedCursor<1> at = At(nest, data, begin);
    for (int64_t i = 0; i < n; ++i, at.Advance(1)) rows[i] = at.p[0];
}

void ReduceRuns(const ReducePlan& plan, const ReduceLoops& loops, const char* centers) {
    const int64_t n = plan.n_reduced;
    const int64_t piece = ReducePiece(n);
    const int64_t n_pieces = CeilDiv(n, piece);
    const auto center_of = [&](int64_t i) {
        return centers == nullptr ? nullptr : centers + i * loops.center_size;
    };
    if (n_pieces == 1) {
        const int64_t group = std::max<int64_t>(1, kGrain / n);
        const bool has_axis = plan.kept.ndim > 0;
        const int64_t step = has_axis ? plan.kept.run_stride(0) : 0;
        const int64_t out_step = has_axis ? plan.kept.run_stride(1) : 0;
        ParallelFor(CeilDiv(plan.n_out, group), [&](int64_t g) {
            const int64_t begin = g * group;
            const int64_t end = std::min(plan.n_out, begin + group);
            StridedCursor<2> at{plan.kept, begin};
            alignas(64) char acc[kRunsAtOnce * 16];
            for (int64_t i = begin; i < end;) {
                const int64_t k = std::min({kRunsAtOnce, end - i, at.left()});
                FoldRuns(loops, at.p[0], step, k, plan.reduced, n, center_of(i), acc);
                loops.store(acc, k, n, center_of(i), at.p[1], out_step);
                at.Advance(k);
                i += k;
            }
        });
        return;
    }
    // Reduces the chunks of some outputs, then combines these in order.
    const int64_t acc_size = loops.acc_size;
    alignas(64) char parts[kMaxPartials * 16];
    const int64_t group = kMaxPartials / n_pieces;
    StridedCursor<2> to{plan.kept, 0};
    for (int64_t first = 0; first < plan.n_out; first += group) {
        const int64_t n_group = std::min(group, plan.n_out - first);
        ParallelFor(n_group * n_pieces, [&](int64_t k) {
            const int64_t i = first + k / n_pieces;
            const int64_t begin = k % n_pieces * piece;
            const StridedCursor<2> at{plan.kept, i};
            FoldRun(loops, at.p[0], plan.reduced, begin, std::min(piece, n - begin), center_of(i),
                    parts + k * acc_size);
        });
        for (int64_t i = 0; i < n_group; ++i, to.Advance(1)) {
            // Pairwise, as in the loops: the error stays logarithmic.
            char* part = parts + i * n_pieces * acc_size;
            for (int64_t m = n_pieces; m > 1;) {
                const int64_t half = CeilDiv(m, 2);
                loops.combine(part, part + half * acc_size, m - half);
                m = half;
            }
            loops.store(part, 1, n, center_of(first + i), to.p[1], 0);
        }
    }
}

namespace {

// FoldRows() over rows [begin, begin + n) of a plan. Adjacent narrow rows are merged into wide
// rows, whose parts are combined pairwise afterwards.
void RunRows(const ReducePlan& plan, const RowPieces& pieces, const ReduceLoops& loops,
             const char* data, int64_t begin, int64_t n, int64_t width, const char* center,
             char* acc) {
    constexpr int64_t kNarrow = 64;
    const int64_t stride = plan.kept.run_stride(0);
    const int64_t row = width * loops.item_size;
    const int64_t k = pieces.merged;
    if (k <= 1 || n < 4 * k) {
        FoldRows(loops, data, plan.reduced, begin, n, stride, width, center, acc);
        return;
    }
    alignas(64) char centers[4 * kNarrow * 16];
    const char* wide_center = nullptr;
    if (center != nullptr) {
        wide_center = centers;
        for (int64_t i = 0; i < k; ++i) {
            std::memcpy(centers + i * width * loops.center_size, center,
                        static_cast<size_t>(width * loops.center_size));
        }
    }
    alignas(64) char wide[4 * kNarrow * 16];
    const Nest nest = Line(n / k, k * row);
    FoldRows(loops, data + begin * row, nest, 0, n / k, stride, k * width, wide_center, wide);
    const int64_t acc_row = width * loops.acc_size;
    for (int64_t m = k / 2; m > 0; m /= 2) loops.combine(wide, wide + m * acc_row, m * width);
    if (const int64_t rest = n % k; rest != 0) {
        FoldRows(loops, data, plan.reduced, begin + n - rest, rest, stride, width, center, acc);
        loops.combine(wide, acc, width);
    }
    std::memcpy(acc, wide, static_cast<size_t>(acc_row));
}

}  // namespace

void ReduceRows(const ReducePlan& plan, const ReduceLoops& loops, const char* centers) {
    const RowPieces pieces{plan, loops.item_size, loops.acc_size};
    const auto [n_columns, n_outer, tile, width, piece, n_pieces, merged] = pieces;
    const int64_t stride = plan.kept.run_stride(0);
    const int64_t out_stride = plan.kept.run_stride(1);
    const int64_t acc_size = loops.acc_size;
    StridedIterator<2> outer = plan.kept;
    --outer.ndim;
    const int64_t n_tiles = CeilDiv(n_columns, tile);
    const int64_t n = plan.n_reduced;
    const auto center_of = [&](int64_t i) {
        return centers == nullptr ? nullptr : centers + i * loops.center_size;
    };
    if (n_pieces == 1) {
        const int64_t group = std::max<int64_t>(1, kGrain / (n * width));
        ParallelFor(CeilDiv(n_outer * n_tiles, group), [&](int64_t g) {
            const int64_t end = std::min(n_outer * n_tiles, (g + 1) * group);
            alignas(64) char acc[kReduceRowBytes];
            for (int64_t k = g * group; k < end; ++k) {
                const int64_t i = k / n_tiles;
                const int64_t begin = (k - i * n_tiles) * tile;
                const int64_t w = std::min(tile, n_columns - begin);
                const StridedCursor<2> at{outer, i};
                const char* center = center_of(i * n_columns + begin);
                RunRows(plan, pieces, loops, at.p[0] + begin * stride, 0, n, w, center, acc);
                loops.store(acc, w, n, center, at.p[1] + begin * out_stride, out_stride);
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
        const StridedCursor<2> at{outer, i};
        RunRows(plan, pieces, loops, at.p[0] + begin * stride, first, std::min(piece, n - first),
                std::min(tile, n_columns - begin), center_of(i * n_columns + begin),
                parts.get() + row * row_size + begin * acc_size);
    });
    for (int64_t i = 0; i < n_outer; ++i) {
        char* part = parts.get() + i * n_pieces * row_size;
        for (int64_t m = n_pieces; m > 1;) {
            const int64_t half = CeilDiv(m, 2);
            loops.combine(part, part + half * row_size, (m - half) * n_columns);
            m = half;
        }
        const StridedCursor<2> at{outer, i};
        loops.store(part, n_columns, n, center_of(i * n_columns), at.p[1], out_stride);
    }
}

}  // namespace chainerx::native

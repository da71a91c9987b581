// Tiled strided loops: splits an iteration into tiles in which each operand is contiguous, either
// in memory or in a buffer that fits in L1.
//
// Iteration follows the memory order of the first operand, the output. Three cases:
// - long runs: a tile is rows of the last two axes; the loop is called for each row;
// - long runs, and an operand whose memory order ends in another axis: that axis becomes the last
//   but one, and a tile has as many rows as a cache line has items of the operand, so that each
//   line is read once;
// - short runs: a tile is a number of elements in iteration order; the loop is called once.
//
// The loop is called as loop(pointers, steps, n). A step is 1, or 0 for a single value that is
// paired with all n elements. The result of an element must not depend on its position.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/strided/copy_block.h"
#include "chainerx/native/strided/non_temporal.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {

// Bytes of the buffer on the stack, one per operand: half of L1. In float32, it reads rows of 256
// columns at a time; shorter rows arrive more slowly from memory.
inline constexpr int64_t kTileBytes = 16384;
// Buffer size if no operand is transposed: reads and writes alternate so often that the processor
// overlaps them.
inline constexpr int64_t kStripBytes = 2048;
// Runs of at least this length are worth one call of the loop each.
inline constexpr int64_t kLongRun = 64;
// Shorter axes are not worth a transpose.
inline constexpr int64_t kMinTransposed = 8;

// Requirements of a loop on its operands, the output first.
template <int N>
struct LoopTraits {
    int64_t item_size[N];
    bool takes_step_0;  // per input
    int64_t most;       // maximum elements per call; at least kTileBytes / 16
};

// A loop that copies its input to the output, without a buffer.
struct CopyLoop {};

// Elements per chunk of a thread: up to `most` as long as each thread has several chunks. Long
// chunks pay, since a loop that starts waits until the prefetcher has caught up.
struct BlockSizes {
    int64_t least;
    int64_t most;

    // For loops that take about a nanosecond per element.
    static constexpr BlockSizes OfLight(int64_t least) { return {least, 16 * least}; }

    int64_t Of(int64_t total) const {
        const int64_t threads = GetNumThreads();
        return threads == 1 ? most : std::clamp(total / (4 * threads), least, most);
    }
};

template <int N>
class TiledLoop {
 public:
    // Reorders the iterator as needed; it must have an axis.
    TiledLoop(StridedIterator<N>& iter, const LoopTraits<N>& traits, BlockSizes sizes, bool copies)
        : iter_{iter}, traits_{traits}, transposed_{Transpose(iter, traits)} {
        const int64_t block = sizes.Of(iter.total);
        const int64_t run = iter.run_length();
        const bool has_rows = iter.ndim > 1;
        int64_t widest = 0;  // item size of buffered operands
        by_rows_ = !has_rows || run >= kLongRun || transposed_ != 0;
        // A loop without a buffer would be slower with one.
        non_temporal_ = by_rows_ && (copies || transposed_ != 0) && UsesNonTemporalStores();
        for (int k = 0; k < N; ++k) {
            direct_[k] = IsDirect(k) && !(k == 0 && non_temporal_ && !copies);
            if (!direct_[k]) widest = std::max(widest, traits.item_size[k]);
            copy_of_[k] = CopyOf(k);
        }
        if (!by_rows_) {
            SetUpRange(block);
            return;
        }
        const int64_t n_rows = has_rows ? iter.dims[iter.ndim - 2] : 1;
        const int64_t bytes = transposed_ != 0 ? kTileBytes : kStripBytes;
        const int64_t room = widest == 0 ? block : bytes / widest;
        rows_ = transposed_ != 0 ? std::min(kLine / transposed_, n_rows) : 1;
        constexpr int64_t kNear = 1 << 18;  // bytes; most of them are in cache anyway
        is_far_ = widest != 0 && direct_[0] && iter.total * traits.item_size[0] > kNear;
        columns_ = std::min({run, std::max<int64_t>(room / rows_, 1), traits.most});
        rows_ = std::min(n_rows, std::max(rows_, room / columns_));
        n_column_tiles_ = CeilDiv(run, columns_);
        n_row_tiles_ = CeilDiv(n_rows, rows_);
        n_tiles_ = n_column_tiles_ * n_row_tiles_;
        for (int i = 0; i < iter.ndim - 2; ++i) n_tiles_ *= iter.dims[i];
        group_ = std::max<int64_t>(1, block / (rows_ * columns_));
    }

    // Visits all elements, split among threads in chunks of about `block` elements.
    void Run(const auto& loop) const {
        if (n_tiles_ <= 2 * group_) {
            RunGroup(0, n_tiles_, loop);
            return;
        }
        ParallelFor(CeilDiv(n_tiles_, group_), [&](int64_t i) {
            RunGroup(i * group_, std::min(n_tiles_, (i + 1) * group_), loop);
        });
    }

 private:
    static constexpr int64_t kLine = 64;  // bytes of a cache line

    // If an operand is contiguous along an axis other than the last, moves that axis to the last
    // but one. Returns the item size of that operand, or 0.
    static int64_t Transpose(StridedIterator<N>& iter, const LoopTraits<N>& traits) {
        const int last = iter.ndim - 1;
        if (last < 1 || iter.dims[last] < kMinTransposed) return 0;
        for (int k = 1; k < N; ++k) {
            const int64_t size = traits.item_size[k];
            if (iter.strides[k][last] == size || iter.strides[k][last] == 0) continue;
            for (int i = 0; i < last; ++i) {
                if (iter.strides[k][i] == size && iter.dims[i] >= kMinTransposed) {
                    iter.MoveInwards(i, last - 1);
                    return size;
                }
            }
        }
        return 0;
    }

    bool IsDirect(int k) const {
        const int64_t stride = iter_.run_stride(k);
        return stride == traits_.item_size[k] || (k > 0 && stride == 0 && traits_.takes_step_0);
    }

    // The first input that equals input k, so that x + x is gathered once.
    int CopyOf(int k) const {
        for (int j = 1; j < k; ++j) {
            bool is_same =
                iter_.data[j] == iter_.data[k] && traits_.item_size[j] == traits_.item_size[k];
            for (int i = 0; i < iter_.ndim; ++i) {
                is_same &= iter_.strides[j][i] == iter_.strides[k][i];
            }
            if (is_same) return j;
        }
        return k;
    }

    // Whether to write the output by non-temporal stores. It needs whole lines: a partial line is
    // written separately.
    bool UsesNonTemporalStores() const {
        const int64_t threshold = NonTemporalThreshold();
        int64_t most = 0;
        for (int k = 0; k < N; ++k) most += traits_.item_size[k];
        if (iter_.total * most < threshold || !IsDirect(0)) return false;
        const int last = iter_.ndim - 1;
        if (reinterpret_cast<uintptr_t>(iter_.data[0]) % kLine != 0) return false;
        if (last > 0 && iter_.strides[0][last - 1] % kLine != 0) return false;
        int64_t nbytes = 0;
        for (int k = 0; k < N; ++k) {
            if (k > 0 && iter_.data[k] == iter_.data[0]) return false;  // its lines are read anyway
            int64_t n = traits_.item_size[k];
            for (int i = 0; i < iter_.ndim; ++i) n *= iter_.strides[k][i] != 0 ? iter_.dims[i] : 1;
            nbytes += n;
        }
        return nbytes >= threshold;
    }

    // Sets up tiles of short runs.
    void SetUpRange(int64_t block) {
        int64_t widest = 1;
        for (int k = 0; k < N; ++k) {
            // Each operand must be contiguous in iteration order, or a single value.
            int64_t expected = iter_.run_stride(k) == 0 ? 0 : traits_.item_size[k];
            for (int i = iter_.ndim - 1; i >= 0; --i) {
                direct_[k] &= iter_.strides[k][i] == expected;
                expected *= iter_.dims[i];
            }
            if (!direct_[k]) widest = std::max(widest, traits_.item_size[k]);
        }
        columns_ = std::min(kTileBytes / widest, traits_.most);
        n_tiles_ = CeilDiv(iter_.total, columns_);
        group_ = std::max<int64_t>(1, block / columns_);
    }

    void RunGroup(int64_t begin, int64_t end, CopyLoop) const {
        if (!by_rows_) {
            CopyRange(begin * columns_, std::min(end * columns_, iter_.total));
            return;
        }
        const int last = iter_.ndim - 1;
        for (; begin < end; ++begin) {
            char* p[N];
            BlockCopy b{};
            Place(begin, p, &b.rows, &b.columns);
            b.dst_row = last > 0 ? iter_.strides[0][last - 1] : 0;
            b.src_row = last > 0 ? iter_.strides[1][last - 1] : 0;
            b.dst_column = iter_.strides[0][last];
            b.src_column = iter_.strides[1][last];
            WriteOut(p[0], p[1], b);
        }
        if (non_temporal_) FenceNonTemporal();
    }

    // Writes a block of the output, at most as large as a buffer if it is gathered.
    void WriteOut(char* dst, const char* src, const BlockCopy& b) const {
        const int64_t size = traits_.item_size[0];
        if (!non_temporal_) {
            CopyBlock(dst, src, b, size);
            return;
        }
        const int64_t nbytes = b.columns * size;
        alignas(64) char buffer[kTileBytes];
        int64_t pitch = b.src_row;
        if (b.src_column != size) {
            pitch = nbytes;
            CopyBlock(buffer, src, {b.rows, b.columns, pitch, size, b.src_row, b.src_column}, size);
            src = buffer;
        }
        for (int64_t r = 0; r < b.rows; ++r)
            CopyNonTemporal(dst + r * b.dst_row, src + r * pitch, nbytes);
    }

    void CopyRange(int64_t begin, int64_t end) const {
        StridedCursor<N> cursor{iter_, begin};
        ForEachBlock(cursor, end - begin, [&](int64_t, const auto& blocks) {
            BlockCopy b = blocks[1];
            b.dst_row = blocks[0].src_row;
            b.dst_column = blocks[0].src_column;
            CopyBlock(cursor.p[0], cursor.p[1], b, traits_.item_size[0]);
        });
    }

    void RunGroup(int64_t begin, int64_t end, const auto& loop) const {
        alignas(64) char buffers[N][kTileBytes];
        if (by_rows_) {
            for (; begin < end; ++begin) RunRows(begin, buffers, loop);
            if (non_temporal_) FenceNonTemporal();
        } else {
            RunRange(begin * columns_, std::min(end * columns_, iter_.total), buffers, loop);
        }
    }

    // Locates tile i: the address in each operand, its rows and columns.
    void Place(int64_t i, char* (&p)[N], int64_t* rows, int64_t* columns) const {
        const int last = iter_.ndim - 1;
        const int64_t column = i % n_column_tiles_ * columns_;
        i /= n_column_tiles_;
        *columns = std::min(columns_, iter_.dims[last] - column);
        *rows = 1;
        for (int k = 0; k < N; ++k) p[k] = iter_.data[k] + column * iter_.strides[k][last];
        if (last == 0) return;
        const int64_t row = i % n_row_tiles_ * rows_;
        i /= n_row_tiles_;
        *rows = std::min(rows_, iter_.dims[last - 1] - row);
        for (int k = 0; k < N; ++k) p[k] += row * iter_.strides[k][last - 1];
        for (int d = last - 2; d >= 0; --d) {
            const int64_t at = i % iter_.dims[d];
            i /= iter_.dims[d];
            for (int k = 0; k < N; ++k) p[k] += at * iter_.strides[k][d];
        }
    }

    // Prefetches the rows that are read in place while another operand is transposed: they are too
    // short for the hardware prefetcher.
    void PrefetchRows(char* const (&p)[N], int64_t rows, int64_t columns) const {
        const int last = iter_.ndim - 1;
        for (int k = 1; k < N; ++k) {
            if (!direct_[k] || iter_.strides[k][last] == 0) continue;
            for (int64_t r = 0; r < rows; ++r) {
                const char* row = p[k] + r * iter_.strides[k][last - 1];
                for (int64_t i = 0; i < columns * traits_.item_size[k]; i += kLine) {
                    __builtin_prefetch(row + i, 0, 2);
                }
            }
        }
    }

    // Prefetches the output while operands are copied to buffers: it is written in a burst then,
    // which would stall.
    void PrefetchOutput(const char* row, int64_t rows, int64_t columns) const {
        const int last = iter_.ndim - 1;
        for (int64_t r = 0; r < rows; ++r) {
            for (int64_t i = 0; i < columns * traits_.item_size[0]; i += kLine) {
                __builtin_prefetch(row + i, 1);
            }
            if (last > 0) row += iter_.strides[0][last - 1];
        }
    }

    void RunRows(int64_t i, char (&buffers)[N][kTileBytes], const auto& loop) const {
        char* p[N];
        int64_t rows;
        int64_t columns;
        Place(i, p, &rows, &columns);
        const int last = iter_.ndim - 1;
        int64_t pitch[N];  // bytes from row to row
        int64_t steps[N];
        if (transposed_ != 0) {
            PrefetchRows(p, rows, columns);
        } else if (is_far_) {
            PrefetchOutput(p[0], rows, columns);
        }
        for (int k = 0; k < N; ++k) {
            const int64_t size = traits_.item_size[k];
            const int64_t stride = iter_.strides[k][last];
            pitch[k] = last > 0 ? iter_.strides[k][last - 1] : 0;
            steps[k] = 1;
            if (direct_[k]) {
                steps[k] = stride != 0;
                continue;
            }
            if (k > 0 && copy_of_[k] == k) {
                const int64_t copied = pitch[k] == 0 ? 1 : rows;
                CopyBlock(buffers[k], p[k],
                          {copied, columns, columns * size, size, pitch[k], stride}, size);
            }
            p[k] = buffers[copy_of_[k]];
            if (k == 0 || pitch[k] != 0) pitch[k] = columns * size;
        }
        for (int64_t r = 0; r < rows; ++r) {
            loop(p, steps, columns);
            for (int k = 0; k < N; ++k) p[k] += pitch[k];
        }
        if (direct_[0]) return;
        Place(i, p, &rows, &columns);
        const int64_t size = traits_.item_size[0];
        WriteOut(p[0], buffers[0],
                 {rows, columns, last > 0 ? iter_.strides[0][last - 1] : 0, iter_.strides[0][last],
                  columns * size, size});
    }

    // Visits elements [begin, end) in iteration order.
    void RunRange(int64_t begin, int64_t end, char (&buffers)[N][kTileBytes],
                  const auto& loop) const {
        StridedCursor<N> in{iter_, begin};
        StridedCursor<N> out{iter_, begin};
        bool gathers = false;
        for (int k = 1; k < N; ++k) gathers |= !direct_[k];
        for (; begin < end; begin += columns_) {
            const int64_t n = std::min(columns_, end - begin);
            char* p[N];
            int64_t steps[N];
            for (int k = 0; k < N; ++k) {
                steps[k] = !direct_[k] || iter_.run_stride(k) != 0;
                p[k] = direct_[k] ? iter_.data[k] + steps[k] * begin * traits_.item_size[k]
                                  : buffers[copy_of_[k]];
            }
            if (gathers) {
                ForEachBlock(in, n, [&](int64_t at, const auto& blocks) {
                    for (int k = 1; k < N; ++k) {
                        if (direct_[k] || copy_of_[k] != k) continue;
                        const int64_t size = traits_.item_size[k];
                        BlockCopy b = blocks[k];
                        b.dst_row = b.columns * size;
                        b.dst_column = size;
                        CopyBlock(buffers[k] + at * size, in.p[k], b, size);
                    }
                });
            }
            loop(p, steps, n);
            if (direct_[0]) continue;
            ForEachBlock(out, n, [&](int64_t at, const auto& blocks) {
                const int64_t size = traits_.item_size[0];
                BlockCopy b = blocks[0];
                b.dst_row = b.src_row;
                b.dst_column = b.src_column;
                b.src_row = b.columns * size;
                b.src_column = size;
                CopyBlock(out.p[0], buffers[0] + at * size, b, size);
            });
        }
    }

    // Visits the next n elements as rows and columns of the last two axes: f(elements before,
    // sources).
    void ForEachBlock(StridedCursor<N>& cursor, int64_t n, const auto& f) const {
        const int last = iter_.ndim - 1;
        const int64_t run = iter_.dims[last];
        for (int64_t done = 0; done < n;) {
            const int64_t left = n - done;
            BlockCopy blocks[N];
            const bool whole = cursor.index[last] == 0 && left >= run;
            const int64_t rows =
                whole ? std::min(left / run, iter_.dims[last - 1] - cursor.index[last - 1]) : 1;
            const int64_t columns = whole ? run : std::min(left, cursor.left());
            for (int k = 0; k < N; ++k) {
                blocks[k] = {
                    rows, columns, 0, 0, iter_.strides[k][last - 1], iter_.strides[k][last]};
            }
            f(done, blocks);
            if (whole) {
                cursor.AdvanceAxis(last - 1, rows);
            } else {
                cursor.Advance(columns);
            }
            done += rows * columns;
        }
    }

    const StridedIterator<N>& iter_;
    const LoopTraits<N> traits_;
    int64_t transposed_;
    bool by_rows_;
    bool non_temporal_;
    bool is_far_{false};
    bool direct_[N];  // read or written in place
    int copy_of_[N];  // k itself, or an equal input
    int64_t rows_{1};
    int64_t columns_;
    int64_t n_row_tiles_{1};
    int64_t n_column_tiles_{1};
    int64_t n_tiles_;
    int64_t group_;
};

// Calls loop() on all elements of an iterator, which may be empty.
template <int N, typename F>
void RunTiles(StridedIterator<N>& iter, const LoopTraits<N>& traits, BlockSizes sizes,
              const F& loop) {
    if (iter.total == 0) return;
    iter.EnsureAxis();
    TiledLoop<N>{iter, traits, sizes, std::is_same_v<F, CopyLoop>}.Run(loop);
}

}  // namespace chainerx::native

// Per-channel algorithms on contiguous arrays (n, c, s): sums over n and s, then a result that is
// computed with values derived from the sums. A channel that fits in a cache is read from memory
// once.
//
// Long runs of s elements are handled one by one. Short ones would leave most lanes of a register
// empty: then each position of (c, s) is a column, whose rows are single images (or several, if
// images are short, too), and the columns of a channel are joined at the end.
//
// The partition of work depends on the shape alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/norm/row_order.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

struct ChannelShape {
    int64_t n;
    int64_t c;
    int64_t s;

    int64_t count() const { return n * s; }  // of a channel
};

// Op computes in T:
//     kSums, kParams             doubles that are summed up; numbers of T to write with
//     Reduce(offset, runs, stride, n, channel, sums)         sums of runs that begin at `offset`
//     ReduceColumns(offset, rows, stride, width, centers, sums, plane)   adds to sums
//     Centers()                  numbers of each channel that ReduceColumns needs, or null
//     Join(sums, step, count, more, more_step, more_count)   sums += more, `step` doubles apart
//     Finish(channel, sums, params, step)                    params, `step` numbers apart
//     writes()                   whether there is a result
//     Map(offset, runs, stride, n, params, param_step)
//     MapColumns(offset, rows, stride, width, params, plane)
template <typename T, typename Op>
class ChannelRun {
 public:
    ChannelRun(const ChannelShape& shape, Op& op) : shape_{shape}, op_{op} {}

    void Run() {
        if (shape_.s >= kNormLongRun) {
            RunRuns();
        } else {
            RunColumns();
        }
    }

 private:
    static constexpr int kSums = Op::kSums;
    static constexpr int kParams = Op::kParams;
    static constexpr int64_t kGrain = kNormPiece;   // elements worth a thread
    static constexpr int64_t kSmallTask = 1 << 14;  // minimum elements of a task
    static constexpr int64_t kGroup = 64;           // maximum channels of one task
    static constexpr int64_t kTile = kNormTile;

    void RunRuns() {
        const auto [n, c, s] = shape_;
        const int64_t count = shape_.count();
        if (!IsOneNormPiece(count, c)) {
            RunPieces();
            return;
        }
        const int64_t group = std::clamp<int64_t>(kSmallTask / count, 1, kGroup);
        ParallelFor(CeilDiv(c, group), [&](int64_t task) {
            const int64_t first = task * group;
            const int64_t size = std::min(group, c - first);
            T params[kGroup * kParams];
            for (int64_t i = 0; i < size; ++i) {
                double sums[kSums];
                op_.Reduce((first + i) * s, n, c * s, s, first + i, sums);
                op_.Finish(first + i, sums, params + i * kParams, 1);
            }
            if (!op_.writes()) return;
            for (int64_t image = 0; image < n; ++image) {
                op_.Map((image * c + first) * s, size, s, s, params, kParams);
            }
        });
    }

    // Splits each channel into several chunks.
    void RunPieces() {
        const auto [n, c, s] = shape_;
        const int64_t images = std::max<int64_t>(1, kGrain / s);
        const int64_t cuts = CeilDiv(s, kGrain);  // of one image
        const int64_t pieces = CeilDiv(n, images) * cuts;
        const auto for_pieces = [&](const auto& f) {
            ParallelFor(c * pieces, [&](int64_t task) {
                const int64_t channel = task / pieces;
                const int64_t piece = task % pieces;
                const int64_t image = piece / cuts * images;
                const int64_t begin = piece % cuts * kGrain;
                f(task, channel, (image * c + channel) * s + begin, std::min(images, n - image),
                  cuts == 1 ? s : std::min(kGrain, s - begin));
            });
        };
        const auto length_of = [&](int64_t piece) {
            const int64_t image = piece / cuts * images;
            const int64_t begin = piece % cuts * kGrain;
            return std::min(images, n - image) * (cuts == 1 ? s : std::min(kGrain, s - begin));
        };
        const auto sums = Doubles(c * pieces * kSums);
        for_pieces(
            [&](int64_t task, int64_t channel, int64_t offset, int64_t runs, int64_t length) {
                op_.Reduce(offset, runs, c * s, length, channel, sums.get() + task * kSums);
            });
        const std::unique_ptr<T[]> params{new T[static_cast<size_t>(c * kParams)]};
        for (int64_t channel = 0; channel < c; ++channel) {
            double* own = sums.get() + channel * pieces * kSums;
            int64_t count = length_of(0);
            for (int64_t piece = 1; piece < pieces; ++piece) {
                op_.Join(own, 1, count, own + piece * kSums, 1, length_of(piece));
                count += length_of(piece);
            }
            op_.Finish(channel, own, params.get() + channel * kParams, 1);
        }
        if (!op_.writes()) return;
        for_pieces([&](int64_t, int64_t channel, int64_t offset, int64_t runs, int64_t length) {
            op_.Map(offset, runs, c * s, length, params.get() + channel * kParams, 0);
        });
    }

    void RunColumns() {
        const auto [n, c, s] = shape_;
        const int64_t tiles = CeilDiv(c, kTile);
        const NormColumns columns = ColumnsOf(n, c, s);
        if (columns.block == n && s == 1 && columns.period == c && c >= kTile / 2) {
            RunTiles(tiles);
        } else {
            RunRowBlocks(columns);
        }
    }

    // Treats each column as a channel, and a few rows as a task.
    void RunTiles(int64_t tiles) {
        const auto [n, c, s] = shape_;
        const int64_t group = std::max<int64_t>(1, kSmallTask / (n * std::min(c, kTile)));
        ParallelFor(CeilDiv(tiles, group), [&](int64_t task) {
            for (int64_t tile = task * group; tile < std::min(tiles, (task + 1) * group); ++tile) {
                const int64_t begin = tile * kTile;
                const int64_t width = std::min(kTile, c - begin);
                alignas(64) double sums[kSums * kTile] = {};
                const T* centers = op_.Centers();
                op_.ReduceColumns(begin, n, c, width,
                                  centers == nullptr ? centers : centers + begin, sums, kTile);
                alignas(64) T params[kParams * kTile];
                FinishColumns(begin, width, sums, kTile, params, kTile);
                if (op_.writes()) op_.MapColumns(begin, n, c, width, params, kTile);
            }
        });
    }

    void FinishColumns(int64_t channel, int64_t width, const double* sums, int64_t plane, T* params,
                       int64_t params_plane) {
        for (int64_t j = 0; j < width; ++j) {
            double own[kSums] = {};
            for (int k = 0; k < kSums; ++k) own[k] = sums[k * plane + j];
            op_.Finish(channel + j, own, params + j, params_plane);
        }
    }

    // Handles blocks of rows; joins the columns of a channel afterwards.
    void RunRowBlocks(const NormColumns& columns) {
        const auto [n, c, s] = shape_;
        const int64_t image = c * s;
        const auto [images, period, rows, rest, block] = columns;
        const int64_t blocks = CeilDiv(rows, block);

        const std::unique_ptr<T[]> centers = Spread(op_.Centers(), 1, period);
        const int64_t size = kSums * period;
        const auto sums = Doubles((blocks + 1) * size);
        std::fill_n(sums.get(), (blocks + 1) * size, 0.0);
        ParallelFor(blocks, [&](int64_t b) {
            op_.ReduceColumns(b * block * period, std::min(block, rows - b * block), period, period,
                              centers.get(), sums.get() + b * size, period);
        });
        for (int64_t b = 1; b < blocks; ++b) {
            for (int64_t j = 0; j < period; ++j) {
                op_.Join(sums.get() + j, period, b * block, sums.get() + b * size + j, period,
                         std::min(block, rows - b * block));
            }
        }
        double* const last = sums.get() + blocks * size;
        if (rest != 0) {
            op_.ReduceColumns(rows * period, 1, period, rest, centers.get(), last, period);
        }
        T* const params = new T[static_cast<size_t>(kParams * c)];
        const std::unique_ptr<T[]> holder{params};
        for (int64_t channel = 0; channel < c; ++channel) {
            double own[kSums] = {};
            int64_t count = 0;
            const auto join = [&](const double* more, int64_t more_count) {
                if (count == 0) {
                    for (int k = 0; k < kSums; ++k) own[k] = more[k * period];
                } else {
                    op_.Join(own, 1, count, more, period, more_count);
                }
                count += more_count;
            };
            for (int64_t i = 0; i < images; ++i) {
                for (int64_t j = 0; j < s; ++j) join(sums.get() + (i * c + channel) * s + j, rows);
            }
            for (int64_t at = channel * s; at < rest; at += image) {
                for (int64_t j = 0; j < s; ++j) join(last + at + j, 1);
            }
            op_.Finish(channel, own, params + channel, c);
        }
        if (!op_.writes()) return;
        const std::unique_ptr<T[]> wide = Spread(params, kParams, period);
        ParallelFor(blocks, [&](int64_t b) {
            op_.MapColumns(b * block * period, std::min(block, rows - b * block), period, period,
                           wide.get(), period);
        });
        if (rest != 0) op_.MapColumns(rows * period, 1, period, rest, wide.get(), period);
    }

    // Expands per-channel values to columns, in `planes`; null stays null.
    std::unique_ptr<T[]> Spread(const T* of_channels, int planes, int64_t period) const {
        if (of_channels == nullptr) return nullptr;
        std::unique_ptr<T[]> wide{new T[static_cast<size_t>(planes * period)]};
        T* to = wide.get();
        for (int k = 0; k < planes; ++k, of_channels += shape_.c) {
            for (int64_t j = 0; j < period; j += shape_.c * shape_.s) {
                for (int64_t channel = 0; channel < shape_.c; ++channel, to += shape_.s) {
                    std::fill_n(to, shape_.s, of_channels[channel]);
                }
            }
        }
        return wide;
    }

    static std::unique_ptr<double[]> Doubles(int64_t n) {
        return std::unique_ptr<double[]>{new double[static_cast<size_t>(n)]};
    }

    ChannelShape shape_;
    Op& op_;
};

}  // namespace chainerx::native

// The geometry of pooling windows, and the iteration that pooling kernels share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/pool/pool_window.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

struct PoolRange {
    int64_t begin;
    int64_t end;
};

// One spatial axis.
struct PoolAxis {
    int64_t in;
    int64_t out;
    int64_t size;
    int64_t stride;  // 0: windows divide the axis (adaptive pooling)
    int64_t pad;

    bool IsRegular() const { return stride != 0; }
    // The window of output o, including padding.
    PoolRange Window(int64_t o) const {
        if (!IsRegular()) return {o * in / out, CeilDiv((o + 1) * in, out)};
        return {o * stride - pad, o * stride - pad + size};
    }
    // The part of it that is inside of the input; empty if begin >= end.
    PoolRange Inside(int64_t o) const {
        const PoolRange w = Window(o);
        return {std::max<int64_t>(w.begin, 0), std::min(w.end, in)};
    }
    // The outputs whose windows contain input i.
    PoolRange Outputs(int64_t i) const {
        if (!IsRegular()) return {i * out / in, CeilDiv((i + 1) * out, in)};
        const int64_t first = i + pad - size + 1;
        return {first <= 0 ? 0 : CeilDiv(first, stride), std::min((i + pad) / stride + 1, out)};
    }
    // The outputs whose windows are entirely inside of the input.
    PoolRange Whole() const {
        if (!IsRegular()) return {0, 0};
        const int64_t begin = std::clamp<int64_t>(pad <= 0 ? 0 : CeilDiv(pad, stride), 0, out);
        const int64_t last = in + pad - size;
        return {begin, std::clamp<int64_t>(last < 0 ? 0 : last / stride + 1, begin, out)};
    }
    bool AllInside() const {
        return !IsRegular() || (pad <= 0 && (out - 1) * stride - pad + size <= in);
    }
    // Whether some window is padding only.
    bool HasEmpty() const {
        if (!IsRegular()) return false;
        return in == 0 || pad >= size || (out - 1) * stride - pad >= in;
    }
    // Whether windows tile the axis without gaps or overlap.
    bool IsExact() const { return size == stride && pad == 0 && in == out * stride; }
    // Splits the outputs [begin, end): calls f(first output, number of outputs, input range).
    // Outputs with partial windows come one at a time, others together, with the range of the first
    // of them.
    void ForSegments(int64_t begin, int64_t end, const auto& f) const {
        for (int64_t o = begin; o < end;) {
            const bool inside = o >= whole.begin && o < whole.end;
            const int64_t n = inside ? std::min(whole.end, end) - o : 1;
            f(o, n, Inside(o));
            o += n;
        }
    }
    void ForSegments(const auto& f) const { ForSegments(0, out, f); }

    // The same for all outputs, split into chunks if windows of `taps` elements are long or there
    // are very many, so that Ctrl-C is answered in between.
    void ForSlicedSegments(int64_t taps, const auto& f) const {
        constexpr int64_t kLong = 1 << 10;
        constexpr int64_t kMax = 1 << 22;
        if (taps <= kLong && out <= kMax / size) return ForSegments(f);
        const int64_t step = std::max<int64_t>(64, kMax / size);
        for (int64_t begin = 0; begin < out; begin += step) {
            internal::CheckInterrupt();
            ForSegments(begin, std::min(begin + step, out), f);
        }
    }

    PoolRange whole{0, 0};  // Whole()
};

// The spatial axes; trailing axes that windows cover entirely are merged with the one before.
class PoolPlan {
 public:
    // With `by_rows`, there are at least two axes, and planes are merged into the first axis if
    // possible.
    PoolPlan(const Shape& x, const Shape& y, const PoolWindow& window, bool by_rows) : taps{1} {
        planes = x[0] * x[1];
        for (int8_t i = 2; i < x.ndim(); ++i) {
            PoolAxis axis{x[i], y[i], window.size[i - 2], window.stride[i - 2], window.pad[i - 2]};
            taps *= axis.size;
            PoolAxis* const before = n_ > 0 ? &axes_[n_ - 1] : nullptr;
            if (before != nullptr && before->IsRegular() && axis.out == 1 && axis.IsRegular() &&
                axis.pad == 0 && axis.size == axis.in) {
                before->in *= axis.in;
                before->size *= axis.in;
                before->stride *= axis.in;
                before->pad *= axis.in;
            } else {
                axes_[n_++] = axis;
            }
        }
        if (by_rows && n_ == 1) {
            axes_[1] = axes_[0];
            axes_[0] = {planes, planes, 1, 1, 0};
            n_ = 2;
            planes = 1;
        } else if (by_rows && axes_[0].IsExact()) {
            axes_[0].in *= planes;
            axes_[0].out *= planes;
            planes = 1;
        }
        for (int i = 0; i < n_; ++i) {
            axes_[i].whole = axes_[i].Whole();
            if (i == n_ - 1) break;
            in_rows *= axes_[i].in;
            out_rows *= axes_[i].out;
        }
        in_plane = in_rows * last().in;
        out_plane = out_rows * last().out;
    }

    int64_t planes;
    int64_t taps;        // elements of a window
    int64_t in_rows{1};  // rows of a plane, along the last axis
    int64_t out_rows{1};
    int64_t in_plane;
    int64_t out_plane;

    const PoolAxis& last() const { return axes_[n_ - 1]; }
    // The second to last axis: along it, rows follow each other.
    const PoolAxis& rows() const { return axes_[n_ - 2]; }
    const PoolAxis& axis(int i) const { return axes_[i]; }
    int ndim() const { return n_; }

    bool AllInside() const {
        return std::all_of(axes_, axes_ + n_, [](const PoolAxis& a) { return a.AllInside(); });
    }
    bool IsRegular() const {
        return std::all_of(axes_, axes_ + n_, [](const PoolAxis& a) { return a.IsRegular(); });
    }
    bool HasEmpty() const {
        return std::any_of(axes_, axes_ + n_, [](const PoolAxis& a) { return a.HasEmpty(); });
    }

    // The position of an output (or input) row along all axes but the last.
    void Unravel(int64_t row, bool of_input, int64_t* at) const {
        for (int i = n_ - 2; i >= 0; --i) {
            const int64_t n = of_input ? axes_[i].in : axes_[i].out;
            at[i] = row % n;
            row /= n;
        }
    }

    int64_t Row(const int64_t* at) const {
        int64_t row = 0;
        for (int i = 0; i < n_ - 1; ++i) row = row * axes_[i].out + at[i];
        return row;
    }

    // Calls f(input row, window index of its first element) for each input row that the windows of
    // an output row cover, in the order of these indices.
    void ForInputRows(const int64_t* at, const auto& f) const {
        PoolRange ranges[kMaxSpatial];
        int64_t origin[kMaxSpatial];
        for (int i = 0; i < n_ - 1; ++i) {
            ranges[i] = axes_[i].Inside(at[i]);
            origin[i] = axes_[i].Window(at[i]).begin;
        }
        ForAll(ranges, [&](const int64_t* i) {
            int64_t row = 0;
            int64_t number = 0;
            for (int k = 0; k < n_ - 1; ++k) {
                row = row * axes_[k].in + i[k];
                number = number * axes_[k].size + (i[k] - origin[k]);
            }
            f(row, number * last().size);
        });
    }

    // Calls f(output row) for each output row whose windows cover an input row.
    void ForOutputRows(const int64_t* at, const auto& f) const {
        PoolRange ranges[kMaxSpatial];
        for (int i = 0; i < n_ - 1; ++i) ranges[i] = axes_[i].Outputs(at[i]);
        ForAll(ranges, [&](const int64_t* o) {
            int64_t row = 0;
            for (int k = 0; k < n_ - 1; ++k) row = row * axes_[k].out + o[k];
            f(row);
        });
    }

    // Number of elements inside of the input, over all axes but the last, in the windows of an
    // output row.
    int64_t CountInside(const int64_t* at) const {
        int64_t count = 1;
        for (int i = 0; i < n_ - 1; ++i) {
            const PoolRange r = axes_[i].Inside(at[i]);
            count *= std::max<int64_t>(r.end - r.begin, 0);
        }
        return count;
    }

 private:
    void ForAll(const PoolRange* ranges, const auto& f) const {
        const int n = n_ - 1;
        int64_t at[kMaxSpatial];
        for (int i = 0; i < n; ++i) {
            if (ranges[i].begin >= ranges[i].end) return;
            at[i] = ranges[i].begin;
        }
        constexpr int64_t kInterruptInterval = 1 << 10;
        for (int64_t calls = 1;; ++calls) {
            if (calls % kInterruptInterval == 0) internal::CheckInterrupt();
            f(at);
            int i = n - 1;
            for (; i >= 0 && ++at[i] == ranges[i].end; --i) at[i] = ranges[i].begin;
            if (i < 0) return;
        }
    }

    int n_{0};
    PoolAxis axes_[kMaxSpatial + 1]{};
};

// Splits `n` items of about `cost` elements each among threads: calls f(begin, end).
void ForPieces(int64_t n, int64_t cost, const auto& f) {
    constexpr int64_t kBlock = int64_t{1} << 16;
    const int64_t step = std::max<int64_t>(1, kBlock / std::max<int64_t>(cost, 1));
    ParallelFor(CeilDiv(n, step), [&](int64_t block) {
        internal::CheckInterrupt();
        f(block * step, std::min(n, (block + 1) * step));
    });
}

// Splits the output among threads: calls f(plane, at, end) for runs of output rows of one plane,
// from position at[i] along each axis but the last to `end` along the row axis.
void ForRuns(const PoolPlan& plan, const auto& f) {
    constexpr int64_t kRun = int64_t{1} << 15;  // input elements of one run, approximately
    const int64_t row = std::max(plan.in_plane / plan.out_rows, plan.last().out);
    const int64_t length = std::clamp<int64_t>(kRun / row, 1, plan.rows().out);
    const int64_t runs = CeilDiv(plan.rows().out, length);
    const int64_t columns = plan.out_rows / plan.rows().out;  // of runs, in a plane
    ForPieces(plan.planes * columns * runs, length * row, [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t column = unit / runs;
            const int64_t first = unit % runs * length;
            int64_t at[kMaxSpatial];
            plan.Unravel(column % columns * plan.rows().out + first, false, at);
            f(column / columns, at, std::min(first + length, plan.rows().out));
        }
    });
}

}  // namespace chainerx::native

// The plan of indexing along an axis, shared by gather and scatter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/index/indexing.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {
namespace {

constexpr int64_t kChunk = 512;           // indices that are resolved at a time, on the stack
constexpr int64_t kParallel = 64 * 1024;  // elements per chunk of a thread

// Gather sources larger than L2 are prefetched: a tenth to a third off the time of a million items
// on AMD's Zen 4 (take and x[i] in benchmarks/indexing.py).
constexpr int64_t kNearBytes = 512 * 1024;
constexpr int64_t kIndicesAhead = 64;
// Prefetches an item; any index is allowed, since nothing is read. Always inlined, see
// PrefetchAhead.
[[gnu::always_inline]] inline void PrefetchItem(const void* base, int64_t stride, int64_t index) {
    const auto offset = static_cast<uintptr_t>(index) * static_cast<uintptr_t>(stride);
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(base) + offset));
}

// The bound of an index, and the name of the routine and axis for the error.
struct Bound {
    const char* op;
    int64_t length;
    IndexBoundsMode mode;
};

template <typename T>
int64_t ResolveOne(T index, int64_t position, const Bound& bound) {
    const auto [op, length, mode] = bound;
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const auto n = static_cast<Wide>(length);
    auto i = static_cast<Wide>(index);
    if (mode == IndexBoundsMode::kWrap) {
        i %= n;
        if (i < 0) i += n;
    } else if (mode == IndexBoundsMode::kClip) {
        i = std::clamp(i, Wide{0}, n - 1);
    } else {
        if (i < 0) i += n;
        if (i < 0 || i >= n) {
            Fail(KernelError::Index(op, "indices", position, static_cast<int64_t>(index), length,
                                    !std::is_signed_v<T>));
        }
    }
    return static_cast<int64_t>(i);
}

// Resolves n <= kChunk indices from `begin` on into [0, length), into a copy: the checked values
// are those used, even if another thread writes to the array meanwhile.
const int64_t* Resolve(const Array& indices, int64_t begin, int64_t n, const Bound& bound,
                       int64_t* buffer) {
    VisitInt(indices.dtype(), [&]<typename T>() {
        const T* p = reinterpret_cast<const T*>(indices.raw_data()) + begin;
        for (int64_t i = 0; i < n; ++i) buffer[i] = static_cast<int64_t>(p[i]);
        // Usually all are in range: then no sign bit is set in either of these.
        int64_t signs = 0;
        for (int64_t i = 0; i < n; ++i) signs |= buffer[i] | (bound.length - 1 - buffer[i]);
        if (signs >= 0) return;
        for (int64_t i = 0; i < n; ++i) {
            buffer[i] = ResolveOne(static_cast<T>(buffer[i]), begin + i, bound);
        }
    });
    return buffer;
}

// Throws IndexError if one is out of range, before anything is written, or if there is nothing to
// write.
void CheckAll(const Array& indices, const Bound& bound) {
    if (bound.mode == IndexBoundsMode::kWrap || bound.mode == IndexBoundsMode::kClip) return;
    const int64_t n = indices.GetTotalSize();
    VisitInt(indices.dtype(), [&]<typename T>() {
        const T* p = reinterpret_cast<const T*>(indices.raw_data());
        for (int64_t begin = 0; begin < n; begin += kChunk) {
            const int64_t end = std::min(n, begin + kChunk);
            int64_t signs = 0;  // as in Resolve
            for (int64_t i = begin; i < end; ++i) {
                const auto index = static_cast<int64_t>(p[i]);
                signs |= index | (bound.length - 1 - index);
            }
            if (signs >= 0) continue;
            for (int64_t i = begin; i < end; ++i) ResolveOne(p[i], i, bound);
        }
    });
}

// An array `x`, indexed along an axis, and a contiguous `y` with the indices in place of the axis;
// or one element, which stands for all of y. Their common axes are split into outer positions and
// runs: a run is contiguous in y, or one element.
struct Plan {
    const Array& indices;
    Bound bound;
    int64_t n;         // number of indices
    int64_t axis_x;    // stride of the axis in x
    int64_t axis_y;    // stride of an index in y
    int64_t outer{1};  // number of outer positions
    int64_t run{1};
    int64_t run_x{0};
    int64_t run_y{0};
    StridedIterator<2> rest;  // iterates over outer positions

    Plan(const char* op, const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
         const Array& y, bool is_one = false)
        : indices{indices},
          bound{op, x.shape()[axis], mode},
          n{indices.GetTotalSize()},
          axis_x{x.strides()[axis]},
          rest{AxisOrder::kGiven, Without(x, axis, 1), Without(y, axis, indices.ndim())} {
        axis_y = is_one ? 0 : y.GetItemSize();
        for (int8_t i = axis + 1; i < x.ndim(); ++i) axis_y *= x.shape()[i];
        const auto is_run = [&] {
            if (is_one) return std::abs(rest.run_stride(0)) < std::abs(axis_x);
            return rest.run_stride(1) == y.GetItemSize() && axis_y != y.GetItemSize();
        };
        if (rest.ndim > 0 && is_run()) {
            run = rest.run_length();
            run_x = rest.run_stride(0);
            run_y = rest.run_stride(1);
            --rest.ndim;
        }
        for (int i = 0; i < rest.ndim; ++i) outer *= rest.dims[i];
    }

    static Array Without(const Array& x, int8_t axis, int8_t count) {
        Shape shape;
        Strides strides;
        for (int8_t i = 0; i < x.ndim(); ++i) {
            if (i >= axis && i < axis + count) continue;
            shape.push_back(x.shape()[i]);
            strides.push_back(x.strides()[i]);
        }
        return internal::MakeView(x, shape, strides, x.raw_data());
    }

    bool empty() const { return n == 0 || outer == 0 || run == 0; }

    // Calls f(x, y, resolved, count) for chunks of the given outer positions and indices: the runs
    // start at x + resolved[j] * axis_x and y + j * axis_y.
    void Range(int64_t outer_begin, int64_t outer_end, int64_t begin, int64_t end,
               const auto& f) const {
        int64_t buffer[kChunk];
        int64_t work = 0;
        for (; begin < end; begin += kChunk) {
            const int64_t count = std::min(kChunk, end - begin);
            const int64_t* resolved = Resolve(indices, begin, count, bound, buffer);
            StridedCursor<2> at{rest, outer_begin};
            for (int64_t o = outer_begin; o < outer_end; ++o, at.Advance(1)) {
                f(at.p[0], at.p[1] + begin * axis_y, resolved, count);
                work += count * run;
                if (work > kParallel) {
                    work = 0;
                    internal::CheckInterrupt();
                }
            }
        }
    }
};

}  // namespace
}  // namespace chainerx::native

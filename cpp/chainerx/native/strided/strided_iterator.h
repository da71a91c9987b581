// Strided iteration over N operands of one shape. All kernels here that handle strides start from
// it; they differ only in the order of the axes.
//
// Axes of length 1 are dropped and dimensions that are contiguous in all operands are collapsed, so
// most arrays become one or two long runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"

namespace chainerx::native {

enum class AxisOrder : int8_t {
    kGiven,     // in the given order, for loops to which a position has a meaning
    kByStride,  // by memory order, forwards, where any order gives the same result
};

// Returns whether `x` has the strides of a contiguous output: no iterator is needed.
inline bool InStep(const Array& x, const Array& out) {
    return x.IsContiguous() && x.shape() == out.shape();
}

template <int N>
struct StridedIterator {
    int ndim{0};
    int64_t total{1};  // elements
    // Outermost first. Strides are in bytes, 0 along a broadcast axis.
    int64_t dims[kMaxNdim];
    int64_t strides[N][kMaxNdim];
    char* data[N]{};

    StridedIterator() = default;

    // Broadcasts arrays to `shape`. A null array stands for the single value at `values[k]`.
    StridedIterator(const Shape& shape, const Array* const (&arrays)[N], char* const (&values)[N],
                    AxisOrder order) {
        for (int k = 0; k < N; ++k) {
            data[k] = arrays[k] != nullptr ? arrays[k]->raw_data() : values[k];
        }
        for (int8_t i = 0; i < shape.ndim(); ++i) {
            int64_t s[N];
            for (int k = 0; k < N; ++k) {
                s[k] = 0;
                if (arrays[k] == nullptr) continue;
                const int j = i - (shape.ndim() - arrays[k]->ndim());
                if (j >= 0 && arrays[k]->shape()[j] != 1) s[k] = arrays[k]->strides()[j];
            }
            Add(shape[i], s);
        }
        CollapseDims(order);
    }

    // Iterates over arrays of one shape.
    template <typename... Arrays>
    explicit StridedIterator(AxisOrder order, const Arrays&... arrays)
        : data{arrays.raw_data()...} {
        const Array* const all[N] = {&arrays...};
        for (int8_t i = 0; i < all[0]->ndim(); ++i) {
            int64_t s[N];
            for (int k = 0; k < N; ++k) s[k] = all[k]->strides()[i];
            Add(all[0]->shape()[i], s);
        }
        CollapseDims(order);
    }

    // Appends an axis, inside those before.
    void Add(int64_t size, const int64_t (&s)[N]) {
        total *= size;
        if (size == 1) return;
        dims[ndim] = size;
        for (int k = 0; k < N; ++k) strides[k][ndim] = s[k];
        ++ndim;
    }

    // Call this after the last Add: it sorts and collapses the axes.
    void CollapseDims(AxisOrder order) {
        if (order == AxisOrder::kByStride) {
            for (int i = 0; i < ndim; ++i) {
                if (IsBackward(i)) Flip(i);
            }
            // Insertion sort: there are few axes, usually in order.
            for (int i = 1; i < ndim; ++i) {
                for (int j = i; j > 0 && IsInside(j - 1, j); --j) SwapAxes(j - 1, j);
            }
        }
        int last = 0;
        for (int i = 1; i < ndim; ++i) {
            bool merge = true;
            for (int k = 0; k < N; ++k) merge &= strides[k][last] == strides[k][i] * dims[i];
            if (merge) {
                dims[last] *= dims[i];
            } else {
                dims[++last] = dims[i];
            }
            for (int k = 0; k < N; ++k) strides[k][last] = strides[k][i];
        }
        if (ndim > 0) ndim = last + 1;
    }

    // Adds an axis of one element if there is none.
    void EnsureAxis() {
        if (ndim != 0) return;
        ndim = 1;
        dims[0] = 1;
        for (int k = 0; k < N; ++k) strides[k][0] = 0;
    }

    // Moves axis i to position `to`, which is not before it.
    void MoveInwards(int i, int to) {
        for (; i < to; ++i) SwapAxes(i, i + 1);
    }

    // The length of the innermost axis, which must exist.
    int64_t run_length() const { return dims[ndim - 1]; }
    int64_t run_stride(int k) const { return strides[k][ndim - 1]; }

 private:
    // Takes the direction of most operands, or else of the first that moves: the others are copied.
    bool IsBackward(int i) const {
        int forward = 0;
        int first = 0;
        for (int k = N - 1; k >= 0; --k) {
            if (strides[k][i] == 0) continue;
            first = strides[k][i] < 0 ? -1 : 1;
            forward += first;
        }
        return forward != 0 ? forward < 0 : first < 0;
    }
    // The first operand whose strides differ decides the order.
    bool IsInside(int i, int j) const {
        for (int k = 0; k < N; ++k) {
            const int64_t a = std::abs(strides[k][i]);
            const int64_t b = std::abs(strides[k][j]);
            if (a != b) return a < b;
        }
        return false;
    }
    void Flip(int i) {
        for (int k = 0; k < N; ++k) {
            data[k] += strides[k][i] * (dims[i] - 1);
            strides[k][i] = -strides[k][i];
        }
    }
    void SwapAxes(int i, int j) {
        std::swap(dims[i], dims[j]);
        for (int k = 0; k < N; ++k) std::swap(strides[k][i], strides[k][j]);
    }
};

// A position in the iteration, and its address in each operand.
template <int N>
struct StridedCursor {
    const StridedIterator<N>& iter;
    int64_t index[kMaxNdim];
    char* p[N];

    // The iteration must not be empty. `base` replaces the addresses of the operands.
    StridedCursor(const StridedIterator<N>& w, int64_t position)
        : StridedCursor{w, position, w.data} {}
    StridedCursor(const StridedIterator<N>& w, int64_t position, char* const (&base)[N]) : iter{w} {
        for (int k = 0; k < N; ++k) p[k] = base[k];
        for (int i = w.ndim - 1; i >= 0; --i) {
            index[i] = position % w.dims[i];
            position /= w.dims[i];
            for (int k = 0; k < N; ++k) p[k] += index[i] * w.strides[k][i];
        }
    }

    // Number of elements left in the run.
    int64_t left() const { return iter.ndim == 0 ? 1 : iter.run_length() - index[iter.ndim - 1]; }

    // Advances by at most left() elements.
    void Advance(int64_t n) { AdvanceAxis(iter.ndim - 1, n); }

    // Advances `n` positions along axis i, not beyond its end. Inner axes must be at their start.
    void AdvanceAxis(int i, int64_t n) {
        if (i < 0) return;
        for (int k = 0; k < N; ++k) p[k] += n * iter.strides[k][i];
        index[i] += n;
        while (index[i] == iter.dims[i] && i > 0) {
            for (int k = 0; k < N; ++k) {
                p[k] += iter.strides[k][i - 1] - iter.dims[i] * iter.strides[k][i];
            }
            index[i] = 0;
            ++index[--i];
        }
    }
};

// Calls f(pointers, strides, n) for each innermost run.
template <int N, typename F>
void ForEachRun(const StridedIterator<N>& iter, const F& f) {
    if (iter.total == 0) return;
    int64_t strides[N] = {};
    for (int k = 0; k < N && iter.ndim > 0; ++k) strides[k] = iter.run_stride(k);
    StridedCursor<N> cursor{iter, 0};
    for (int64_t left = iter.total; left > 0;) {
        const int64_t n = cursor.left();
        f(cursor.p, strides, n);
        cursor.Advance(n);
        left -= n;
    }
}

}  // namespace chainerx::native

// Walking over N operands of one shape: the axes, and a position in them. All kernels of this
// folder that meet strides start here; they differ in the order of the axes only.
//
// Axes of length 1 are dropped, and axes that follow each other in all operands are merged, so most
// arrays become one or two long runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"

namespace chainerx::native {

enum class AxisOrder : int8_t {
    kGiven,     // as the axes were added: where a position means something
    kByStride,  // as they lie in memory, forwards: where every order gives the same
};

// Whether `x` goes along with an output that is contiguous: no walk is needed.
inline bool InStep(const Array& x, const Array& out) {
    return x.IsContiguous() && x.shape() == out.shape();
}

template <int N>
struct Walk {
    int ndim{0};
    int64_t total{1};  // elements
    // Outermost first. Strides are in bytes, 0 along a broadcast axis.
    int64_t dims[kMaxNdim];
    int64_t strides[N][kMaxNdim];
    char* data[N]{};

    Walk() = default;

    // Arrays that are broadcast to `shape`. A null one stands for one value at `values[k]`.
    Walk(const Shape& shape, const Array* const (&arrays)[N], char* const (&values)[N],
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
        Arrange(order);
    }

    // Arrays of one shape.
    template <typename... Arrays>
    explicit Walk(AxisOrder order, const Arrays&... arrays) : data{arrays.raw_data()...} {
        const Array* const all[N] = {&arrays...};
        for (int8_t i = 0; i < all[0]->ndim(); ++i) {
            int64_t s[N];
            for (int k = 0; k < N; ++k) s[k] = all[k]->strides()[i];
            Add(all[0]->shape()[i], s);
        }
        Arrange(order);
    }

    // One more axis, inside those before.
    void Add(int64_t size, const int64_t (&s)[N]) {
        total *= size;
        if (size == 1) return;
        dims[ndim] = size;
        for (int k = 0; k < N; ++k) strides[k][ndim] = s[k];
        ++ndim;
    }

    // To be called once all axes are there.
    void Arrange(AxisOrder order) {
        if (order == AxisOrder::kByStride) {
            for (int i = 0; i < ndim; ++i) {
                if (IsBackward(i)) Flip(i);
            }
            // Insertion sort: there are few, and usually they are in order.
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

    // An axis of one element in the place of none.
    void EnsureAxis() {
        if (ndim != 0) return;
        ndim = 1;
        dims[0] = 1;
        for (int k = 0; k < N; ++k) strides[k][0] = 0;
    }

    // Takes axis i to place `to`, which is not before it.
    void MoveInwards(int i, int to) {
        for (; i < to; ++i) SwapAxes(i, i + 1);
    }

    // Of the innermost axis, which must be there.
    int64_t run_length() const { return dims[ndim - 1]; }
    int64_t run_stride(int k) const { return strides[k][ndim - 1]; }

 private:
    // The direction of most operands, or else of the first that moves: the others are copied.
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
    // The first operand whose strides differ decides on the order.
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

// A position in a walk, and where each operand has it.
template <int N>
struct Cursor {
    const Walk<N>& walk;
    int64_t index[kMaxNdim];
    char* p[N];

    // The walk must not be empty. `base`: where the operands begin, if not where the walk says.
    Cursor(const Walk<N>& w, int64_t position) : Cursor{w, position, w.data} {}
    Cursor(const Walk<N>& w, int64_t position, char* const (&base)[N]) : walk{w} {
        for (int k = 0; k < N; ++k) p[k] = base[k];
        for (int i = w.ndim - 1; i >= 0; --i) {
            index[i] = position % w.dims[i];
            position /= w.dims[i];
            for (int k = 0; k < N; ++k) p[k] += index[i] * w.strides[k][i];
        }
    }

    // What is left of the run.
    int64_t left() const { return walk.ndim == 0 ? 1 : walk.run_length() - index[walk.ndim - 1]; }

    // At most left() elements further.
    void Advance(int64_t n) { AdvanceAxis(walk.ndim - 1, n); }

    // `n` positions along axis i, not beyond its end. Those inside of it stand at their start.
    void AdvanceAxis(int i, int64_t n) {
        if (i < 0) return;
        for (int k = 0; k < N; ++k) p[k] += n * walk.strides[k][i];
        index[i] += n;
        while (index[i] == walk.dims[i] && i > 0) {
            for (int k = 0; k < N; ++k) {
                p[k] += walk.strides[k][i - 1] - walk.dims[i] * walk.strides[k][i];
            }
            index[i] = 0;
            ++index[--i];
        }
    }
};

// Calls f(pointers, strides, n) for each innermost run.
template <int N, typename F>
void ForEachRun(const Walk<N>& walk, const F& f) {
    if (walk.total == 0) return;
    int64_t strides[N] = {};
    for (int k = 0; k < N && walk.ndim > 0; ++k) strides[k] = walk.run_stride(k);
    Cursor<N> cursor{walk, 0};
    for (int64_t left = walk.total; left > 0;) {
        const int64_t n = cursor.left();
        f(cursor.p, strides, n);
        cursor.Advance(n);
        left -= n;
    }
}

}  // namespace chainerx::native

// Pooling: a thread has one output, or one element of the gradient. Elements are added in the
// order of native (native/pool/pooling_sum.cc).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/cuda/device/errors.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/pool/params.h"

namespace chainerx::cuda {

struct PoolSpan {
    int64_t begin;
    int64_t end;
};

inline PoolSpan WindowOf(const PoolDim& a, int64_t o) {
    if (a.stride == 0) return {o * a.in / a.out, ((o + 1) * a.in + a.out - 1) / a.out};
    return {o * a.stride - a.pad, o * a.stride - a.pad + a.size};
}
inline PoolSpan InsideOf(const PoolDim& a, int64_t o) {
    const PoolSpan w = WindowOf(a, o);
    return {w.begin > 0 ? w.begin : 0, w.end < a.in ? w.end : a.in};
}
// The outputs whose windows have input i.
inline PoolSpan OutputsOf(const PoolDim& a, int64_t i) {
    if (a.stride == 0) return {i * a.out / a.in, ((i + 1) * a.out + a.in - 1) / a.in};
    const int64_t first = i + a.pad - a.size + 1;
    const int64_t end = (i + a.pad) / a.stride + 1;
    return {first <= 0 ? 0 : (first + a.stride - 1) / a.stride, end < a.out ? end : a.out};
}

// Splits number i of an element of the input or output into its places; returns its plane.
template <bool kIsInput>
inline int64_t Unravel(const PoolParams& p, int64_t i, int64_t* at) {
    for (int d = p.ndim - 1; d >= 0; --d) {
        const int64_t n = kIsInput ? p.dims[d].in : p.dims[d].out;
        at[d] = i % n;
        i /= n;
    }
    return i;
}

// Calls f(place) for all places in C order of the spans of the first n axes.
template <typename F>
inline void ForPlaces(const PoolSpan* spans, int n, const F& f) {
    int64_t at[kMaxPoolDims];
    for (int d = 0; d < n; ++d) {
        if (spans[d].begin >= spans[d].end) return;
        at[d] = spans[d].begin;
    }
    for (;;) {
        f(at);
        int d = n - 1;
        for (; d >= 0 && ++at[d] == spans[d].end; --d) at[d] = spans[d].begin;
        if (d < 0) return;
    }
}

// The number of elements of a plane before `at`, along the first n axes.
template <bool kIsInput>
inline int64_t Ravel(const PoolParams& p, const int64_t* at, int n) {
    int64_t i = 0;
    for (int d = 0; d < n; ++d) i = i * (kIsInput ? p.dims[d].in : p.dims[d].out) + at[d];
    return i;
}

// The first largest element; NaN is larger than numbers.
template <typename T, typename Index>
inline void MaxPool(const PoolParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n_out) return;
    int64_t at[kMaxPoolDims];
    const int64_t plane = Unravel<false>(p, i, at);
    PoolSpan spans[kMaxPoolDims];
    int64_t origin[kMaxPoolDims];
    int64_t elements = 1;
    for (int d = 0; d < p.ndim; ++d) {
        spans[d] = InsideOf(p.dims[d], at[d]);
        origin[d] = WindowOf(p.dims[d], at[d]).begin;
        elements *= p.dims[d].in;
    }
    const T* x = At<const T>(p.x) + plane * elements;
    Number<T> value{};
    if constexpr (std::is_floating_point_v<Number<T>>) {
        value = -std::numeric_limits<Number<T>>::infinity();
    } else if constexpr (!std::is_same_v<T, Bool8>) {
        value = std::numeric_limits<T>::lowest();
    }
    int64_t number = 0;
    bool is_first = true;
    ForPlaces(spans, p.ndim, [&](const int64_t* place) {
        const Number<T> v = AsNumbers::Load(x[Ravel<true>(p, place, p.ndim)]);
        if (!is_first && (v <= value || value != value)) return;
        is_first = false;
        value = v;
        number = 0;
        for (int d = 0; d < p.ndim; ++d) {
            number = number * p.dims[d].size + (place[d] - origin[d]);
        }
    });
    *At<T>(p.y, i) = AsNumbers::Store<T>(value);
    if constexpr (!std::is_same_v<Index, void>) {
        *At<Index>(p.indices, i) = static_cast<Index>(number);
    }
}

// The place in its window that an index names, from 0 on, or -1 if there is none.
template <typename Index>
inline int64_t TapOf(const PoolParams& p, Index index) {
    auto number = static_cast<int64_t>(index);
    if (number < 0 && !std::is_same_v<Index, uint64_t>) number += p.taps;
    return number < 0 || number >= p.taps ? -1 : number;
}

template <typename T, typename Index>
inline void PoolScatter(const PoolParams& p) {
    const int64_t i = ThreadNumber();
    const Index* indices = At<const Index>(p.indices);
    if (i < p.n_out && TapOf<Index>(p, indices[i]) < 0) {
        ReportError(p.log, p.site, i, static_cast<int64_t>(indices[i]));
    }
    if (i >= p.n_in) return;
    int64_t at[kMaxPoolDims];
    const int64_t plane = Unravel<true>(p, i, at);
    PoolSpan spans[kMaxPoolDims];
    int64_t elements = 1;
    for (int d = 0; d < p.ndim; ++d) {
        spans[d] = OutputsOf(p.dims[d], at[d]);
        elements *= p.dims[d].out;
    }
    using C = Number<T>;
    C sum = 0;
    ForPlaces(spans, p.ndim, [&](const int64_t* place) {
        int64_t number = 0;
        for (int d = 0; d < p.ndim; ++d) {
            number = number * p.dims[d].size + (at[d] - WindowOf(p.dims[d], place[d]).begin);
        }
        const int64_t o = plane * elements + Ravel<false>(p, place, p.ndim);
        if (TapOf<Index>(p, indices[o]) != number) return;
        const C g = AsNumbers::Load(At<const T>(p.y)[o]);
        sum = p.copies ? g : static_cast<C>(sum + g);
    });
    *At<T>(p.x, i) = AsNumbers::Store<T>(sum);
}

template <typename T, typename Index>
inline void PoolGather(const PoolParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n_out) return;
    const Index index = At<const Index>(p.indices)[i];
    int64_t number = TapOf<Index>(p, index);
    T value{};
    if (number < 0) {
        ReportError(p.log, p.site, i, static_cast<int64_t>(index));
    } else {
        int64_t at[kMaxPoolDims];
        const int64_t plane = Unravel<false>(p, i, at);
        bool is_inside = true;
        int64_t elements = 1;
        for (int d = p.ndim - 1; d >= 0; --d) {
            const PoolDim& a = p.dims[d];
            at[d] = WindowOf(a, at[d]).begin + number % a.size;
            number /= a.size;
            is_inside = is_inside && at[d] >= 0 && at[d] < a.in;
            elements *= a.in;
        }
        if (is_inside) {
            value = At<const T>(p.x)[plane * elements + Ravel<true>(p, at, p.ndim)];
        }
    }
    *At<T>(p.y, i) = value;
}

inline int64_t CountOf(const PoolSpan& s) { return s.end > s.begin ? s.end - s.begin : 0; }

// What divides the sum of a window with so many elements inside.
inline int64_t DivisorOf(const PoolParams& p, int64_t inside) {
    return p.divisor == 0 ? 1 : p.divisor == 1 ? p.taps : inside > 0 ? inside : 1;
}

// The window of one output: what its thread, or the lanes of its block, add.
template <typename T>
struct SumWindow {
    using C = Number<T>;
    const PoolParams& p;
    const T* x;
    PoolSpan spans[kMaxPoolDims];
    int64_t rows{1};
    int64_t width;
    int64_t last_output;

    SumWindow(const PoolParams& params, int64_t i) : p{params} {
        int64_t at[kMaxPoolDims];
        const int64_t plane = Unravel<false>(p, i, at);
        int64_t elements = 1;
        for (int d = 0; d < p.ndim; ++d) {
            spans[d] = InsideOf(p.dims[d], at[d]);
            elements *= p.dims[d].in;
            if (d + 1 < p.ndim) rows *= CountOf(spans[d]);
        }
        width = CountOf(spans[p.ndim - 1]);
        last_output = at[p.ndim - 1];
        x = At<const T>(p.x) + plane * elements;
    }

    // The sum of all rows at one place of the last axis.
    C SumRows(int64_t t) const {
        C sum = 0;
        bool is_first = true;
        const int64_t n = p.dims[p.ndim - 1].in;
        ForPlaces(spans, p.ndim - 1, [&](const int64_t* place) {
            const C v = AsNumbers::Load(x[Ravel<true>(p, place, p.ndim - 1) * n + t]);
            sum = is_first ? v : sum + v;
            is_first = false;
        });
        return sum;
    }
    C SumInOrder() const {
        C sum = 0;
        if (rows == 0 || width == 0) return sum;
        if (p.rows_first) {
            for (int64_t t = 0; t < width; ++t) sum += SumRows(spans[p.ndim - 1].begin + t);
            return sum;
        }
        ForPlaces(spans, p.ndim, [&](const int64_t* place) {
            sum += AsNumbers::Load(x[Ravel<true>(p, place, p.ndim)]);
        });
        return sum;
    }
    // Whether native sums along the window in lanes: it has one long row, and few neighbors.
    bool IsAlong() const {
        const PoolDim& a = p.dims[p.ndim - 1];
        const bool is_whole = last_output >= a.whole_begin && last_output < a.whole_end;
        const int64_t neighbors = is_whole ? a.whole_end - a.whole_begin : 1;
        constexpr auto kItem = static_cast<int64_t>(sizeof(C));
        return (p.rows_first ? rows > 0 : rows == 1) && neighbors * kItem < 64 &&
               width * kItem >= 128;
    }
    void Store(int64_t i, C sum) const {
        const auto divisor = static_cast<C>(DivisorOf(p, rows * width));
        *At<T>(p.y, i) = AsNumbers::Store<T>(sum / divisor);
    }
};

template <typename T>
inline void SumPool(const PoolParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n_out) return;
    const SumWindow<T> window{p, i};
    window.Store(i, window.SumInOrder());
}

// A block of as many threads as native has lanes sums one window.
template <typename T>
inline void SumPoolAlong(const PoolParams& p) {
    using C = Number<T>;
    constexpr int kLanes = 256 / sizeof(C);
    CX_SHARED(C, shared, kLanes);
    const int lane = static_cast<int>(threadIdx.x);
    for (int64_t i = blockIdx.x; i < p.n_out; i += gridDim.x) {
        const SumWindow<T> window{p, i};
        if (!window.IsAlong()) {
            if (lane == 0) window.Store(i, window.SumInOrder());
            continue;
        }
        C sum = 0;
        for (int64_t t = lane; t < window.width; t += kLanes) {
            sum += window.SumRows(window.spans[p.ndim - 1].begin + t);
        }
        sum = FoldLanes(sum, shared, kLanes, [](C a, C b) { return a + b; });
        if (lane == 0) window.Store(i, sum);
    }
}

// With kDividesEach each element of gy is divided by the elements inside of its window; else sums
// of rows are divided.
template <typename T, bool kDividesEach>
inline void SumPoolGrad(const PoolParams& p) {
    using C = Number<T>;
    const int64_t i = ThreadNumber();
    if (i >= p.n_in) return;
    int64_t at[kMaxPoolDims];
    const int64_t plane = Unravel<true>(p, i, at);
    PoolSpan spans[kMaxPoolDims];
    int64_t elements = 1;
    for (int d = 0; d < p.ndim; ++d) {
        spans[d] = OutputsOf(p.dims[d], at[d]);
        elements *= p.dims[d].out;
    }
    const int last = p.ndim - 1;
    const T* gy = At<const T>(p.y) + plane * elements;
    const auto divisor = static_cast<C>(kDividesEach ? 1 : DivisorOf(p, p.taps));
    C sum = 0;
    for (int64_t o = spans[last].begin; o < spans[last].end; ++o) {
        const int64_t width = CountOf(InsideOf(p.dims[last], o));
        C rows = 0;
        bool is_first = true;
        ForPlaces(spans, last, [&](const int64_t* place) {
            C g = AsNumbers::Load(gy[Ravel<false>(p, place, last) * p.dims[last].out + o]);
            if constexpr (kDividesEach) {
                int64_t n = width;
                for (int d = 0; d < last; ++d) n *= CountOf(InsideOf(p.dims[d], place[d]));
                g = g / static_cast<C>(n > 0 ? n : 1);
            }
            rows = is_first ? g : rows + g;
            is_first = false;
        });
        const C total = divisor == C(1) ? rows : rows / divisor;
        sum = p.copies ? total : sum + total;
    }
    *At<T>(p.x, i) = AsNumbers::Store<T>(sum);
}

}  // namespace chainerx::cuda

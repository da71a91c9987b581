// Cumulative sums and products, and the recurrence of their gradients. Short lines, and many of
// them, are scanned by a thread each, one element after the other, as native does. Long ones are
// cut into chunks: their totals are scanned first.
#pragma once

#include <cstdint>

#include "chainerx/cuda/reduce/device/policies.h"
#include "chainerx/cuda/reduce/params.h"

namespace chainerx::cuda {

// A scan has State, what a stretch of elements does to the one before it; Load(x, a); Join(first,
// second); and Of(state), the number that is stored.
template <typename P, typename T>
struct Cumulative {
    static constexpr bool kIsLinear = false;
    using State = typename P::Acc;
    static State Load(const char* x, const char* /*a*/) {
        return P::Load(*reinterpret_cast<const T*>(x), {});
    }
    static State Join(State a, State b) { return P::Combine(a, b); }
    static State Begin(State first) { return P::Combine(P::Identity(), first); }
    static State Of(State s) { return s; }
};

template <typename C>
struct LinearStep {
    C factor;
    C value;
};
template <typename T>
struct Linear {
    static constexpr bool kIsLinear = true;
    using C = Number<T>;
    using State = LinearStep<C>;
    static State Load(const char* x, const char* a) {
        return {static_cast<C>(*reinterpret_cast<const T*>(a)),
                static_cast<C>(*reinterpret_cast<const T*>(x))};
    }
    static State Join(State s1, State s2) {
        // A product of many factors may overflow.
        const C product = s1.value == C(0) ? C(0) : s2.factor * s1.value;
        return {s1.factor * s2.factor, s2.value + product};
    }
    static State Begin(State first) { return first; }
    static C Of(State s) { return s.value; }
};

struct ScanLine {
    char* p[3];
};
inline ScanLine LineOf(const ScanParams& p, int64_t line) {
    int64_t offsets[3] = {};
    for (int d = p.ndim - 1; d >= 0; --d) {
        const int64_t next = d == 0 ? 0 : line / p.sizes[d];
        for (int k = 0; k < 3; ++k) offsets[k] += (line - next * p.sizes[d]) * p.strides[k][d];
        line = next;
    }
    ScanLine at{};
    for (int k = 0; k < 3; ++k) {
        char* const data = p.data[k];
        at.p[k] = data == nullptr ? nullptr : data + offsets[k];
    }
    return at;
}

template <typename S, typename Out>
inline void ScanLines(const ScanParams& p) {
    using State = typename S::State;
    const int64_t line = static_cast<int64_t>(blockIdx.x) * kReduceThreads + threadIdx.x;
    if (line >= p.n_lines) return;
    const ScanLine at = LineOf(p, line);
    State state{};
    for (int64_t i = 0; i < p.length; i += kScanItems) {
        const int64_t n = p.length - i < kScanItems ? p.length - i : kScanItems;
        State items[kScanItems];
#pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            const int64_t j = i + (k < n ? k : 0);
            const char* a = S::kIsLinear ? at.p[2] + j * p.steps[2] : nullptr;
            items[k] = S::Load(at.p[1] + j * p.steps[1], a);
        }
#pragma unroll
        for (int k = 0; k < kScanItems; ++k) {
            if (k >= n) break;
            if constexpr (S::kIsLinear) {
                if (i + k == 0) {
                    state = items[k];
                } else {
                    state.value = items[k].value + items[k].factor * state.value;
                }
            } else {
                state = i + k == 0 ? S::Begin(items[k]) : S::Join(state, items[k]);
            }
            *reinterpret_cast<Out*>(at.p[0] + (i + k) * p.steps[0]) =
                AsConverted::Store<Out>(S::Of(state));
        }
    }
}

// The states of all threads before this one, joined with its own.
template <typename S>
inline typename S::State ScanBlock(typename S::State state, typename S::State* shared) {
    const int j = static_cast<int>(threadIdx.x);
    shared[j] = state;
    for (int w = 1; w < kReduceThreads; w *= 2) {
        __syncthreads();
        const auto before = shared[j < w ? j : j - w];
        __syncthreads();
        if (j >= w) state = S::Join(before, state);
        shared[j] = state;
    }
    __syncthreads();
    return state;
}

// A block scans a chunk, or finds its total.
template <typename S, typename Out>
inline void ScanChunks(const ScanParams& p) {
    using State = typename S::State;
    CX_SHARED(State, shared, kReduceThreads);
    const int64_t line = blockIdx.x / p.n_chunks;
    const int64_t chunk = blockIdx.x - line * p.n_chunks;
    const ScanLine at = LineOf(p, line);
    const int j = static_cast<int>(threadIdx.x);
    const int64_t first = chunk * kScanChunk + static_cast<int64_t>(j) * kScanItems;
    const int64_t left = p.length - first;
    State items[kScanItems] = {};
#pragma unroll
    for (int k = 0; k < kScanItems; ++k) {
        if (k >= left) break;
        const char* a = S::kIsLinear ? at.p[2] + (first + k) * p.steps[2] : nullptr;
        items[k] = S::Load(at.p[1] + (first + k) * p.steps[1], a);
        if (k > 0) items[k] = S::Join(items[k - 1], items[k]);
    }
    // Threads beyond the end come last: what they join is not used.
    State own{};
#pragma unroll
    for (int k = 0; k < kScanItems; ++k) own = k < left ? items[k] : own;
    const State total = ScanBlock<S>(own, shared);
    auto* const totals = reinterpret_cast<State*>(static_cast<char*>(p.totals));
    if (p.passes_totals != 0) {
        if (left > 0 && (left <= kScanItems || j == kReduceThreads - 1)) {
            totals[line * p.n_chunks + chunk] = total;
        }
        return;
    }
    bool has_before = j > 0;
    State before = has_before ? shared[j - 1] : State{};
    if (chunk > 0) {
        const State carry = totals[line * p.n_chunks + chunk - 1];
        before = has_before ? S::Join(carry, before) : carry;
        has_before = true;
    }
#pragma unroll
    for (int k = 0; k < kScanItems; ++k) {
        if (k >= left) break;
        const State state = has_before ? S::Join(before, items[k]) : S::Begin(items[k]);
        *reinterpret_cast<Out*>(at.p[0] + (first + k) * p.steps[0]) =
            AsConverted::Store<Out>(S::Of(state));
    }
}

// A block scans the totals of a line's chunks in place.
template <typename S>
inline void ScanTotals(const ScanParams& p) {
    using State = typename S::State;
    CX_SHARED(State, shared, kReduceThreads);
    auto* const totals =
        reinterpret_cast<State*>(static_cast<char*>(p.totals)) + blockIdx.x * p.n_chunks;
    const int j = static_cast<int>(threadIdx.x);
    State carry{};
    for (int64_t begin = 0; begin < p.n_chunks; begin += kReduceThreads) {
        const bool is_inside = begin + j < p.n_chunks;
        State state = ScanBlock<S>(is_inside ? totals[begin + j] : State{}, shared);
        if (begin > 0) state = S::Join(carry, state);
        if (is_inside) totals[begin + j] = state;
        const State last = shared[kReduceThreads - 1];
        carry = begin > 0 ? S::Join(carry, last) : last;
        __syncthreads();
    }
}

}  // namespace chainerx::cuda

// Cumulative sums and products, and the recurrence of their gradients. Short lines, and many of
// them, are scanned by a thread each. Long ones are cut into chunks: their totals are scanned
// first. Not so products of floats and recurrences, which are computed one by one: what is 0 times
// a group's product would be NaN where that overflows. native/reduce/scan_order.h has the order.
#pragma once

#include <cstdint>

#include "chainerx/cuda/reduce/device/policies.h"
#include "chainerx/cuda/reduce/params.h"
#include "chainerx/native/reduce/scan_order.h"

namespace chainerx::cuda {

// A scan has State, what a stretch of elements does to the one before it; Load(x, a); Join(first,
// second); and Of(state), the number that is stored.
template <typename P, typename T>
struct Cumulative {
    static constexpr bool kIsLinear = false;
    using State = typename P::Acc;
    static constexpr bool kIsFloatSum = kIsInexact<T> && std::is_same_v<P, Sum<T>>;
    static State Load(const char* x, const char* /*a*/) {
        return P::Load(*reinterpret_cast<const T*>(x), {});
    }
    static State Join(State a, State b) { return P::Combine(a, b); }
    static State Identity() { return P::Identity(); }
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
    static constexpr bool kIsFloatSum = false;
    using C = Number<T>;
    using State = LinearStep<C>;
    static State Load(const char* x, const char* a) {
        return {static_cast<C>(*reinterpret_cast<const T*>(a)),
                static_cast<C>(*reinterpret_cast<const T*>(x))};
    }
    // s2 is one step.
    static State Join(State s1, State s2) { return {C(1), s2.value + s2.factor * s1.value}; }
    static State Identity() { return {C(1), C(0)}; }
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
    const int64_t line = ThreadNumber();
    if (line >= p.n_lines) return;
    const ScanLine at = LineOf(p, line);
    const bool has_groups = S::kIsFloatSum && p.length > native::kShortScan;
    native::ScanCarry<State, 1> carry{S::Identity()};
    State before = S::Identity();
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
            const bool begins = has_groups ? k == 0 : i + k == 0;
            state = begins ? S::Begin(items[k]) : S::Join(state, items[k]);
            *reinterpret_cast<Out*>(at.p[0] + (i + k) * p.steps[0]) =
                AsConverted::Store<Out>(S::Of(has_groups ? S::Join(before, state) : state));
        }
        if constexpr (S::kIsFloatSum) {
            if (has_groups) carry.Take(&state, 1, &before, S::Join);
        }
    }
}

// A block scans a line one by one: its threads load and store, one computes.
template <typename S, typename Out>
inline void ScanInOrder(const ScanParams& p) {
    using State = typename S::State;
    constexpr int kStretch = 4 * kBlockThreads;
    CX_SHARED(State, states, kStretch);
    const ScanLine at = LineOf(p, blockIdx.x);
    const int j = static_cast<int>(threadIdx.x);
    State state{};
    for (int64_t first = 0; first < p.length; first += kStretch) {
        const int n = static_cast<int>(p.length - first < kStretch ? p.length - first : kStretch);
        for (int k = j; k < n; k += kBlockThreads) {
            const char* a = S::kIsLinear ? at.p[2] + (first + k) * p.steps[2] : nullptr;
            states[k] = S::Load(at.p[1] + (first + k) * p.steps[1], a);
        }
        __syncthreads();
        if (j == 0) {
#pragma unroll 8
            for (int k = 0; k < n; ++k) {
                state = first + k == 0 ? S::Begin(states[k]) : S::Join(state, states[k]);
                states[k] = state;
            }
        }
        __syncthreads();
        for (int k = j; k < n; k += kBlockThreads) {
            *reinterpret_cast<Out*>(at.p[0] + (first + k) * p.steps[0]) =
                AsConverted::Store<Out>(S::Of(states[k]));
        }
    }
}

// What precedes the group of a thread, whose total is `own`, in a chunk that `before` precedes. The
// last thread also gets the total of the chunk.
template <typename S>
inline typename S::State BeforeThread(typename S::State own, typename S::State before,
                                      typename S::State* shared, typename S::State* total) {
    using State = typename S::State;
    constexpr int kGroup = native::kScanGroup;
    static_assert(kScanItems == kGroup && kBlockThreads == kGroup * kGroup);
    const int j = static_cast<int>(threadIdx.x);
    const int group = j / kGroup;
    // The states [begin, end), which are not none.
    const auto join = [&](int begin, int end) {
        State state = shared[begin];
        for (int k = begin + 1; k < end; ++k) state = S::Join(state, shared[k]);
        return state;
    };
    __syncthreads();
    shared[j] = own;
    __syncthreads();
    const bool is_first = j % kGroup == 0;
    const State of_threads = is_first ? own : join(group * kGroup, j);
    const State of_group = is_first ? own : S::Join(of_threads, own);
    __syncthreads();
    if (j % kGroup == kGroup - 1) shared[group] = of_group;
    __syncthreads();
    *total = of_group;
    if (group > 0) {
        const State of_groups = join(0, group);
        *total = S::Join(of_groups, of_group);
        before = S::Join(before, of_groups);
    }
    return is_first ? before : S::Join(before, of_threads);
}

// A block scans a chunk, or finds its total.
template <typename S, typename Out>
inline void ScanChunks(const ScanParams& p) {
    using State = typename S::State;
    CX_SHARED(State, shared, kBlockThreads);
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
        items[k] = S::Load(at.p[1] + (first + k) * p.steps[1], nullptr);
        items[k] = k > 0 ? S::Join(items[k - 1], items[k]) : S::Begin(items[k]);
    }
    // Threads beyond the end come last: what they join is not used.
    State own{};
#pragma unroll
    for (int k = 0; k < kScanItems; ++k) own = k < left ? items[k] : own;
    auto* const totals = At<State>(p.totals) + line * p.n_chunks;
    const bool is_total = p.passes_totals != 0;
    State total;
    const State before = BeforeThread<S>(
        own, is_total || chunk == 0 ? S::Identity() : totals[chunk - 1], shared, &total);
    if (is_total) {
        if (left > 0 && (left <= kScanItems || j == kBlockThreads - 1)) totals[chunk] = total;
        return;
    }
#pragma unroll
    for (int k = 0; k < kScanItems; ++k) {
        if (k >= left) break;
        *reinterpret_cast<Out*>(at.p[0] + (first + k) * p.steps[0]) =
            AsConverted::Store<Out>(S::Of(S::Join(before, items[k])));
    }
}

// A block replaces the total of each chunk of a line by what precedes the next one.
template <typename S>
inline void ScanTotals(const ScanParams& p) {
    using State = typename S::State;
    CX_SHARED(State, shared, kBlockThreads);
    auto* const totals = At<State>(p.totals) + blockIdx.x * p.n_chunks;
    const int j = static_cast<int>(threadIdx.x);
    native::ScanCarry<State, 1> carry{S::Identity()};
    State before_all = S::Identity();
    for (int64_t begin = 0; begin < p.n_chunks; begin += kScanChunk) {
        const int64_t first = begin + static_cast<int64_t>(j) * kScanItems;
        State own{};
        for (int k = 0; k < kScanItems && first + k < p.n_chunks; ++k) {
            own = k == 0 ? totals[first] : S::Join(own, totals[first + k]);
        }
        State total;
        const State before = BeforeThread<S>(own, before_all, shared, &total);
        __syncthreads();
        shared[j] = total;
        __syncthreads();
        total = shared[kBlockThreads - 1];
        carry.Take(&total, 1, &before_all, S::Join);
        __syncthreads();
        shared[j] = before;
        __syncthreads();
        State sum{};
        for (int k = 0; k < kScanItems && first + k < p.n_chunks; ++k) {
            sum = k == 0 ? totals[first] : S::Join(sum, totals[first + k]);
            const bool is_last = k == kScanItems - 1;
            totals[first + k] = !is_last                ? S::Join(before, sum)
                                : j < kBlockThreads - 1 ? shared[j + 1]
                                                        : before_all;
        }
    }
}

}  // namespace chainerx::cuda

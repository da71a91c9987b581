// Gather and scatter along an axis.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/device/errors.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/index/params.h"

namespace chainerx::cuda {

// Index number j in [0, length), or -1 if it is out of range.
template <typename Index>
inline int64_t Resolve(const IndexParams& p, int64_t j) {
    using Wide = std::conditional_t<std::is_signed_v<Index>, int64_t, uint64_t>;
    auto i = static_cast<Wide>(At<const Index>(p.indices)[j]);
    const auto n = static_cast<Wide>(p.length);
    if (i >= 0 && i < n) return static_cast<int64_t>(i);
    switch (static_cast<BoundsCheck>(p.bounds)) {
        case BoundsCheck::kWrap:
            i %= n;
            return static_cast<int64_t>(i < 0 ? i + n : i);
        case BoundsCheck::kClip:
            return i < 0 ? 0 : p.length - 1;
        case BoundsCheck::kRaise:
            if (i < 0) i += n;
            return i < 0 || i >= n ? -1 : static_cast<int64_t>(i);
        default:
            return -1;
    }
}

template <typename Index>
inline void ReportIndex(const IndexParams& p, int64_t j) {
    const Index index = At<const Index>(p.indices)[j];
    ReportError(p.log, p.site, j, static_cast<int64_t>(index));
}

// The distance in x of position i among dimensions [first, last).
inline int64_t OffsetOf(const IndexParams& p, int64_t i, int first, int last) {
    int64_t offset = 0;
    for (int d = first; d < last; ++d) {
        const int64_t next = d + 1 == last ? 0 : i / p.dims[d];
        offset += (i - next * p.dims[d]) * p.strides[d];
        i = next;
    }
    return offset;
}

// The same, which reports what is out of range.
template <typename Index>
inline int64_t ResolveOrReport(const IndexParams& p, int64_t j) {
    const int64_t at = Resolve<Index>(p, j);
    if (at < 0) ReportIndex<Index>(p, j);
    return at;
}

// Where a position of the axes other than the indexed one lies in x, and in y.
struct OtherAxes {
    char* x;
    int64_t y;

    OtherAxes(const IndexParams& p, int64_t position) {
        const int64_t o = position / p.run;
        const int64_t r = position - o * p.run;
        x = AtByte<char>(p.x, OffsetOf(p, r, 0, p.n_after) + OffsetOf(p, o, p.n_after, p.ndim));
        y = p.axis_y != 0 ? o * p.outer_y + r : 0;
    }
};

// Only looks for indices out of range.
template <typename Index>
inline void CheckIndices(const IndexParams& p) {
    const int64_t j = ThreadNumber();
    if (j < p.n) ResolveOrReport<Index>(p, j);
}

// A thread takes one element.
template <typename T, typename Index>
inline void Take(const IndexParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.outer * p.n * p.run) return;
    const int64_t row = i / p.run;
    const int64_t r = i - row * p.run;
    const int64_t o = row / p.n;
    const int64_t j = row - o * p.n;
    const int64_t at = Resolve<Index>(p, j);
    T value{};
    if (at >= 0) {
        const char* x = static_cast<char*>(p.x) + at * p.axis_x + OffsetOf(p, r, 0, p.n_after) +
                        OffsetOf(p, o, p.n_after, p.ndim);
        value = *reinterpret_cast<const T*>(x);
    } else if (r == 0 && o == 0) {
        ReportIndex<Index>(p, j);
    }
    At<T>(p.y)[i] = value;
}

struct Assign {
    template <typename C, typename T>
    static T Of(T /*to*/, T from) {
        return from;
    }
};
struct AddTo {
    template <typename C, typename T>
    static T Of(const T& to, const C& from) {
        return AsConverted::Store<T>(static_cast<C>(AsConverted::Load(to) + from));
    }
};
struct MultiplyBy {
    template <typename C, typename T>
    static T Of(const T& to, const C& from) {
        return AsConverted::Store<T>(static_cast<C>(AsConverted::Load(to) * from));
    }
};
// NaN propagates, and the first one stays.
template <bool kLargest>
struct KeepExtreme {
    template <typename C, typename T>
    static T Of(const T& to, const C& from) {
        const C old = AsConverted::Load(to);
        const bool wins = (kLargest ? from > old : from < old) || (from != from && old == old);
        return wins ? AsConverted::Store<T>(from) : to;
    }
};

// Combines elements in the order of the indices: a thread goes over all of them, for one position
// of the other axes, and takes those whose targets are its own.
template <typename Rule, typename T, typename V, typename Index>
inline void Scatter(const IndexParams& p) {
    const int64_t positions = p.outer * p.run;
    const int64_t thread = ThreadNumber();
    const int64_t group = thread / positions;
    if (group >= p.groups) return;
    const int64_t position = thread - group * positions;
    const OtherAxes other{p, position};
    const V* const y = At<const V>(p.y, other.y);
    const auto groups = static_cast<uint64_t>(p.groups);
    const bool is_power = (groups & (groups - 1)) == 0;
    // Each thread looks at all indices first: where one is bad, nothing is written.
    const auto bounds = static_cast<BoundsCheck>(p.bounds);
    if (bounds != BoundsCheck::kWrap && bounds != BoundsCheck::kClip) {
        for (int64_t j = 0; j < p.n; ++j) {
            if (Resolve<Index>(p, j) >= 0) continue;
            if (thread == 0) ReportIndex<Index>(p, j);
            return;
        }
    }
    for (int64_t j = 0; j < p.n; ++j) {
        const int64_t at = Resolve<Index>(p, j);
        if (at < 0) continue;
        const auto target = static_cast<uint64_t>(at);
        if ((is_power ? target & (groups - 1) : target % groups) != static_cast<uint64_t>(group)) {
            continue;
        }
        T& to = *reinterpret_cast<T*>(other.x + at * p.axis_x);
        if constexpr (std::is_same_v<Rule, Assign>) {
            to = y[j * p.axis_y];
        } else {
            using C = Number<T>;
            to = Rule::template Of<C, T>(to, static_cast<C>(AsConverted::Load(y[j * p.axis_y])));
        }
    }
}

// The targets of all indices, as keys to be sorted.
template <typename Index, typename Target>
inline void ResolveAll(const IndexParams& p) {
    const int64_t j = ThreadNumber();
    if (j >= p.n) return;
    const int64_t at = ResolveOrReport<Index>(p, j);
    if (at < 0) atomicOr(static_cast<int*>(p.is_bad), 1);
    At<Target>(p.targets)[j] = static_cast<Target>(at);
}

// The same as Scatter, for many indices whose order is known: the thread of the first one of a
// target combines all of them, for one position of the other axes.
template <typename Rule, typename T, typename V, typename Target>
inline void ScatterSorted(const IndexParams& p) {
    const int64_t positions = p.outer * p.run;
    const int64_t thread = ThreadNumber();
    int64_t k = thread / positions;
    if (k >= p.n || *p.is_bad != 0) return;
    const int64_t position = thread - k * positions;
    const Target* targets = At<const Target>(p.targets);
    const Target at = targets[p.order[k]];
    constexpr bool kTakesLast = std::is_same_v<Rule, Assign>;
    if (kTakesLast ? k + 1 < p.n && targets[p.order[k + 1]] == at
                   : k > 0 && targets[p.order[k - 1]] == at) {
        return;
    }
    const OtherAxes other{p, position};
    T& to = *reinterpret_cast<T*>(other.x + static_cast<int64_t>(at) * p.axis_x);
    const V* const y = At<const V>(p.y, other.y);
    if constexpr (kTakesLast) {
        to = y[p.order[k] * p.axis_y];
    } else {
        using C = Number<T>;
        T value = to;
        do {
            const C from = static_cast<C>(AsConverted::Load(y[p.order[k] * p.axis_y]));
            value = Rule::template Of<C, T>(value, from);
        } while (++k < p.n && targets[p.order[k]] == at);
        to = value;
    }
}

// Adds in whatever order threads happen to have; where an index is bad, the others count.
template <typename T, typename V, typename Index>
inline void AddAtomically(const IndexParams& p) {
    const int64_t positions = p.outer * p.run;
    const int64_t thread = ThreadNumber();
    const int64_t j = thread / positions;
    if (j >= p.n) return;
    const int64_t position = thread - j * positions;
    const int64_t at = Resolve<Index>(p, j);
    if (at < 0) {
        if (position == 0) ReportIndex<Index>(p, j);
        return;
    }
    const OtherAxes other{p, position};
    const V y = *At<const V>(p.y, other.y + j * p.axis_y);
    atomicAdd(reinterpret_cast<T*>(other.x + at * p.axis_x), static_cast<T>(AsConverted::Load(y)));
}

template <typename Index>
inline void LinearIndex(const IndexParams& p) {
    const int64_t j = ThreadNumber();
    if (j >= p.n) return;
    const int64_t at = ResolveOrReport<Index>(p, j);
    if (at < 0) return;
    At<int64_t>(p.x)[j] += p.factor * at;
}

template <typename Index>
inline void CountEach(const IndexParams& p) {
    const int64_t j = ThreadNumber();
    if (j >= p.n) return;
    const int64_t at = ResolveOrReport<Index>(p, j);
    if (at < 0) return;
    atomicAdd(At<unsigned long long>(p.x) + at, 1ull);
}

}  // namespace chainerx::cuda

// Sorts a block of keys in registers by sorting networks: no branch depends on a key.
//
// Registers are rows, lanes are columns. First each column is sorted, by compare-exchanges between
// registers; then columns are merged, two, four, eight to a group, where a group is read column by
// column; in the end the rows are interleaved into that order.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename K>
constexpr int kKeyLanes = static_cast<int>(Batch<K>::size);
#if defined(CX_ISA_AVX512)
constexpr int kMaxRows = 16;
#else
constexpr int kMaxRows = 8;  // of 16 registers: a stage needs some as temporaries
#endif
template <typename K>
constexpr int64_t kBlock = kMaxRows * kKeyLanes<K>;

template <typename K>
struct RowOf;
template <>
struct RowOf<int32_t> {
    using Type = int32_t __attribute__((vector_size(kKeyLanes<int32_t> * sizeof(int32_t))));
};
template <>
struct RowOf<int64_t> {
    using Type = int64_t __attribute__((vector_size(kKeyLanes<int64_t> * sizeof(int64_t))));
};
template <typename K>
using Row = typename RowOf<K>::Type;

template <typename K>
inline Row<K> Smaller(Row<K> a, Row<K> b) {
    using Register = typename Batch<K>::register_type;
    const Batch<K> y = xsimd::min(Batch<K>((Register)a), Batch<K>((Register)b));
    return (Row<K>)(Register)y;
}
template <typename K>
inline Row<K> Larger(Row<K> a, Row<K> b) {
    using Register = typename Batch<K>::register_type;
    const Batch<K> y = xsimd::max(Batch<K>((Register)a), Batch<K>((Register)b));
    return (Row<K>)(Register)y;
}

// Shuffle: lane `place` of the result is lane Index::At(place) of a, or of b if that exceeds the
// number of lanes.
template <typename K, typename Index, int... kPlace>
inline Row<K> ShuffleRow(Row<K> a, Row<K> b, std::integer_sequence<int, kPlace...>) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, Index::At(kPlace)...);
#else
    return __builtin_shuffle(a, b, Row<K>{Index::At(kPlace)...});
#endif
}
template <typename K, typename Index>
inline Row<K> ShuffleRow(Row<K> a, Row<K> b) {
    return ShuffleRow<K, Index>(a, b, std::make_integer_sequence<int, kKeyLanes<K>>{});
}

// Swaps lanes whose indices differ in the bits kBits.
template <int kBits>
struct ByBits {
    static constexpr int At(int place) { return place ^ kBits; }
};
// Blends: b where bit kBit of the lane index is set, else a.
template <int kLanes, int kBit>
struct ByBit {
    static constexpr int At(int place) { return (place & kBit) != 0 ? place + kLanes : place; }
};
// Interleaves the first halves of both, or the second ones.
template <int kLanes, bool kSecond>
struct Zipped {
    static constexpr int At(int place) {
        return place / 2 + (kSecond ? kLanes / 2 : 0) + (place % 2) * kLanes;
    }
};

// Interleaves three rows: vector kPart of the result. The first step takes the first two rows, the
// second one adds the last.
template <int kLanes, int kPart>
struct TwoOfThree {
    static constexpr int At(int place) {
        const int at = kPart * kLanes + place;
        return at % 3 == 2 ? 0 : at / 3 + at % 3 * kLanes;
    }
};
template <int kLanes, int kPart>
struct LastOfThree {
    static constexpr int At(int place) {
        const int at = kPart * kLanes + place;
        return at % 3 == 2 ? at / 3 + kLanes : place;
    }
};

template <typename K, int kBits>
inline Row<K> Swapped(Row<K> a) {
    return ShuffleRow<K, ByBits<kBits>>(a, a);
}
template <typename K, int kBit>
inline Row<K> Chosen(Row<K> a, Row<K> b) {
    return ShuffleRow<K, ByBit<kKeyLanes<K>, kBit>>(a, b);
}

// Calls f with the constants 0 to kCount - 1.
template <int kCount, typename F>
[[gnu::always_inline]] inline void Unrolled(const F& f) {
    [&]<int... kI>(std::integer_sequence<int, kI...>) __attribute__((always_inline)) {
        (f(std::integral_constant<int, kI>{}), ...);
    }(std::make_integer_sequence<int, kCount>{});
}

// Batcher's merge exchange network: calls f(i, j), i < j, for pairs of n places to
// compare-exchange, in order. Missing places up to a power of two act as maximal keys, which never
// move.
constexpr void ForEachExchange(int n, const auto& f) {
    for (int p = 1; p < n; p *= 2) {
        for (int k = p; k >= 1; k /= 2) {
            for (int j = k % p; j + k < n; j += 2 * k) {
                for (int i = j; i < j + k && i + k < n; ++i) {
                    if ((i ^ (i + k)) < 2 * p) f(i, i + k);  // in the same run of 2 p
                }
            }
        }
    }
}

template <int kRows>
struct Exchanges {
    int count{0};
    int first[kRows * kRows]{};
    int second[kRows * kRows]{};

    constexpr Exchanges() {
        ForEachExchange(kRows, [this](int i, int j) {
            first[count] = i;
            second[count] = j;
            ++count;
        });
    }
};

template <typename K>
[[gnu::always_inline]] inline void Exchange(Row<K>& a, Row<K>& b) {
    const Row<K> smaller = Smaller<K>(a, b);
    b = Larger<K>(a, b);
    a = smaller;
}

template <typename K, int kRows>
[[gnu::always_inline]] inline void SortColumns(Row<K> (&v)[kRows]) {
    constexpr Exchanges<kRows> kExchanges;
    Unrolled<kExchanges.count>([&](auto i) __attribute__((always_inline)) {
        constexpr Exchanges<kRows> kAll;
        Exchange<K>(v[kAll.first[i]], v[kAll.second[i]]);
    });
}

// Compare-exchanges within each row, between lanes whose indices differ in bit kBit; then in those
// below it.
template <typename K, int kRows, int kBit>
[[gnu::always_inline]] inline void ExchangeLanes(Row<K> (&v)[kRows]) {
    if constexpr (kBit > 0) {
        Unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
            const Row<K> other = Swapped<K, kBit>(v[r]);
            v[r] = Chosen<K, kBit>(Smaller<K>(v[r], other), Larger<K>(v[r], other));
        });
        ExchangeLanes<K, kRows, kBit / 2>(v);
    }
}

// Compare-exchanges between rows half of kRun apart, in each run of that many; then in its halves.
// Three rows in any order are sorted.
template <typename K, int kRows, int kRun>
[[gnu::always_inline]] inline void ExchangeRows(Row<K> (&v)[kRows]) {
    if constexpr (kRun == 3) {
        Unrolled<kRows / 3>([&](auto r) __attribute__((always_inline)) {
            Exchange<K>(v[3 * r], v[3 * r + 1]);
            Exchange<K>(v[3 * r + 1], v[3 * r + 2]);
            Exchange<K>(v[3 * r], v[3 * r + 1]);
        });
    } else if constexpr (kRun > 1) {
        Unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
            if constexpr (r % kRun < kRun / 2) Exchange<K>(v[r], v[r + kRun / 2]);
        });
        ExchangeRows<K, kRows, kRun / 2>(v);
    }
}

// Merges groups of kColumns sorted columns pairwise; then the larger groups.
template <typename K, int kRows, int kColumns>
[[gnu::always_inline]] inline void MergeColumns(Row<K> (&v)[kRows]) {
    if constexpr (kColumns < kKeyLanes<K>) {
        // The first group is compared with the second one reversed (bitonic merge).
        constexpr int kMirror = 2 * kColumns - 1;
        Unrolled<(kRows + 1) / 2>([&](auto r) __attribute__((always_inline)) {
            constexpr int kOther = kRows - 1 - r;
            const Row<K> a = v[r];
            const Row<K> b = v[kOther];
            const Row<K> from_b = Swapped<K, kMirror>(b);
            v[r] = Chosen<K, kColumns>(Smaller<K>(a, from_b), Larger<K>(a, from_b));
            if constexpr (kOther != r) {
                const Row<K> from_a = Swapped<K, kMirror>(a);
                v[kOther] = Chosen<K, kColumns>(Smaller<K>(b, from_a), Larger<K>(b, from_a));
            }
        });
        ExchangeLanes<K, kRows, kColumns / 2>(v);
        ExchangeRows<K, kRows, kRows>(v);
        MergeColumns<K, kRows, 2 * kColumns>(v);
    }
}

// From column order to memory order: interleaves the rows of two halves, or of three thirds,
// recursively.
template <typename K, int kRows, int kParts>
[[gnu::always_inline]] inline void ZipRows(Row<K> (&v)[kRows]) {
    constexpr int kLanes = kKeyLanes<K>;
    Row<K> zipped[kRows];
    if constexpr (kParts == 3) {
        constexpr int kThird = kRows / 3;
        Unrolled<kRows>([&](auto to) __attribute__((always_inline)) {
            constexpr int r = to / 3;
            const Row<K> two = ShuffleRow<K, TwoOfThree<kLanes, to % 3>>(v[r], v[r + kThird]);
            zipped[to] = ShuffleRow<K, LastOfThree<kLanes, to % 3>>(two, v[r + 2 * kThird]);
        });
        Unrolled<kRows>([&](auto r) __attribute__((always_inline)) { v[r] = zipped[r]; });
    } else if constexpr (kParts > 1) {
        Unrolled<kRows / 2>([&](auto r) __attribute__((always_inline)) {
            zipped[2 * r] = ShuffleRow<K, Zipped<kLanes, false>>(v[r], v[r + kRows / 2]);
            zipped[2 * r + 1] = ShuffleRow<K, Zipped<kLanes, true>>(v[r], v[r + kRows / 2]);
        });
        Unrolled<kRows>([&](auto r) __attribute__((always_inline)) { v[r] = zipped[r]; });
        ZipRows<K, kRows, kParts / 2>(v);
    }
}

// Loads the first n keys, none for n <= 0; the other lanes hold maximal keys.
template <typename K>
inline Row<K> LoadKeys(const K* keys, int64_t n) {
    constexpr int64_t kLanes = kKeyLanes<K>;
    const int64_t count = n < 0 ? 0 : n > kLanes ? kLanes : n;
    Row<K> v = Row<K>{} + std::numeric_limits<K>::max();
#if defined(CX_ISA_AVX512)
    const uint32_t lanes = (1u << count) - 1;
    if constexpr (sizeof(K) == 4) {
        v = (Row<K>)_mm512_mask_loadu_epi32((__m512i)v, static_cast<__mmask16>(lanes), keys);
    } else {
        v = (Row<K>)_mm512_mask_loadu_epi64((__m512i)v, static_cast<__mmask8>(lanes), keys);
    }
#else
    std::memcpy(&v, keys, static_cast<size_t>(count) * sizeof(K));
#endif
    return v;
}

template <typename K>
inline void StoreKeys(K* keys, int64_t n, Row<K> v) {
    constexpr int64_t kLanes = kKeyLanes<K>;
    const int64_t count = n < 0 ? 0 : n > kLanes ? kLanes : n;
#if defined(CX_ISA_AVX512)
    const uint32_t lanes = (1u << count) - 1;
    if constexpr (sizeof(K) == 4) {
        _mm512_mask_storeu_epi32(keys, static_cast<__mmask16>(lanes), (__m512i)v);
    } else {
        _mm512_mask_storeu_epi64(keys, static_cast<__mmask8>(lanes), (__m512i)v);
    }
#else
    std::memcpy(keys, &v, static_cast<size_t>(count) * sizeof(K));
#endif
}

// Sorts more keys than kWhole of the rows hold.
template <typename K, int kRows, int kWhole>
void SortRows(const K* keys, int64_t n, K* out) {
    constexpr int kLanes = kKeyLanes<K>;
    Row<K> v[kRows];
    Unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
        if constexpr (r < kWhole) {
            std::memcpy(&v[r], keys + r * kLanes, sizeof(v[r]));
        } else {
            v[r] = LoadKeys(keys + r * kLanes, n - r * kLanes);
        }
    });
    SortColumns<K, kRows>(v);
    MergeColumns<K, kRows, 1>(v);
    ZipRows<K, kRows, kRows>(v);
    Unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
        if constexpr (r < kWhole) {
            std::memcpy(out + r * kLanes, &v[r], sizeof(v[r]));
        } else {
            StoreKeys(out + r * kLanes, n - r * kLanes, v[r]);
        }
    });
}

// Sorts up to kBlock<K> keys, in about as few rows as hold them.
template <typename K>
void SortBlock(const K* keys, int64_t n, K* out) {
    constexpr int64_t kLanes = kKeyLanes<K>;
    if (n <= kLanes) {
        SortRows<K, 1, 0>(keys, n, out);
    } else if (n <= 2 * kLanes) {
        SortRows<K, 2, 1>(keys, n, out);
    } else if (n <= 4 * kLanes) {
        SortRows<K, 4, 2>(keys, n, out);
    } else if (n <= 6 * kLanes) {
        SortRows<K, 6, 4>(keys, n, out);
    } else if (n <= 8 * kLanes) {
        SortRows<K, 8, 6>(keys, n, out);
    } else if constexpr (kMaxRows > 8) {
        if (n <= 12 * kLanes) {
            SortRows<K, 12, 8>(keys, n, out);
        } else {
            SortRows<K, 16, 12>(keys, n, out);
        }
    }
}

}  // namespace
}  // namespace chainerx::native::CX_ISA

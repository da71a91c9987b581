// Sorts complex numbers by keys of their parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/native/scratch.h"
#include "chainerx/native/sort/complex_order.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

template <typename T>
using KeyOfPart = SortKey<typename T::value_type>;

// Packs the key of the imaginary part below that of the real part. It orders numbers with the same
// NaN rank.
int64_t EncodePair(auto x, bool join_zeros, int32_t flip) {
    const auto real = static_cast<uint32_t>(EncodeKey(x.real(), join_zeros, flip));
    const auto imag = static_cast<uint32_t>(EncodeKey(x.imag(), join_zeros, flip));
    return static_cast<int64_t>(uint64_t{real} << 32 | (imag ^ 0x80000000u));
}

template <typename T>
T DecodePair(int64_t key, int32_t flip) {
    using R = typename T::value_type;
    const auto low = static_cast<uint32_t>(static_cast<uint64_t>(key));
    return T(DecodeKey<R>(static_cast<int32_t>(key >> 32), flip),
             DecodeKey<R>(static_cast<int32_t>(low ^ 0x80000000u), flip));
}

// Sorts n numbers with NaN in the same parts: those at `places`, or the first n if null.
template <typename T>
void ArgSortAlike(const T* x, const int64_t* places, int64_t n, KeyOfPart<T> flip, int64_t* out) {
    if (n <= 0) return;  // no number has NaN there
    const auto at = [=](int64_t i) { return x[places != nullptr ? places[i] : i]; };
    KeyRoom<int64_t> room{n};
    int64_t* const keys = room.data();
    if constexpr (sizeof(T) == sizeof(int64_t)) {
        for (int64_t i = 0; i < n; ++i) keys[i] = EncodePair(at(i), true, flip);
        ArgSortKeys(keys, n, out);
    } else {
        for (int64_t i = 0; i < n; ++i) keys[i] = EncodeKey(at(i).real(), true, flip);
        ArgSortKeys(keys, n, out);
        for (int64_t begin = 0; begin < n;) {
            int64_t end = begin + 1;
            while (end < n && keys[out[end]] == keys[out[begin]]) ++end;
            if (end - begin > 1) {
                std::stable_sort(out + begin, out + end, [&](int64_t a, int64_t b) {
                    return EncodeKey(at(a).imag(), true, flip) <
                           EncodeKey(at(b).imag(), true, flip);
                });
            }
            begin = end;
        }
    }
    if (places == nullptr) return;
    for (int64_t i = 0; i < n; ++i) out[i] = places[out[i]];
}

// Sorts a row that no other thread writes to.
template <typename T>
void ArgSortByRanks(const T* x, int64_t n, bool descending, int64_t* out) {
    const KeyOfPart<T> flip = descending ? -1 : 0;
    int64_t counts[4] = {};
    for (int64_t i = 0; i < n; ++i) ++counts[NanRank(x[i])];
    if (counts[0] == n) return ArgSortAlike<T>(x, nullptr, n, flip, out);
    const Scratch<int64_t> places{n};
    for (int r = 0; r < 4; ++r) {
        const int rank = descending ? 3 - r : r;
        int64_t count = 0;
        for (int64_t i = 0; i < n && count < counts[rank]; ++i) {
            if (NanRank(x[i]) == rank) places.data()[count++] = i;
        }
        ArgSortAlike(x, places.data(), count, flip, out);
        out += count;
    }
}

// A private copy of a row, since another thread may write to it while it is compared.
template <typename T>
struct CopiedRow {
    CopiedRow(const T* x, int64_t n) : room{n} { std::copy_n(x, n, room.data()); }
    KeyRoom<T> room;
};

template <typename T>
void ArgSortComplex(const T* x, int64_t n, bool descending, int64_t* out) {
    CopiedRow<T> row{x, n};
    ArgSortByRanks(row.room.data(), n, descending, out);
}

template <typename T>
void SortComplex(const T* x, int64_t n, bool descending, T* out) {
    if constexpr (sizeof(T) == sizeof(int64_t)) {
        const int32_t flip = descending ? -1 : 0;
        KeyRoom<int64_t> room{n};
        KeyRoom<int64_t> spare{n};
        int64_t* const keys = room.data();
        // from the number its key decodes to: NaN payloads, and -0.0 among zeros
        bool differs = false;
        for (int64_t i = 0; i < n; ++i) {
            keys[i] = EncodePair(x[i], false, flip);
            differs |= keys[i] != EncodePair(x[i], true, flip) || NanRank(x[i]) != 0;
        }
        if (!differs) {
            SortKeys(keys, spare.data(), n, keys);
            for (int64_t i = 0; i < n; ++i) out[i] = DecodePair<T>(keys[i], flip);
            return;
        }
    }
    CopiedRow<T> row{x, n};
    KeyRoom<int64_t> order{n};
    ArgSortByRanks(row.room.data(), n, descending, order.data());
    for (int64_t i = 0; i < n; ++i) out[i] = row.room.data()[order.data()[i]];
}

}  // namespace
}  // namespace chainerx::native

// Batched small sort: many short rows at once, each in a lane of the registers. No branch depends
// on a key, and there is no call or loop per row.
//
// A batch of rows is transposed first: vector i holds key i of each row. As whole vectors are
// moved, keys beyond a row move with it, up to kShortRoom keys beyond the last row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/native/sort/simd/sorting_network.h"
#include "chainerx/native/sort/sorting_loops.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename K, int kVectors>
struct SortingColumns {
    static constexpr int kLanes = kKeyLanes<K>;
    static constexpr int64_t kRows = kVectors * kLanes;
    static_assert(kMaxShortRow % kLanes == 0 && kShortRoom >= kLanes);

    int n;
    // The stride is not a power of 2, which would cause store-to-load aliasing.
    alignas(64) K keys[kMaxShortRow][kRows + kLanes];

    Row<K> At(int i, int vector) const { return LoadRow(keys[i] + vector * kLanes); }
    void Put(int i, int vector, Row<K> v) { StoreRow(keys[i] + vector * kLanes, v); }

    // Missing rows repeat the last one.
    void Read(const K* from, int64_t rows) {
        for (int v = 0; v < kVectors; ++v) {
            for (int i = 0; i < n; i += kLanes) {
                Row<K> tile[kLanes];
                Unrolled<kLanes>([&](auto r) __attribute__((always_inline)) {
                    const int64_t row = std::min<int64_t>(v * kLanes + r, rows - 1);
                    tile[r] = LoadRow(from + row * n + i);
                });
                ZipRows<K, kLanes, kLanes>(tile);
                Unrolled<kLanes>([&](auto c)
                                     __attribute__((always_inline)) { Put(i + c, v, tile[c]); });
            }
        }
    }
    // Writes from the last keys to the first ones, since the excess of a row overwrites the next
    // row.
    void Write(int64_t rows, K* to) const {
        for (int v = 0; v < kVectors; ++v) {
            for (int i = (n - 1) / kLanes * kLanes; i >= 0; i -= kLanes) {
                Row<K> tile[kLanes];
                Unrolled<kLanes>([&](auto c)
                                     __attribute__((always_inline)) { tile[c] = At(i + c, v); });
                ZipRows<K, kLanes, kLanes>(tile);
                Unrolled<kLanes>([&](auto r) __attribute__((always_inline)) {
                    const int64_t row = v * kLanes + r;
                    if (row < rows) StoreRow(to + row * n + i, tile[r]);
                });
            }
        }
    }

 private:
    static Row<K> LoadRow(const K* p) {
        Row<K> v;
        std::memcpy(&v, p, sizeof(v));
        return v;
    }
    static void StoreRow(K* p, Row<K> v) { std::memcpy(p, &v, sizeof(v)); }
};

template <typename K, int kVectors>
inline void SortColumnsOf(SortingColumns<K, kVectors>& x) {
    ForEachExchange(x.n, [&x](int i, int j) __attribute__((always_inline)) {
        Row<K> a[kVectors];
        Row<K> b[kVectors];
        Unrolled<kVectors>([&](auto v) __attribute__((always_inline)) {
            a[v] = x.At(i, v);
            b[v] = x.At(j, v);
        });
        Unrolled<kVectors>([&](auto v) __attribute__((always_inline)) {
            x.Put(i, v, Smaller<K>(a[v], b[v]));
            x.Put(j, v, Larger<K>(a[v], b[v]));
        });
    });
}

// Rank sort: compares each key with those before it; one of the two moves one place back.
template <typename K, int kVectors>
inline void RankColumns(const SortingColumns<K, kVectors>& x, SortingColumns<K, kVectors>& places) {
    for (int v = 0; v < kVectors; ++v) {
        for (int j = 0; j < x.n; ++j) {
            const Row<K> key = x.At(j, v);
            Row<K> place = Row<K>{} + static_cast<K>(j);
            for (int i = 0; i < j; ++i) {
                const Row<K> is_below = key < x.At(i, v);  // -1 where it is
                place += is_below;
                places.Put(i, v, places.At(i, v) - is_below);
            }
            places.Put(j, v, place);
        }
    }
}

template <typename K, int kVectors>
inline void PartitionColumns(const SortingColumns<K, kVectors>& x, int position,
                             SortingColumns<K, kVectors>& places) {
    SortingColumns<K, kVectors> sorted;
    sorted.n = x.n;
    for (int i = 0; i < x.n; ++i) {
        for (int v = 0; v < kVectors; ++v) sorted.Put(i, v, x.At(i, v));
    }
    SortColumnsOf(sorted);
    for (int v = 0; v < kVectors; ++v) {
        const Row<K> pivot = sorted.At(position, v);
        Row<K> below{};  // the next place of each part
        Row<K> equal{};
        for (int i = 0; i < x.n; ++i) {
            const Row<K> key = x.At(i, v);
            equal -= key < pivot;
            below -= key <= pivot;
        }
        Row<K> above = below;
        below = Row<K>{};
        for (int i = 0; i < x.n; ++i) {
            const Row<K> key = x.At(i, v);
            const Row<K> is_below = key < pivot;
            const Row<K> is_above = key > pivot;
            const Row<K> is_equal = ~(is_below | is_above);
            places.Put(i, v, (below & is_below) | (equal & is_equal) | (above & is_above));
            below -= is_below;
            equal -= is_equal;
            above -= is_above;
        }
    }
}

// f(keys, places) sets `places`, which are then stored.
template <typename K, int kVectors, typename F>
inline void ForEachBlock(const K* keys, int64_t rows, int64_t n, K* out, const F& f) {
    using Columns = SortingColumns<K, kVectors>;
    Columns columns;
    Columns places;
    columns.n = places.n = static_cast<int>(n);
    for (int64_t begin = 0; begin < rows; begin += Columns::kRows) {
        const int64_t count = std::min(Columns::kRows, rows - begin);
        columns.Read(keys + begin * n, count);
        f(columns, places).Write(count, out + begin * n);
    }
}

// Handles several vectors of rows at once, since compare-exchanges have latency; the last rows by
// single vectors.
template <typename K, typename F>
inline void ForEachColumns(const K* keys, int64_t rows, int64_t n, K* out, const F& f) {
    constexpr int kVectors = 4;
    constexpr int64_t kWide = SortingColumns<K, kVectors>::kRows;
    const int64_t wide = rows / kWide * kWide;
    ForEachBlock<K, kVectors>(keys, wide, n, out, f);
    ForEachBlock<K, 1>(keys + wide * n, rows - wide, n, out + wide * n, f);
}

template <typename K>
void SortBatchedRows(const K* keys, int64_t rows, int64_t n, K* out) {
    ForEachColumns(keys, rows, n, out, [](auto& columns, auto&) -> const auto& {
        SortColumnsOf(columns);
        return columns;
    });
}

template <typename K>
void RankBatchedRows(const K* keys, int64_t rows, int64_t n, K* out) {
    ForEachColumns(keys, rows, n, out, [](auto& columns, auto& places) -> const auto& {
        RankColumns(columns, places);
        return places;
    });
}

template <typename K>
void PartitionBatchedRows(const K* keys, int64_t rows, int64_t n, int64_t position, K* out) {
    ForEachColumns(keys, rows, n, out, [=](auto& columns, auto& places) -> const auto& {
        PartitionColumns(columns, static_cast<int>(position), places);
        return places;
    });
}

}  // namespace
}  // namespace chainerx::native::CX_ISA

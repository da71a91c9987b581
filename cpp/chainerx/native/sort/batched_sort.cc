#include "chainerx/native/sort/batched_sort.h"

#include <algorithm>
#include <type_traits>

#include "chainerx/native/sort/key_coder.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

// Rows in a batch; their keys stay in cache.
constexpr int64_t kBatchRows = 64;
constexpr int64_t kBatchKeys = kBatchRows * kMaxShortRow;

// Calls f(row, count) for batches of rows of up to kBatchKeys elements.
void ForEachShort(const Array& x, const auto& f) {
    constexpr int64_t kPieces = 8;
    const int64_t rows = x.shape()[0];
    const int64_t block = kBatchKeys / x.shape()[1] / kBatchRows * kBatchRows;
    ParallelFor(CeilDiv(rows, block * kPieces), [&](int64_t piece) {
        const int64_t begin = piece * block * kPieces;
        const int64_t end = std::min(rows, begin + block * kPieces);
        for (int64_t row = begin; row < end; row += block) f(row, std::min(block, end - row));
    });
}

// Output of the loops for a batch.
template <typename K>
struct ShortRoom {
    alignas(64) K keys[kBatchKeys + kShortRoom];
};

// The keys of a batch, read once: another thread may write to the rows
// meanwhile.
template <typename K>
struct ShortKeys {
    ShortKeys(const KeyCoder<K>& coder, const Array& x, int64_t row, int64_t rows, bool join_zeros,
              K flip)
        : n{x.shape()[1]}, rows{rows} {
        coder.encode(coder.RowOf(x, row), rows * n, join_zeros, flip, keys);
        std::fill_n(keys + rows * n, kShortRoom, K{0});
    }
    // Whether both zeros occur, among keys that distinguish them.
    bool HasBothZeros() const {
        K positive = 0;
        K negative = 0;
        for (int64_t i = 0; i < rows * n; ++i) {
            positive |= keys[i] == 0;
            negative |= keys[i] == -1;
        }
        return (positive & negative) != 0;
    }
    // Calls f(place, i, j) for each element i of the batch that is at `place` of
    // its row and moves to element j; `places` are row-wise.
    void ForEachPlace(const ShortRoom<K>& places, const auto& f) const {
        for (int64_t begin = 0; begin < rows * n; begin += n) {
            for (int64_t i = 0; i < n; ++i) f(i, begin + i, begin + places.keys[begin + i]);
        }
    }

    int64_t n;
    int64_t rows;
    alignas(64) K keys[kBatchKeys + kShortRoom];
};

// Calls restore(row, rows) for sorted batches in which both zeros occur.
template <typename K, typename Restore>
void SortShort(const KeyCoder<K>& coder, const Array& x, K flip, const Array& out,
               const Restore& restore) {
    ForEachShort(x, [&](int64_t row, int64_t rows) {
        const ShortKeys<K> block{coder, x, row, rows, false, flip};
        ShortRoom<K> sorted;
        LoopsOf<K>().sort_rows(block.keys, rows, block.n, sorted.keys);
        coder.decode(sorted.keys, rows * block.n, flip, coder.RowOf(out, row));
        if (coder.has_zeros && block.HasBothZeros()) restore(row, rows);
    });
}

template <typename K>
void ArgSortShort(const KeyCoder<K>& coder, const Array& x, K flip, const Array& out) {
    ForEachShort(x, [&](int64_t row, int64_t rows) {
        const ShortKeys<K> block{coder, x, row, rows, true, flip};
        ShortRoom<K> places;
        LoopsOf<K>().rank_rows(block.keys, rows, block.n, places.keys);
        auto* const to = RowOf<int64_t>(out, row);
        block.ForEachPlace(places, [to](int64_t place, int64_t, int64_t j) { to[j] = place; });
    });
}

template <typename K>
void SelectShort(const KeyCoder<K>& coder, const Array& x, const int64_t* places,
                 const Array& out) {
    const int64_t count = out.shape()[1];
    ForEachShort(x, [&](int64_t row, int64_t rows) {
        const ShortKeys<K> block{coder, x, row, rows, false, 0};
        ShortRoom<K> sorted;
        LoopsOf<K>().sort_rows(block.keys, rows, block.n, sorted.keys);
        K found[kBatchKeys];  // at most the length of the row
        K* to = found;
        for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < count; ++j) *to++ = sorted.keys[i * block.n + places[j]];
        }
        coder.decode(found, rows * count, 0, coder.RowOf(out, row));
    });
}

// For each batch of rows, calls f(row), and calls the result with (place, i, j)
// for each element: element i, at `place` of its row, becomes element j of the
// partitioned row.
template <typename K, typename F>
void PartitionShortOf(const KeyCoder<K>& coder, const Array& x, int64_t position, const F& f) {
    ForEachShort(x, [&](int64_t row, int64_t rows) {
        const ShortKeys<K> block{coder, x, row, rows, true, 0};
        ShortRoom<K> places;
        LoopsOf<K>().partition_rows(block.keys, rows, block.n, position, places.keys);
        block.ForEachPlace(places, f(row));
    });
}

// Moves elements as items of type T, whatever their dtype.
template <typename T, typename K>
void PartitionShort(const KeyCoder<K>& coder, const Array& x, int64_t position, const Array& out) {
    PartitionShortOf(coder, x, position, [&](int64_t row) {
        const T* const from = RowOf<T>(x, row);
        T* const to = RowOf<T>(out, row);
        return [=](int64_t, int64_t i, int64_t j) { to[j] = from[i]; };
    });
}

// Calls f(coder) if rows of x are short enough for the batched loops.
bool VisitShort(const Array& x, const auto& f) {
    if (!AreShort(x) || !CanSortBatched(x, false)) return false;
    VisitCoder(x.dtype(), f);
    return true;
}

}  // namespace

// Batches don't pay for a few rows, or for somewhat more of longer ones, since
// empty lanes cost as much as full ones.
bool AreShort(const Array& x) {
    constexpr int64_t kMinRows = 8;
    const int64_t rows = x.shape()[0];
    const int64_t n = x.shape()[1];
    return n <= kMaxShortRow && rows >= std::max(kMinRows, n);
}

bool CanSortBatched(const Array& x, bool places) {
    const int64_t n = x.shape()[1];
    if (IsComplex(x.dtype()) || n > kMaxShortRow) return false;
    bool fits = places;
    VisitCoder(x.dtype(),
               [&]<typename K>(const KeyCoder<K>&) { fits |= n <= kMaxSortedInShort<K>; });
    return fits;
}

bool SortBatched(const Array& x, bool descending, const Array& out) {
    VisitCoder(x.dtype(), [&]<typename K>(const KeyCoder<K>& coder) {
        const K flip = descending ? -1 : 0;
        SortShort(coder, x, flip, out, [&](int64_t begin, int64_t rows) {
            VisitDtype(x.dtype(), [&]<typename T>() {
                if constexpr (GetKind(kDtypeOf<T>) == DtypeKind::kFloat) {
                    if constexpr (std::is_same_v<SortKey<T>, K>) {
                        for (int64_t row = begin; row < begin + rows; ++row) {
                            RestoreZeros(RowOf<T>(x, row), x.shape()[1], flip, RowOf<T>(out, row));
                        }
                    }
                }
            });
        });
    });
    return true;
}

bool ArgSortBatched(const Array& x, bool descending, const Array& out) {
    VisitCoder(x.dtype(), [&]<typename K>(const KeyCoder<K>& coder) {
        ArgSortShort(coder, x, descending ? K{-1} : K{0}, out);
    });
    return true;
}

bool SelectBatched(const Array& x, const Array& positions, const Array& out) {
    if (out.shape()[1] > x.shape()[1]) return false;
    return VisitShort(x, [&](const auto& coder) {
        SelectShort(coder, x, reinterpret_cast<const int64_t*>(positions.raw_data()), out);
    });
}

bool ArgPartitionBatched(const Array& x, int64_t position, const Array& out) {
    return VisitShort(x, [&](const auto& coder) {
        PartitionShortOf(coder, x, position, [&out](int64_t row) {
            auto* const to = RowOf<int64_t>(out, row);
            return [to](int64_t place, int64_t, int64_t j) { to[j] = place; };
        });
    });
}

bool PartitionBatched(const Array& x, int64_t position, const Array& out) {
    return VisitShort(x, [&]<typename K>(const KeyCoder<K>& coder) {
        if (coder.item_size == 1) return PartitionShort<uint8_t>(coder, x, position, out);
        if (coder.item_size == 2) return PartitionShort<uint16_t>(coder, x, position, out);
        PartitionShort<K>(coder, x, position, out);
    });
}

}  // namespace chainerx::native

// What needs a part of the order only: single places of a sorted row, a partition, the first ones.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/kernels/sorting.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/quicksort.h"
#include "chainerx/native/sort_rows.h"

namespace chainerx::native {
namespace {

// Up to so many keys are sorted.
constexpr int64_t kSortedAtOnce = 1 << 11;

// Keys of a row as they are needed, in blocks that stay in the caches.
template <typename T>
struct EncodedRow {
    using Key = SortKey<T>;
    static constexpr int64_t kBlockSize = 1 << 11;

    const T* x;
    int64_t n;
    bool join_zeros;
    Key flip;

    Key At(int64_t i) const { return EncodeKey(x[i], join_zeros, flip); }
    template <typename F>
    void ForEachBlock(const F& f) const {
        alignas(64) Key keys[kBlockSize];
        InParts(n, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i += kBlockSize) {
                const int64_t count = std::min(kBlockSize, end - i);
                EncodeKeys(x + i, count, join_zeros, flip, keys);
                f(keys, i, count);
            }
        });
    }
};

template <typename K>
struct KeyRow {
    using Key = K;

    const K* keys;
    int64_t n;

    K At(int64_t i) const { return keys[i]; }
    template <typename F>
    void ForEachBlock(const F& f) const {
        InParts(n, [&](int64_t begin, int64_t end) { f(keys + begin, begin, end - begin); });
    }
};

// Writes what stands at places[0] to places[count - 1] of the sorted row; the places ascend, and
// are near each other. Each turn takes a sample, keeps the keys that lie between two of its
// elements, and counts those below.
template <typename Row, typename K>
void Select(const Row& row, const int64_t* places, int64_t count, K* found) {
    const int64_t n = row.n;
    const int64_t first = places[0];
    const int64_t last = places[count - 1];
    if (n <= LoopsOf<K>().leaf) {
        alignas(64) K sorted[kMostInLeaf];
        row.ForEachBlock(
            [&](const K* keys, int64_t, int64_t) { LoopsOf<K>().sort(keys, n, sorted); });
        for (int64_t i = 0; i < count; ++i) found[i] = sorted[places[i]];
        return;
    }
    if (n <= kSortedAtOnce) {
        KeyRoom<K> keys{n};
        KeyRoom<K> spare{n};
        row.ForEachBlock([&](const K* from, int64_t begin, int64_t size) {
            std::copy_n(from, size, keys.data() + begin);
        });
        if (count == 1) {
            found[0] = QuickSelect(keys.data(), spare.data(), n, first);
            return;
        }
        SortKeys(keys.data(), spare.data(), n, keys.data());
        for (int64_t i = 0; i < count; ++i) found[i] = keys.data()[places[i]];
        return;
    }
    constexpr int64_t kSample = 1 << 10;
    alignas(64) K sample[kSample];
    alignas(64) K spare[kSample];
    SampleKeys(n, kSample, [&](int64_t i, int64_t place) { sample[i] = row.At(place); });
    SortKeys(sample, spare, kSample, sample);
    // Three standard deviations of the place of an element in the sample.
    const int64_t margin = 48;
    constexpr K kLeast = std::numeric_limits<K>::min();
    constexpr K kMost = std::numeric_limits<K>::max();
    const int64_t lower = first * kSample / n - margin;
    const int64_t upper = last * kSample / n + margin;
    K low = lower < 0 ? kLeast : sample[lower];
    K high = upper >= kSample ? kMost : sample[upper];
    KeyRoom<K> kept{n};
    for (;;) {
        InWindow all{0, 0};
        row.ForEachBlock([&](const K* from, int64_t, int64_t size) {
            const InWindow some =
                LoopsOf<K>().gather(from, size, low, high, kept.data() + all.inside);
            all.below += some.below;
            all.inside += some.inside;
        });
        if (low == high && first >= all.below && last < all.below + all.inside) {
            std::fill_n(found, count, low);
            return;
        }
        if (first < all.below) {
            low = kLeast;
        } else if (last >= all.below + all.inside) {
            high = kMost;
        } else if (all.inside > n / 2) {  // many are alike
            KeyRoom<K> more{all.inside};
            SortKeys(kept.data(), more.data(), all.inside, kept.data());
            for (int64_t i = 0; i < count; ++i) found[i] = kept.data()[places[i] - all.below];
            return;
        } else {
            KeyRoom<int64_t> moved{count};
            for (int64_t i = 0; i < count; ++i) moved.data()[i] = places[i] - all.below;
            Select(KeyRow<K>{kept.data(), all.inside}, moved.data(), count, found);
            return;
        }
    }
}

// Places that are further from each other than this share no turn.
bool AreNear(int64_t a, int64_t b, int64_t n) { return b - a <= n / 64; }

template <typename T>
void SelectSortedRow(const T* x, int64_t n, const int64_t* places, int64_t count, T* out) {
    using K = SortKey<T>;
    constexpr int kMostTurns = 6;  // more take as long as sorting
    const EncodedRow<T> row{x, n, false, 0};
    int turns = 1;
    for (int64_t i = 1; i < count; ++i) turns += AreNear(places[i - 1], places[i], n) ? 0 : 1;
    KeyRoom<K> found{count};
    if (turns > kMostTurns) {
        KeyRoom<K> keys{n};
        KeyRoom<K> spare{n};
        EncodeKeys<T>(x, n, false, 0, keys.data());
        SortKeys(keys.data(), spare.data(), n, keys.data());
        for (int64_t i = 0; i < count; ++i) found.data()[i] = keys.data()[places[i]];
    } else {
        for (int64_t begin = 0; begin < count;) {
            int64_t end = begin + 1;
            while (end < count && AreNear(places[end - 1], places[end], n)) ++end;
            Select(row, places + begin, end - begin, found.data() + begin);
            begin = end;
        }
    }
    for (int64_t i = 0; i < count; ++i) out[i] = DecodeKey<T>(found.data()[i], 0);
}

void SelectSorted(const Array& x, const Array& positions, const Array& out) {
    const auto* places = reinterpret_cast<const int64_t*>(positions.raw_data());
    VisitOrdered(x.dtype(), [&]<typename T>() {
        ForEachRow(x, [&](int64_t row) {
            SelectSortedRow(RowOf<T>(x, row), x.shape()[1], places, positions.GetTotalSize(),
                            RowOf<T>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(SelectSorted)

template <typename T>
void ArgPartitionRow(const T* x, int64_t n, int64_t position, int64_t* out) {
    using K = SortKey<T>;
    const EncodedRow<T> row{x, n, true, 0};
    K pivot;
    Select(row, &position, 1, &pivot);
    int64_t below = 0;
    int64_t equal = 0;
    row.ForEachBlock([&](const K* keys, int64_t, int64_t size) {
        // As wide as keys, so that the compiler vectorizes the loop.
        K less = 0;
        K same = 0;
        for (int64_t i = 0; i < size; ++i) {
            less += keys[i] < pivot;
            same += keys[i] == pivot;
        }
        below += less;
        equal += same;
    });
    // Of each block, the places on either side and between. No branch depends on a key. Another
    // thread may write to the row meanwhile: nothing then goes past the room of its side.
    int64_t* to[3] = {out, out + below, out + below + equal};
    int64_t* const ends[3] = {to[1], to[2], out + n};
    row.ForEachBlock([&](const K* keys, int64_t begin, int64_t size) {
        uint16_t places[3][EncodedRow<T>::kBlockSize];
        int64_t counts[3] = {0, 0, 0};
        for (int64_t i = 0; i < size; ++i) {
            const K key = keys[i];
            const auto place = static_cast<uint16_t>(i);
            places[0][counts[0]] = place;
            places[1][counts[1]] = place;
            places[2][counts[2]] = place;
            counts[0] += key < pivot;
            counts[1] += key == pivot;
            counts[2] += key > pivot;
        }
        for (int side = 0; side < 3; ++side) {
            const int64_t count = std::min<int64_t>(counts[side], ends[side] - to[side]);
            for (int64_t i = 0; i < count; ++i) to[side][i] = begin + places[side][i];
            to[side] += count;
        }
    });
    for (int side = 0; side < 3; ++side) std::fill(to[side], ends[side], int64_t{0});
}

void ArgPartition(const Array& x, int64_t position, const Array& out) {
    VisitOrdered(x.dtype(), [&]<typename T>() {
        ForEachRow(x, [&](int64_t row) {
            ArgPartitionRow(RowOf<T>(x, row), x.shape()[1], position, RowOf<int64_t>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(ArgPartition)

// The parts as keys, of which the upper ones wait in memory of their own. What is equal fills the
// place between, but for zeros, which have two keys.
template <typename T, typename Row, typename K>
void PartitionKeys(const Row& row, int64_t position, K* out) {
    constexpr K kLeast = std::numeric_limits<K>::min();
    constexpr K kMost = std::numeric_limits<K>::max();
    const int64_t n = row.n;
    K low;
    Select(row, &position, 1, &low);
    K high = low;
    if constexpr (GetKind(kDtypeOf<T>) == DtypeKind::kFloat) {
        if (low == -1 || low == 0) {  // -0.0 and 0.0
            low = -1;
            high = 0;
        }
    }
    KeyRoom<K> above{n};
    int64_t n_below = 0;
    int64_t n_above = 0;
    const auto& gather = LoopsOf<K>().gather;
    row.ForEachBlock([&](const K* keys, int64_t, int64_t size) {
        if (low != kLeast) {
            n_below += gather(keys, size, kLeast, static_cast<K>(low - 1), out + n_below).inside;
        }
        if (high != kMost) {
            n_above +=
                gather(keys, size, static_cast<K>(high + 1), kMost, above.data() + n_above).inside;
        }
    });
    K* const equal = out + n_below;
    const int64_t n_equal = n - n_below - n_above;
    if (low == high) {
        std::fill_n(equal, n_equal, low);
    } else {
        std::fill_n(equal, n_equal, high);  // where another thread writes to the row meanwhile
        for (int64_t i = 0, k = 0; i < n && k < n_equal; ++i) {
            const K key = row.At(i);
            if (low <= key && key <= high) equal[k++] = key;
        }
    }
    std::copy_n(above.data(), n_above, equal + n_equal);
}

template <typename T, typename Row>
void PartitionRowOf(const Row& row, int64_t position, T* out) {
    using K = SortKey<T>;
    if constexpr (sizeof(T) == sizeof(K)) {  // keys become numbers where they are
        auto* const keys = reinterpret_cast<K*>(out);
        PartitionKeys<T>(row, position, keys);
        if constexpr (std::is_floating_point_v<T>) {
            NumberLoopsOf<T>().decode(keys, row.n, 0);
        } else if constexpr (!kIsOwnKey<T>) {
            for (int64_t i = 0; i < row.n; ++i) out[i] = DecodeKey<T>(keys[i], 0);
        }
    } else {
        KeyRoom<K> keys{row.n};
        PartitionKeys<T>(row, position, keys.data());
        for (int64_t i = 0; i < row.n; ++i) out[i] = DecodeKey<T>(keys.data()[i], 0);
    }
}

template <typename T>
void PartitionRow(const T* x, int64_t n, int64_t position, T* out) {
    using K = SortKey<T>;
    const EncodedRow<T> row{x, n, false, 0};
    if (n > EncodedRow<T>::kBlockSize) return PartitionRowOf<T>(row, position, out);
    alignas(64) K keys[EncodedRow<T>::kBlockSize];
    EncodeKeys(x, n, false, 0, keys);
    PartitionRowOf<T>(KeyRow<K>{keys, n}, position, out);
}

void PartitionRows(const Array& x, int64_t position, const Array& out) {
    VisitOrdered(x.dtype(), [&]<typename T>() {
        ForEachRow(x, [&](int64_t row) {
            PartitionRow(RowOf<T>(x, row), x.shape()[1], position, RowOf<T>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(PartitionRows)

// A key and its place: of equal keys, the first one is before the others.
template <typename K>
struct Candidate {
    K key;
    int64_t place;

    friend bool operator<(const Candidate& a, const Candidate& b) {
        return a.key != b.key ? a.key < b.key : a.place < b.place;
    }
};

// The k first of a row. Whatever is not below the k-th of those that were seen is passed over.
template <typename T>
void ArgTopKRow(const T* x, int64_t n, int64_t k, bool largest, bool sorted, int64_t* out) {
    using K = SortKey<T>;
    using C = Candidate<K>;
    const EncodedRow<T> row{x, n, true, largest ? -1 : 0};
    const int64_t room = std::min(n, 2 * k + 1024);
    KeyRoom<C> memory{room};
    C* const kept = memory.data();
    int64_t count = 0;
    K limit = std::numeric_limits<K>::max();
    bool has_limit = false;
    const auto cut = [&] {
        std::nth_element(kept, kept + (k - 1), kept + count);
        count = k;
        limit = kept[k - 1].key;
        has_limit = true;
    };
    row.ForEachBlock([&](const K* keys, int64_t begin, int64_t size) {
        constexpr int64_t kStep = 32;  // a loop without an exit, which the compiler vectorizes
        for (int64_t i = 0; i < size; i += kStep) {
            const int64_t end = std::min(size, i + kStep);
            if (has_limit && end - i == kStep) {
                uint32_t any = 0;
                for (int64_t j = 0; j < kStep; ++j) any |= keys[i + j] < limit;
                if (any == 0) continue;
            }
            for (int64_t j = i; j < end; ++j) {
                if (has_limit && keys[j] >= limit) continue;
                if (count == room) {
                    cut();
                    if (keys[j] >= limit) continue;
                }
                kept[count++] = {keys[j], begin + j};
            }
        }
    });
    if (count > k) cut();
    if (sorted) {
        std::sort(kept, kept + k);
    } else {
        std::sort(kept, kept + k, [](const C& a, const C& b) { return a.place < b.place; });
    }
    for (int64_t i = 0; i < k; ++i) out[i] = kept[i].place;
}

void ArgTopK(const Array& x, bool largest, bool sorted, const Array& out) {
    const int64_t k = out.shape()[1];
    VisitOrdered(x.dtype(), [&]<typename T>() {
        ForEachRow(x, [&](int64_t row) {
            ArgTopKRow(RowOf<T>(x, row), x.shape()[1], k, largest, sorted,
                       RowOf<int64_t>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(ArgTopK)

}  // namespace
}  // namespace chainerx::native

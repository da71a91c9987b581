// Partial orders: single places of a sorted row, partition, top-k.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/sort/batched_sort.h"
#include "chainerx/native/sort/key_coder.h"
#include "chainerx/native/sort/quicksort.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

// Up to this many keys are sorted at once.
constexpr int64_t kSortedAtOnce = 1 << 11;

// Keys of a row, encoded on demand in blocks that stay in cache.
template <typename K>
struct EncodedRow {
    using Key = K;
    static constexpr int64_t kBlockSize = 1 << 11;

    const KeyCoder<K>& coder;
    const char* x;
    int64_t n;
    bool join_zeros;
    K flip;

    void Pick(const int64_t* places, int64_t count, K* keys) const {
        coder.pick(x, places, count, join_zeros, flip, keys);
    }
    void ForEachBlock(const auto& f) const {
        alignas(64) K keys[kBlockSize];
        ForChunks(n, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i += kBlockSize) {
                const int64_t count = std::min(kBlockSize, end - i);
                coder.encode(x + i * coder.item_size, count, join_zeros, flip, keys);
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

    void Pick(const int64_t* places, int64_t count, K* picked) const {
        for (int64_t i = 0; i < count; ++i) picked[i] = keys[places[i]];
    }
    void ForEachBlock(const auto& f) const {
        ForChunks(n, [&](int64_t begin, int64_t end) { f(keys + begin, begin, end - begin); });
    }
};

// Writes the keys that stand at places[0] to places[count - 1] of the sorted row; the places ascend
// and are near each other. Each pass takes a sample, keeps the keys between two of its elements,
// and counts those below.
template <typename Row, typename K>
void Select(const Row& row, const int64_t* places, int64_t count, K* found) {
    const int64_t n = row.n;
    const int64_t first = places[0];
    const int64_t last = places[count - 1];
    if (n <= LoopsOf<K>().leaf) {
        alignas(64) K sorted[kMaxInLeaf];
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
    int64_t sampled[kSample];
    SampleKeys(n, kSample, [&](int64_t i, int64_t place) { sampled[i] = place; });
    row.Pick(sampled, kSample, sample);
    SortKeys(sample, spare, kSample, sample);
    // Three standard deviations of the position of an element in the sample.
    const int64_t margin = 48;
    constexpr K kMin = std::numeric_limits<K>::min();
    constexpr K kMax = std::numeric_limits<K>::max();
    const int64_t lower = first * kSample / n - margin;
    const int64_t upper = last * kSample / n + margin;
    K low = lower < 0 ? kMin : sample[lower];
    K high = upper >= kSample ? kMax : sample[upper];
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
            low = kMin;
        } else if (last >= all.below + all.inside) {
            high = kMax;
        } else if (all.inside > n / 2) {  // many equal keys
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

// Places further apart than this do not share a pass.
bool AreNear(int64_t a, int64_t b, int64_t n) { return b - a <= n / 64; }

template <typename K>
void SelectSortedRow(const EncodedRow<K>& row, const int64_t* places, int64_t count, char* out) {
    constexpr int kMaxPasses = 6;  // more passes take as long as sorting
    const int64_t n = row.n;
    int passes = 1;
    for (int64_t i = 1; i < count; ++i) passes += AreNear(places[i - 1], places[i], n) ? 0 : 1;
    KeyRoom<K> found{count};
    if (passes > kMaxPasses) {
        KeyRoom<K> keys{n};
        KeyRoom<K> spare{n};
        row.coder.encode(row.x, n, row.join_zeros, row.flip, keys.data());
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
    row.coder.decode(found.data(), count, row.flip, out);
}

void SelectSorted(const Array& x, const Array& positions, const Array& out) {
    const auto* places = reinterpret_cast<const int64_t*>(positions.raw_data());
    const int64_t n = x.shape()[1];
    const int64_t count = out.shape()[1];
    if (SelectBatched(x, positions, out)) return;
    VisitCoder(x.dtype(), [&]<typename K>(const KeyCoder<K>& coder) {
        ForEachRow(x, [&](int64_t row) {
            SelectSortedRow(EncodedRow<K>{coder, coder.RowOf(x, row), n, false, 0}, places, count,
                            coder.RowOf(out, row));
        });
    });
}
CX_NATIVE_KERNEL(SelectSorted)

template <typename K>
void ArgPartitionRow(const EncodedRow<K>& row, int64_t position, int64_t* out) {
    const int64_t n = row.n;
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
    // For each block, collects the places below, equal to and above. The code has no branch that
    // depends on a key. If another thread writes to the row meanwhile, no side overruns its buffer.
    int64_t* to[3] = {out, out + below, out + below + equal};
    int64_t* const ends[3] = {to[1], to[2], out + n};
    row.ForEachBlock([&](const K* keys, int64_t begin, int64_t size) {
        uint16_t places[3][EncodedRow<K>::kBlockSize];
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
    if (ArgPartitionBatched(x, position, out)) return;
    VisitCoder(x.dtype(), [&]<typename K>(const KeyCoder<K>& coder) {
        ForEachRow(x, [&](int64_t row) {
            ArgPartitionRow(EncodedRow<K>{coder, coder.RowOf(x, row), x.shape()[1], true, 0},
                            position, RowOf<int64_t>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(ArgPartition)

// Partitions keys; the upper part goes to separate memory first. Keys between are all equal, except
// for zeros, which may have two keys.
template <typename Row, typename K>
void PartitionKeys(const Row& row, bool has_zeros, int64_t position, K* out) {
    constexpr K kMin = std::numeric_limits<K>::min();
    constexpr K kMax = std::numeric_limits<K>::max();
    const int64_t n = row.n;
    K low;
    Select(row, &position, 1, &low);
    K high = low;
    if (has_zeros && (low == -1 || low == 0)) {  // -0.0 and 0.0
        low = -1;
        high = 0;
    }
    KeyRoom<K> above{n};
    int64_t n_below = 0;
    int64_t n_above = 0;
    const auto& gather = LoopsOf<K>().gather;
    row.ForEachBlock([&](const K* keys, int64_t, int64_t size) {
        if (low != kMin) {
            n_below += gather(keys, size, kMin, static_cast<K>(low - 1), out + n_below).inside;
        }
        if (high != kMax) {
            n_above +=
                gather(keys, size, static_cast<K>(high + 1), kMax, above.data() + n_above).inside;
        }
    });
    K* const equal = out + n_below;
    const int64_t n_equal = n - n_below - n_above;
    // Counts zeros as well, if another thread writes to the row meanwhile.
    std::fill_n(equal, n_equal, high);
    if (low != high) {
        int64_t k = 0;
        row.ForEachBlock([&](const K* keys, int64_t, int64_t size) {
            for (int64_t i = 0; i < size && k < n_equal; ++i) {
                if (low <= keys[i] && keys[i] <= high) equal[k++] = keys[i];
            }
        });
    }
    std::copy_n(above.data(), n_above, equal + n_equal);
}

template <typename K, typename Row>
void PartitionRowOf(const KeyCoder<K>& coder, const Row& row, int64_t position, char* out) {
    if (coder.item_size == sizeof(K)) {  // decodes keys in place
        auto* const keys = reinterpret_cast<K*>(out);
        PartitionKeys(row, coder.has_zeros, position, keys);
        coder.decode(keys, row.n, 0, keys);
    } else {
        KeyRoom<K> keys{row.n};
        PartitionKeys(row, coder.has_zeros, position, keys.data());
        coder.decode(keys.data(), row.n, 0, out);
    }
}

template <typename K>
void PartitionRow(const EncodedRow<K>& row, int64_t position, char* out) {
    const int64_t n = row.n;
    if (n > EncodedRow<K>::kBlockSize) return PartitionRowOf(row.coder, row, position, out);
    alignas(64) K keys[EncodedRow<K>::kBlockSize];
    row.coder.encode(row.x, n, row.join_zeros, row.flip, keys);
    PartitionRowOf(row.coder, KeyRow<K>{keys, n}, position, out);
}

void PartitionRows(const Array& x, int64_t position, const Array& out) {
    if (PartitionBatched(x, position, out)) return;
    VisitCoder(x.dtype(), [&]<typename K>(const KeyCoder<K>& coder) {
        ForEachRow(x, [&](int64_t row) {
            PartitionRow(EncodedRow<K>{coder, coder.RowOf(x, row), x.shape()[1], false, 0},
                         position, coder.RowOf(out, row));
        });
    });
}
CX_NATIVE_KERNEL(PartitionRows)

// A key and its place, ordered by both, so that equal keys keep their order.
template <typename K>
struct Candidate {
    K key;
    int64_t place;

    friend bool operator<(const Candidate& a, const Candidate& b) {
        return a.key != b.key ? a.key < b.key : a.place < b.place;
    }
};

// The k smallest of a row (top-k). Keys that are not below the k-th of those seen so far are
// skipped.
template <typename K>
void ArgTopKRow(const EncodedRow<K>& row, int64_t k, bool sorted, int64_t* out) {
    using C = Candidate<K>;
    const int64_t room = std::min(row.n, 2 * k + 1024);
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
        constexpr int64_t kStep = 32;  // a loop without exits, which the compiler vectorizes
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
    VisitCoder(x.dtype(), [&]<typename K>(const KeyCoder<K>& coder) {
        const K flip = largest ? -1 : 0;
        ForEachRow(x, [&](int64_t row) {
            ArgTopKRow(EncodedRow<K>{coder, coder.RowOf(x, row), x.shape()[1], true, flip}, k,
                       sorted, RowOf<int64_t>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(ArgTopK)

}  // namespace
}  // namespace chainerx::native

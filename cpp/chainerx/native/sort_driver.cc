#include "chainerx/native/sort_driver.h"

#include <algorithm>
#include <bit>

#include "chainerx/core/interrupt.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {
namespace {

// A key with about as many below it as make some of the leaves of which the parts shall consist,
// each of them nearly full: the time of a leaf depends on the room that it has.
template <typename K>
K ChoosePivot(const K* keys, int64_t n) {
    constexpr int64_t kMost = 128;
    const int64_t leaf = LoopsOf<K>().leaf;
    const int64_t count = std::min(n < 1024 ? 16 : n < 8192 ? 32 : kMost, leaf);
    K sample[kMost];
    SampleKeys(n, count, [&](int64_t i, int64_t place) { sample[i] = keys[place]; });
    LoopsOf<K>().sort(sample, count, sample);
    const int64_t leaves = CeilDiv(n, leaf - leaf / 3);
    return sample[count * (leaves / 2) / leaves];
}

// Keys below the pivot first; returns how many they are.
template <typename K>
int64_t Partition(const K* keys, int64_t n, K pivot, K* out) {
    int64_t low = 0;
    int64_t room = n;
    InParts(n, [&](int64_t begin, int64_t end) {
        const int64_t count = end - begin;
        const int64_t below = LoopsOf<K>().partition(keys + begin, count, pivot, out + low, room);
        low += below;
        room -= count;
    });
    return low;
}

// The keys are in `at`, and go back and forth between it and `spare`. `steps` more partitions, one
// inside the other, may be made; who needs more has met with pivots that no real data have.
template <typename K>
void Sort(K* at, K* spare, int64_t n, K* out, int steps) {
    const SortLoopsOf<K>& loops = LoopsOf<K>();
    while (n > loops.leaf) {
        if (n >= 1 << 14) internal::CheckInterrupt();
        if (steps-- == 0) {
            std::sort(at, at + n);
            if (at != out) std::copy_n(at, n, out);
            return;
        }
        const K pivot = ChoosePivot(at, n);
        int64_t below = Partition(at, n, pivot, spare);
        std::swap(at, spare);
        if (below == 0) {
            // Nothing is: what equals the pivot comes first, and is in its place.
            if (pivot == std::numeric_limits<K>::max()) {
                std::fill_n(out, n, pivot);
                return;
            }
            below = Partition(at, n, static_cast<K>(pivot + 1), spare);
            std::swap(at, spare);
            std::fill_n(out, below, pivot);
        } else {
            Sort(at, spare, below, out, steps);
        }
        at += below;
        spare += below;
        out += below;
        n -= below;
    }
    loops.sort(at, n, out);
}

template <typename K>
void SortAll(K* keys, K* spare, int64_t n, K* out) {
    Sort(keys, spare, n, out, 2 * std::bit_width(static_cast<uint64_t>(n)) + 8);
}

// A key above the place that it has: in sorted order, equal keys are in that of their places.
inline int64_t Pack(uint32_t key, int64_t place) {
    return static_cast<int64_t>(uint64_t{key ^ 0x80000000u} << 32 | static_cast<uint64_t>(place));
}
inline int64_t PlaceOf(int64_t packed) { return packed & 0xffffffff; }

// Packed keys hold places of 32 bits.
constexpr int64_t kMostPacked = int64_t{1} << 32;

template <typename K>
void ArgSortByComparing(const K* keys, int64_t n, int64_t* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = i;
    std::stable_sort(out, out + n, [keys](int64_t a, int64_t b) { return keys[a] < keys[b]; });
}

// Sorts places [begin, end) of `packed`, whose keys have the same upper bits. They are those of
// keys64.
void SortRun(const int64_t* keys64, int64_t* packed, int64_t begin, int64_t end) {
    constexpr int64_t kFew = 16;
    const auto key = [&](int64_t i) { return keys64[PlaceOf(packed[i])]; };
    if (end - begin <= kFew) {
        for (int64_t i = begin + 1; i < end; ++i) {
            const int64_t moved = packed[i];
            const int64_t moved_key = key(i);
            int64_t j = i;
            for (; j > begin && key(j - 1) > moved_key; --j) packed[j] = packed[j - 1];
            packed[j] = moved;
        }
        return;
    }
    // What differs is in the lower bits, all of which the next turn packs.
    const int64_t n = end - begin;
    const Scratch<int64_t> some{n};
    const Scratch<int64_t> order{n};
    for (int64_t i = 0; i < n; ++i) some.data()[i] = key(begin + i);
    ArgSortKeys(some.data(), n, order.data());
    for (int64_t i = 0; i < n; ++i) {
        order.data()[i] = PlaceOf(packed[begin + order.data()[i]]);
    }
    // Their keys are used no more.
    std::copy_n(order.data(), n, packed + begin);
}

}  // namespace

void SortKeys(int32_t* keys, int32_t* spare, int64_t n, int32_t* out) {
    SortAll(keys, spare, n, out);
}
void SortKeys(int64_t* keys, int64_t* spare, int64_t n, int64_t* out) {
    SortAll(keys, spare, n, out);
}

void ArgSortKeys(const int32_t* keys, int64_t n, int64_t* out) {
    if (n >= kMostPacked) return ArgSortByComparing(keys, n, out);
    const Scratch<int64_t> spare{n};
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<int64_t>(uint64_t{static_cast<uint32_t>(keys[i])} << 32 |
                                      static_cast<uint64_t>(i));
    }
    SortAll(out, spare.data(), n, out);
    for (int64_t i = 0; i < n; ++i) out[i] = PlaceOf(out[i]);
}

void ArgSortKeys(const int64_t* keys, int64_t n, int64_t* out) {
    if (n >= kMostPacked) return ArgSortByComparing(keys, n, out);
    // The upper 32 of the bits in which keys differ, counted from the smallest one.
    const auto [least, most] = std::minmax_element(keys, keys + n);
    const auto base = static_cast<uint64_t>(*least);
    const int bits = std::bit_width(static_cast<uint64_t>(*most) - base);
    const int shift = std::max(0, bits - 32);
    const Scratch<int64_t> spare{n};
    for (int64_t i = 0; i < n; ++i) {
        out[i] = Pack(static_cast<uint32_t>((static_cast<uint64_t>(keys[i]) - base) >> shift), i);
    }
    SortAll(out, spare.data(), n, out);
    if (shift > 0) {
        for (int64_t begin = 0; begin < n;) {
            int64_t end = begin + 1;
            while (end < n && out[end] >> 32 == out[begin] >> 32) ++end;
            if (end - begin > 1) SortRun(keys, out, begin, end);
            begin = end;
        }
    }
    for (int64_t i = 0; i < n; ++i) out[i] = PlaceOf(out[i]);
}

}  // namespace chainerx::native

// Quicksort whose leaves are sorted by the loops of the instruction set. Partitions move the keys
// back and forth between two buffers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "chainerx/core/interrupt.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/sort/sort_driver.h"

namespace chainerx::native {
namespace {

constexpr int64_t kMaxSampled = 128;

// Sample size for n keys; a sample is refreshed when a quarter of it is left.
template <typename K>
int64_t SampleSize(int64_t n) {
    return std::min(n < 1024 ? 32 : n < 8192 ? 64 : kMaxSampled, LoopsOf<K>().leaf);
}

// A sorted sample of a row's keys, from which pivots are chosen, for the row and then for its
// parts.
template <typename K>
struct Sample {
    const K* keys;
    int64_t count;

    // at(place) must return one of n keys.
    static Sample Take(int64_t n, const auto& at, K* memory) {
        const int64_t count = SampleSize<K>(n);
        SampleKeys(n, count, [&](int64_t i, int64_t place) { memory[i] = at(place); });
        LoopsOf<K>().sort(memory, count, memory);
        return {memory, count};
    }
    bool IsEnough(int64_t n) const { return 4 * count >= SampleSize<K>(n); }
    // The index of a pivot that splits off a multiple of well-filled leaves: the time of a leaf
    // depends on its capacity, not on the keys in it.
    int64_t Middle(int64_t n) const {
        const int64_t leaf = LoopsOf<K>().leaf;
        const int64_t leaves = CeilDiv(n, leaf - leaf / 3);
        return count * (leaves / 2) / leaves;
    }
    // The samples below the pivot keys[middle], and the others; each is a sample of its part.
    Sample Below(int64_t middle) const {
        const K pivot = keys[middle];
        while (middle > 0 && keys[middle - 1] == pivot) --middle;
        return {keys, middle};
    }
    Sample From(int64_t middle) const { return {keys + middle, count - middle}; }
    Sample Above(int64_t middle) const {
        const K pivot = keys[middle];
        while (middle < count && keys[middle] == pivot) ++middle;
        return From(middle);
    }
};

// Partitions n keys: those below the pivot go to the start of `low`, the others to that of `other`.
// One of the two buffers holds the keys.
template <typename K>
int64_t Partition(const K* keys, int64_t n, K pivot, K* low, K* other) {
    int64_t below = 0;
    ForChunks(n, [&](int64_t begin, int64_t end) {
        below += LoopsOf<K>().partition(keys + begin, end - begin, pivot, low + below,
                                        other + (begin - below));
    });
    return below;
}

// Maximum recursion depth: only adversarial data exceed it.
inline int MaxSteps(int64_t n) { return 2 * std::bit_width(static_cast<uint64_t>(n)) + 8; }

// Sorts the n keys at `at` into `out`; `at` is `out` or `spare`.
template <typename K>
void Quicksort(K* at, K* out, K* spare, int64_t n, Sample<K> sample, int steps) {
    const SortLoopsOf<K>& loops = LoopsOf<K>();
    alignas(64) K memory[kMaxSampled];
    while (n > loops.leaf) {
        if (n >= 1 << 14) internal::CheckInterrupt();
        if (steps-- == 0) {
            std::sort(at, at + n);
            if (at != out) std::copy_n(at, n, out);
            return;
        }
        if (!sample.IsEnough(n)) {
            sample = Sample<K>::Take(n, [at](int64_t place) { return at[place]; }, memory);
        }
        const int64_t middle = sample.Middle(n);
        const K pivot = sample.keys[middle];
        int64_t below = Partition(at, n, pivot, out, spare);
        if (below == 0) {
            // Nothing is above the largest key. Keys equal to the pivot come first, in their final
            // position.
            if (pivot == std::numeric_limits<K>::max()) {
                std::fill_n(out, n, pivot);
                below = n;
            } else {
                below = Partition(spare, n, static_cast<K>(pivot + 1), out, spare);
            }
            sample = sample.Above(middle);
        } else {
            Quicksort(out, out, spare + (n - below), below, sample.Below(middle), steps);
            sample = sample.From(middle);
        }
        at = spare;
        out += below;
        n -= below;
    }
    loops.sort(at, n, out);
}

// Returns the key at a place of the sorted row (quickselect); overwrites the n keys at `at` and
// `spare`.
template <typename K>
K QuickSelect(K* at, K* spare, int64_t n, int64_t place) {
    const SortLoopsOf<K>& loops = LoopsOf<K>();
    for (int steps = MaxSteps(n); n > loops.leaf; --steps) {
        if (steps == 0) {
            std::nth_element(at, at + place, at + n);
            return at[place];
        }
        alignas(64) K memory[kMaxSampled];
        const auto sample = Sample<K>::Take(n, [at](int64_t i) { return at[i]; }, memory);
        const K pivot = sample.keys[sample.Middle(n)];
        int64_t below = Partition(at, n, pivot, at, spare);
        if (below == 0) {  // keys equal to the pivot come first
            if (pivot == std::numeric_limits<K>::max()) return pivot;
            below = Partition(spare, n, static_cast<K>(pivot + 1), at, spare);
            if (place < below) return pivot;
        } else if (place < below) {
            n = below;
            continue;
        }
        std::swap(at, spare);
        n -= below;
        place -= below;
    }
    loops.sort(at, n, at);
    return at[place];
}

}  // namespace
}  // namespace chainerx::native

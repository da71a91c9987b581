// A quicksort whose leaves are those of the instruction set. Keys go back and forth between two
// places while they are partitioned.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "chainerx/core/interrupt.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/sort_driver.h"

namespace chainerx::native {
namespace {

// A key with about as many below it as make some of the leaves of which the parts shall consist,
// each of them well filled: the time of a leaf depends on the room that it has. at(place) is a key.
template <typename K, typename At>
K ChoosePivot(int64_t n, const At& at) {
    constexpr int64_t kMost = 128;
    const int64_t leaf = LoopsOf<K>().leaf;
    const int64_t count = std::min(n < 1024 ? 16 : n < 8192 ? 32 : kMost, leaf);
    K sample[kMost];
    SampleKeys(n, count, [&](int64_t i, int64_t place) { sample[i] = at(place); });
    LoopsOf<K>().sort(sample, count, sample);
    const int64_t leaves = CeilDiv(n, leaf - leaf / 3);
    return sample[count * (leaves / 2) / leaves];
}

// Keys below a pivot go to the start of n places, the others to their end.
template <typename K>
class Parting {
 public:
    Parting(K pivot, K* out, int64_t n) : pivot_{pivot}, out_{out}, room_{n} {}
    void Take(const K* keys, int64_t count) {
        Count(LoopsOf<K>().partition(keys, count, pivot_, out_ + below_, room_), count);
    }
    // The keys of numbers, zeros apart.
    template <typename T>
    void TakeNumbers(const T* x, int64_t count, K flip) {
        if constexpr (std::is_floating_point_v<T>) {
            const auto& loops = NumberLoopsOf<T>();
            Count(loops.partition(x, count, flip, pivot_, out_ + below_, room_), count);
        } else {
            if constexpr (kIsOwnKey<T>) {
                if (flip == 0) return Take(x, count);
            }
            constexpr int64_t kBlockSize = 1 << 10;
            alignas(64) K block[kBlockSize];
            for (int64_t i = 0; i < count; i += kBlockSize) {
                const int64_t size = std::min(kBlockSize, count - i);
                EncodeKeys(x + i, size, false, flip, block);
                Take(block, size);
            }
        }
    }
    int64_t below() const { return below_; }

 private:
    void Count(int64_t below, int64_t count) {
        below_ += below;
        // What is left is between the two.
        taken_ += count;
        room_ = total_ - taken_;
    }

    K pivot_;
    K* out_;
    int64_t room_;
    int64_t total_{room_};
    int64_t taken_{0};
    int64_t below_{0};
};

template <typename K>
int64_t Partition(const K* keys, int64_t n, K pivot, K* out) {
    Parting<K> parting{pivot, out, n};
    InParts(n, [&](int64_t begin, int64_t end) { parting.Take(keys + begin, end - begin); });
    return parting.below();
}

// How many partitions may be made, one inside the other: who needs more has met with pivots that
// no real data have.
inline int MostSteps(int64_t n) { return 2 * std::bit_width(static_cast<uint64_t>(n)) + 8; }

// Sorts the n keys at `at` into `out`, which is `at` or `spare`. finish(keys, n) is called once
// for each key that is in its place.
template <typename K, typename Finish>
void Quicksort(K* at, K* spare, int64_t n, K* out, int steps, const Finish& finish) {
    const SortLoopsOf<K>& loops = LoopsOf<K>();
    while (n > loops.leaf) {
        if (n >= 1 << 14) internal::CheckInterrupt();
        if (steps-- == 0) {
            std::sort(at, at + n);
            if (at != out) std::copy_n(at, n, out);
            finish(out, n);
            return;
        }
        const K pivot = ChoosePivot<K>(n, [at](int64_t place) { return at[place]; });
        int64_t below = Partition(at, n, pivot, spare);
        std::swap(at, spare);
        if (below == 0) {
            // Nothing is: what equals the pivot comes first, and is in its place.
            const bool is_most = pivot == std::numeric_limits<K>::max();
            below = is_most ? n : Partition(at, n, static_cast<K>(pivot + 1), spare);
            if (!is_most) std::swap(at, spare);
            std::fill_n(out, below, pivot);
            finish(out, below);
        } else {
            Quicksort(at, spare, below, out, steps, finish);
        }
        at += below;
        spare += below;
        out += below;
        n -= below;
    }
    loops.sort(at, n, out);
    finish(out, n);
}

// The key at a place of the sorted row; the n keys at `at` and `spare` are overwritten.
template <typename K>
K QuickSelect(K* at, K* spare, int64_t n, int64_t place) {
    const SortLoopsOf<K>& loops = LoopsOf<K>();
    for (int steps = MostSteps(n); n > loops.leaf; --steps) {
        if (steps == 0) {
            std::nth_element(at, at + place, at + n);
            return at[place];
        }
        const K pivot = ChoosePivot<K>(n, [at](int64_t i) { return at[i]; });
        int64_t below = Partition(at, n, pivot, spare);
        std::swap(at, spare);
        if (below == 0) {  // what equals the pivot comes first
            if (pivot == std::numeric_limits<K>::max()) return pivot;
            below = Partition(at, n, static_cast<K>(pivot + 1), spare);
            if (place < below) return pivot;
            std::swap(at, spare);
        }
        if (place < below) {
            n = below;
        } else {
            at += below;
            spare += below;
            n -= below;
            place -= below;
        }
    }
    loops.sort(at, n, at);
    return at[place];
}

}  // namespace
}  // namespace chainerx::native

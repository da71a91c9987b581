// Quicksort of a row by keys, which are encoded and decoded on the way.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/sort/quicksort.h"
#include "chainerx/native/sort/sort_complex.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

// Decodes sorted keys in place.
template <typename T>
void DecodeKeys(SortKey<T>* keys, int64_t n, SortKey<T> flip) {
    if constexpr (std::is_floating_point_v<T>) {
        NumberLoopsOf<T>().decode(keys, n, flip);
    } else if (!kIsOwnKey<T> || flip != 0) {
        for (int64_t i = 0; i < n; ++i) {
            keys[i] = static_cast<SortKey<T>>(DecodeKey<T>(keys[i], flip));
        }
    }
}

// Splits a long row into four parts first, since each pass over it is
// memory-bound. Returns false if it can't: `sample` needs four different
// quartiles.
template <typename T, typename K, typename Finish>
bool SortInFour(const T* x, int64_t n, SortKey<T> flip, Sample<K> sample, K* out, K* spare,
                const Finish& finish) {
    if constexpr (std::is_floating_point_v<T> || kIsOwnKey<T>) {
        constexpr int64_t kLong = 1 << 16;
        if (n < kLong || (!std::is_floating_point_v<T> && flip != 0)) return false;
        Sample<K> quarters[4];
        K pivots[3];
        for (int part = 0; part < 3; ++part) {
            const int64_t begin = sample.count / (4 - part);
            quarters[part] = sample.Below(begin);
            if (quarters[part].count == 0) return false;
            pivots[part] = sample.keys[begin];
            sample = sample.From(begin);
        }
        quarters[3] = sample;
        // Each part is at its final position, or at the same position of `spare`.
        K* to[4] = {out, spare, spare + n, out + n};
        ForChunks(n, [&](int64_t begin, int64_t end) {
            if constexpr (std::is_floating_point_v<T>) {
                NumberLoopsOf<T>().split(x + begin, end - begin, flip, pivots, to);
            } else {
                LoopsOf<K>().split(x + begin, end - begin, pivots, to);
            }
        });
        const int64_t counts[4] = {to[0] - out, to[1] - spare, spare + n - to[2], out + n - to[3]};
        const int steps = MaxSteps(n);
        K* const second = out + counts[0];
        K* const third = second + counts[1];
        Quicksort(spare, second, spare, counts[1], quarters[1], steps, finish);
        Quicksort(to[2], third, to[2], counts[2], quarters[2], steps, finish);
        Quicksort(out, out, spare, counts[0], quarters[0], steps, finish);
        Quicksort(to[3], to[3], spare, counts[3], quarters[3], steps, finish);
        return true;
    } else {
        return false;
    }
}

// Encodes keys during the first partition and decodes them once they reach
// their final position; in between they stay in cache.
template <typename T>
void SortWideRow(const T* x, int64_t n, SortKey<T> flip, T* out) {
    using K = SortKey<T>;
    auto* const keys = reinterpret_cast<K*>(out);
    const auto finish = [flip](K* sorted, int64_t count) { DecodeKeys<T>(sorted, count, flip); };
    if (n <= LoopsOf<K>().leaf) {
        EncodeKeys(x, n, false, flip, keys);
        LoopsOf<K>().sort(keys, n, keys);
        finish(keys, n);
        return;
    }
    KeyRoom<K> room{n};
    K* const spare = room.data();
    alignas(64) K memory[kMaxSampled];
    const auto sample =
        Sample<K>::Take(n, [&](int64_t place) { return EncodeKey(x[place], false, flip); }, memory);
    if (SortInFour(x, n, flip, sample, keys, spare, finish)) return;
    const int64_t middle = sample.Middle(n);
    Partitioner<K> partitioner{sample.keys[middle], keys, spare};
    ForChunks(n, [&](int64_t begin, int64_t end) {
        partitioner.TakeNumbers(x + begin, end - begin, flip);
    });
    const int64_t below = partitioner.below();
    const int steps = MaxSteps(n);
    Quicksort(keys, keys, spare + (n - below), below, sample.Below(middle), steps, finish);
    Quicksort(spare, keys + below, spare, n - below, sample.From(middle), steps, finish);
}

template <typename T>
void SortNarrowRow(const T* x, int64_t n, SortKey<T> flip, T* out) {
    KeyRoom<SortKey<T>> keys{n};
    KeyRoom<SortKey<T>> spare{n};
    EncodeKeys(x, n, false, flip, keys.data());
    SortKeys(keys.data(), spare.data(), n, keys.data());
    for (int64_t i = 0; i < n; ++i) out[i] = DecodeKey<T>(keys.data()[i], flip);
}

template <typename T>
void SortRowByKeys(const T* x, int64_t n, bool descending, T* out) {
    const SortKey<T> flip = descending ? -1 : 0;
    if constexpr (sizeof(T) == sizeof(SortKey<T>)) {
        SortWideRow(x, n, flip, out);
    } else {
        SortNarrowRow(x, n, flip, out);
    }
    RestoreZeros(x, n, flip, out);
}

template <typename T>
void QuicksortRow(const T* x, int64_t n, bool descending, T* out) {
    if constexpr (kIsComplexType<T>) {
        SortComplex(x, n, descending, out);
    } else {
        SortRowByKeys(x, n, descending, out);
    }
}

template <typename T>
void ArgQuicksortRow(const T* x, int64_t n, bool descending, int64_t* out) {
    if constexpr (kIsComplexType<T>) {
        ArgSortComplex(x, n, descending, out);
    } else {
        KeyRoom<SortKey<T>> keys{n};
        EncodeKeys<T>(x, n, true, descending ? -1 : 0, keys.data());
        ArgSortKeys(keys.data(), n, out);
    }
}

}  // namespace
}  // namespace chainerx::native

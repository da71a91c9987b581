// isin: membership of numbers in a set.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/sort/complex_order.h"
#include "chainerx/native/sort/search.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

constexpr int64_t kIsinGrain = 1 << 12;

// Calls f(begin, count) for chunks of n elements, from several threads.
void ForEachChunk(int64_t n, const auto& f) {
    ParallelFor(CeilDiv(n, kIsinGrain), [&](int64_t piece) {
        internal::CheckInterrupt();
        f(piece * kIsinGrain, std::min(kIsinGrain, n - piece * kIsinGrain));
    });
}

// Returns the keys of n numbers from `begin` on: in place if numbers are their keys, else encoded
// into `room`.
template <typename K>
using Encoder = const K* (*)(const char* x, int64_t begin, int64_t n, K* room);
template <typename T>
const SortKey<T>* EncodeSome(const char* x, int64_t begin, int64_t n, SortKey<T>* room) {
    const T* const numbers = reinterpret_cast<const T*>(x) + begin;
    if constexpr (kIsOwnKey<T>) {
        return numbers;
    } else {
        EncodeKeys<T>(numbers, n, true, 0, room);
        return room;
    }
}

// Returns whether a lookup table over the whole range of keys is worth its memory.
bool IsTableWorthIt(const auto* keys, int64_t n, int64_t wanted) {
    constexpr uint64_t kNear = 1 << 20;    // bytes; such a table stays in cache
    constexpr int64_t kMinKeys = 1 << 10;  // keys; searching fewer is faster than cache misses
    const uint64_t width = static_cast<uint64_t>(keys[n - 1]) - static_cast<uint64_t>(keys[0]);
    return width < static_cast<uint64_t>(8 * (n + wanted)) && (width < kNear || n > kMinKeys);
}

template <typename K>
void FindKeys(const Array& test, const Array& x, Encoder<K> encode, bool are_floats, bool invert,
              bool* out) {
    const int64_t size = x.GetTotalSize();
    int64_t n = test.GetTotalSize();
    KeyRoom<K> room{n};
    K* const keys = room.data();
    {
        const K* const encoded = encode(test.raw_data(), 0, n, keys);
        if (encoded != keys) std::copy_n(encoded, n, keys);
        KeyRoom<K> spare{n};
        SortKeys(keys, spare.data(), n, keys);
    }
    n = std::unique(keys, keys + n) - keys;
    // NaN equals nothing.
    if (are_floats && keys[n - 1] == std::numeric_limits<K>::max()) --n;
    if (n == 0) {
        std::fill_n(out, size, invert);
        return;
    }
    const auto least = static_cast<uint64_t>(keys[0]);
    uint64_t width = 0;
    // Up to this many, comparing with each takes no longer than a lookup.
    if (n > LoopsOf<K>().leaf / 16 && !are_floats && IsTableWorthIt(keys, n, size)) {
        width = static_cast<uint64_t>(keys[n - 1]) - least + 1;
    }
    // the last entry stands for all other keys
    const Scratch<bool> table{static_cast<int64_t>(width) + 1};
    std::fill_n(table.data(), width + 1, false);
    if (width > 0) {
        for (int64_t i = 0; i < n; ++i) table.data()[static_cast<uint64_t>(keys[i]) - least] = true;
    }
    ForEachChunk(size, [&](int64_t begin, int64_t count) {
        alignas(64) K room[kIsinGrain];
        const K* const wanted = encode(x.raw_data(), begin, count, room);
        bool* const to = out + begin;
        if (width > 0) {
            for (int64_t i = 0; i < count; ++i) {
                to[i] = table.data()[std::min(static_cast<uint64_t>(wanted[i]) - least, width)];
            }
        } else if (n <= LoopsOf<K>().leaf / 4) {
            LoopsOf<K>().find(wanted, count, keys, n, to);
        } else {
            int64_t places[kIsinGrain];
            Search<false>(keys, n, wanted, count, places);
            for (int64_t i = 0; i < count; ++i) {
                to[i] = keys[std::min(places[i], n - 1)] == wanted[i];
            }
        }
        if (!invert) return;
        for (int64_t i = 0; i < count; ++i) to[i] = !to[i];
    });
}

template <typename T>
void FindComplex(const Array& test, const Array& wanted, bool invert, bool* out) {
    const T* x = reinterpret_cast<const T*>(wanted.raw_data());
    const int64_t n = test.GetTotalSize();
    KeyRoom<T> room{n};
    T* const begin = room.data();
    T* const end = std::copy_n(RowOf<T>(test, 0), n, begin);
    std::sort(begin, end, &IsBefore<T>);
    ForEachChunk(wanted.GetTotalSize(), [&](int64_t first, int64_t count) {
        for (int64_t i = first; i < first + count; ++i) {
            const T* at = std::lower_bound(begin, end, x[i], &IsBefore<T>);
            out[i] = (at != end && *at == x[i]) != invert;
        }
    });
}

void Isin(const Array& test, const Array& x, bool invert, const Array& out) {
    auto* to = reinterpret_cast<bool*>(out.raw_data());
    VisitDtype(x.dtype(), [&]<typename T>() {
        if constexpr (kIsComplexType<T>) {
            FindComplex<T>(test, x, invert, to);
        } else {
            constexpr bool kIsFloat = GetKind(kDtypeOf<T>) == DtypeKind::kFloat;
            FindKeys<SortKey<T>>(test, x, &EncodeSome<T>, kIsFloat, invert, to);
        }
    });
}
CX_NATIVE_KERNEL(Isin)

}  // namespace
}  // namespace chainerx::native

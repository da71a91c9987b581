// Quicksort of a row by keys.
#pragma once

#include <cstdint>

#include "chainerx/native/sort/key_coder.h"
#include "chainerx/native/sort/sort_complex.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

template <typename T>
void SortRowByKeys(const T* x, int64_t n, bool descending, T* out) {
    using K = SortKey<T>;
    constexpr bool kInPlace = sizeof(T) == sizeof(K);
    const K flip = descending ? -1 : 0;
    KeyRoom<K> spare{n};
    KeyRoom<K> room{kInPlace ? 0 : n};
    K* const keys = kInPlace ? reinterpret_cast<K*>(out) : room.data();
    EncodeKeys(x, n, false, flip, keys);
    SortKeys(keys, spare.data(), n, keys);
    CodedNumber<T>::Decode(keys, n, flip, out);
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

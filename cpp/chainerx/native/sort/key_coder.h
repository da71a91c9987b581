// Type-erased conversion between numbers of any dtype and keys: code that works on keys is compiled
// for two key types instead of each dtype.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chainerx/core/array.h"
#include "chainerx/native/sort/sort_driver.h"

namespace chainerx::native {
namespace {

template <typename K>
struct KeyCoder {
    int64_t item_size;
    bool has_zeros;  // -0.0 and 0.0
    void (*encode)(const void* x, int64_t n, bool join_zeros, K flip, K* keys);
    // Encodes `count` elements.
    void (*pick)(const void* x, const int64_t* places, int64_t count, bool join_zeros, K flip,
                 K* keys);
    // `out` may be `keys` if numbers have the same width.
    void (*decode)(const K* keys, int64_t n, K flip, void* out);

    // Address of row `row` of an array (rows, n).
    char* RowOf(const Array& x, int64_t row) const {
        return static_cast<char*>(x.raw_data()) + row * x.shape()[1] * item_size;
    }
};

template <typename T>
struct CodedNumber {
    using K = SortKey<T>;

    static void Encode(const void* x, int64_t n, bool join_zeros, K flip, K* keys) {
        EncodeKeys(static_cast<const T*>(x), n, join_zeros, flip, keys);
    }
    static void Pick(const void* x, const int64_t* places, int64_t count, bool join_zeros, K flip,
                     K* keys) {
        for (int64_t i = 0; i < count; ++i) {
            keys[i] = EncodeKey(static_cast<const T*>(x)[places[i]], join_zeros, flip);
        }
    }
    static void Decode(const K* keys, int64_t n, K flip, void* out) {
        if constexpr (sizeof(T) == sizeof(K)) {
            auto* const to = static_cast<K*>(out);
            if (to != keys) std::memcpy(to, keys, static_cast<size_t>(n) * sizeof(K));
            if constexpr (std::is_floating_point_v<T>) {
                NumberLoopsOf<T>().decode(to, n, flip);
            } else if (!kIsOwnKey<T> || flip != 0) {
                for (int64_t i = 0; i < n; ++i) to[i] = static_cast<K>(DecodeKey<T>(to[i], flip));
            }
        } else {
            for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = DecodeKey<T>(keys[i], flip);
        }
    }

    static constexpr KeyCoder<K> kCoder = {sizeof(T), GetKind(kDtypeOf<T>) == DtypeKind::kFloat,
                                           &Encode, &Pick, &Decode};
};

// Calls f(coder), where K is the type of the keys. Complex numbers have no keys.
void VisitCoder(Dtype dtype, const auto& f) {
    const KeyCoder<int32_t>* coder32 = nullptr;
    const KeyCoder<int64_t>* coder64 = nullptr;
    VisitDtype(dtype, [&]<typename T>() {
        if constexpr (kIsComplexType<T>) {
            ThrowUnexpectedDtype(dtype, "a real dtype");
        } else if constexpr (sizeof(SortKey<T>) == 4) {
            coder32 = &CodedNumber<T>::kCoder;
        } else {
            coder64 = &CodedNumber<T>::kCoder;
        }
    });
    coder32 != nullptr ? f(*coder32) : f(*coder64);
}

}  // namespace
}  // namespace chainerx::native

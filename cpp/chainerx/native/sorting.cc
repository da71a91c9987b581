// Sorting along the last axis.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "chainerx/core/interrupt.h"
#include "chainerx/kernels/sorting.h"
#include "chainerx/native/complex_order.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/sort_rows.h"

namespace chainerx::native {
namespace {

// ---- keys of at most 8 bits: they are counted ----

template <typename T>
void SortByCounts(const T* x, int64_t n, bool descending, T* out) {
    using Byte = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    constexpr int64_t kLeast = std::is_signed_v<Byte> ? -128 : 0;
    int64_t counts[256] = {};
    const auto* from = reinterpret_cast<const Byte*>(x);
    for (int64_t i = 0; i < n; ++i) {
        // Memory of others may hold a true that is not 1.
        ++counts[std::is_same_v<T, bool> ? from[i] != 0 : from[i] - kLeast];
    }
    auto* to = reinterpret_cast<uint8_t*>(out);
    for (int64_t k = 0; k < 256; ++k) {
        const int64_t key = descending ? 255 - k : k;
        std::memset(to, static_cast<int>(key + kLeast), static_cast<size_t>(counts[key]));
        to += counts[key];
    }
}

// ---- keys of 16 bits and more ----

// -0.0 and 0.0 have keys of their own, next to each other, so that they come back; where there are
// both, they are put in the order that they had.
template <typename T>
class ZeroOrder {
 public:
    ZeroOrder(const SortKey<T>* sorted, int64_t n) {
        if constexpr (GetKind(kDtypeOf<T>) == DtypeKind::kFloat) {
            begin_ = std::lower_bound(sorted, sorted + n, -1) - sorted;
            if (begin_ == n || sorted[begin_] != -1) return;
            end_ = std::upper_bound(sorted + begin_, sorted + n, 0) - sorted;
            if (sorted[end_ - 1] != 0) end_ = 0;
        }
    }
    void Restore(const T* x, T* out) const {
        for (int64_t to = begin_; to < end_; ++x) {
            if (Cast<ComputeType<T>>(*x) == ComputeType<T>{0}) out[to++] = *x;
        }
    }

 private:
    int64_t begin_{0};
    int64_t end_{0};
};

template <typename T>
void SortRowByKeys(const T* x, int64_t n, bool descending, T* out) {
    using K = SortKey<T>;
    const K flip = descending ? -1 : 0;
    KeyRoom<K> spare{n};
    KeyRoom<K> own{sizeof(T) == sizeof(K) ? 0 : n};
    K* keys;
    if constexpr (sizeof(T) == sizeof(K)) {
        keys = reinterpret_cast<K*>(out);
    } else {
        keys = own.data();
    }
    InParts(n, [&](int64_t begin, int64_t end) {
        EncodeKeys(x + begin, end - begin, false, flip, keys + begin);
    });
    SortKeys(keys, spare.data(), n, keys);
    const ZeroOrder<T> zeros{keys, n};
    for (int64_t i = 0; i < n; ++i) {
        const T value = DecodeKey<T>(keys[i], flip);
        std::memcpy(static_cast<void*>(out + i), &value, sizeof(T));
    }
    zeros.Restore(x, out);
}

// ---- complex numbers: by comparing ----

template <typename T>
void ArgSortByComparing(const T* x, int64_t n, bool descending, int64_t* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = i;
    if (descending) {
        std::stable_sort(out, out + n, [x](int64_t a, int64_t b) { return IsBefore(x[b], x[a]); });
    } else {
        std::stable_sort(out, out + n, [x](int64_t a, int64_t b) { return IsBefore(x[a], x[b]); });
    }
}

// ---- kernels ----

template <typename T>
void SortRow(const T* x, int64_t n, bool descending, T* out) {
    if constexpr (kIsComplexType<T>) {
        KeyRoom<int64_t> order{n};
        ArgSortByComparing(x, n, descending, order.data());
        for (int64_t i = 0; i < n; ++i) out[i] = x[order.data()[i]];
    } else if constexpr (sizeof(T) == 1) {
        SortByCounts(x, n, descending, out);
    } else {
        SortRowByKeys(x, n, descending, out);
    }
}

void Sort(const Array& x, bool descending, const Array& out) {
    VisitDtype(x.dtype(), [&]<typename T>() {
        ForEachRow(x, [&](int64_t row) {
            SortRow(RowOf<T>(x, row), x.shape()[1], descending, RowOf<T>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(Sort)

template <typename T>
void ArgSortRow(const T* x, int64_t n, bool descending, int64_t* out) {
    if constexpr (kIsComplexType<T>) {
        ArgSortByComparing(x, n, descending, out);
    } else {
        KeyRoom<SortKey<T>> keys{n};
        EncodeKeys<T>(x, n, true, descending ? -1 : 0, keys.data());
        ArgSortKeys(keys.data(), n, out);
    }
}

void ArgSort(const Array& x, bool descending, const Array& out) {
    VisitDtype(x.dtype(), [&]<typename T>() {
        ForEachRow(x, [&](int64_t row) {
            ArgSortRow(RowOf<T>(x, row), x.shape()[1], descending, RowOf<int64_t>(out, row));
        });
    });
}
CX_NATIVE_KERNEL(ArgSort)

}  // namespace
}  // namespace chainerx::native

// searchsorted.
#include <algorithm>

#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/sort/complex_order.h"
#include "chainerx/native/sort/search.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

constexpr int64_t kSearchGrain = 1 << 12;

template <typename T>
void SearchNumbers(const Array& sorted, const Array& v, bool right, int64_t* out) {
    using K = SortKey<T>;
    const int64_t n = sorted.GetTotalSize();
    KeyRoom<K> keys{n};
    EncodeKeys<T>(reinterpret_cast<const T*>(sorted.raw_data()), n, true, 0, keys.data());
    const T* x = reinterpret_cast<const T*>(v.raw_data());
    const int64_t size = v.GetTotalSize();
    ParallelFor(CeilDiv(size, kSearchGrain), [&](int64_t piece) {
        internal::CheckInterrupt();
        const int64_t begin = piece * kSearchGrain;
        const int64_t count = std::min(kSearchGrain, size - begin);
        alignas(64) K wanted[kSearchGrain];
        EncodeKeys<T>(x + begin, count, true, 0, wanted);
        if (right) {
            Search<true>(keys.data(), n, wanted, count, out + begin);
        } else {
            Search<false>(keys.data(), n, wanted, count, out + begin);
        }
    });
}

template <typename T>
void SearchComplex(const Array& sorted, const Array& v, bool right, int64_t* out) {
    const T* begin = reinterpret_cast<const T*>(sorted.raw_data());
    const T* end = begin + sorted.GetTotalSize();
    const T* x = reinterpret_cast<const T*>(v.raw_data());
    ForChunks(v.GetTotalSize(), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            const T* at = right ? std::upper_bound(begin, end, x[i], &IsBefore<T>)
                                : std::lower_bound(begin, end, x[i], &IsBefore<T>);
            out[i] = at - begin;
        }
    });
}

void SearchSorted(const Array& sorted, const Array& v, bool right, const Array& out) {
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    VisitDtype(v.dtype(), [&]<typename T>() {
        if constexpr (kIsComplexType<T>) {
            SearchComplex<T>(sorted, v, right, to);
        } else {
            SearchNumbers<T>(sorted, v, right, to);
        }
    });
}
CX_NATIVE_KERNEL(SearchSorted)

}  // namespace
}  // namespace chainerx::native

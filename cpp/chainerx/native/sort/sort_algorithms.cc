// sort and argsort along the last axis: the table of algorithms, the choice,
// and the kernels.
#include <atomic>
#include <cstdint>
#include <iterator>

#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/native/algorithm_table.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/sort/batched_sort.h"
#include "chainerx/native/sort/counting_sort.h"
#include "chainerx/native/sort/key_sort.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {
namespace {

// Sorts each row of x; or writes the places of the sorted elements, if `out` is
// of int64.
using SortFn = bool(const Array& x, bool descending, const Array& out);

// A row of the table. All give the same results, but for the bits of NaN.
struct SortAlgorithm {
    const char* name;
    // Whether it sorts rows of this shape and dtype, or their places.
    bool (*can)(const Array& x, bool places);
    // Whether it is chosen, unless one before it is; implies `can`.
    bool (*prefers)(const Array& x, bool places);
    // Both return false if values of some row were unsuited, so that quicksort
    // took it.
    SortFn* sort;
    SortFn* arg_sort;
};

bool Always(const Array&, bool) { return true; }

bool PrefersBatched(const Array& x, bool places) {
    return AreShort(x) && CanSortBatched(x, places);
}

// Calls row.operator()<T>(i) for each row i of x. Returns whether all calls
// returned true.
bool ForAllRows(const Array& x, const auto& row) {
    std::atomic<bool> all{true};
    VisitDtype(x.dtype(), [&]<typename T>() {
        ForEachRow(x, [&](int64_t i) {
            if (!row.template operator()<T>(i)) all.store(false, std::memory_order_relaxed);
        });
    });
    return all.load(std::memory_order_relaxed);
}

// Bytes have a place for each value, but no order among equal ones.
bool PrefersCounting(const Array& x, bool places) {
    if (x.GetItemSize() == 1) return !places;
    return IsInt(x.dtype()) && x.shape()[1] >= kMinCounted;
}

bool SortCounting(const Array& x, bool descending, const Array& out) {
    return ForAllRows(x, [&]<typename T>(int64_t i) {
        const T* from = RowOf<T>(x, i);
        T* to = RowOf<T>(out, i);
        const int64_t n = x.shape()[1];
        if constexpr (sizeof(T) == 1) {
            SortBytes(from, n, descending, to);
            return true;
        } else if constexpr (kIsCounted<T>) {
            if (SortByCounts(from, n, descending, to)) return true;
            QuicksortRow(from, n, descending, to);
        }
        return false;
    });
}

bool ArgSortCounting(const Array& x, bool descending, const Array& out) {
    return ForAllRows(x, [&]<typename T>(int64_t i) {
        if constexpr (kIsCounted<T>) {
            const T* from = RowOf<T>(x, i);
            auto* to = RowOf<int64_t>(out, i);
            const int64_t n = x.shape()[1];
            if (ArgSortByCounts(from, n, descending, to)) return true;
            ArgQuicksortRow(from, n, descending, to);
        }
        return false;
    });
}

bool SortQuick(const Array& x, bool descending, const Array& out) {
    return ForAllRows(x, [&]<typename T>(int64_t i) {
        QuicksortRow(RowOf<T>(x, i), x.shape()[1], descending, RowOf<T>(out, i));
        return true;
    });
}

bool ArgSortQuick(const Array& x, bool descending, const Array& out) {
    return ForAllRows(x, [&]<typename T>(int64_t i) {
        ArgQuicksortRow(RowOf<T>(x, i), x.shape()[1], descending, RowOf<int64_t>(out, i));
        return true;
    });
}

constexpr SortAlgorithm kAlgorithms[] = {
    {"batched", CanSortBatched, PrefersBatched, SortBatched, ArgSortBatched},
    {"counting", PrefersCounting, PrefersCounting, SortCounting, ArgSortCounting},
    {"quicksort", Always, Always, SortQuick, ArgSortQuick},
};
constexpr int kQuicksort = 2;

constexpr auto kNames = NamesOf(kAlgorithms);
const AlgorithmChoice g_choice{"sort", "CHAINERX_SORT", kNames};

template <bool kPlaces>
void Run(const Array& x, bool descending, const Array& out) {
    constexpr auto kPass = kPlaces ? &SortAlgorithm::arg_sort : &SortAlgorithm::sort;
    const auto run = [&](int row) {
        if (!(kAlgorithms[row].*kPass)(x, descending, out)) row = kQuicksort;
        internal::NoteAlgorithm(kAlgorithms[row].name);
    };
    const int forced = FindForcedRow(
        g_choice, [&](int row) { return kAlgorithms[row].can(x, kPlaces); },
        [&](const char* name) {
            ThrowCannotCompute(name, kPlaces ? "argsort" : "sort", " of rows of ", x.shape()[1],
                               ", dtype ", GetDtypeName(x.dtype()));
        });
    if (forced >= 0) return run(forced);
    WithFirst<std::size(kAlgorithms)>(
        [&](auto row) { return kAlgorithms[row].prefers(x, kPlaces); }, run);
}

void Sort(const Array& x, bool descending, const Array& out) { Run<false>(x, descending, out); }
CX_NATIVE_KERNEL(Sort)

void ArgSort(const Array& x, bool descending, const Array& out) { Run<true>(x, descending, out); }
CX_NATIVE_KERNEL(ArgSort)

}  // namespace
}  // namespace chainerx::native

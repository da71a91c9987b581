// Sorts, partial orders and searches. cuda/sort/device computes.
#include "chainerx/kernels/sort/sorting.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "chainerx/core/error.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/cuda/sort/params.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kBlockHeader = "sort/device/block_sort.h";
constexpr const char* kRadixHeader = "sort/device/radix.h";
constexpr const char* kSearchHeader = "sort/device/search.h";

using SortKernel = Kernel<SortParams, Dtype>;
#define CX_SORT_KERNEL(variable, header, function) \
    CX_DEVICE_KERNEL(variable, header, SortParams, function, Dtype)
CX_SORT_KERNEL(kBlockSort, kBlockHeader, "BlockSort<T, false>")
CX_SORT_KERNEL(kBlockArgSort, kBlockHeader, "BlockSort<T, true>")
CX_SORT_KERNEL(kCount, kRadixHeader, "RadixCount<T, ByByte<T>>")
CX_SORT_KERNEL(kCountByPivot, kRadixHeader, "RadixCount<T, ByPivot<T>>")
CX_SORT_KERNEL(kCountByPrefix, kRadixHeader, "RadixCount<T, ByPrefix<T>>")
CX_SORT_KERNEL(kSelectDigit, kRadixHeader, "SelectDigit<T>")
CX_SORT_KERNEL(kScatter, kRadixHeader, "RadixScatter<T, ByByte<T>, false>")
CX_SORT_KERNEL(kArgScatter, kRadixHeader, "RadixScatter<T, ByByte<T>, true>")
CX_SORT_KERNEL(kPartition, kRadixHeader, "RadixScatter<T, ByPivot<T>, false>")
CX_SORT_KERNEL(kArgPartition, kRadixHeader, "RadixScatter<T, ByPivot<T>, true>")
#undef CX_SORT_KERNEL
CX_DEVICE_KERNEL(kRadixSum, kRadixHeader, SortParams, "RadixSum")
CX_DEVICE_KERNEL(kPick, kRadixHeader, PickParams, "Pick<T>", Dtype)
CX_DEVICE_KERNEL(kSearchSorted, kSearchHeader, SearchParams, "SearchSorted<T>", Dtype)
CX_DEVICE_KERNEL(kIsin, kSearchHeader, SearchParams, "Isin<T>", Dtype)
CX_DEVICE_KERNEL(kInterp, kSearchHeader, SearchParams, "Interp<T>", Dtype)

// A stable pass over all rows by a digit.
void Pass(CudaDevice& device, const SortKernel& count, const SortKernel& scatter, Dtype dtype,
          const SortParams& params) {
    count.Launch(device, {params.rows * params.tiles}, params, dtype);
    kRadixSum.Launch(device, {params.rows * kDigits}, params);
    scatter.Launch(device, {params.rows * params.tiles}, params, dtype);
}

SortParams ParamsOf(const Array& x, const Array& out) {
    SortParams params{};
    params.x = x.raw_data();
    params.out = out.raw_data();
    params.n = x.shape()[x.ndim() - 1];
    params.rows = x.GetTotalSize() / params.n;
    if (params.n > INT32_MAX) {
        throw NotImplementedError{"cuda: rows of more than 2^31 elements can't be sorted yet"};
    }
    return params;
}

// Returns memory for the counts of a pass.
Array SetTiles(SortParams& params, const Array& x) {
    params.tiles = CeilDiv(params.n, kRadixTile);
    const int64_t counts = params.rows * kDigits * params.tiles;
    Array memory =
        EmptyUnchecked(Shape{4 * (counts + params.rows * kDigits)}, Dtype::kUInt8, x.device());
    params.counts = memory.raw_data();
    params.totals = memory.raw_data() + 4 * counts;
    return memory;
}

// Sorts along the last axis.
void SortInto(const Array& x, bool descending, const Array& out, bool places) {
    if (x.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(x, out);
    SortParams params = ParamsOf(x, out);
    params.descending = descending ? 1 : 0;
    if (params.n <= kBlockSortSize) {
        params.width = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(params.n)));
        const int64_t blocks = CeilDiv(params.rows, kBlockSortSize / params.width);
        return (places ? kBlockArgSort : kBlockSort).Launch(device, {blocks}, params, x.dtype());
    }
    const Array counts = SetTiles(params, x);
    const int64_t passes = x.GetItemSize();
    const int64_t key_size = std::max<int64_t>(passes, 4);
    const int64_t size = x.GetTotalSize();
    Array memory[2];
    for (int k = 0; k < 2 && k < passes - 1; ++k) {
        memory[k] = EmptyUnchecked(Shape{size * (key_size + 4)}, Dtype::kUInt8, x.device());
    }
    for (int64_t pass = 0; pass < passes; ++pass) {
        params.is_first = pass == 0 ? 1 : 0;
        params.is_last = pass == passes - 1 ? 1 : 0;
        params.shift = 8 * pass;
        for (int k = 0; k < 2; ++k) {
            const bool is_used = k == 0 ? params.is_first == 0 : params.is_last == 0;
            char* const data = is_used ? memory[(pass + k + 1) % 2].raw_data() : nullptr;
            params.keys[k] = data;
            params.places[k] = is_used ? data + size * key_size : nullptr;
        }
        Pass(device, kCount, places ? kArgScatter : kScatter, x.dtype(), params);
    }
}

void Sort(const Array& x, bool descending, const Array& out) {
    SortInto(x, descending, out, false);
}
CX_CUDA_KERNEL(Sort)

void ArgSort(const Array& x, bool descending, const Array& out) {
    SortInto(x, descending, out, true);
}
CX_CUDA_KERNEL(ArgSort)

// `positions` may be null: then the first of each row, from `first` on.
void PickInto(const Array& x, const Ptr<int64_t>& positions, const Array& out, int64_t first = 0,
              bool has_rows = false) {
    PickParams params{};
    params.has_rows = has_rows ? 1 : 0;
    params.x = x.raw_data() + first * x.GetItemSize();
    params.out = out.raw_data();
    params.positions = positions;
    params.rows = x.shape()[0];
    params.n = x.shape()[1];
    params.m = out.shape()[1];
    kPick.Launch(Prepare(x, out), ThreadsFor(out.GetTotalSize()), params, x.dtype());
}

void SelectSorted(const Array& x, const Array& positions, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const Array sorted = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    SortInto(x, false, sorted, false);
    Prepare(positions);
    PickInto(sorted, positions.raw_data(), out);
}
CX_CUDA_KERNEL(SelectSorted)

// Sets the keys of a rank, and returns their memory: by counts of one byte after the other.
Array SelectKeys(CudaDevice& device, const Array& x, int64_t rank, SortParams& params) {
    const int64_t key_size = std::max<int64_t>(x.GetItemSize(), 4);
    Array memory = EmptyUnchecked(Shape{params.rows * (key_size + 4)}, Dtype::kUInt8, x.device());
    params.pivots = memory.raw_data();
    params.ranks = memory.raw_data() + params.rows * key_size;
    params.rank = rank;
    for (params.shift = 8 * (x.GetItemSize() - 1); params.shift >= 0; params.shift -= 8) {
        kCountByPrefix.Launch(device, {params.rows * params.tiles}, params, x.dtype());
        kRadixSum.Launch(device, {params.rows * kDigits}, params);
        kSelectDigit.Launch(device, {params.rows}, params, x.dtype());
    }
    return memory;
}

void PartitionInto(const SortKernel& scatter, const Array& x, int64_t position, const Array& out,
                   bool descending = false) {
    if (x.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(x, out);
    SortParams params = ParamsOf(x, out);
    params.descending = descending ? 1 : 0;
    params.is_first = 1;
    params.is_last = 1;
    const Array counts = SetTiles(params, x);
    Array pivots;
    if (params.n > kBlockSortSize) {
        pivots = SelectKeys(device, x, position, params);
    } else {
        const Array sorted = EmptyUnchecked(x.shape(), x.dtype(), x.device());
        SortInto(x, descending, sorted, false);
        pivots = EmptyUnchecked(Shape{x.shape()[0], 1}, x.dtype(), x.device());
        PickInto(sorted, nullptr, pivots, position);
        params.pivots = pivots.raw_data();
    }
    Pass(device, kCountByPivot, scatter, x.dtype(), params);
}

void ArgPartition(const Array& x, int64_t position, const Array& out) {
    PartitionInto(kArgPartition, x, position, out);
}
CX_CUDA_KERNEL(ArgPartition)

void PartitionRows(const Array& x, int64_t position, const Array& out) {
    PartitionInto(kPartition, x, position, out);
}
CX_CUDA_KERNEL(PartitionRows)

void ArgTopK(const Array& x, bool largest, bool sorted, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const Array places = EmptyUnchecked(x.shape(), Dtype::kInt64, x.device());
    const Array first = EmptyUnchecked(out.shape(), Dtype::kInt64, x.device());
    const int64_t k = out.shape()[1];
    // The first places of a partition are those of a sort, but in another order.
    const bool selects = x.shape()[1] > std::max<int64_t>(kBlockSortSize, 4 * k);
    if (selects) {
        PartitionInto(kArgPartition, x, k - 1, places, largest);
    } else {
        SortInto(x, largest, places, true);
        if (sorted) return PickInto(places, nullptr, out);
    }
    PickInto(places, nullptr, first);
    if (!sorted) return SortInto(first, false, out, false);
    const Array values = EmptyUnchecked(out.shape(), x.dtype(), x.device());
    const Array order = EmptyUnchecked(out.shape(), Dtype::kInt64, x.device());
    PickInto(x, first.raw_data(), values, 0, true);
    SortInto(values, largest, order, true);
    PickInto(first, order.raw_data(), out, 0, true);
}
CX_CUDA_KERNEL(ArgTopK)

SearchParams SearchOf(const Array& sorted, const Array& x, const Array& out) {
    SearchParams params{};
    params.sorted = sorted.raw_data();
    params.x = x.raw_data();
    params.out = out.raw_data();
    params.n = sorted.GetTotalSize();
    params.size = x.GetTotalSize();
    return params;
}

void SearchSorted(const Array& sorted, const Array& v, bool right, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    SearchParams params = SearchOf(sorted, v, out);
    params.right = right ? 1 : 0;
    kSearchSorted.Launch(Prepare(sorted, v, out), ThreadsFor(params.size), params, v.dtype());
}
CX_CUDA_KERNEL(SearchSorted)

void Isin(const Array& test, const Array& x, bool invert, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const int64_t n = test.GetTotalSize();
    const Array row = EmptyUnchecked(Shape{n}, test.dtype(), test.device());
    SortInto(test, false, row, false);
    SearchParams params = SearchOf(row, x, out);
    params.invert = invert ? 1 : 0;
    kIsin.Launch(Prepare(x, out), ThreadsFor(params.size), params, x.dtype());
}
CX_CUDA_KERNEL(Isin)

void Interp(const Array& x, const Array& xp, const Array& fp, const std::optional<double>& left,
            const std::optional<double>& right, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    SearchParams params = SearchOf(xp, x, out);
    params.values = fp.raw_data();
    params.has_left = left ? 1 : 0;
    params.has_right = right ? 1 : 0;
    params.left = left.value_or(0);
    params.right_value = right.value_or(0);
    kInterp.Launch(Prepare(x, xp, fp, out), ThreadsFor(params.size), params, x.dtype());
}
CX_CUDA_KERNEL(Interp)

}  // namespace
}  // namespace chainerx::cuda

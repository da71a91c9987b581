// Sorts, partial orders and searches. cuda/sort/device computes.
#include "chainerx/kernels/sort/sorting.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/cuda/sort/params.h"

namespace chainerx::cuda {
namespace {

struct SortKernel {
    const char* name;
    const char* header;
    const char* params;
    const char* rest;  // of the template, after the dtype
    FunctionTable<kNumDtypes, 1> functions{};
};

template <typename Params>
void LaunchKernel(const SortKernel& kernel, const Array& on, Dtype dtype, int64_t blocks,
                  const Params& params) {
    auto& device = static_cast<CudaDevice&>(on.device());
    const CUfunction function = kernel.functions.Get(device, static_cast<int>(dtype), 0, [&] {
        // Digits are taken of keys of the dtype.
        std::string rest = kernel.rest;
        if (const size_t at = rest.find('*'); at != std::string::npos) {
            rest.replace(at, 1, DeviceTypeOf(dtype));
        }
        return MakeSource(StrCat(kernel.name, "_", GetDtypeName(dtype)), kernel.header,
                          kernel.params,
                          StrCat(kernel.name, "<", DeviceTypeOf(dtype), rest, ">(p);"));
    });
    Launch(device.current_stream(), function, {blocks, kSortThreads}, params);
}

constexpr char kRadixHeader[] = "sort/device/radix.h";

#define CX_SORT_KERNEL(variable, name, header, params, rest) \
    constinit const SortKernel variable{name, header, params, rest};
CX_SORT_KERNEL(kBlockSort, "BlockSort", "sort/device/block_sort.h", "SortParams", ", false")
CX_SORT_KERNEL(kBlockArgSort, "BlockSort", "sort/device/block_sort.h", "SortParams", ", true")
CX_SORT_KERNEL(kCount, "RadixCount", kRadixHeader, "SortParams", ", ByByte<*>")
CX_SORT_KERNEL(kCountByPivot, "RadixCount", kRadixHeader, "SortParams", ", ByPivot<*>")
CX_SORT_KERNEL(kScatter, "RadixScatter", kRadixHeader, "SortParams", ", ByByte<*>, false")
CX_SORT_KERNEL(kArgScatter, "RadixScatter", kRadixHeader, "SortParams", ", ByByte<*>, true")
CX_SORT_KERNEL(kPartition, "RadixScatter", kRadixHeader, "SortParams", ", ByPivot<*>, false")
CX_SORT_KERNEL(kArgPartition, "RadixScatter", kRadixHeader, "SortParams", ", ByPivot<*>, true")
CX_SORT_KERNEL(kPick, "Pick", kRadixHeader, "PickParams", "")
CX_SORT_KERNEL(kSearchSorted, "SearchSorted", "sort/device/search.h", "SearchParams", "")
CX_SORT_KERNEL(kIsin, "Isin", "sort/device/search.h", "SearchParams", "")
CX_SORT_KERNEL(kInterp, "Interp", "sort/device/search.h", "SearchParams", "")
#undef CX_SORT_KERNEL

CUfunction SumFunction(CudaDevice& device) {
    static constinit const FunctionTable<1, 1> functions{};
    return functions.Get(device, 0, 0, [] {
        return MakeSource("RadixSum_all", kRadixHeader, "SortParams", "RadixSum(p);");
    });
}

// A stable pass over all rows by a digit.
void Pass(const SortKernel& count, const SortKernel& scatter, const Array& x,
          const SortParams& params) {
    auto& device = static_cast<CudaDevice&>(x.device());
    LaunchKernel(count, x, x.dtype(), params.rows * params.tiles, params);
    Launch(device.current_stream(), SumFunction(device), {params.rows * kDigits, kSortThreads},
           params);
    LaunchKernel(scatter, x, x.dtype(), params.rows * params.tiles, params);
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
    Prepare(x, out);
    SortParams params = ParamsOf(x, out);
    params.descending = descending ? 1 : 0;
    if (params.n <= kBlockSortSize) {
        params.width = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(params.n)));
        LaunchKernel(places ? kBlockArgSort : kBlockSort, x, x.dtype(),
                     CeilDiv(params.rows, kBlockSortSize / params.width), params);
        return;
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
        Pass(kCount, places ? kArgScatter : kScatter, x, params);
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

// `positions` may be null: then the first of each row.
void PickInto(const Array& x, const Ptr<int64_t>& positions, const Array& out) {
    PickParams params{};
    params.x = x.raw_data();
    params.out = out.raw_data();
    params.positions = positions;
    params.rows = x.shape()[0];
    params.n = x.shape()[1];
    params.m = out.shape()[1];
    LaunchKernel(kPick, x, x.dtype(), CeilDiv(out.GetTotalSize(), kSortThreads), params);
}

void SelectSorted(const Array& x, const Array& positions, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const Array sorted = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    SortInto(x, false, sorted, false);
    Prepare(positions, out);
    PickInto(sorted, positions.raw_data(), out);
}
CX_CUDA_KERNEL(SelectSorted)

void PartitionInto(const SortKernel& scatter, const Array& x, int64_t position, const Array& out) {
    if (x.GetTotalSize() == 0) return;
    const Array sorted = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    SortInto(x, false, sorted, false);
    const Array pivots = EmptyUnchecked(Shape{x.shape()[0], 1}, x.dtype(), x.device());
    // Without a copy of the position: the rows begin there.
    PickParams pick{};
    pick.x = sorted.raw_data() + position * x.GetItemSize();
    pick.out = pivots.raw_data();
    pick.positions = nullptr;
    pick.rows = x.shape()[0];
    pick.n = x.shape()[1];
    pick.m = 1;
    LaunchKernel(kPick, x, x.dtype(), CeilDiv(pick.rows, kSortThreads), pick);
    Prepare(x, out);
    SortParams params = ParamsOf(x, out);
    params.pivots = pivots.raw_data();
    params.is_first = 1;
    params.is_last = 1;
    const Array counts = SetTiles(params, x);
    Pass(kCountByPivot, scatter, x, params);
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
    SortInto(x, largest, places, true);
    Prepare(out);
    if (sorted) {
        PickInto(places, nullptr, out);
        return;
    }
    const Array first = EmptyUnchecked(out.shape(), Dtype::kInt64, x.device());
    PickInto(places, nullptr, first);
    SortInto(first, false, out, false);
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
    Prepare(sorted, v, out);
    SearchParams params = SearchOf(sorted, v, out);
    params.right = right ? 1 : 0;
    LaunchKernel(kSearchSorted, v, v.dtype(), CeilDiv(params.size, kSortThreads), params);
}
CX_CUDA_KERNEL(SearchSorted)

void Isin(const Array& test, const Array& x, bool invert, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const int64_t n = test.GetTotalSize();
    const Array row = EmptyUnchecked(Shape{n}, test.dtype(), test.device());
    SortInto(test, false, row, false);
    Prepare(x, out);
    SearchParams params = SearchOf(row, x, out);
    params.invert = invert ? 1 : 0;
    LaunchKernel(kIsin, x, x.dtype(), CeilDiv(params.size, kSortThreads), params);
}
CX_CUDA_KERNEL(Isin)

void Interp(const Array& x, const Array& xp, const Array& fp, const std::optional<double>& left,
            const std::optional<double>& right, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Prepare(x, xp, fp, out);
    SearchParams params = SearchOf(xp, x, out);
    params.values = fp.raw_data();
    params.has_left = left ? 1 : 0;
    params.has_right = right ? 1 : 0;
    params.left = left.value_or(0);
    params.right_value = right.value_or(0);
    LaunchKernel(kInterp, x, x.dtype(), CeilDiv(params.size, kSortThreads), params);
}
CX_CUDA_KERNEL(Interp)

}  // namespace
}  // namespace chainerx::cuda

// Gather, scatter, selection by masks, counts. cuda/index/device computes.
#include "chainerx/kernels/index/indexing.h"

#include <algorithm>
#include <bit>
#include <string>

#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/index/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kHeader = "index/device/index.h";

int64_t BlocksFor(int64_t n) { return (n + kIndexThreads - 1) / kIndexThreads; }
int SizeLog(int64_t item_size) { return std::countr_zero(static_cast<uint64_t>(item_size)); }

void SetIndices(IndexParams& p, CudaDevice& device, const char* op, const char* argument,
                const Array& indices, int64_t length, BoundsCheck bounds) {
    p.indices = indices.raw_data();
    p.n = indices.GetTotalSize();
    p.length = length;
    p.bounds = static_cast<int>(bounds);
    p.log = device.error_log();
    const bool is_unsigned = GetKind(indices.dtype()) == DtypeKind::kUInt;
    p.site = MakeErrorSite(KernelError::Index(op, argument, 0, 0, length, is_unsigned));
}

BoundsCheck BoundsOf(IndexBoundsMode mode) {
    return mode == IndexBoundsMode::kWrap   ? BoundsCheck::kWrap
           : mode == IndexBoundsMode::kClip ? BoundsCheck::kClip
                                            : BoundsCheck::kRaise;
}

// Appends merged axes [first, last) of x, fastest first.
int64_t AddDims(IndexParams& p, const Array& x, int first, int last) {
    native::StridedIterator<1> iter;
    for (int i = first; i < last; ++i) iter.Add(x.shape()[i], {x.strides()[i]});
    iter.CollapseDims(native::AxisOrder::kGiven);
    for (int d = iter.ndim - 1; d >= 0; --d) {
        p.dims[p.ndim] = iter.dims[d];
        p.strides[p.ndim++] = iter.strides[0][d];
    }
    return iter.total;
}

void SetAxis(IndexParams& p, const Array& x, int8_t axis) {
    p.x = x.raw_data();
    p.axis_x = x.strides()[axis];
    p.run = AddDims(p, x, axis + 1, x.ndim());
    p.n_after = p.ndim;
    p.outer = AddDims(p, x, 0, axis);
}

// Moves 16 bytes at a time, or as many as fit, where runs are contiguous in both arrays.
int64_t Widen(IndexParams& p, const Array& y, int64_t item_size) {
    if (p.n_after != 1 || p.strides[0] != item_size) return item_size;
    auto bits = static_cast<uint64_t>(p.run * item_size) | static_cast<uint64_t>(p.axis_x) | 16;
    for (int d = 1; d < p.ndim; ++d) bits |= static_cast<uint64_t>(p.strides[d]);
    bits |= reinterpret_cast<uintptr_t>(p.x.address) | reinterpret_cast<uintptr_t>(y.raw_data());
    const int64_t width = int64_t{1} << std::countr_zero(bits);
    if (width <= item_size) return item_size;
    p.run = p.run * item_size / width;
    p.dims[0] = p.run;
    p.strides[0] = width;
    return width;
}

// By the dtype of indices.
void RunCheck(CudaDevice& device, const IndexParams& p, Dtype index) {
    if (p.n == 0) return;
    static constinit const FunctionTable<1, kNumDtypes> functions{};
    const CUfunction function = functions.Get(device, 0, static_cast<int>(index), [&] {
        return MakeSource(StrCat("CheckIndices_", GetDtypeName(index)), kHeader, "IndexParams",
                          StrCat("CheckIndices<", DeviceTypeOf(index), ">(p);"));
    });
    Launch(device.current_stream(), function, {BlocksFor(p.n), kIndexThreads}, p);
}

void Take(const char* op, const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
          const Array& out) {
    CudaDevice& device = Prepare(out, x, indices);
    IndexParams p{};
    SetIndices(p, device, op, "indices", indices, x.shape()[axis], BoundsOf(mode));
    const Dtype index = indices.dtype();
    if (out.GetTotalSize() == 0) return RunCheck(device, p, index);
    SetAxis(p, x, axis);
    p.y = out.raw_data();
    const int64_t size = Widen(p, out, x.GetItemSize());
    static constinit const FunctionTable<5, kNumDtypes> functions{};
    const CUfunction function = functions.Get(device, SizeLog(size), static_cast<int>(index), [&] {
        return MakeSource(StrCat("Take_", size, "_", GetDtypeName(index)), kHeader, "IndexParams",
                          StrCat("Take<", BytesTypeOf(size), ", ", DeviceTypeOf(index), ">(p);"));
    });
    Launch(device.current_stream(), function, {BlocksFor(p.outer * p.n * p.run), kIndexThreads}, p);
}
CX_CUDA_KERNEL(Take)

// By the dtype of the values, or log2 of the item size, and by that of indices.
using ScatterTable = FunctionTable<kNumDtypes, kNumDtypes>;
struct ScatterTables {
    ScatterTable unsorted{};
    ScatterTable sorted{};
};

// Above so many indices they are sorted; below, each thread goes over all of them.
constexpr int64_t kMaxUnsorted = 2048;

void RunSortedScatter(CudaDevice& device, IndexParams& p, const ScatterTable& functions, int row,
                      const char* name, const char* rule, const char* type, const char* value,
                      Dtype index) {
    // Sorting makes a pass for each byte.
    const Dtype target = p.length <= 1 << 16            ? Dtype::kUInt16
                         : p.length <= int64_t{1} << 32 ? Dtype::kUInt32
                                                        : Dtype::kInt64;
    const Array targets = EmptyUnchecked(Shape{1, p.n}, target, device);
    const Array order = EmptyUnchecked(Shape{1, p.n}, Dtype::kInt64, device);
    const Array is_bad = EmptyUnchecked(Shape{1}, Dtype::kInt32, device);
    CallOn<kernels::Fill>(device, is_bad, Scalar{0});
    p.targets = targets.raw_data();
    p.order = order.raw_data();
    p.is_bad = is_bad.raw_data();
    static constinit const FunctionTable<kNumDtypes, kNumDtypes> resolve{};
    const CUfunction first =
        resolve.Get(device, static_cast<int>(index), static_cast<int>(target), [&] {
            return MakeSource(
                StrCat("ResolveAll_", GetDtypeName(index), "_", GetDtypeName(target)), kHeader,
                "IndexParams",
                StrCat("ResolveAll<", DeviceTypeOf(index), ", ", DeviceTypeOf(target), ">(p);"));
        });
    Launch(device.current_stream(), first, {BlocksFor(p.n), kIndexThreads}, p);
    CallOn<kernels::ArgSort>(device, targets, false, order);
    const CUfunction second = functions.Get(device, row, static_cast<int>(target), [&] {
        return MakeSource(StrCat(name, "Sorted_", value, "_", GetDtypeName(target)), kHeader,
                          "IndexParams",
                          StrCat("ScatterSorted<", rule, ", ", type, ", ", value, ", ",
                                 DeviceTypeOf(target), ">(p);"));
    });
    Launch(device.current_stream(), second, {BlocksFor(p.n * p.outer * p.run), kIndexThreads}, p);
}

// `type` is that of the target, `value` of what is combined with it.
void RunScatter(CudaDevice& device, IndexParams& p, const ScatterTables& tables, int row,
                const char* name, const char* rule, const char* type, const char* value,
                Dtype index) {
    if (p.n > kMaxUnsorted) {
        return RunSortedScatter(device, p, tables.sorted, row, name, rule, type, value, index);
    }
    const ScatterTable& functions = tables.unsorted;
    const int64_t positions = p.outer * p.run;
    // Enough threads to fill a device; each goes over all indices.
    constexpr int64_t kThreads = int64_t{1} << 16;
    const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, kThreads / positions));
    const auto targets = std::bit_ceil(static_cast<uint64_t>(p.length));
    p.groups = static_cast<int64_t>(std::min(std::bit_floor(wanted), targets));
    const CUfunction function = functions.Get(device, row, static_cast<int>(index), [&] {
        return MakeSource(
            StrCat(name, "_", value, "_", GetDtypeName(index)), kHeader, "IndexParams",
            StrCat("Scatter<", rule, ", ", type, ", ", value, ", ", DeviceTypeOf(index), ">(p);"));
    });
    Launch(device.current_stream(), function, {BlocksFor(positions * p.groups), kIndexThreads}, p);
}

void ScatterAlong(const char* op, const Array& out, int8_t axis, const Array& indices,
                  IndexBoundsMode mode, const Array& x, const ScatterTables& functions, int row,
                  const char* name, const char* rule, const char* type) {
    CudaDevice& device = Prepare(out, x, indices);
    IndexParams p{};
    SetIndices(p, device, op, "indices", indices, out.shape()[axis], BoundsOf(mode));
    SetAxis(p, out, axis);
    if (p.outer * p.run * p.n == 0) return RunCheck(device, p, indices.dtype());
    p.y = x.raw_data();
    const bool is_one = x.ndim() == 0;
    p.axis_y = is_one ? 0 : p.run;
    p.outer_y = p.run * p.n;
    RunScatter(device, p, functions, row, name, rule, type, type, indices.dtype());
}

void AddAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    static constinit const ScatterTables functions{};
    ScatterAlong(op, out, axis, indices, mode, x, functions, static_cast<int>(out.dtype()), "AddAt",
                 "AddTo", DeviceTypeOf(out.dtype()));
}
CX_CUDA_KERNEL(AddAt)

void SetAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    static constinit const ScatterTables functions{};
    const int64_t size = out.GetItemSize();
    ScatterAlong(op, out, axis, indices, mode, x, functions, SizeLog(size), "SetAt", "Assign",
                 BytesTypeOf(size));
}
CX_CUDA_KERNEL(SetAt)

void CombineAt(const char* op, const Array& out, int8_t axis, const Array& indices,
               IndexBoundsMode mode, ScatterRule rule, const Array& x) {
    static constinit const ScatterTables functions[3]{};
    static constexpr const char* kNames[] = {"MultiplyAt", "MinimumAt", "MaximumAt"};
    static constexpr const char* kRules[] = {"MultiplyBy", "KeepExtreme<false>",
                                             "KeepExtreme<true>"};
    const int k = rule == ScatterRule::kMultiply ? 0 : rule == ScatterRule::kMinimum ? 1 : 2;
    ScatterAlong(op, out, axis, indices, mode, x, functions[k], static_cast<int>(out.dtype()),
                 kNames[k], kRules[k], DeviceTypeOf(out.dtype()));
}
CX_CUDA_KERNEL(CombineAt)

void LinearIndex(const char* op, const Array& indices, int64_t length, int64_t factor,
                 const Array& out) {
    if (indices.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, indices);
    IndexParams p{};
    SetIndices(p, device, op, "indices", indices, length, BoundsCheck::kRaise);
    p.x = out.raw_data();
    p.factor = factor;
    static constinit const FunctionTable<1, kNumDtypes> functions{};
    const Dtype index = indices.dtype();
    const CUfunction function = functions.Get(device, 0, static_cast<int>(index), [&] {
        return MakeSource(StrCat("LinearIndex_", GetDtypeName(index)), kHeader, "IndexParams",
                          StrCat("LinearIndex<", DeviceTypeOf(index), ">(p);"));
    });
    Launch(device.current_stream(), function, {BlocksFor(p.n), kIndexThreads}, p);
}
CX_CUDA_KERNEL(LinearIndex)

void CountEach(const char* op, const Array& numbers, const Array& out) {
    CallOn<kernels::Fill>(out.device(), out, Scalar{0});
    if (numbers.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, numbers);
    IndexParams p{};
    SetIndices(p, device, op, "x", numbers, out.GetTotalSize(), BoundsCheck::kRaiseNegative);
    p.x = out.raw_data();
    static constinit const FunctionTable<1, kNumDtypes> functions{};
    const Dtype index = numbers.dtype();
    const CUfunction function = functions.Get(device, 0, static_cast<int>(index), [&] {
        return MakeSource(StrCat("CountEach_", GetDtypeName(index)), kHeader, "IndexParams",
                          StrCat("CountEach<", DeviceTypeOf(index), ">(p);"));
    });
    Launch(device.current_stream(), function, {BlocksFor(p.n), kIndexThreads}, p);
}
CX_CUDA_KERNEL(CountEach)

void SumEach(const char* op, const Array& numbers, const Array& weights, const Array& out) {
    CallOn<kernels::Fill>(out.device(), out, Scalar{0.0});
    if (numbers.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, numbers, weights);
    IndexParams p{};
    SetIndices(p, device, op, "x", numbers, out.GetTotalSize(), BoundsCheck::kRaiseNegative);
    p.x = out.raw_data();
    p.y = weights.raw_data();
    p.axis_x = out.GetItemSize();
    p.axis_y = 1;
    p.run = 1;
    p.outer = 1;
    static constinit const ScatterTables functions{};
    RunScatter(device, p, functions, static_cast<int>(weights.dtype()), "SumEach", "AddTo",
               "double", DeviceTypeOf(weights.dtype()), numbers.dtype());
}
CX_CUDA_KERNEL(SumEach)

enum MaskStep { kCountTrue, kCountChunks, kSumChunks, kWriteNonzero, kWriteCompressed };
constinit const FunctionTable<5, 5> kMaskFunctions{};

// `item_size` is that of elements to compress.
void RunMask(CudaDevice& device, MaskStep step, const MaskParams& p, int64_t item_size = 1) {
    static constexpr const char* kNames[] = {"CountTrue", "CountChunks", "SumChunks",
                                             "WriteNonzero", "WriteCompressed"};
    const CUfunction function = kMaskFunctions.Get(device, step, SizeLog(item_size), [&] {
        const bool copies = step == kWriteCompressed;
        return MakeSource(
            StrCat(kNames[step], "_", item_size), "index/device/mask.h", "MaskParams",
            StrCat(kNames[step], copies ? StrCat("<", BytesTypeOf(item_size), ">") : "", "(p);"));
    });
    Launch(device.current_stream(), function, {step == kSumChunks ? 1 : p.n_chunks, kIndexThreads},
           p);
}

MaskParams MakeMask(const Array& mask, const Array& out) {
    MaskParams p{};
    p.mask = mask.raw_data();
    p.out = out.raw_data();
    p.n = mask.GetTotalSize();
    p.n_chunks = (p.n + kMaskChunk - 1) / kMaskChunk;
    return p;
}

void NonzeroCount(const Array& x, const Array& count) {
    CallOn<kernels::Fill>(count.device(), count, Scalar{0});
    if (x.GetTotalSize() == 0) return;
    RunMask(Prepare(count, x), kCountTrue, MakeMask(x, count));
}
CX_CUDA_KERNEL(NonzeroCount)

// Counts before each chunk, in memory that the returned array holds.
Array CountBefore(CudaDevice& device, MaskParams& p) {
    Array ends = EmptyUnchecked(Shape{p.n_chunks}, Dtype::kInt64, device);
    p.ends = ends.raw_data();
    RunMask(device, kCountChunks, p);
    RunMask(device, kSumChunks, p);
    return ends;
}

void Nonzero(const Array& x, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, x);
    MaskParams p = MakeMask(x, out);
    p.count = out.shape()[1];
    p.ndim = x.ndim();
    for (int d = 0; d < p.ndim; ++d) p.dims[d] = x.shape()[d];
    const Array ends = CountBefore(device, p);
    RunMask(device, kWriteNonzero, p);
}
CX_CUDA_KERNEL(Nonzero)

void Compress(const Array& x, const Array& mask, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, x, mask);
    MaskParams p = MakeMask(mask, out);
    p.x = x.raw_data();
    p.count = out.GetTotalSize();
    const Array ends = CountBefore(device, p);
    RunMask(device, kWriteCompressed, p, x.GetItemSize());
}
CX_CUDA_KERNEL(Compress)

}  // namespace
}  // namespace chainerx::cuda

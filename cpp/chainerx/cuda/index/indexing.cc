// Gather, scatter, selection by masks, counts. cuda/index/device computes.
#include "chainerx/kernels/index/indexing.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/index/params.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kHeader = "index/device/index.h";

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

CX_DEVICE_KERNEL(kCheck, kHeader, IndexParams, "CheckIndices<T>", Dtype)
CX_DEVICE_KERNEL(kTake, kHeader, IndexParams, "Take<T, U>", ItemSize, Dtype)

void Take(const char* op, const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
          const Array& out) {
    CudaDevice& device = Prepare(out, x, indices);
    IndexParams p{};
    SetIndices(p, device, op, "indices", indices, x.shape()[axis], BoundsOf(mode));
    const Dtype index = indices.dtype();
    if (out.GetTotalSize() == 0) return kCheck.Launch(device, ThreadsFor(p.n), p, index);
    SetAxis(p, x, axis);
    p.y = out.raw_data();
    const ItemSize size{Widen(p, out, x.GetItemSize())};
    kTake.Launch(device, ThreadsFor(p.outer * p.n * p.run), p, size, index);
}
CX_CUDA_KERNEL(Take)

// `Value` is what is combined with the target: a dtype, or a size if it is only moved. The other
// dtype is that of indices, or of what they are turned into for sorting.
template <typename Value>
struct ScatterKernels {
    Kernel<IndexParams, Value, Dtype> unsorted;
    Kernel<IndexParams, Value, Dtype> sorted;
    Kernel<IndexParams, Value, Dtype> atomic;  // its function is null but for sums
};
#define CX_SCATTER(rule, type, atomic)                                             \
    {                                                                              \
        {kHeader, "IndexParams", "Scatter<" rule ", " type ", T, U>"},             \
            {kHeader, "IndexParams", "ScatterSorted<" rule ", " type ", T, U>"}, { \
            kHeader, "IndexParams", atomic                                         \
        }                                                                          \
    }
constinit const ScatterKernels<Dtype> kAddAt CX_SCATTER("AddTo", "T", "AddAtomically<T, T, U>");
constinit const ScatterKernels<ItemSize> kSetAt CX_SCATTER("Assign", "T", nullptr);
constinit const ScatterKernels<Dtype> kSumEach CX_SCATTER("AddTo", "double",
                                                          "AddAtomically<double, T, U>");
constinit const ScatterKernels<Dtype> kCombineAt[] = {
    // by ScatterRule
    CX_SCATTER("MultiplyBy", "T", nullptr), CX_SCATTER("KeepExtreme<false>", "T", nullptr),
    CX_SCATTER("KeepExtreme<true>", "T", nullptr)};
#undef CX_SCATTER
CX_DEVICE_KERNEL(kResolveAll, kHeader, IndexParams, "ResolveAll<T, U>", Dtype, Dtype)

constexpr const char* kScatterNames[] = {"ordered", "atomic"};
const AlgorithmChoice g_scatter_choice{"scatter", "CHAINERX_SCATTER", kScatterNames};

// Whether sums in a dtype shall be atomic additions, and can be.
bool AddsAtomically(Dtype dtype) {
    if (!g_scatter_choice.MayBeForced()) return false;
    const AlgorithmChoice::Forced forced = g_scatter_choice.forced();
    if (forced.row != 1) return false;
    if (dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64) return true;
    if (!forced.is_strict) return false;
    throw ValueError{"algorithm 'atomic', which is forced, can't add numbers of dtype ",
                     GetDtypeName(dtype)};
}

// Above so many indices they are sorted; below, each thread goes over all of them.
constexpr int64_t kMaxUnsorted = 2048;

template <typename Value>
void RunSortedScatter(CudaDevice& device, IndexParams& p,
                      const Kernel<IndexParams, Value, Dtype>& kernel, Value value, Dtype index) {
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
    kResolveAll.Launch(device, ThreadsFor(p.n), p, index, target);
    CallOn<kernels::ArgSort>(device, targets, false, order);
    kernel.Launch(device, ThreadsFor(p.n * p.outer * p.run), p, value, target);
}

template <typename Value>
void RunScatter(CudaDevice& device, IndexParams& p, const ScatterKernels<Value>& kernels,
                Value value, Dtype index) {
    if constexpr (std::is_same_v<Value, Dtype>) {
        const bool is_atomic = kernels.atomic.function != nullptr &&
                               AddsAtomically(&kernels == &kSumEach ? Dtype::kFloat64 : value);
        internal::NoteAlgorithm(kScatterNames[is_atomic ? 1 : 0]);
        if (is_atomic) {
            const int64_t threads = p.n * p.outer * p.run;
            return kernels.atomic.Launch(device, ThreadsFor(threads), p, value, index);
        }
    }
    if (p.n > kMaxUnsorted) return RunSortedScatter(device, p, kernels.sorted, value, index);
    const int64_t positions = p.outer * p.run;
    // Enough threads to fill a device; each goes over all indices.
    constexpr int64_t kThreads = int64_t{1} << 16;
    const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, kThreads / positions));
    const auto targets = std::bit_ceil(static_cast<uint64_t>(p.length));
    p.groups = static_cast<int64_t>(std::min(std::bit_floor(wanted), targets));
    kernels.unsorted.Launch(device, ThreadsFor(positions * p.groups), p, value, index);
}

template <typename Value>
void ScatterAlong(const char* op, const Array& out, int8_t axis, const Array& indices,
                  IndexBoundsMode mode, const Array& x, const ScatterKernels<Value>& kernels,
                  Value value) {
    CudaDevice& device = Prepare(out, x, indices);
    IndexParams p{};
    SetIndices(p, device, op, "indices", indices, out.shape()[axis], BoundsOf(mode));
    SetAxis(p, out, axis);
    if (p.outer * p.run * p.n == 0) {
        return kCheck.Launch(device, ThreadsFor(p.n), p, indices.dtype());
    }
    p.y = x.raw_data();
    const bool is_one = x.ndim() == 0;
    p.axis_y = is_one ? 0 : p.run;
    p.outer_y = p.run * p.n;
    RunScatter(device, p, kernels, value, indices.dtype());
}

void AddAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    ScatterAlong(op, out, axis, indices, mode, x, kAddAt, out.dtype());
}
CX_CUDA_KERNEL(AddAt)

void SetAt(const char* op, const Array& out, int8_t axis, const Array& indices,
           IndexBoundsMode mode, const Array& x) {
    ScatterAlong(op, out, axis, indices, mode, x, kSetAt, ItemSize{out.GetItemSize()});
}
CX_CUDA_KERNEL(SetAt)

void CombineAt(const char* op, const Array& out, int8_t axis, const Array& indices,
               IndexBoundsMode mode, ScatterRule rule, const Array& x) {
    const int k = rule == ScatterRule::kMultiply ? 0 : rule == ScatterRule::kMinimum ? 1 : 2;
    ScatterAlong(op, out, axis, indices, mode, x, kCombineAt[k], out.dtype());
}
CX_CUDA_KERNEL(CombineAt)

CX_DEVICE_KERNEL(kLinearIndex, kHeader, IndexParams, "LinearIndex<T>", Dtype)
void LinearIndex(const char* op, const Array& indices, int64_t length, int64_t factor,
                 const Array& out) {
    if (indices.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, indices);
    IndexParams p{};
    SetIndices(p, device, op, "indices", indices, length, BoundsCheck::kRaise);
    p.x = out.raw_data();
    p.factor = factor;
    kLinearIndex.Launch(device, ThreadsFor(p.n), p, indices.dtype());
}
CX_CUDA_KERNEL(LinearIndex)

CX_DEVICE_KERNEL(kCountEach, kHeader, IndexParams, "CountEach<T>", Dtype)
void CountEach(const char* op, const Array& numbers, const Array& out) {
    CallOn<kernels::Fill>(out.device(), out, Scalar{0});
    if (numbers.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, numbers);
    IndexParams p{};
    SetIndices(p, device, op, "x", numbers, out.GetTotalSize(), BoundsCheck::kRaiseNegative);
    p.x = out.raw_data();
    kCountEach.Launch(device, ThreadsFor(p.n), p, numbers.dtype());
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
    RunScatter(device, p, kSumEach, weights.dtype(), numbers.dtype());
}
CX_CUDA_KERNEL(SumEach)

constexpr const char* kMaskHeader = "index/device/mask.h";
CX_DEVICE_KERNEL(kCountTrue, kMaskHeader, MaskParams, "CountTrue")
CX_DEVICE_KERNEL(kCountChunks, kMaskHeader, MaskParams, "CountChunks")
CX_DEVICE_KERNEL(kSumChunks, kMaskHeader, MaskParams, "SumChunks")
CX_DEVICE_KERNEL(kWriteNonzero, kMaskHeader, MaskParams, "WriteNonzero")
CX_DEVICE_KERNEL(kWriteCompressed, kMaskHeader, MaskParams, "WriteCompressed<T>", ItemSize)

MaskParams MakeMask(const Array& mask, const Array& out) {
    MaskParams p{};
    p.mask = mask.raw_data();
    p.out = out.raw_data();
    p.n = mask.GetTotalSize();
    p.n_chunks = CeilDiv(p.n, kMaskChunk);
    return p;
}

void NonzeroCount(const Array& x, const Array& count) {
    CallOn<kernels::Fill>(count.device(), count, Scalar{0});
    if (x.GetTotalSize() == 0) return;
    const MaskParams p = MakeMask(x, count);
    kCountTrue.Launch(Prepare(count, x), {p.n_chunks}, p);
}
CX_CUDA_KERNEL(NonzeroCount)

// Counts before each chunk, in memory that the returned array holds.
Array CountBefore(CudaDevice& device, MaskParams& p) {
    Array ends = EmptyUnchecked(Shape{p.n_chunks}, Dtype::kInt64, device);
    p.ends = ends.raw_data();
    kCountChunks.Launch(device, {p.n_chunks}, p);
    kSumChunks.Launch(device, {1}, p);
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
    kWriteNonzero.Launch(device, {p.n_chunks}, p);
}
CX_CUDA_KERNEL(Nonzero)

void Compress(const Array& x, const Array& mask, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(out, x, mask);
    MaskParams p = MakeMask(mask, out);
    p.x = x.raw_data();
    p.count = out.GetTotalSize();
    const Array ends = CountBefore(device, p);
    kWriteCompressed.Launch(device, {p.n_chunks}, p, ItemSize{x.GetItemSize()});
}
CX_CUDA_KERNEL(Compress)

}  // namespace
}  // namespace chainerx::cuda

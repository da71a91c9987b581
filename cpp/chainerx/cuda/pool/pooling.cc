// Pooling. cuda/pool/device/pool.h computes.
#include "chainerx/kernels/pool/pooling.h"

#include <algorithm>
#include <bit>
#include <string>

#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/pool/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/native/pool/pooling_plan.h"

namespace chainerx::cuda {
namespace {

using native::PoolPlan;

PoolParams MakeParams(const PoolPlan& plan, const Array& x, const Array& y) {
    PoolParams p{};
    p.x = x.raw_data();
    p.y = y.raw_data();
    p.n_in = x.GetTotalSize();
    p.n_out = y.GetTotalSize();
    p.taps = plan.taps;
    p.ndim = plan.ndim();
    for (int d = 0; d < p.ndim; ++d) {
        const native::PoolAxis& a = plan.axis(d);
        const native::PoolRange whole = a.Whole();
        p.dims[d] = {a.in, a.out, a.size, a.stride, a.pad, whole.begin, whole.end};
    }
    return p;
}

// By the dtype or the log2 of the item size, and by a variant.
using PoolTable = FunctionTable<kNumDtypes, 4>;

void Run(CudaDevice& device, const PoolTable& functions, int row, int variant,
         const std::string& name, const std::string& call, const Grid& grid, const PoolParams& p) {
    const CUfunction function = functions.Get(device, row, variant, [&] {
        return MakeSource(name, "pool/device/pool.h", "PoolParams", call, "256, 4");
    });
    Launch(device.current_stream(), function, grid, p);
}

Grid GridFor(int64_t n) { return {(n + kPoolThreads - 1) / kPoolThreads, kPoolThreads}; }

const char* SmallestOf(Dtype dtype) {
    switch (dtype) {
        case Dtype::kInt8:
            return "-128";
        case Dtype::kInt16:
            return "-32768";
        case Dtype::kInt32:
            return "-2147483647 - 1";
        case Dtype::kInt64:
            return "-INT64_MAX - 1";
        case Dtype::kFloat16:
        case Dtype::kBFloat16:
        case Dtype::kFloat32:
            return "-__builtin_inff()";
        case Dtype::kFloat64:
            return "-__builtin_inf()";
        default:
            return "0";
    }
}

void MaxPool(const Array& x, const PoolWindow& window, const Array& y, const Array& indices) {
    const PoolPlan plan{x.shape(), y.shape(), window, true};
    const bool has_indices = indices.GetTotalSize() != 0;
    CudaDevice& device = Prepare(x, y, indices);
    PoolParams p = MakeParams(plan, x, y);
    if (has_indices) p.indices = indices.raw_data();
    const int variant = !has_indices ? 0 : indices.dtype() == Dtype::kUInt8 ? 1 : 2;
    static constexpr const char* kIndices[] = {"void", "uint8_t", "int64_t"};
    static constinit const PoolTable functions{};
    const Dtype dtype = x.dtype();
    Run(device, functions, static_cast<int>(dtype), variant,
        StrCat("MaxPool_", GetDtypeName(dtype), "_", variant),
        StrCat("MaxPool<", DeviceTypeOf(dtype), ", ", kIndices[variant], ">(p, ", SmallestOf(dtype),
               ");"),
        GridFor(p.n_out), p);
}
CX_CUDA_KERNEL(MaxPool)

struct IndexType {
    int variant;
    const char* name;

    explicit IndexType(Dtype dtype)
        : variant{dtype == Dtype::kUInt8    ? 0
                  : dtype == Dtype::kUInt64 ? 1
                                            : 2},
          name{variant == 0   ? "uint8_t"
               : variant == 1 ? "uint64_t"
                              : "int64_t"} {}
};

void SetIndices(PoolParams& p, CudaDevice& device, const char* op, const Array& indices) {
    p.indices = indices.raw_data();
    p.log = device.error_log();
    const bool is_unsigned = indices.dtype() == Dtype::kUInt64;
    p.site = MakeErrorSite(KernelError::Index(op, "indices", 0, 0, p.taps, is_unsigned));
}

// As native, which then writes elements in place of adding them to 0.
bool IsTwoByTwo(const PoolPlan& plan) {
    const auto two = [](const native::PoolAxis& a) {
        return a.size == 2 && a.stride == 2 && a.pad == 0;
    };
    return plan.ndim() == 2 && two(plan.axis(0)) && two(plan.axis(1)) && plan.AllInside();
}

void PoolScatter(const char* op, const Array& gy, const Array& indices, const PoolWindow& window,
                 const Array& gx) {
    const PoolPlan plan{gx.shape(), gy.shape(), window, false};
    CudaDevice& device = Prepare(gx, gy, indices);
    PoolParams p = MakeParams(plan, gx, gy);
    SetIndices(p, device, op, indices);
    const Dtype dtype = gx.dtype();
    p.copies = IsFloat(dtype) && indices.dtype() == Dtype::kUInt8 && IsTwoByTwo(plan);
    const IndexType index{indices.dtype()};
    static constinit const PoolTable functions{};
    Run(device, functions, static_cast<int>(dtype), index.variant,
        StrCat("PoolScatter_", GetDtypeName(dtype), "_", index.variant),
        StrCat("PoolScatter<", DeviceTypeOf(dtype), ", ", index.name, ">(p);"),
        GridFor(std::max(p.n_in, p.n_out)), p);
}
CX_CUDA_KERNEL(PoolScatter)

void PoolGather(const char* op, const Array& x, const Array& indices, const PoolWindow& window,
                const Array& y) {
    const PoolPlan plan{x.shape(), y.shape(), window, false};
    CudaDevice& device = Prepare(x, y, indices);
    PoolParams p = MakeParams(plan, x, y);
    SetIndices(p, device, op, indices);
    const int64_t size = y.GetItemSize();
    const IndexType index{indices.dtype()};
    static constinit const PoolTable functions{};
    Run(device, functions, std::countr_zero(static_cast<uint64_t>(size)), index.variant,
        StrCat("PoolGather_", size, "_", index.variant),
        StrCat("PoolGather<", BytesTypeOf(size), ", ", index.name, ">(p);"), GridFor(p.n_out), p);
}
CX_CUDA_KERNEL(PoolGather)

void SumPool(const Array& x, const PoolWindow& window, PoolDivisor divisor, const Array& y) {
    const PoolPlan plan{x.shape(), y.shape(), window, true};
    CudaDevice& device = Prepare(x, y);
    PoolParams p = MakeParams(plan, x, y);
    p.divisor = static_cast<int>(divisor);
    int64_t rows = 1;
    for (int d = 0; d < p.ndim - 1; ++d) rows *= p.dims[d].size;
    p.rows_first = rows > 1 && (rows > 16 || p.taps > 64);
    const Dtype dtype = x.dtype();
    const int64_t item_size = std::max<int64_t>(4, x.GetItemSize());
    // A long window has a block of threads.
    const bool along = p.dims[p.ndim - 1].size * item_size >= 128;
    static constinit const PoolTable functions{};
    const char* name = along ? "SumPoolAlong" : "SumPool";
    Run(device, functions, static_cast<int>(dtype), along ? 1 : 0,
        StrCat(name, "_", GetDtypeName(dtype)), StrCat(name, "<", DeviceTypeOf(dtype), ">(p);"),
        along ? Grid{std::min(p.n_out, int64_t{1} << 20), static_cast<int>(256 / item_size)}
              : GridFor(p.n_out),
        p);
}
CX_CUDA_KERNEL(SumPool)

void SumPoolGrad(const Array& gy, const PoolWindow& window, PoolDivisor divisor, const Array& gx) {
    const PoolPlan plan{gx.shape(), gy.shape(), window, true};
    CudaDevice& device = Prepare(gx, gy);
    PoolParams p = MakeParams(plan, gx, gy);
    p.divisor = static_cast<int>(divisor);
    const native::PoolAxis& last = plan.last();
    const bool each = divisor == PoolDivisor::kInside && !(plan.IsRegular() && plan.AllInside());
    const bool is_repeated = plan.planes == 1 && plan.ndim() == 2 && plan.rows().size == 1 &&
                             plan.rows().IsExact() && last.out == 1 && last.IsExact();
    // As native, which then writes elements in place of adding them to 0.
    p.copies =
        last.stride != 1 &&
        (is_repeated || (last.size == 2 && last.stride == 2 && last.pad == 0 && last.AllInside()));
    const Dtype dtype = gx.dtype();
    static constinit const PoolTable functions{};
    Run(device, functions, static_cast<int>(dtype), each ? 1 : 0,
        StrCat("SumPoolGrad_", GetDtypeName(dtype), "_", each ? 1 : 0),
        StrCat("SumPoolGrad<", DeviceTypeOf(dtype), ", ", each ? "true" : "false", ">(p);"),
        GridFor(p.n_in), p);
}
CX_CUDA_KERNEL(SumPoolGrad)

}  // namespace
}  // namespace chainerx::cuda

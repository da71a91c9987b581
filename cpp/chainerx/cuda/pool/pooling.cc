// Pooling. cuda/pool/device/pool.h computes.
#include "chainerx/kernels/pool/pooling.h"

#include <algorithm>

#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/pool/params.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/kernel.h"
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

constexpr const char* kHeader = "pool/device/pool.h";
constexpr const char* kBounds = "256, 4";

template <typename... Arguments>
constexpr Kernel<PoolParams, Arguments...> MakeKernel(const char* function) {
    return {kHeader, "PoolParams", function, kBounds};
}

constinit const auto kMaxPool = MakeKernel<Dtype, Choice<3>>("MaxPool<T, U>");
void MaxPool(const Array& x, const PoolWindow& window, const Array& y, const Array& indices) {
    static constexpr const char* kIndices[] = {"void", "uint8_t", "int64_t"};
    const PoolPlan plan{x.shape(), y.shape(), window, true};
    const bool has_indices = indices.GetTotalSize() != 0;
    PoolParams p = MakeParams(plan, x, y);
    if (has_indices) p.indices = indices.raw_data();
    const int variant = !has_indices ? 0 : indices.dtype() == Dtype::kUInt8 ? 1 : 2;
    kMaxPool.Launch(Prepare(x, y, indices), ThreadsFor(p.n_out), p, x.dtype(),
                    {variant, kIndices[variant]});
}
CX_CUDA_KERNEL(MaxPool)

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

constinit const auto kPoolScatter = MakeKernel<Dtype, Dtype>("PoolScatter<T, U>");
void PoolScatter(const char* op, const Array& gy, const Array& indices, const PoolWindow& window,
                 const Array& gx) {
    const PoolPlan plan{gx.shape(), gy.shape(), window, false};
    CudaDevice& device = Prepare(gx, gy, indices);
    PoolParams p = MakeParams(plan, gx, gy);
    SetIndices(p, device, op, indices);
    p.copies = IsFloat(gx.dtype()) && indices.dtype() == Dtype::kUInt8 && IsTwoByTwo(plan);
    kPoolScatter.Launch(device, ThreadsFor(std::max(p.n_in, p.n_out)), p, gx.dtype(),
                        indices.dtype());
}
CX_CUDA_KERNEL(PoolScatter)

constinit const auto kPoolGather = MakeKernel<ItemSize, Dtype>("PoolGather<T, U>");
void PoolGather(const char* op, const Array& x, const Array& indices, const PoolWindow& window,
                const Array& y) {
    const PoolPlan plan{x.shape(), y.shape(), window, false};
    CudaDevice& device = Prepare(x, y, indices);
    PoolParams p = MakeParams(plan, x, y);
    SetIndices(p, device, op, indices);
    kPoolGather.Launch(device, ThreadsFor(p.n_out), p, ItemSize{y.GetItemSize()}, indices.dtype());
}
CX_CUDA_KERNEL(PoolGather)

constinit const auto kSumPool = MakeKernel<Dtype>("SumPool<T>");
// A block of threads for a long window.
constinit const auto kSumPoolAlong = MakeKernel<Dtype>("SumPoolAlong<T>");
void SumPool(const Array& x, const PoolWindow& window, PoolDivisor divisor, const Array& y) {
    const PoolPlan plan{x.shape(), y.shape(), window, true};
    PoolParams p = MakeParams(plan, x, y);
    p.divisor = static_cast<int>(divisor);
    int64_t rows = 1;
    for (int d = 0; d < p.ndim - 1; ++d) rows *= p.dims[d].size;
    p.rows_first = rows > 1 && (rows > 16 || p.taps > 64);
    const int64_t item_size = std::max<int64_t>(4, x.GetItemSize());
    const bool along = p.dims[p.ndim - 1].size * item_size >= 128;
    (along ? kSumPoolAlong : kSumPool)
        .Launch(Prepare(x, y),
                along ? Grid{std::min(p.n_out, int64_t{1} << 20), static_cast<int>(256 / item_size)}
                      : ThreadsFor(p.n_out),
                p, x.dtype());
}
CX_CUDA_KERNEL(SumPool)

constinit const auto kSumPoolGrad = MakeKernel<Dtype>("SumPoolGrad<T, false>");
constinit const auto kSumPoolGradEach = MakeKernel<Dtype>("SumPoolGrad<T, true>");
void SumPoolGrad(const Array& gy, const PoolWindow& window, PoolDivisor divisor, const Array& gx) {
    const PoolPlan plan{gx.shape(), gy.shape(), window, true};
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
    (each ? kSumPoolGradEach : kSumPoolGrad)
        .Launch(Prepare(gx, gy), ThreadsFor(p.n_in), p, gx.dtype());
}
CX_CUDA_KERNEL(SumPoolGrad)

}  // namespace
}  // namespace chainerx::cuda

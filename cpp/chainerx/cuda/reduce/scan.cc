// CumSum, CumProd, LinearScan. cuda/reduce/device/scan.h computes.
#include <algorithm>

#include "chainerx/cuda/reduce/params.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/reduce/scan_order.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::cuda {
namespace {

struct ScanKernels {
    bool adds;
    Kernel<ScanParams, Dtype, Dtype> lines;
    Kernel<ScanParams, Dtype, Dtype> in_order;
    Kernel<ScanParams, Dtype, Dtype> chunks;
    Kernel<ScanParams, Dtype> totals;
};

// Lines that are short, and as many lines as keep the device busy, are scanned by a thread each.
constexpr int64_t kEnoughLines = 8192;

// `a` may be null.
void Scan(const ScanKernels& kernels, const Array& x, const Array* a, int8_t axis, bool reverse,
          const Array& out) {
    if (x.GetTotalSize() == 0) return;
    const Array* const arrays[3] = {&out, &x, a == nullptr ? &x : a};
    CudaDevice& device = Prepare(out, x, *arrays[2]);
    native::StridedIterator<3> lines;
    ScanParams params{};
    params.length = x.ndim() == 0 ? 1 : x.shape()[axis];
    for (int k = 0; k < 3; ++k) {
        lines.data[k] = arrays[k]->raw_data();
        params.steps[k] = x.ndim() == 0 ? 0 : arrays[k]->strides()[axis];
        if (!reverse) continue;
        lines.data[k] += params.steps[k] * (params.length - 1);
        params.steps[k] = -params.steps[k];
    }
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (i == axis) continue;
        lines.Add(x.shape()[i], {out.strides()[i], x.strides()[i], arrays[2]->strides()[i]});
    }
    lines.CollapseDims(native::AxisOrder::kByStride);
    params.ndim = lines.ndim;
    for (int d = 0; d < lines.ndim; ++d) {
        params.sizes[d] = lines.dims[d];
        for (int k = 0; k < 3; ++k) params.strides[k][d] = lines.strides[k][d];
    }
    for (int k = 0; k < 3; ++k) params.data[k] = lines.data[k];
    params.n_lines = lines.total;
    const auto launch = [&](const auto& kernel, const Grid& grid) {
        kernel.Launch(device, grid, params, x.dtype(), out.dtype());
    };
    if (params.length <= native::kShortScan || params.n_lines >= kEnoughLines) {
        return launch(kernels.lines, ThreadsFor(params.n_lines));
    }
    if (!kernels.adds && IsDifferentiable(x.dtype())) {
        return launch(kernels.in_order, {params.n_lines});
    }
    params.n_chunks = CeilDiv(params.length, kScanChunk);
    const Grid chunks{params.n_lines * params.n_chunks};
    Array totals;
    if (params.n_chunks > 1) {
        const int64_t state = std::max<int64_t>(16, 2 * x.GetItemSize());
        totals =
            EmptyUnchecked(Shape{params.n_lines * params.n_chunks * state}, Dtype::kUInt8, device);
        params.totals = totals.raw_data();
        params.passes_totals = 1;
        launch(kernels.chunks, chunks);
        kernels.totals.Launch(device, {params.n_lines}, params, x.dtype());
        params.passes_totals = 0;
    }
    launch(kernels.chunks, chunks);
}

#define CX_SCAN_KERNEL(function) {"reduce/device/scan.h", "ScanParams", function}
#define CX_SCAN(adds, scan)                                                                      \
    {adds, CX_SCAN_KERNEL("ScanLines<" scan ", U>"), CX_SCAN_KERNEL("ScanInOrder<" scan ", U>"), \
     CX_SCAN_KERNEL("ScanChunks<" scan ", U>"), CX_SCAN_KERNEL("ScanTotals<" scan ">")}
constinit const ScanKernels kCumSum CX_SCAN(true, "Cumulative<Sum<T>, T>");
constinit const ScanKernels kCumProd CX_SCAN(false, "Cumulative<Prod<T>, T>");
constinit const ScanKernels kLinearScan CX_SCAN(false, "Linear<T>");

void CumSum(const Array& x, int8_t axis, bool reverse, const Array& out) {
    Scan(kCumSum, x, nullptr, axis, reverse, out);
}
CX_CUDA_KERNEL(CumSum)

void CumProd(const Array& x, int8_t axis, bool reverse, const Array& out) {
    Scan(kCumProd, x, nullptr, axis, reverse, out);
}
CX_CUDA_KERNEL(CumProd)

void LinearScan(const Array& a, const Array& x, int8_t axis, bool reverse, const Array& out) {
    Scan(kLinearScan, x, &a, axis, reverse, out);
}
CX_CUDA_KERNEL(LinearScan)

}  // namespace
}  // namespace chainerx::cuda

// CumSum, CumProd, LinearScan. cuda/reduce/device/scan.h computes.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/cuda/reduce/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/reduce/scan_order.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::cuda {
namespace {

enum Variant { kLines, kInOrder, kChunks, kTotals, kVariants };

struct ScanKind {
    const char* name;
    const char* policy;  // of cuda/reduce/device/policies.h, or null for a linear scan
    bool adds;
    FunctionTable<kNumDtypes, kVariants> functions{};
};

// Lines that are short, and as many lines as keep the device busy, are scanned by a thread each.
constexpr int64_t kEnoughLines = 8192;

DeviceSource WriteSource(const ScanKind& kind, Dtype in, Dtype out, Variant variant) {
    static constexpr const char* kFunctions[] = {"ScanLines", "ScanInOrder", "ScanChunks",
                                                 "ScanTotals"};
    const std::string item = DeviceTypeOf(in);
    const std::string scan = kind.policy == nullptr
                                 ? StrCat("Linear<", item, ">")
                                 : StrCat("Cumulative<", kind.policy, "<", item, ">, ", item, ">");
    const std::string rest = variant == kTotals ? ">" : StrCat(", ", DeviceTypeOf(out), ">");
    return MakeSource(StrCat(kind.name, "_", GetDtypeName(in), "_", kFunctions[variant]),
                      "reduce/device/scan.h", "ScanParams",
                      StrCat(kFunctions[variant], "<", scan, rest, "(p);"));
}

// `a` may be null.
void Scan(const ScanKind& kind, const Array& x, const Array* a, int8_t axis, bool reverse,
          const Array& out) {
    if (x.GetTotalSize() == 0) return;
    auto& device = static_cast<CudaDevice&>(out.device());
    CudaStream& stream = device.current_stream();
    device.Activate();
    const Array* const arrays[3] = {&out, &x, a == nullptr ? &x : a};
    native::StridedIterator<3> lines;
    ScanParams params{};
    params.length = x.ndim() == 0 ? 1 : x.shape()[axis];
    for (int k = 0; k < 3; ++k) {
        device.RecordUse(*arrays[k], stream);
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
    const auto launch = [&](Variant variant, int64_t blocks) {
        const CUfunction function =
            kind.functions.Get(device, static_cast<int>(x.dtype()), variant,
                               [&] { return WriteSource(kind, x.dtype(), out.dtype(), variant); });
        Launch(stream, function, {blocks, kReduceThreads}, params);
    };
    if (params.length <= native::kShortScan || params.n_lines >= kEnoughLines) {
        launch(kLines, (params.n_lines + kReduceThreads - 1) / kReduceThreads);
        return;
    }
    if (!kind.adds && IsDifferentiable(x.dtype())) {
        launch(kInOrder, params.n_lines);
        return;
    }
    params.n_chunks = (params.length + kScanChunk - 1) / kScanChunk;
    Array totals;
    if (params.n_chunks > 1) {
        const int64_t state = std::max<int64_t>(16, 2 * x.GetItemSize());
        totals =
            EmptyUnchecked(Shape{params.n_lines * params.n_chunks * state}, Dtype::kUInt8, device);
        params.totals = totals.raw_data();
        params.passes_totals = 1;
        launch(kChunks, params.n_lines * params.n_chunks);
        launch(kTotals, params.n_lines);
        params.passes_totals = 0;
    }
    launch(kChunks, params.n_lines * params.n_chunks);
}

constinit const ScanKind kCumSum{"CumSum", "Sum", true};
constinit const ScanKind kCumProd{"CumProd", "Prod", false};
constinit const ScanKind kLinearScan{"LinearScan", nullptr, false};

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

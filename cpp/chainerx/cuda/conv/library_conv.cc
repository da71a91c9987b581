#include "chainerx/cuda/conv/library_conv.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/switches.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/library_option.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kConvNames[] = {"cudnn", "tiles"};
constexpr int kTilesRow = 1;
const AlgorithmChoice g_conv_choice{"cuda_conv", "CHAINERX_CUDA_CONV", kConvNames};

const Array& ResultOf(ConvPass pass, const Array& x, const Array& w, const Array& y) {
    return pass == ConvPass::kForward ? y : pass == ConvPass::kInputGrad ? x : w;
}

// Smaller ones are a matter of launches.
bool IsWorthLibrary(const Array& w, const Array& y) {
    constexpr double kLeastWork = 0x1p20;
    double work = static_cast<double>(y.GetTotalSize());
    for (int d = 1; d < w.ndim(); ++d) work *= static_cast<double>(w.shape()[d]);
    return work >= kLeastWork;
}

// Sets a spatial axis. Returns whether the library can have as many outputs: no more and no fewer
// than there is room for.
bool SetAxis(LibraryConv& conv, int axis, int64_t length, int64_t taps, int64_t outputs,
             int64_t stride, int64_t pad, int64_t dilate) {
    const int64_t read = (outputs - 1) * stride + (taps - 1) * dilate + 1;
    const int64_t least = std::max<int64_t>(read - length - pad, 0);
    const int64_t most = read - length - pad + stride - 1;
    conv.x[2 + axis] = length;
    conv.w[2 + axis] = taps;
    conv.y[2 + axis] = outputs;
    conv.stride[axis] = stride;
    conv.dilate[axis] = dilate;
    conv.pad[axis] = pad;
    // More engines take the same padding on both sides.
    conv.after[axis] = pad >= least && pad <= most ? pad : least;
    return least <= most;
}

std::optional<LibraryConv> Describe(ConvPass pass, const Array& x, const Array& w, const Array& y,
                                    const ConvGeometry& geometry, bool has_bias) {
    const int axes = x.ndim() - 2;
    if (!IsFloat(x.dtype()) || axes > LibraryConv::kMaxAxes ||
        std::min({x.GetTotalSize(), w.GetTotalSize(), y.GetTotalSize()}) == 0) {
        return std::nullopt;
    }
    LibraryConv conv;
    conv.pass = pass;
    conv.dtype = x.dtype();
    conv.has_bias = has_bias;
    conv.axes = std::max(axes, LibraryConv::kLeastAxes);
    for (int d = 0; d < 2; ++d) {
        conv.x[d] = x.shape()[d];
        conv.w[d] = w.shape()[d];
        conv.y[d] = y.shape()[d];
    }
    const int before = conv.axes - axes;
    for (int d = 0; d < before; ++d) SetAxis(conv, d, 1, 1, 1, 1, 0, 1);
    for (int d = 0; d < axes; ++d) {
        if (!SetAxis(conv, before + d, x.shape()[2 + d], w.shape()[2 + d], y.shape()[2 + d],
                     geometry.stride[d], geometry.pad[d], geometry.dilate[d])) {
            return std::nullopt;
        }
    }
    return conv;
}

struct PlanKey {
    int device;
    LibraryConv conv;
    bool tensor_cores;
    bool autotunes;
    int64_t most_work;

    auto operator<=>(const PlanKey&) const = default;
};

// Says once that the library is there, and why it computes less than it could.
void Report(const std::string& error) {
    static constinit std::atomic<bool> is_said{false};
    if (is_said.exchange(true)) return;
    std::fprintf(stderr, "chainerx: a convolution can't use cuDNN: %s\n", error.c_str());
}

Array MakeWork(CudaDevice& device, int64_t nbytes) {
    if (nbytes == 0) return {};
    const Array work = EmptyUnchecked(Shape{nbytes}, Dtype::kUInt8, device);
    device.RecordUse(work, device.current_stream());
    return work;
}

bool IsCapturing(CudaDevice& device) {
    CUstreamCaptureStatus status{};
    CX_CU(StreamIsCapturing, device.current_stream().handle(), &status);
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Handles and plans of all devices; the plans that were used last stay.
class LibraryConvs {
 public:
    // Returns what the library has for it: "" if it has computed it, else why not.
    std::string Run(CudaDevice& device, const PlanKey& key, const ConvPointers& pointers) {
        const std::lock_guard lock{mutex_};
        Handle& handle = FindHandle(device);
        if (handle.handle == nullptr) return handle.error;
        Entry& entry = Find(device, handle.handle, key, pointers);
        if (entry.plans.empty()) return entry.error;
        return RunPlan(device, handle.handle, entry, pointers);
    }

 private:
    struct Handle {
        cudnnHandle_t handle;
        CUstream stream;
        std::string error;
    };
    struct Entry {
        std::vector<CudnnPlan> plans;  // one, or none
        std::string error;
        uint64_t last_use;
    };
    static constexpr size_t kMostPlans = 1024;
    static constexpr int kMeasured = 8;

    Handle& FindHandle(CudaDevice& device) {
        Handle& handle = handles_.try_emplace(device.index()).first->second;
        const CUstream stream = device.current_stream().handle();
        if (handle.handle == nullptr && handle.error.empty()) {
            try {
                device.WithRoom([&] { CX_CUDNN_CALL(Create, &handle.handle); });
                CX_CUDNN_CALL(SetStream, handle.handle, stream);
                handle.stream = stream;
            } catch (const BackendError& e) {
                handle.handle = nullptr;
                handle.error = e.what();
                Report(handle.error);
            }
        }
        if (handle.handle != nullptr && handle.stream != stream) {
            CX_CUDNN_CALL(SetStream, handle.handle, stream);
            handle.stream = stream;
        }
        return handle;
    }

    Entry& Find(CudaDevice& device, cudnnHandle_t handle, const PlanKey& key,
                const ConvPointers& pointers) {
        const auto found = plans_.find(key);
        if (found != plans_.end()) {
            found->second.last_use = ++uses_;
            return found->second;
        }
        if (plans_.size() == kMostPlans) {
            plans_.erase(std::ranges::min_element(
                plans_, {}, [](const auto& plan) { return plan.second.last_use; }));
        }
        Entry entry{{}, "", ++uses_};
        // While a graph is captured nothing can be measured.
        const bool measures = key.autotunes && !IsCapturing(device);
        try {
            const EngineRules rules{key.tensor_cores, key.most_work, measures ? kMeasured : 1};
            entry.plans = device.WithRoom([&] { return MakePlans(handle, key.conv, rules); });
            if (entry.plans.size() > 1) KeepFastest(device, handle, entry.plans, pointers);
            if (entry.plans.empty()) entry.error = "it has no engine for it";
        } catch (const BackendError& e) {
            entry.plans.clear();
            entry.error = e.what();
            Report(entry.error);
        }
        return plans_.emplace(key, std::move(entry)).first->second;
    }

    // The result is written several times.
    static void KeepFastest(CudaDevice& device, cudnnHandle_t handle, std::vector<CudnnPlan>& plans,
                            const ConvPointers& pointers) {
        const internal::NoInterruptScope whole;  // a signal handler may call one: we hold the lock
        const auto time = [&](const CudnnPlan& plan) {
            constexpr int kRuns = 2;
            Event start{device};
            Event end{device};
            const Array work = MakeWork(device, plan.work_size());
            const auto run = [&] { plan.Run(handle, pointers, AddressOf(work)); };
            run();
            start.Record();
            for (int k = 0; k < kRuns; ++k) run();
            end.Record();
            end.Synchronize();
            return start.GetMillisecondsTo(end);
        };
        size_t best = 0;
        double best_time = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < plans.size(); ++i) {
            try {
                const double found = time(plans[i]);
                if (found < best_time) {
                    best = i;
                    best_time = found;
                }
            } catch (const OutOfMemoryError&) {  // too much work space
                continue;
            }
        }
        std::swap(plans.front(), plans[best]);
        plans.erase(plans.begin() + 1, plans.end());
    }

    static std::string RunPlan(CudaDevice& device, cudnnHandle_t handle, Entry& entry,
                               const ConvPointers& pointers) {
        const CudnnPlan& plan = entry.plans.front();
        try {
            const Array work = MakeWork(device, plan.work_size());
            plan.Run(handle, pointers, AddressOf(work));
        } catch (const OutOfMemoryError& e) {  // there may be room next time
            return e.what();
        } catch (const BackendError& e) {
            entry.error = e.what();
            entry.plans.clear();
            Report(entry.error);
            return entry.error;
        }
        return "";
    }

    static void* AddressOf(const Array& work) { return work.is_null() ? nullptr : work.raw_data(); }

    internal::ForkMutex mutex_;
    std::map<int, Handle> handles_;
    std::map<PlanKey, Entry> plans_;
    uint64_t uses_{0};
};

constinit internal::Lazy<LibraryConvs> g_convs;

// As the library reads it.
Array AsOperand(const Array& x) {
    if (x.IsContiguous() && IsAligned(x, kLibraryAlign)) return x;
    const Array copy = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::AsType>(x.device(), x, copy);
    Prepare(copy);
    return copy;
}

void AddBias(const Array& bias, const Array& out) {
    Strides strides = out.strides();
    std::ranges::fill(strides, 0);
    strides[1] = bias.strides()[0];
    const Array row = internal::MakeView(bias, out.shape(), strides, bias.raw_data());
    CallOn<kernels::Add>(out.device(), Operand{out}, Operand{row}, out);
}

bool IsSet(LibraryOption option) { return GetLibraryOption(option) == LibraryChoice::kAlways; }

// Whether engines may use tensor cores; for float32 they round operands to TF32.
bool AllowsTensorCores(Dtype dtype) {
    switch (GetLibraryOption(LibraryOption::kTensorCores)) {
        case LibraryChoice::kAlways:
            return true;
        case LibraryChoice::kNever:
            return false;
        case LibraryChoice::kInvalid:
            throw ValueError{
                "conv: chainer.config.use_cudnn_tensor_core is none of 'always', 'auto', 'never'"};
        default:
            return dtype != Dtype::kFloat32 || GetSwitches().tf32.load(std::memory_order_relaxed);
    }
}

// Returns "" if the library has computed it, else why not.
std::string RunLibraryConv(ConvPass pass, const Array& x, const Array& w, const Array& y,
                           const ConvGeometry& geometry, const Array* bias) {
    const Array& out = ResultOf(pass, x, w, y);
    std::optional<LibraryConv> conv =
        Describe(pass, x, w, y, geometry, bias != nullptr && pass == ConvPass::kForward);
    if (!conv.has_value()) return "it has no such convolutions";
    if (FindCudnn() == nullptr) return "it is not there";
    if (!IsAligned(out, kLibraryAlign)) return "the result is not aligned";
    CudaDevice& device = Prepare(out, x, w, y);
    // Of the result, it is the array itself.
    const Array image = AsOperand(x);
    const Array weights = AsOperand(w);
    const Array response = AsOperand(y);
    ConvPointers pointers{image.raw_data(), weights.raw_data(), response.raw_data(), nullptr};
    const PlanKey key{device.index(), *conv, AllowsTensorCores(conv->dtype),
                      IsSet(LibraryOption::kAutotune) && !IsSet(LibraryOption::kDeterministic),
                      GetSwitches().max_workspace.load(std::memory_order_relaxed)};
    if (!conv->has_bias) {
        std::string error = g_convs.Get().Run(device, key, pointers);
        if (error.empty() && bias != nullptr) AddBias(*bias, out);
        return error;
    }
    const Array row = AsOperand(*bias);
    Prepare(row);
    pointers.bias = row.raw_data();
    std::string error = g_convs.Get().Run(device, key, pointers);
    if (error.empty()) return error;
    PlanKey without = key;
    without.conv.has_bias = false;
    pointers.bias = nullptr;
    error = g_convs.Get().Run(device, without, pointers);
    if (error.empty()) AddBias(*bias, out);
    return error;
}

}  // namespace

bool TryLibraryConv(ConvPass pass, const Array& x, const Array& w, const Array& y,
                    const ConvGeometry& geometry, const Array* bias) {
    if (bias != nullptr && bias->GetTotalSize() == 0) bias = nullptr;
    const AlgorithmChoice::Forced forced =
        g_conv_choice.MayBeForced() ? g_conv_choice.forced() : AlgorithmChoice::Forced{};
    if (forced.row == kTilesRow || (forced.row < 0 && !IsWorthLibrary(w, y))) return false;
    const LibraryChoice use = GetLibraryOption(LibraryOption::kUse);
    if (use == LibraryChoice::kInvalid) {
        throw ValueError{"conv: chainer.config.use_cudnn is none of 'always', 'auto', 'never'"};
    }
    if (use == LibraryChoice::kNever && forced.row < 0) return false;
    const std::string error = RunLibraryConv(pass, x, w, y, geometry, bias);
    if (error.empty()) {
        internal::NoteAlgorithm("cudnn");
        return true;
    }
    if (forced.row >= 0 && forced.is_strict) {
        throw ChainerxError{"cuda: cuDNN can't compute this convolution of ", x.dtype(), ": ",
                            error};
    }
    return false;
}

}  // namespace chainerx::cuda

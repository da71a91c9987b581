// Kernels that fill arrays with random numbers, and dropout.
#include "chainerx/kernels/random/random.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "chainerx/core/error.h"
#include "chainerx/cuda/random/calls.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/kernels/random/parameters.h"
#include "chainerx/kernels/random/short_range.h"

namespace chainerx::cuda {
namespace {

// A kernel of cuda/random/device, for each dtype of results.
struct RandomKernel {
    const char* name;
    const char* header;
    const char* params;
    const char* function;  // if it has a parameter, it is the dtype
    bool of_dtype;
    FunctionTable<kNumDtypes, 1> functions{};

    CUfunction Get(CudaDevice& device, Dtype dtype) const {
        return functions.Get(device, static_cast<int>(dtype), 0, [&] {
            if (!of_dtype) return WriteRandomSource(name, header, params, function);
            return WriteRandomSource(StrCat(name, "_", GetDtypeName(dtype)), header, params,
                                     StrCat(function, "<", DeviceTypeOf(dtype), ">"));
        });
    }
};

// `width` numbers come from one Philox block.
void Fill(const RandomKernel& kernel, const Array& state, const Array& out, int64_t width,
          FillParams params) {
    params.size = out.GetTotalSize();
    const RandomLaunch launch{state, CeilDiv(params.size, width)};
    launch.device().RecordUse(out, launch.stream());
    params.call = launch.call();
    params.out = out.raw_data();
    launch.Run(kernel.Get(launch.device(), out.dtype()), params);
}

int64_t FloatsOfBlock(Dtype dtype) { return dtype == Dtype::kFloat64 ? 2 : 4; }

constinit const RandomKernel kUniform{"RandomUniform", "fill.h", "FillParams", "FillUniform", true};
void RandomUniform(const Array& state, double low, double high, const Array& out) {
    FillParams params{};
    VisitFloat(out.dtype(), [&]<typename T>() {
        const auto range = MakeUniformRange<T>(low, high);
        params.range[0] = static_cast<double>(range.first);
        params.range[1] = static_cast<double>(range.width);
        params.range[2] = static_cast<double>(range.last);
    });
    params.negates = !(low <= high);
    Fill(kUniform, state, out, FloatsOfBlock(out.dtype()), params);
}
CX_CUDA_KERNEL(RandomUniform)

constinit const RandomKernel kNormal{"RandomNormal", "normal.h", "FillParams", "FillNormal", true};
void RandomNormal(const Array& state, double loc, double scale, const Array& out) {
    FillParams params{};
    params.range[0] = loc;
    params.range[1] = scale;
    Fill(kNormal, state, out, FloatsOfBlock(out.dtype()), params);
}
CX_CUDA_KERNEL(RandomNormal)

constinit const RandomKernel kIntegers{"RandomIntegers", "fill.h", "FillParams", "FillIntegers",
                                       true};
constinit const RandomKernel kShortIntegers{"RandomShortIntegers", "fill.h", "FillParams",
                                            "FillShortIntegers", true};
void RandomIntegers(const Array& state, int64_t low, uint64_t range, const Array& out) {
    FillParams params{};
    params.start = static_cast<uint64_t>(low);
    params.count = range;
    const bool is_short = IsShortRange(range);
    Fill(is_short ? kShortIntegers : kIntegers, state, out, is_short ? 4 : 2, params);
}
CX_CUDA_KERNEL(RandomIntegers)

// `width` elements of a thread; `inputs` are the distribution's parameters.
void Draw(const RandomKernel& kernel, const Array& state,
          std::initializer_list<ConstArrayRef> inputs, const Array& out, int64_t width = 1,
          DrawParams params = {}) {
    params.size = out.GetTotalSize();
    const RandomLaunch launch{state, CeilDiv(params.size, width)};
    launch.device().RecordUse(out, launch.stream());
    params.call = launch.call();
    params.out = out.raw_data();
    int k = 0;
    for (const Array& x : inputs) {
        launch.device().RecordUse(x, launch.stream());
        params.in[k] = x.raw_data();
        params.steps[k] = x.GetTotalSize() == 1 ? 0 : 1;
        ++k;
    }
    launch.Run(kernel.Get(launch.device(), out.dtype()), params);
}

constinit const RandomKernel kGamma{"RandomGamma", "gamma.h", "DrawParams", "DrawGamma", true};
void RandomGamma(const Array& state, const Array& shape, bool log, const Array& out) {
    DrawParams params{};
    params.log = log;
    Draw(kGamma, state, {shape}, out, FloatsOfBlock(out.dtype()), params);
}
CX_CUDA_KERNEL(RandomGamma)

#define CX_DRAWN(Name, Draws)                                                    \
    constinit const RandomKernel k##Name{#Name, "distributions.h", "DrawParams", \
                                         "DrawFromPairs<" #Draws ">", false};
CX_DRAWN(RandomPoisson, DrawPoisson)
CX_DRAWN(RandomBinomial, DrawBinomial)
CX_DRAWN(RandomZipf, DrawZipf)
CX_DRAWN(RandomHypergeometric, DrawHypergeometric)
CX_DRAWN(RandomVonMises, DrawVonMises)
CX_DRAWN(RandomIndex, DrawIndex)
#undef CX_DRAWN

void RandomPoisson(const Array& state, const Array& mean, const Array& out) {
    Draw(kRandomPoisson, state, {mean}, out);
}
CX_CUDA_KERNEL(RandomPoisson)

void RandomBinomial(const Array& state, const Array& n, const Array& p, const Array& out) {
    Draw(kRandomBinomial, state, {n, p}, out);
}
CX_CUDA_KERNEL(RandomBinomial)

void RandomZipf(const Array& state, const Array& a, const Array& out) {
    Draw(kRandomZipf, state, {a}, out);
}
CX_CUDA_KERNEL(RandomZipf)

void RandomHypergeometric(const Array& state, const Array& good, const Array& bad,
                          const Array& sample, const Array& out) {
    Draw(kRandomHypergeometric, state, {good, bad, sample}, out);
}
CX_CUDA_KERNEL(RandomHypergeometric)

void RandomVonMises(const Array& state, const Array& kappa, const Array& out) {
    Draw(kRandomVonMises, state, {kappa}, out);
}
CX_CUDA_KERNEL(RandomVonMises)

void RandomIndex(const Array& state, const Array& sums, const Array& out) {
    DrawParams params{};
    params.rows = sums.shape()[0];
    params.columns = sums.shape()[1];
    Draw(kRandomIndex, state, {sums}, out, 1, params);
}
CX_CUDA_KERNEL(RandomIndex)

constinit const RandomKernel kDropout{"Dropout", "fill.h", "DropoutParams", "DropElements", true};
void Dropout(const Array& x, const Array& key, double ratio, const Array& out) {
    if (x.GetTotalSize() == 0) return;
    auto& device = static_cast<CudaDevice&>(out.device());
    CudaStream& stream = device.current_stream();
    device.Activate();
    for (const Array& a : {ConstArrayRef{x}, ConstArrayRef{key}, ConstArrayRef{out}}) {
        device.RecordUse(a, stream);
    }
    DropoutParams params{};
    params.key = key.raw_data();
    params.in = x.raw_data();
    params.out = out.raw_data();
    params.size = x.GetTotalSize();
    params.scale = 1 / (1 - ratio);
    params.threshold = DropoutThreshold(ratio);
    // Eight threads for 32 elements.
    const int64_t threads = 8 * CeilDiv(params.size, 32);
    Launch(stream, kDropout.Get(device, x.dtype()),
           {CeilDiv(threads, kRandomThreads), kRandomThreads}, params);
}
CX_CUDA_KERNEL(Dropout)

}  // namespace
}  // namespace chainerx::cuda

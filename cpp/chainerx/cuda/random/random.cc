// Kernels that fill arrays with random numbers, and dropout.
#include "chainerx/kernels/random/random.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "chainerx/cuda/random/calls.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/kernels/random/parameters.h"
#include "chainerx/kernels/random/short_range.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kFillHeader = "random/device/fill.h";

// `width` numbers come from one Philox block.
void Fill(const Kernel<FillParams, Dtype>& kernel, const Array& state, const Array& out,
          int64_t width, FillParams params) {
    params.size = out.GetTotalSize();
    const RandomLaunch launch{state, CeilDiv(params.size, width)};
    launch.Use(out);
    params.call = launch.call();
    params.out = out.raw_data();
    launch.Run(kernel, params, out.dtype());
}

int64_t FloatsOfBlock(Dtype dtype) { return dtype == Dtype::kFloat64 ? 2 : 4; }

CX_DEVICE_KERNEL(kUniform, kFillHeader, FillParams, "FillUniform<T>", Dtype)
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

CX_DEVICE_KERNEL(kNormal, "random/device/normal.h", FillParams, "FillNormal<T>", Dtype)
void RandomNormal(const Array& state, double loc, double scale, const Array& out) {
    FillParams params{};
    params.range[0] = loc;
    params.range[1] = scale;
    Fill(kNormal, state, out, FloatsOfBlock(out.dtype()), params);
}
CX_CUDA_KERNEL(RandomNormal)

CX_DEVICE_KERNEL(kIntegers, kFillHeader, FillParams, "FillIntegers<T>", Dtype)
CX_DEVICE_KERNEL(kShortIntegers, kFillHeader, FillParams, "FillShortIntegers<T>", Dtype)
void RandomIntegers(const Array& state, int64_t low, uint64_t range, const Array& out) {
    FillParams params{};
    params.start = static_cast<uint64_t>(low);
    params.count = range;
    const bool is_short = IsShortRange(range);
    Fill(is_short ? kShortIntegers : kIntegers, state, out, is_short ? 4 : 2, params);
}
CX_CUDA_KERNEL(RandomIntegers)

// `width` elements of a thread; `inputs` are the distribution's parameters.
template <typename... Arguments>
void Draw(const Kernel<DrawParams, Arguments...>& kernel, const Array& state,
          std::initializer_list<ConstArrayRef> inputs, const Array& out, int64_t width,
          DrawParams params, const Arguments&... arguments) {
    params.size = out.GetTotalSize();
    const RandomLaunch launch{state, CeilDiv(params.size, width)};
    launch.Use(out);
    params.call = launch.call();
    params.out = out.raw_data();
    int k = 0;
    for (const Array& x : inputs) {
        launch.Use(x);
        params.in[k] = x.raw_data();
        params.steps[k] = x.GetTotalSize() == 1 ? 0 : 1;
        ++k;
    }
    launch.Run(kernel, params, arguments...);
}

CX_DEVICE_KERNEL(kGamma, "random/device/gamma.h", DrawParams, "DrawGamma<T>", Dtype)
void RandomGamma(const Array& state, const Array& shape, bool log, const Array& out) {
    DrawParams params{};
    params.log = log;
    Draw(kGamma, state, {shape}, out, FloatsOfBlock(out.dtype()), params, out.dtype());
}
CX_CUDA_KERNEL(RandomGamma)

#define CX_DRAWN(Name, Draws)                                              \
    CX_DEVICE_KERNEL(k##Name, "random/device/distributions.h", DrawParams, \
                     "DrawFromPairs<" #Draws ">")
CX_DRAWN(RandomPoisson, DrawPoisson)
CX_DRAWN(RandomBinomial, DrawBinomial)
CX_DRAWN(RandomZipf, DrawZipf)
CX_DRAWN(RandomHypergeometric, DrawHypergeometric)
CX_DRAWN(RandomVonMises, DrawVonMises)
CX_DRAWN(RandomIndex, DrawIndex)
#undef CX_DRAWN

void RandomPoisson(const Array& state, const Array& mean, const Array& out) {
    Draw(kRandomPoisson, state, {mean}, out, 1, {});
}
CX_CUDA_KERNEL(RandomPoisson)

void RandomBinomial(const Array& state, const Array& n, const Array& p, const Array& out) {
    Draw(kRandomBinomial, state, {n, p}, out, 1, {});
}
CX_CUDA_KERNEL(RandomBinomial)

void RandomZipf(const Array& state, const Array& a, const Array& out) {
    Draw(kRandomZipf, state, {a}, out, 1, {});
}
CX_CUDA_KERNEL(RandomZipf)

void RandomHypergeometric(const Array& state, const Array& good, const Array& bad,
                          const Array& sample, const Array& out) {
    Draw(kRandomHypergeometric, state, {good, bad, sample}, out, 1, {});
}
CX_CUDA_KERNEL(RandomHypergeometric)

void RandomVonMises(const Array& state, const Array& kappa, const Array& out) {
    Draw(kRandomVonMises, state, {kappa}, out, 1, {});
}
CX_CUDA_KERNEL(RandomVonMises)

void RandomIndex(const Array& state, const Array& sums, const Array& out) {
    DrawParams params{};
    params.rows = sums.shape()[0];
    params.columns = sums.shape()[1];
    Draw(kRandomIndex, state, {sums}, out, 1, params);
}
CX_CUDA_KERNEL(RandomIndex)

CX_DEVICE_KERNEL(kDropElements, kFillHeader, DropoutParams, "DropElements<T>", Dtype)
void Dropout(const Array& x, const Array& key, double ratio, const Array& out) {
    if (x.GetTotalSize() == 0) return;
    DropoutParams params{};
    params.key = key.raw_data();
    params.in = x.raw_data();
    params.out = out.raw_data();
    params.size = x.GetTotalSize();
    params.scale = 1 / (1 - ratio);
    params.threshold = DropoutThreshold(ratio);
    // Eight threads for 32 elements.
    kDropElements.Launch(Prepare(x, key, out), ThreadsFor(8 * CeilDiv(params.size, 32)), params,
                         x.dtype());
}
CX_CUDA_KERNEL(Dropout)

}  // namespace
}  // namespace chainerx::cuda

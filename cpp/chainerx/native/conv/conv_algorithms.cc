// Convolutions: the table of algorithms, the choice, and the kernels.
#include "chainerx/native/conv/conv_algorithms.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/conv/connection.h"
#include "chainerx/native/algorithm_table.h"
#include "chainerx/native/conv/conv_operands.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// A row of the table. A pass that it has no code for is null.
struct ConvAlgorithm {
    const char* name;
    // Whether it computes the problem, if it has the pass.
    bool (*can)(const ConvProblem& p);
    // Whether it is chosen, unless one before it is; implies `can`. A function of the shapes alone,
    // since the bits of the result depend on it.
    bool (*prefers)(const ConvProblem& p);
    ConvFn* forward;
    ConvInputGradFn* input_grad;
    ConvWeightGradFn* weight_grad;
};

bool Always(const ConvProblem&) { return true; }
bool Never(const ConvProblem&) { return false; }

int64_t CountOuts(const ConvProblem& p) { return p.w[0] / p.geometry.groups; }

// Returns the share of multiply-adds that do not fall on padding.
double ShareInside(const ConvProblem& p) {
    double share = 1;
    for (int8_t a = 0; a < p.x.ndim() - 2; ++a) {
        int64_t n = 0;
        const int64_t taps = p.w[a + 2];
        const int64_t out = p.y[a + 2];
        for (int64_t t = 0; t < taps; ++t) {
            // Output positions i with 0 <= i * stride + shift < length see the input.
            const int64_t shift = t * p.geometry.dilate[a] - p.geometry.pad[a];
            const int64_t stride = p.geometry.stride[a];
            const int64_t begin = shift < 0 ? CeilDiv(-shift, stride) : 0;
            const int64_t end = shift < p.x[a + 2] ? CeilDiv(p.x[a + 2] - shift, stride) : 0;
            n += std::max<int64_t>(std::min(end, out) - begin, 0);
        }
        share *= static_cast<double>(n) / (static_cast<double>(taps) * static_cast<double>(out));
    }
    return share;
}

// The images get one more axis.
bool CanChwn(const ConvProblem& p) { return p.x.ndim() - 2 < kMaxSpatial; }

// Many small images with much padding.
bool PrefersChwn(const ConvProblem& p) {
    constexpr int64_t kMinImages = 8;
    constexpr double kMaxShare = 0.94;  // the rest pays for copying operands and results
    constexpr int64_t kMinChannels = 16;
    return CanChwn(p) && p.y[0] >= kMinImages && p.w[1] >= kMinChannels &&
           CountOuts(p) >= kMinChannels && ShareInside(p) < kMaxShare;
}

// The result is accumulated in gx itself.
bool CanCol2Im(const ConvProblem& p) { return ConvDtypeOf(p.dtype) == p.dtype; }

// Input gradients most of whose windows would reach beyond gy. The column matrix is held as a
// whole; if it is large, or each of its elements is a short sum, computing padding in the implicit
// GEMM costs less. With few input channels, its panels stay half empty, so shorter sums pay.
bool PrefersCol2Im(const ConvProblem& p) {
    constexpr double kMaxBytes = 0x1p20;
    constexpr int64_t kMinDepth = 32;
    constexpr int64_t kMinDepthOfFew = 16;
    constexpr int64_t kFewChannels = 6;
    constexpr int64_t kManyTaps = 25;
    constexpr double kWaste = 1.6;
    int64_t taps = 1;
    for (int8_t a = 2; a < p.w.ndim(); ++a) taps *= p.w[a];
    const bool is_narrow = p.w[1] <= kFewChannels && taps >= kManyTaps;
    const int64_t min_depth = is_narrow ? kMinDepthOfFew : kMinDepth;
    if (!CanCol2Im(p) || p.x.GetTotalSize() == 0 || CountOuts(p) < min_depth) return false;
    double gathered = 1;
    double scattered = 1;
    double product = 4.0 * static_cast<double>(p.w[1]);
    for (int8_t a = 2; a < p.x.ndim(); ++a) {
        gathered *= static_cast<double>(p.x[a]) / static_cast<double>(p.geometry.stride[a - 2]);
        scattered *= static_cast<double>(p.y[a]);
        product *= static_cast<double>(p.w[a]) * static_cast<double>(p.y[a]);
    }
    return gathered > kWaste * scattered && product < kMaxBytes;
}

// Groups of very few channels, depthwise ones above all, reuse nothing in a matrix product, and
// with a few more, panels stay half empty. Then long rows pay, of images that are work for one
// thread: a group of an image is not divided.
bool PrefersDirect(const ConvProblem& p) {
    constexpr int64_t kMaxPairs = 16;  // of an input and an output channel
    constexpr int64_t kLongRow = 12;
    constexpr int64_t kMaxWork = 1 << 18;
    const int64_t pairs = p.w[1] * CountOuts(p);
    if (pairs <= 4) return true;
    const int64_t row = p.y[p.y.ndim() - 1];
    if (!IsFloat(p.dtype) || pairs > (row < kLongRow ? kMaxPairs / 2 : kMaxPairs)) return false;
    int64_t work = pairs;
    for (int8_t a = 2; a < p.y.ndim(); ++a) work *= p.w[a] * p.y[a];
    return work <= kMaxWork;
}

constexpr ConvAlgorithm kAlgorithms[] = {
    {"chwn", CanChwn, PrefersChwn, ConvChwn, InputGradChwn, WeightGradChwn},
    {"col2im", CanCol2Im, PrefersCol2Im, nullptr, InputGradCol2Im, nullptr},
    {"direct", Always, PrefersDirect, ConvDirect, InputGradDirect, WeightGradDirect},
    {"implicit_gemm", Always, Always, ConvImplicitGemm, InputGradImplicitGemm,
     WeightGradImplicitGemm},
    // Chosen by the row above, product by product: parts of a batch may differ.
    {"pixels_as_m", Always, Never, ConvPixelsAsM, InputGradPixelsAsM, nullptr},
};

constexpr auto kNames = NamesOf(kAlgorithms);
const AlgorithmChoice g_choice{"conv", "CHAINERX_CONV", kNames};

// Returns the row that a pass takes: the forced one, or the first that prefers the problem. `pass`
// is the member that computes it.
const ConvAlgorithm& Choose(const ConvProblem& p, auto* ConvAlgorithm::* pass,
                            const char* pass_name) {
    const int forced = FindForcedRow(
        g_choice,
        [&](int row) { return kAlgorithms[row].*pass != nullptr && kAlgorithms[row].can(p); },
        [&](const char* name) {
            ThrowCannotCompute(name, pass_name, " of x.shape ", p.x, ", w.shape ", p.w, ", dtype ",
                               GetDtypeName(p.dtype));
        });
    if (forced >= 0) return kAlgorithms[forced];
    const ConvAlgorithm* row = kAlgorithms;
    while (row->*pass == nullptr || !row->prefers(p)) ++row;
    return *row;
}

void RunForward(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
                const LayerOperands& layer, const Array& y) {
    if (w.GetTotalSize() == 0 || y.GetTotalSize() == 0) {
        FillWithBias(b, y);
        FinishLayer(layer, y);
        return;
    }
    const ConvProblem p{x.shape(), w.shape(), y.shape(), geometry, y.dtype()};
    const ConvAlgorithm& row = Choose(p, &ConvAlgorithm::forward, "forward pass");
    internal::NoteAlgorithm(row.name);
    row.forward(x, w, b, geometry, layer, y);
}

void Conv(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
          const Array& y) {
    RunForward(x, w, b, geometry, {}, y);
}
CX_NATIVE_KERNEL(Conv)

void ConvLayer(const Array& x, const Array& w, const Array& b, const Array& z, const Array& kept,
               const ConvGeometry& geometry, const ConvLimits& limits, const Array& y) {
    const bool has_addend = z.shape().size() == y.ndim();
    RunForward(x, w, b, geometry, {has_addend ? &z : nullptr, limits, KeptWeights::In(kept)}, y);
}
CX_NATIVE_KERNEL(ConvLayer)

void ConvInputGrad(const Array& gy, const Array& w, const Array& b, const ConvGeometry& geometry,
                   const Array& gx) {
    if (w.GetTotalSize() == 0 || gy.GetTotalSize() == 0 || gx.GetTotalSize() == 0) {
        FillWithBias(b, gx);
        return;
    }
    const ConvProblem p{gx.shape(), w.shape(), gy.shape(), geometry, gx.dtype()};
    const ConvAlgorithm& row = Choose(p, &ConvAlgorithm::input_grad, "input gradient");
    internal::NoteAlgorithm(row.name);
    row.input_grad(gy, w, b, geometry, gx);
}
CX_NATIVE_KERNEL(ConvInputGrad)

void ConvWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry,
                    const Array& gw) {
    if (gw.GetTotalSize() == 0) return;
    if (gy.GetTotalSize() == 0) {
        CallOn<kernels::Fill>(gw.device(), gw, Scalar{0});
        return;
    }
    const ConvProblem p{x.shape(), gw.shape(), gy.shape(), geometry, gw.dtype()};
    const ConvAlgorithm& row = Choose(p, &ConvAlgorithm::weight_grad, "weight gradient");
    internal::NoteAlgorithm(row.name);
    row.weight_grad(x, gy, geometry, gw);
}
CX_NATIVE_KERNEL(ConvWeightGrad)

}  // namespace
}  // namespace chainerx::native

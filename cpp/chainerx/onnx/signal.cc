// Fourier transforms and the filters of mels.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/ops/signal/fft.h"

namespace chainerx::onnx {
namespace {

// Complex numbers of x, whose last axis has the real part, or both; real ones stay real.
Array Joined(const Array& x) {
    const int64_t parts = x.ndim() == 0 ? 0 : x.shape().back();
    if (parts == 1) return x.At({Ellipsis{}, int64_t{0}});
    if (parts != 2) {
        throw DimensionError{"the input has shape ", x.shape(),
                             ", expected a last axis of length 1 or 2"};
    }
    return MakeComplex(x.At({Ellipsis{}, int64_t{0}}), x.At({Ellipsis{}, int64_t{1}}));
}

Array Parts(const Array& x) {
    return Stack(std::vector{Real(x), Imag(x)}, static_cast<int8_t>(x.ndim()));
}

// The Fourier transform is computed in float32 or float64.
Array Computable(const Array& x) {
    const bool fits = x.dtype() == Dtype::kFloat32 || x.dtype() == Dtype::kFloat64;
    return fits ? x : AsType(x, Dtype::kFloat32);
}

Array DFT(const Call& call) {
    const Array given = call.X(0);
    int64_t axis = call.opset() >= 20 ? -2 : call.Int("axis", 1);
    if (call.opset() >= 20 && call.Has(2)) axis = call.IntAt(2);
    const int8_t along = call.Axis(axis, given.ndim());
    if (along == given.ndim() - 1) {
        throw DimensionError{"axis is ", axis, ", which holds the parts of complex numbers"};
    }
    const bool is_onesided = call.Int("onesided", 0) != 0;
    const bool is_inverse = call.Int("inverse", 0) != 0;
    const Array x = Joined(Computable(given));
    FftAxis a{.n = std::nullopt, .axis = along};
    if (call.Has(1)) a.n = call.IntAt(1);
    Array y;
    if (is_inverse && is_onesided) {
        y = ExpandDims(Irfft(x, a), Axes{static_cast<int8_t>(x.ndim())});
    } else if (is_onesided && !IsComplex(x.dtype())) {
        y = Parts(Rfft(x, a));
    } else {
        y = Parts(is_inverse ? Ifft(x, a) : Fft(x, a));
        if (is_onesided) {
            std::vector<ArrayIndex> items(static_cast<size_t>(y.ndim()), Slice{});
            items[static_cast<size_t>(along)] = Slice{0, y.shape()[along] / 2 + 1};
            y = y.At(items);
        }
    }
    return AsType(y, given.dtype(), false);
}

// Frames of the signal, each times the window, transformed.
Array STFT(const Call& call) {
    const Array given = call.X(0);
    const int64_t step = call.IntAt(1);
    if (given.ndim() != 3 || step < 1) {
        throw DimensionError{"the signal has shape ", given.shape(), " and frame_step is ", step,
                             ", expected 3 dimensions and at least 1"};
    }
    Array x = Joined(Computable(given));
    const int64_t frame = call.Has(3)   ? call.IntAt(3)
                          : call.Has(2) ? call.X(2).GetTotalSize()
                                        : x.shape()[1];
    if (frame < 1 || frame > x.shape()[1]) {
        throw DimensionError{"frames have ", frame, " samples, but the signal ", x.shape()[1]};
    }
    std::vector<Array> frames;
    const int64_t last = x.shape()[1] - frame;
    for (int64_t i = 0; i <= last; i += std::min(step, last + 1)) {  // whose sum might not fit
        Array part = x.At({Slice{}, Slice{i, i + frame}});
        if (call.Has(2)) part = part * call.X(2);
        frames.push_back(std::move(part));
    }
    const Array all = Stack(frames, 1);
    const bool is_onesided = call.Int("onesided", 1) != 0;
    const Array y = is_onesided && !IsComplex(all.dtype()) ? Rfft(all) : Fft(all);
    return AsType(Parts(y), given.dtype(), false);
}

// The share of each mel in each frequency: triangles whose corners are equally far apart in mels.
Array MelWeightMatrix(const Call& call) {
    const int64_t n_mels = call.IntAt(0);
    const int64_t length = call.IntAt(1);
    const int64_t rate = call.IntAt(2);
    if (n_mels < 1 || n_mels > 1 << 20 || length < 1 || length > 1 << 30 || rate < 1) {
        throw ValueError{"num_mel_bins, dft_length and sample_rate are ",
                         n_mels,
                         ", ",
                         length,
                         " and ",
                         rate,
                         ", expected positive numbers"};
    }
    const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double lowest = to_mel(call.DoubleAt(3));
    const double highest = to_mel(call.DoubleAt(4));
    if (!std::isfinite(lowest) || !std::isfinite(highest)) {
        throw ValueError{"lower_edge_hertz and upper_edge_hertz are ", call.DoubleAt(3), " and ",
                         call.DoubleAt(4), ", expected finite numbers from 0 on"};
    }
    const int64_t n_bins = length / 2 + 1;
    std::vector<int64_t> corners;
    for (int64_t i = 0; i < n_mels + 2; ++i) {
        const double mel =
            lowest + static_cast<double>(i) * (highest - lowest) / static_cast<double>(n_mels + 2);
        const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
        const double bin =
            std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
        corners.push_back(static_cast<int64_t>(std::clamp(bin, 0.0, static_cast<double>(n_bins))));
    }
    std::vector<float> weights(static_cast<size_t>(n_bins * n_mels), 0);
    for (int64_t m = 0; m < n_mels; ++m) {
        const auto i = static_cast<size_t>(m);
        const int64_t low = corners[i];
        const int64_t centre = corners[i + 1];
        const int64_t high = corners[i + 2];
        const auto put = [&](int64_t bin, double value) {
            if (bin < n_bins) {
                weights[static_cast<size_t>(bin * n_mels + m)] = static_cast<float>(value);
            }
        };
        if (low == centre) put(centre, 1);
        for (int64_t k = low; low != centre && k <= centre; ++k) {
            put(k, static_cast<double>(k - low) / static_cast<double>(centre - low));
        }
        for (int64_t k = centre; k < high; ++k) {
            put(k, static_cast<double>(high - k) / static_cast<double>(high - centre));
        }
    }
    const Array y = Array::FromHost(weights, Shape{n_bins, n_mels}, *call.frame().device);
    return AsType(y, ToDtype(call.Int("output_datatype", 1), "attribute output_datatype"), false);
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(DFT, 17),
    CX_OPERATOR_SINCE(MelWeightMatrix, 17),
    CX_OPERATOR_SINCE(STFT, 17),
};

}  // namespace

std::span<const Operator> SignalOperators() { return kOperators; }

}  // namespace chainerx::onnx

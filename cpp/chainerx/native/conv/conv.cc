// Convolutions and their input gradients by implicit GEMM: prepares the operands of RunImplicitGemm
// from arrays.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/conv/conv_algorithms.h"
#include "chainerx/native/conv/conv_input.h"
#include "chainerx/native/conv/conv_operands.h"
#include "chainerx/native/conv/im2col.h"
#include "chainerx/native/conv/implicit_gemm.h"
#include "chainerx/native/conv/packed_weights.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {

using internal::MakeView;

void FillWithBias(const Array& b, const Array& y) {
    if (b.shape()[0] == 0) {
        CallOn<kernels::Fill>(y.device(), y, Scalar{0});
        return;
    }
    Strides strides;
    strides.resize(y.ndim(), 0);
    strides[1] = b.strides()[0];
    CallOn<kernels::AsType>(y.device(), MakeView(b, y.shape(), strides, b.raw_data()), y);
}

void FinishLayer(const LayerOperands& layer, const Array& y) {
    Device& device = y.device();
    if (y.GetTotalSize() == 0) return;
    if (layer.addend != nullptr) {
        CallOn<kernels::Add>(device, Operand{y}, Operand{*layer.addend}, y);
    }
    const auto [low, high] = layer.limits;
    constexpr double kNone = std::numeric_limits<double>::infinity();
    if (low != -kNone) CallOn<kernels::Maximum>(device, Operand{y}, Operand{Scalar{low}}, y);
    if (high != kNone) CallOn<kernels::Minimum>(device, Operand{y}, Operand{Scalar{high}}, y);
}

namespace {

template <typename T>
void RunConv(const Array& x, const Array& w0, const Array& b0, const ConvGeometry& geometry,
             const LayerOperands& layer, Dtype dtype, const Array& y,
             std::optional<WeightOperand> weights_as) {
    const Array w = AsContiguousOf(w0, dtype);
    const Array b = AsContiguousOf(b0, dtype);
    ConvOperands<T> conv = MakeConv<T>(w, b, geometry.groups, y.strides(), y.GetItemSize(), true);
    conv.w_side = weights_as;
    conv.has_end = !layer.is_none();
    conv.limits = layer.limits;
    conv.kept = layer.kept;
    const Array seen = SetAxes(x, geometry, y, &conv);
    ConvInput input{seen, dtype, conv.axes[conv.ndim - 1].step};
    InGroups(input, dtype, y, [&](int64_t begin, int64_t end, const Array& out) {
        ConvOperands<T> part = conv;
        part.batch = end - begin;
        part.y = reinterpret_cast<T*>(out.raw_data());
        if (layer.addend != nullptr) {
            part.addend = reinterpret_cast<const T*>(Images(*layer.addend, begin, end).raw_data());
        }
        input.Give(begin, end, &part);
        MergeAxes(&part);
        RunImplicitGemm(part);
    });
}

// Returns the smallest t >= 0 with t * a % m == b % m. a and m must be coprime.
int64_t DivideModulo(int64_t b, int64_t a, int64_t m) {
    // Extended Euclid; the invariant is r == a * t modulo m.
    int64_t r = m;
    int64_t t = 0;
    int64_t next_r = a % m;
    int64_t next_t = 1;
    while (next_r != 0) {
        const int64_t q = r / next_r;
        r = std::exchange(next_r, r - q * next_r);
        t = std::exchange(next_t, t - q * next_t);
    }
    __extension__ using Wide = unsigned __int128;
    return static_cast<int64_t>(Wide(b % m) * Wide(t < 0 ? t + m : t) % Wide(m));
}

// Selects the elements of an axis of gx that are congruent to `rest` modulo the stride, and the
// taps that reach them; each such tap sees gy with step 1. A stride may be as large as there are
// taps, so the taps are computed, not searched for.
bool FindTaps(const Array& gx, const Array& gy, const ConvGeometry& geometry, int a, int64_t rest,
              ConvAxis* axis, int64_t* first) {
    const int64_t stride = geometry.stride[a];
    const int64_t dilate = geometry.dilate[a];
    const int64_t n_taps = axis->taps;
    const int64_t position = rest + geometry.pad[a];
    const int64_t divisor = std::gcd(stride, dilate);
    if (position % divisor != 0) return false;
    const int64_t every = stride / divisor;
    const int64_t t = DivideModulo(position / divisor, dilate / divisor, every);
    if (t >= n_taps) return false;
    *first = t;
    axis->in = gy.shape()[a + 2];
    axis->out = CeilDiv(gx.shape()[a + 2] - rest, stride);
    axis->step = 1;
    axis->offset = (position - t * dilate) / stride;
    axis->dilate = -(dilate / divisor);
    axis->taps = CeilDiv(n_taps - t, every);
    axis->w_stride *= std::min(every, n_taps);  // at most one tap if `every` is false
    axis->y_stride *= stride;
    return true;
}

// Counts the residues modulo the stride along an axis of the input.
int64_t CountRests(const Array& gx, const ConvGeometry& geometry, int a) {
    return std::min(geometry.stride[a], gx.shape()[a + 2]);
}

template <typename T>
bool HasUnreached(const ConvOperands<T>& conv, const Array& gx, const Array& gy,
                  const ConvGeometry& geometry) {
    for (int a = 0; a < conv.ndim; ++a) {
        for (int64_t rest = 0; rest < CountRests(gx, geometry, a); ++rest) {
            ConvAxis axis = conv.axes[a];
            int64_t first;
            if (!FindTaps(gx, gy, geometry, a, rest, &axis, &first)) return true;
        }
    }
    return false;
}

template <typename T>
void RunConvInputGrad(const Array& gy, const Array& w0, const Array& b0,
                      const ConvGeometry& geometry, Dtype dtype, const Array& gx,
                      std::optional<WeightOperand> given_side) {
    const Array w = AsContiguousOf(w0, dtype);
    const Array b = AsContiguousOf(b0, dtype);
    ConvOperands<T> whole =
        MakeConv<T>(w, b, geometry.groups, gx.strides(), gx.GetItemSize(), false);
    whole.w_side = given_side;
    int64_t n_rests = 1;
    for (int a = 0; a < whole.ndim; ++a) n_rests *= CountRests(gx, geometry, a);
    const bool transposes = n_rests > 1 && whole.CountTaps() > 1;
    int64_t n_positions = gy.shape()[0];  // of the first convolution
    for (int a = 0; a < whole.ndim; ++a) {
        n_positions *= CeilDiv(gx.shape()[a + 2], geometry.stride[a]);
    }
    const WeightOperand weights_as =
        given_side ? *given_side : WeightOperandOf<T>(n_positions, whole.outs);
    const Scratch<T> transposed{transposes ? CountTransposed(whole, weights_as) : 1};
    if (transposes) TransposeWeights(&whole, weights_as, transposed.data());
    ConvInput input{gy, dtype, 1};
    InGroups(input, dtype, gx, [&](int64_t begin, int64_t end, const Array& out) {
        ConvOperands<T> all = whole;
        all.batch = end - begin;
        all.y = reinterpret_cast<T*>(out.raw_data());
        input.Give(begin, end, &all);
        if (HasUnreached(all, gx, gy, geometry)) FillWithBias(b, out);
        for (int64_t k = 0; k < n_rests; ++k) {
            internal::CheckInterrupt();
            ConvOperands<T> part = all;
            bool is_reached = true;
            int64_t index = k;
            for (int i = 0; i < all.ndim && is_reached; ++i) {
                const int64_t n = CountRests(gx, geometry, i);
                const int64_t rest = index % n;
                index /= n;
                int64_t first = 0;
                is_reached = FindTaps(gx, gy, geometry, i, rest, &part.axes[i], &first);
                part.w += first * all.axes[i].w_stride;
                part.y += rest * all.axes[i].y_stride;
            }
            if (!is_reached) continue;
            MergeAxes(&part);
            RunImplicitGemm(part);
        }
    });
}

}  // namespace

void ConvImplicitGemm(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
                      const LayerOperands& layer, const Array& y) {
    VisitConvDtype(y.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunConv<T>(x, w, b, geometry, layer, dtype, y, std::nullopt);
    });
}

void ConvPixelsAsM(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
                   const LayerOperands& layer, const Array& y) {
    VisitConvDtype(y.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunConv<T>(x, w, b, geometry, layer, dtype, y, WeightOperand::kB);
    });
}

void InputGradImplicitGemm(const Array& gy, const Array& w, const Array& b,
                           const ConvGeometry& geometry, const Array& gx) {
    VisitConvDtype(gx.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunConvInputGrad<T>(gy, w, b, geometry, dtype, gx, std::nullopt);
    });
}

void InputGradPixelsAsM(const Array& gy, const Array& w, const Array& b,
                        const ConvGeometry& geometry, const Array& gx) {
    VisitConvDtype(gx.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunConvInputGrad<T>(gy, w, b, geometry, dtype, gx, WeightOperand::kB);
    });
}

}  // namespace chainerx::native

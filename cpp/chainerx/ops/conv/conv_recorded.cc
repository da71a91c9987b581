#include "chainerx/ops/conv/conv_recorded.h"

#include <cstdint>

#include "chainerx/kernels/conv/connection.h"
#include "chainerx/ops/conv/conv_columns.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

constexpr OpInfo kConv{"conv", &kernels::Conv::kInfo};
constexpr OpInfo kConvTranspose{"conv_transpose", &kernels::ConvInputGrad::kInfo};
constexpr OpInfo kConvWeightGrad{"conv_weight_grad", &kernels::ConvWeightGrad::kInfo};

// Converts an operand for a kernel.
Array ToOperand(const Array& x, Dtype dtype) {
    return x.dtype() == dtype ? x : AsType(Detached(x), dtype, false);
}

// Converts the bias for a kernel; no bias is an array of length 0.
Array ToBias(const Array* b, Dtype dtype, Device& device) {
    return b != nullptr ? ToOperand(*b, dtype) : EmptyUnchecked(Shape{0}, dtype, device);
}

Dtype ResultDtype(const Array& x, const Array& w, const Array* b) {
    const Dtype dtype = PromoteTypes(x.dtype(), w.dtype());
    return b != nullptr ? PromoteTypes(dtype, b->dtype()) : dtype;
}

// Returns whether to call the kernel, which may hold a whole padded image. If the padding is out of
// proportion to the image, the composition needs less memory.
template <typename K>
bool MayCall(const Device& device, const ConvGeometry& geometry, const Shape& x, const Shape& w,
             const Shape& y) {
    constexpr double kMin = 0x1p24;
    double reach = 1;  // double, as it may exceed 64 bits
    double in = 1;
    double out = 1;
    for (int8_t i = 2; i < x.ndim(); ++i) {
        in *= static_cast<double>(x[i]);
        out *= static_cast<double>(y[i]);
        reach *= static_cast<double>((y[i] - 1) * geometry.stride[i - 2] +
                                     (w[i] - 1) * geometry.dilate[i - 2] + 1);
    }
    return HasKernel<K>(device) && reach <= kMin + 16 * (in + out);
}

// The gradient of a bias.
Array SumChannels(const Array& gy) {
    Axes axes{0};
    for (int8_t i = 2; i < gy.ndim(); ++i) axes.push_back(i);
    return Sum(gy, axes);
}

// Calls f(Record), with the bias among the inputs if there is one.
void RecordWithBias(const OpInfo& op, const Array& x, const Array& w, const Array* b,
                    const Array& y, const auto& f) {
    if (b == nullptr) {
        if (Record rec{op, {x, w}, y}) f(rec);
    } else if (Record rec{op, {x, w, *b}, y}) {
        f(rec);
        rec.Grad(2, [](const Array& gy) { return SumChannels(gy); });
    }
}

}  // namespace

Array RecordedConv(const Array& x, const Array& w, const Array* b, const ConvGeometry& geometry,
                   const Shape& shape) {
    const Dtype dtype = ResultDtype(x, w, b);
    Device& device = x.device();
    CheckedNBytes(kConv.name, shape, GetItemSize(dtype));
    Array y = EmptyUnchecked(shape, dtype, device);
    if (y.GetTotalSize() != 0) {
        const Array bias = ToBias(b, dtype, device);
        if (x.GetTotalSize() == 0 || w.GetTotalSize() == 0) {
            FillWithBias(bias, y);
        } else if (MayCall<kernels::Conv>(device, geometry, x.shape(), w.shape(), shape)) {
            CallOn<kernels::Conv>(device, ToOperand(x, dtype), ToOperand(w, dtype), bias, geometry,
                                  y);
        } else {
            ConvByColumns(kConv.name, ToOperand(x, dtype), ToOperand(w, dtype), bias, geometry, y);
        }
    }
    RecordWithBias(kConv, x, w, b, y, [&](Record& rec) {
        rec.Grad(0, [w = rec.Save(w), geometry, shape = x.shape()](const Array& gy) {
            return RecordedConvTranspose(gy, w(), nullptr, geometry, shape);
        });
        rec.Grad(1, [x = rec.Save(x), geometry, shape = w.shape()](const Array& gy) {
            return RecordedConvWeightGrad(x(), gy, geometry, shape);
        });
    });
    return y;
}

Array TryConvLayer(const Array& x, const Array& w, const Array* b, const ConvEnd& end,
                   const ConvGeometry& geometry, const Shape& shape) {
    const auto fits = [&](const Array& a) {
        return a.dtype() == Dtype::kFloat32 && &a.device() == &x.device() &&
               !IsBackpropRequiredAny(a);
    };
    Device& device = x.device();
    if (!HasKernel<kernels::ConvLayer>(device) || !fits(x) || !fits(w) ||
        (b != nullptr && !fits(*b)) || x.GetTotalSize() == 0 || w.GetTotalSize() == 0 ||
        !MayCall<kernels::Conv>(device, geometry, x.shape(), w.shape(), shape)) {
        return {};
    }
    const std::optional<Array>& z = end.addend;
    if (z.has_value() && (!fits(*z) || !(z->shape() == shape))) return {};
    CheckedNBytes(kConv.name, shape, GetItemSize(x.dtype()));
    Array y = EmptyUnchecked(shape, x.dtype(), device);
    if (y.GetTotalSize() == 0) return y;
    const Array none = EmptyUnchecked(Shape{0}, x.dtype(), device);
    CallOn<kernels::ConvLayer>(device, x, w, ToBias(b, x.dtype(), device),
                               z.has_value() ? AsContiguous(Detached(*z)) : none,
                               end.kept.has_value() ? *end.kept : none, geometry, end.limits, y);
    return y;
}

Array RecordedConvTranspose(const Array& gy, const Array& w, const Array* b,
                            const ConvGeometry& geometry, const Shape& shape) {
    const Dtype dtype = ResultDtype(gy, w, b);
    Device& device = gy.device();
    CheckedNBytes(kConvTranspose.name, shape, GetItemSize(dtype));
    Array gx = EmptyUnchecked(shape, dtype, device);
    if (gx.GetTotalSize() != 0) {
        const Array bias = ToBias(b, dtype, device);
        if (gy.GetTotalSize() == 0 || w.GetTotalSize() == 0) {
            FillWithBias(bias, gx);
        } else if (MayCall<kernels::ConvInputGrad>(device, geometry, shape, w.shape(),
                                                   gy.shape())) {
            CallOn<kernels::ConvInputGrad>(device, ToOperand(gy, dtype), ToOperand(w, dtype), bias,
                                           geometry, gx);
        } else {
            ConvInputGradByColumns(kConvTranspose.name, ToOperand(gy, dtype), ToOperand(w, dtype),
                                   bias, geometry, gx);
        }
    }
    RecordWithBias(kConvTranspose, gy, w, b, gx, [&](Record& rec) {
        rec.Grad(0, [w = rec.Save(w), geometry, shape = gy.shape()](const Array& ggx) {
            return RecordedConv(ggx, w(), nullptr, geometry, shape);
        });
        rec.Grad(1, [gy = rec.Save(gy), geometry, shape = w.shape()](const Array& ggx) {
            return RecordedConvWeightGrad(ggx, gy(), geometry, shape);
        });
    });
    return gx;
}

Array RecordedConvWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry,
                             const Shape& shape) {
    const Dtype dtype = ResultDtype(x, gy, nullptr);
    Device& device = x.device();
    CheckedNBytes(kConvWeightGrad.name, shape, GetItemSize(dtype));
    Array gw = EmptyUnchecked(shape, dtype, device);
    if (gw.GetTotalSize() != 0) {
        if (x.GetTotalSize() == 0 || gy.GetTotalSize() == 0) {
            FillWithBias(ToBias(nullptr, dtype, device), gw);
        } else if (MayCall<kernels::ConvWeightGrad>(device, geometry, x.shape(), shape,
                                                    gy.shape())) {
            CallOn<kernels::ConvWeightGrad>(device, ToOperand(x, dtype), ToOperand(gy, dtype),
                                            geometry, gw);
        } else {
            ConvWeightGradByColumns(kConvWeightGrad.name, ToOperand(x, dtype), ToOperand(gy, dtype),
                                    geometry, gw);
        }
    }
    if (Record rec{kConvWeightGrad, {x, gy}, gw}) {
        rec.Grad(0, [gy = rec.Save(gy), geometry, shape = x.shape()](const Array& ggw) {
            return RecordedConvTranspose(gy(), ggw, nullptr, geometry, shape);
        });
        rec.Grad(1, [x = rec.Save(x), geometry, shape = gy.shape()](const Array& ggw) {
            return RecordedConv(x(), ggw, nullptr, geometry, shape);
        });
    }
    return gw;
}

}  // namespace chainerx::internal

#include "chainerx/ops/conv/conv.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "chainerx/ops/conv/conv_recorded.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr const char* kConv = "conv";
constexpr const char* kConvTranspose = "conv_transpose";

constexpr int64_t kMaxLength = int64_t{1} << 61;  // of an axis; positions can be computed with

void CheckReal(const char* op, const char* name, const Array& x) {
    CheckDtype(!IsComplex(x.dtype()), op, name, x.dtype(), "real numbers");
}

bool AreTruths(const Array& x, const Array& w, const std::optional<Array>& b) {
    return IsBool(x.dtype()) && IsBool(w.dtype()) && (!b.has_value() || IsBool(b->dtype()));
}

// Convolution of bool: computes f(x, w, b) in int32 and tests the sums for nonzero, as matrix
// products of bool do.
Array OfTruths(const Array& x, const Array& w, const std::optional<Array>& b, const auto& f) {
    const auto number = [](const Array& a) { return AsType(a, Dtype::kInt32); };
    return f(number(x), number(w), b.has_value() ? std::optional{number(*b)} : std::nullopt) != 0;
}

// Checks all that does not depend on which axis of w has the channels of x.
ConvGeometry CheckArguments(const char* op, const Array& x, const Array& w, const Array* b,
                            const PerAxis& stride, const AxisPads& pad, const PerAxis& dilate,
                            int64_t groups) {
    CheckReal(op, "x", x);
    CheckReal(op, "w", w);
    CheckSameDevice(op, x.device(), w.device());
    if (b != nullptr) {
        CheckReal(op, "b", *b);
        CheckSameDevice(op, x.device(), b->device());
    }
    if (x.ndim() < 3) {
        throw DimensionError{op, ": x.shape is ", x.shape(),
                             ", expected (batch, channels, ...) with at least one spatial axis"};
    }
    if (w.ndim() != x.ndim()) {
        throw DimensionError{op,        ": w.shape is ",          w.shape(), ", but x.shape is ",
                             x.shape(), "; expected as many axes"};
    }
    const auto axes = static_cast<int8_t>(x.ndim() - 2);
    stride.Check(op, "stride", axes, 1);
    pad.before.Check(op, "pad", axes, 0);
    pad.after.Check(op, "pad", axes, 0);
    dilate.Check(op, "dilate", axes, 1);
    if (groups < 1) throw DimensionError{op, ": groups is ", groups, ", expected at least 1"};
    if (w.shape()[0] % groups != 0) {
        throw DimensionError{op, ": groups is ", groups, ", which does not divide w.shape[0], ",
                             w.shape()[0]};
    }
    ConvGeometry geometry;
    geometry.groups = groups;
    for (int8_t i = 0; i < axes; ++i) {
        geometry.stride[i] = stride[i];
        geometry.pad[i] = pad.before[i];
        geometry.dilate[i] = dilate[i];
    }
    return geometry;
}

void CheckChannels(const char* op, const Array& x, const Array& w, int64_t groups,
                   int64_t expected) {
    if (x.shape()[1] == expected) return;
    throw DimensionError{op,       ": x.shape[1] is ", x.shape()[1], ", expected ",
                         expected, " by w.shape ",     w.shape(),    " and groups ",
                         groups};
}

void CheckBias(const char* op, const Array& b, const Array& w, int64_t groups, int64_t outs) {
    if (b.ndim() == 1 && b.shape()[0] == outs) return;
    throw DimensionError{op,          ": b.shape is ", b.shape(), ", expected ",
                         Shape{outs}, " by w.shape ",  w.shape(), " and groups ",
                         groups};
}

[[noreturn]] CX_COLD void ThrowTooLarge(const char* op, const Array& x, const Array& w,
                                        int64_t axis) {
    throw DimensionError{op,        ": axis ",
                         axis,      " of x, of shape ",
                         x.shape(), ", padded or under w, of shape ",
                         w.shape(), ", is too large to address"};
}

// Returns the channels of all groups, w.shape[1] per group.
int64_t ChannelsOfGroups(const char* op, const Array& x, const Array& w, int64_t groups) {
    int64_t channels;
    if (__builtin_mul_overflow(w.shape()[1], groups, &channels)) ThrowTooLarge(op, x, w, 1);
    return channels;
}

// One spatial axis; its lengths are limited so that arithmetic does not overflow.
struct ConvAxis {
    int64_t window;  // the extent from its first to its last element
    int64_t stride;
    int64_t before;
    int64_t after;

    int64_t pads() const { return before + after; }
    // Returns 0 if no window fits.
    int64_t CountWindows(int64_t in, bool cover_all) const {
        const int64_t rest = in + pads() - window;
        if (rest < 0) return cover_all && rest + stride > 0 ? 1 : 0;
        return rest / stride + (cover_all && rest % stride != 0 ? 2 : 1);
    }
};

ConvAxis AxisOf(const char* op, const Array& x, const Array& w, const ConvGeometry& geometry,
                const AxisPads& pad, int8_t i) {
    const int64_t k = w.shape()[i + 2];
    const int64_t dilate = geometry.dilate[i];
    if (k == 0) {
        throw DimensionError{
            op, ": w.shape[", i + 2, "] is 0, expected at least 1 (w.shape is ", w.shape(), ")"};
    }
    if (k - 1 > (kMaxLength - 1) / dilate || x.shape()[i + 2] > kMaxLength) {
        ThrowTooLarge(op, x, w, i + 2);
    }
    return {(k - 1) * dilate + 1, geometry.stride[i], pad.before[i], pad.after[i]};
}

[[noreturn]] CX_COLD void ThrowNoWindow(const Array& x, const Array& w, const ConvAxis& axis,
                                        int64_t dilate, int8_t i) {
    throw DimensionError{kConv,
                         ": w.shape[",
                         i + 2,
                         "] is ",
                         w.shape()[i + 2],
                         ", a window of ",
                         axis.window,
                         " with dilate ",
                         dilate,
                         ", but x.shape[",
                         i + 2,
                         "] is ",
                         x.shape()[i + 2],
                         ", ",
                         x.shape()[i + 2] + axis.pads(),
                         " with pad ",
                         axis.before,
                         " and ",
                         axis.after};
}

// Kernels may compute with all positions of an input of `shape` and its padding, and allocate
// memory for them. So checks that they can be addressed, and clamps steps on which no window
// depends.
void LimitSteps(const char* op, const Shape& shape, const Array& w, const AxisPads& pad,
                ConvGeometry* geometry) {
    constexpr int64_t kRoom = 64;  // bytes per position: some channels of any dtype
    Shape padded;
    for (int8_t i = 0; i < w.ndim() - 2; ++i) {
        padded.push_back(std::max<int64_t>(shape[i + 2] + pad.before[i] + pad.after[i], 1));
        geometry->stride[i] = std::min(geometry->stride[i], padded.back());
        if (w.shape()[i + 2] == 1) geometry->dilate[i] = 1;
    }
    CheckedNBytes(op, padded, kRoom);
}

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

const Array* Pointer(const std::optional<Array>& b) { return b.has_value() ? &*b : nullptr; }

}  // namespace

namespace {

struct CheckedConv {
    ConvGeometry geometry;
    Shape shape;  // of the result
};

CheckedConv CheckConv(const Array& x, const Array& w, const std::optional<Array>& b,
                      const PerAxis& stride, const AxisPads& pad, bool cover_all,
                      const PerAxis& dilate, int64_t groups) {
    ConvGeometry geometry = CheckArguments(kConv, x, w, Pointer(b), stride, pad, dilate, groups);
    CheckChannels(kConv, x, w, groups, ChannelsOfGroups(kConv, x, w, groups));
    if (b.has_value()) CheckBias(kConv, *b, w, groups, w.shape()[0]);
    Shape shape{x.shape()[0], w.shape()[0]};
    for (int8_t i = 0; i < x.ndim() - 2; ++i) {
        const ConvAxis axis = AxisOf(kConv, x, w, geometry, pad, i);
        const int64_t out = axis.CountWindows(x.shape()[i + 2], cover_all);
        if (out < 1) ThrowNoWindow(x, w, axis, geometry.dilate[i], i);
        shape.push_back(out);
    }
    LimitSteps(kConv, x.shape(), w, pad, &geometry);
    return {geometry, shape};
}

}  // namespace

Array Conv(const Array& x, const Array& w, const std::optional<Array>& b, const PerAxis& stride,
           const AxisPads& pad, bool cover_all, const PerAxis& dilate, int64_t groups) {
    if (AreTruths(x, w, b)) {
        return OfTruths(x, w, b, [&](const Array& xs, const Array& ws, const auto& bs) {
            return Conv(xs, ws, bs, stride, pad, cover_all, dilate, groups);
        });
    }
    const auto [geometry, shape] = CheckConv(x, w, b, stride, pad, cover_all, dilate, groups);
    return internal::RecordedConv(x, w, Pointer(b), geometry, shape);
}

Array internal::ConvLayer(const Array& x, const Array& w, const std::optional<Array>& b,
                          const ConvEnd& end, const PerAxis& stride, const AxisPads& pad,
                          const PerAxis& dilate, int64_t groups) {
    const auto [geometry, shape] = CheckConv(x, w, b, stride, pad, false, dilate, groups);
    if (Array y = TryConvLayer(x, w, Pointer(b), end, geometry, shape); !y.is_null()) return y;
    Array y = RecordedConv(x, w, Pointer(b), geometry, shape);
    if (end.addend.has_value()) y = y + *end.addend;
    if (end.limits.low != -kNoLimit) y = Maximum(y, end.limits.low);
    return end.limits.high != kNoLimit ? Minimum(y, end.limits.high) : y;
}

Array ConvTranspose(const Array& x, const Array& w, const std::optional<Array>& b,
                    const PerAxis& stride, const AxisPads& pad,
                    const std::optional<PerAxis>& outsize, const PerAxis& dilate, int64_t groups) {
    if (AreTruths(x, w, b)) {
        return OfTruths(x, w, b, [&](const Array& xs, const Array& ws, const auto& bs) {
            return ConvTranspose(xs, ws, bs, stride, pad, outsize, dilate, groups);
        });
    }
    ConvGeometry geometry =
        CheckArguments(kConvTranspose, x, w, Pointer(b), stride, pad, dilate, groups);
    CheckChannels(kConvTranspose, x, w, groups, w.shape()[0]);
    const int64_t outs = ChannelsOfGroups(kConvTranspose, x, w, groups);
    if (b.has_value()) CheckBias(kConvTranspose, *b, w, groups, outs);
    if (outsize.has_value())
        outsize->Check(kConvTranspose, "outsize", static_cast<int8_t>(x.ndim() - 2), 1);
    Shape shape{x.shape()[0], outs};
    for (int8_t i = 0; i < x.ndim() - 2; ++i) {
        const ConvAxis axis = AxisOf(kConvTranspose, x, w, geometry, pad, i);
        const int64_t in = x.shape()[i + 2];
        if (in == 0) {
            throw DimensionError{kConvTranspose, ": x.shape[",
                                 i + 2,          "] is 0, expected at least 1 (x.shape is ",
                                 x.shape(),      ")"};
        }
        if (in - 1 > kMaxLength / axis.stride) ThrowTooLarge(kConvTranspose, x, w, i + 2);
        const int64_t usual = (in - 1) * axis.stride + axis.window - axis.pads();
        if (!outsize.has_value()) {
            if (usual < 1) {
                throw DimensionError{kConvTranspose,
                                     ": pad is ",
                                     axis.before,
                                     " and ",
                                     axis.after,
                                     " in axis ",
                                     i + 2,
                                     ", of ",
                                     usual + axis.pads(),
                                     " elements: nothing is left"};
            }
            shape.push_back(usual);
            continue;
        }
        const int64_t out = (*outsize)[i];
        if (axis.CountWindows(out, false) != in && axis.CountWindows(out, true) != in) {
            throw DimensionError{kConvTranspose,
                                 ": outsize is ",
                                 out,
                                 " in axis ",
                                 i + 2,
                                 ", of which conv would make ",
                                 axis.CountWindows(out, false),
                                 ", but x.shape[",
                                 i + 2,
                                 "] is ",
                                 in,
                                 "; expected ",
                                 usual,
                                 " to ",
                                 usual + axis.stride - 1};
        }
        shape.push_back(out);
    }
    LimitSteps(kConvTranspose, shape, w, pad, &geometry);
    return internal::RecordedConvTranspose(x, w, Pointer(b), geometry, shape);
}

}  // namespace chainerx

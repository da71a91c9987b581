#include "chainerx/ops/pool/pooling.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "chainerx/kernels/pool/pooling.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/pool/pooling_table.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kMaxPool{"max_pool", &kernels::MaxPool::kInfo};
constexpr OpInfo kMaxPoolGrad{"max_pool_grad", &kernels::PoolScatter::kInfo};
constexpr OpInfo kMaxPoolGather{"max_pool_gather", &kernels::PoolGather::kInfo};
constexpr OpInfo kAveragePool{"average_pool", &kernels::SumPool::kInfo};
constexpr OpInfo kAveragePoolGrad{"average_pool_grad", &kernels::SumPoolGrad::kInfo};
constexpr OpInfo kUnpool{"unpool", &kernels::SumPoolGrad::kInfo};
constexpr OpInfo kMaxUnpool{"max_unpool", &kernels::PoolScatter::kInfo};

// Converts an operand for a kernel.
Array Packed(const Array& x) { return AsContiguous(internal::Detached(x)); }

Array Filled(const Shape& shape, const Scalar& value, Dtype dtype, Device& device) {
    Array y = EmptyUnchecked(shape, dtype, device);
    if (y.GetTotalSize() != 0) CallOn<kernels::Fill>(device, y, value);
    return y;
}

// ---- linear operations and their gradients ------------------------------------------------------

// The indices of elements within their windows: computed by MaxPool, or given by a user.
struct Indices {
    KeptOperand kept;
    bool is_ours;

    const Shape& shape() const { return kept().shape(); }
    // Returns the indices for kernels, which don't check those that MaxPool computed.
    Array operator()() const {
        const Array& x = kept();
        if (is_ours) return x;
        // Casting to int64 could turn invalid indices into valid ones.
        return AsContiguous(x.dtype() == Dtype::kUInt64 ? x : AsType(x, Dtype::kInt64, false));
    }
};

// Scatters `gy` to the elements that `indices` name, and gathers those elements. Each is the
// gradient of the other.
Array Scatter(const OpInfo& op, const Array& gy, const Indices& indices, const PoolWindow& window,
              const Shape& shape);

Array Gather(const Array& x, const Indices& indices, const PoolWindow& window) {
    constexpr const char* kOp = kMaxPoolGather.name;
    const Shape& shape = indices.shape();
    Array y;
    if (shape.GetTotalSize() == 0 || x.GetTotalSize() == 0) {
        y = Filled(shape, 0, x.dtype(), x.device());
    } else if (HasKernel<kernels::PoolGather>(x.device())) {
        y = EmptyUnchecked(shape, x.dtype(), x.device());
        CallOn<kernels::PoolGather>(x.device(), kOp, Packed(x), indices(), window, y);
    } else {
        y = internal::PoolGatherByTable(kOp, Packed(x), indices(), window);
    }
    if (Record rec{kMaxPoolGather, {x}, y}) {
        rec.Grad(0, [indices, window, shape = x.shape()](const Array& gy) {
            return Scatter(kMaxPoolGrad, gy, indices, window, shape);
        });
    }
    return y;
}

Array Scatter(const OpInfo& op, const Array& gy, const Indices& indices, const PoolWindow& window,
              const Shape& shape) {
    Array gx;
    if (gy.GetTotalSize() == 0 || shape.GetTotalSize() == 0) {
        gx = Filled(shape, 0, gy.dtype(), gy.device());
    } else if (HasKernel<kernels::PoolScatter>(gy.device())) {
        gx = EmptyUnchecked(shape, gy.dtype(), gy.device());
        CallOn<kernels::PoolScatter>(gy.device(), op.name, Packed(gy), indices(), window, gx);
    } else {
        gx = internal::PoolScatterByTable(op.name, Packed(gy), indices(), window, shape);
    }
    if (Record rec{op, {gy}, gx}) {
        rec.Grad(0, [indices, window](const Array& ggx) { return Gather(ggx, indices, window); });
    }
    return gx;
}

// Spreads elements over their windows, and sums windows; both divide. Each is the gradient of the
// other.
Array Spread(const OpInfo& op, const Array& gy, const PoolWindow& window, PoolDivisor divisor,
             const Shape& shape);

Array SumWindows(const Array& x, const PoolWindow& window, PoolDivisor divisor,
                 const Shape& shape) {
    Array y;
    if (x.GetTotalSize() == 0 || shape.GetTotalSize() == 0) {
        y = Filled(shape, 0, x.dtype(), x.device());
    } else if (HasKernel<kernels::SumPool>(x.device())) {
        y = EmptyUnchecked(shape, x.dtype(), x.device());
        CallOn<kernels::SumPool>(x.device(), Packed(x), window, divisor, y);
    } else {
        y = internal::SumPoolByTable(Packed(x), window, divisor, shape);
    }
    if (Record rec{kAveragePool, {x}, y}) {
        rec.Grad(0, [window, divisor, shape = x.shape()](const Array& gy) {
            return Spread(kAveragePoolGrad, gy, window, divisor, shape);
        });
    }
    return y;
}

Array Spread(const OpInfo& op, const Array& gy, const PoolWindow& window, PoolDivisor divisor,
             const Shape& shape) {
    Array gx;
    if (gy.GetTotalSize() == 0 || shape.GetTotalSize() == 0) {
        gx = Filled(shape, 0, gy.dtype(), gy.device());
    } else if (HasKernel<kernels::SumPoolGrad>(gy.device())) {
        gx = EmptyUnchecked(shape, gy.dtype(), gy.device());
        CallOn<kernels::SumPoolGrad>(gy.device(), Packed(gy), window, divisor, gx);
    } else {
        gx = internal::SumPoolGradByTable(Packed(gy), window, divisor, shape);
    }
    if (Record rec{op, {gy}, gx}) {
        rec.Grad(0, [window, divisor, shape = gy.shape()](const Array& ggx) {
            return SumWindows(ggx, window, divisor, shape);
        });
    }
    return gx;
}

// ---- checks of arguments
// -------------------------------------------------------------------------

void CheckImages(const char* op, const Array& x) {
    if (x.ndim() < 3) {
        throw DimensionError{op, ": x.shape is ", x.shape(),
                             ", expected (batch, channels, ...) with at least one spatial axis"};
    }
}

void CheckReal(const char* op, const Array& x) {
    CheckDtype(!IsComplex(x.dtype()), op, "x", x.dtype(), "a real one");
}

void CheckFloat(const char* op, const Array& x) {
    CheckDtype(IsFloat(x.dtype()), op, "x", x.dtype(), "a float");
}

// Makes windows over arrays with `axes` spatial axes; their size has not been checked yet.
PoolWindow MakeWindow(const char* op, int8_t axes, const PerAxis& ksize,
                      const std::optional<PerAxis>& stride, const AxisPads& pad) {
    ksize.Check(op, "ksize", axes, 1);
    if (stride.has_value()) stride->Check(op, "stride", axes, 1);
    pad.before.Check(op, "pad", axes, 0);
    pad.after.Check(op, "pad", axes, 0);
    PoolWindow window{};
    int64_t taps = 1;
    for (int8_t i = 0; i < axes; ++i) {
        window.size[i] = ksize[i];
        window.stride[i] = stride.has_value() ? (*stride)[i] : ksize[i];
        window.pad[i] = pad.before[i];
        if (__builtin_mul_overflow(taps, ksize[i], &taps) ||
            taps > std::numeric_limits<int32_t>::max()) {
            throw DimensionError{op,
                                 ": a window of ksize ",
                                 ksize[0],
                                 axes == 1 ? "" : ", ...",
                                 " has more than ",
                                 std::numeric_limits<int32_t>::max(),
                                 " elements"};
        }
    }
    return window;
}

int64_t Taps(const PoolWindow& window, int8_t axes) {
    int64_t taps = 1;
    for (int8_t i = 0; i < axes; ++i) taps *= window.size[i];
    return taps;
}

// Returns the number of windows along an axis of length `in`; not positive if none fits.
int64_t CountWindows(const PoolWindow& window, const AxisPads& pad, int8_t i, int64_t in,
                     bool cover_all) {
    const int64_t stride = window.stride[i];
    const int64_t free = in + window.pad[i] + pad.after[i] - window.size[i];
    if (free < 0) return cover_all && free + stride > 0 ? 1 : 0;
    return (free + (cover_all ? stride - 1 : 0)) / stride + 1;
}

Shape PooledShape(const char* op, const Shape& x, const PoolWindow& window, const AxisPads& pad,
                  bool cover_all) {
    Shape shape{x[0], x[1]};
    for (int8_t i = 0; i < x.ndim() - 2; ++i) {
        const int64_t in = x[i + 2];
        const int64_t out = CountWindows(window, pad, i, in, cover_all);
        if (out <= 0) {
            throw DimensionError{op,
                                 ": ksize of axis ",
                                 i + 2,
                                 " is ",
                                 window.size[i],
                                 ", but x.shape[",
                                 i + 2,
                                 "] is ",
                                 in,
                                 " and pad ",
                                 window.pad[i],
                                 " before and ",
                                 pad.after[i],
                                 " behind it"};
        }
        shape.push_back(out);
    }
    return shape;
}

// Returns the shape from which the windows make the shape of x.
Shape UnpooledShape(const char* op, const Shape& x, const PoolWindow& window, const AxisPads& pad,
                    const std::optional<PerAxis>& outsize, bool cover_all) {
    const auto axes = static_cast<int8_t>(x.ndim() - 2);
    if (outsize.has_value()) outsize->Check(op, "outsize", axes, 0);
    Shape shape{x[0], x[1]};
    for (int8_t i = 0; i < axes; ++i) {
        const int64_t n = x[i + 2];
        const int64_t stride = window.stride[i];
        int64_t out;
        if (outsize.has_value()) {
            out = (*outsize)[i];
            const int64_t windows = CountWindows(window, pad, i, out, cover_all);
            if (windows != n) {
                throw DimensionError{op,
                                     ": x.shape[",
                                     i + 2,
                                     "] is ",
                                     n,
                                     ", expected ",
                                     std::max<int64_t>(windows, 0),
                                     " by outsize[",
                                     int64_t{i},
                                     "], which is ",
                                     out};
            }
        } else {
            // The padding is removed again.
            const bool too_long =
                __builtin_mul_overflow(n - 1, stride, &out) || out > (int64_t{1} << 61);
            out = too_long ? -1
                           : out + window.size[i] - window.pad[i] - pad.after[i] -
                                 (cover_all ? stride - 1 : 0);
            if (n == 0 || out < 0) {
                throw DimensionError{op,
                                     ": x.shape[",
                                     i + 2,
                                     "] is ",
                                     n,
                                     ", of which ksize ",
                                     window.size[i],
                                     ", stride ",
                                     stride,
                                     " and pad ",
                                     window.pad[i],
                                     ", ",
                                     pad.after[i],
                                     " make an axis of length ",
                                     out,
                                     "; say outsize"};
            }
        }
        shape.push_back(out);
    }
    CheckedNBytes(op, shape, 16);
    return shape;
}

// ---- the routines -------------------------------------------------------------------------------

// `indices` is null where they are not needed, else uint8 if it holds the index of any element.
struct Pooled {
    Array y;
    Array indices;
};

Pooled ComputeMax(const Array& x, const PoolWindow& window, const Shape& shape, bool with_indices) {
    Device& device = x.device();
    const int64_t taps = Taps(window, static_cast<int8_t>(x.ndim() - 2));
    const Dtype dtype = taps <= 256 ? Dtype::kUInt8 : Dtype::kInt64;
    CheckedNBytes(kMaxPool.name, shape, std::max<int64_t>(x.GetItemSize(), 8));
    if (x.GetTotalSize() == 0 || shape.GetTotalSize() == 0) {
        return {Filled(shape, internal::SmallestOf(x.dtype()), x.dtype(), device),
                with_indices ? Filled(shape, 0, dtype, device) : Array{}};
    }
    Pooled result{EmptyUnchecked(shape, x.dtype(), device),
                  EmptyUnchecked(with_indices ? shape : Shape{0}, dtype, device)};
    if (HasKernel<kernels::MaxPool>(device)) {
        CallOn<kernels::MaxPool>(device, Packed(x), window, result.y, result.indices);
    } else {
        internal::MaxPoolByTable(Packed(x), window, result.y, result.indices);
    }
    if (!with_indices) result.indices = Array{};
    return result;
}

Pooled RecordedMax(const Array& x, const PoolWindow& window, const Shape& shape,
                   bool with_indices) {
    const bool required = internal::IsBackpropRequiredAny(x);
    Pooled result = ComputeMax(x, window, shape, with_indices || required);
    if (!required) return result;
    if (Record rec{kMaxPool, {x}, result.y}) {
        rec.Grad(0, [indices = Indices{{kMaxPool.name, "indices", result.indices}, true}, window,
                     shape = x.shape()](const Array& gy) {
            return Scatter(kMaxPoolGrad, gy, indices, window, shape);
        });
    }
    return result;
}

Pooled MaxPoolOf(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride,
                 const AxisPads& pad, bool cover_all, bool with_indices) {
    constexpr const char* kOp = kMaxPool.name;
    CheckImages(kOp, x);
    CheckReal(kOp, x);
    const auto axes = static_cast<int8_t>(x.ndim() - 2);
    const PoolWindow window = MakeWindow(kOp, axes, ksize, stride, pad);
    const Shape shape = PooledShape(kOp, x.shape(), window, pad, cover_all);
    return RecordedMax(x, window, shape, with_indices);
}

// Returns windows that divide the axes of x.
PoolWindow DivideAxes(const char* op, const Array& x, const PerAxis& output_size, Shape* shape) {
    CheckImages(op, x);
    output_size.Check(op, "output_size", static_cast<int8_t>(x.ndim() - 2), 0);
    PoolWindow window{};
    int64_t taps = 1;
    *shape = Shape{x.shape()[0], x.shape()[1]};
    for (int8_t i = 0; i < x.ndim() - 2; ++i) {
        const int64_t in = x.shape()[i + 2];
        const int64_t out = output_size[i];
        if (in == 0 && out != 0) {
            throw DimensionError{op,  ": output_size of axis ", i + 2,    " is ",
                                 out, ", but x.shape is ",      x.shape()};
        }
        const bool divides = out != 0 && in % out == 0;
        // If it does not divide evenly, the longest window covers two partial elements.
        window.size[i] = out == 0 ? 1 : divides ? in / out : std::min(in, in / out + 2);
        window.stride[i] = divides ? in / out : 0;
        if (__builtin_mul_overflow(taps, window.size[i], &taps) ||
            taps > std::numeric_limits<int32_t>::max()) {
            throw DimensionError{op,
                                 ": the windows of an array of shape ",
                                 x.shape(),
                                 " have more than ",
                                 std::numeric_limits<int32_t>::max(),
                                 " elements"};
        }
        shape->push_back(out);
    }
    CheckedNBytes(op, *shape, 16);
    return window;
}

Array AdaptiveMax(const char* op, const Array& x, const PerAxis& output_size) {
    CheckReal(op, x);
    Shape shape;
    const PoolWindow window = DivideAxes(op, x, output_size, &shape);
    return RecordedMax(x, window, shape, false).y;
}

Array AdaptiveAverage(const char* op, const Array& x, const PerAxis& output_size) {
    CheckFloat(op, x);
    Shape shape;
    const PoolWindow window = DivideAxes(op, x, output_size, &shape);
    return SumWindows(x, window, PoolDivisor::kInside, shape);
}

}  // namespace

Array MaxPool(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride,
              const AxisPads& pad, bool cover_all) {
    return MaxPoolOf(x, ksize, stride, pad, cover_all, false).y;
}

std::pair<Array, Array> internal::MaxPoolKept(const Array& x, const PerAxis& ksize,
                                              const std::optional<PerAxis>& stride,
                                              const AxisPads& pad, bool cover_all,
                                              bool with_indices) {
    Pooled result = MaxPoolOf(x, ksize, stride, pad, cover_all, with_indices);
    return {std::move(result.y), std::move(result.indices)};
}

std::pair<Array, Array> MaxPoolWithIndices(const Array& x, const PerAxis& ksize,
                                           const std::optional<PerAxis>& stride,
                                           const AxisPads& pad, bool cover_all) {
    Pooled result = MaxPoolOf(x, ksize, stride, pad, cover_all, true);
    // Returns a copy, since users may not write to the indices that backward saves.
    return {std::move(result.y), AsType(result.indices, Dtype::kInt64)};
}

Array AveragePool(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride,
                  const AxisPads& pad, AveragePoolPadMode pad_mode, bool cover_all) {
    constexpr const char* kOp = kAveragePool.name;
    CheckImages(kOp, x);
    CheckFloat(kOp, x);
    const auto axes = static_cast<int8_t>(x.ndim() - 2);
    const PoolWindow window = MakeWindow(kOp, axes, ksize, stride, pad);
    const Shape shape = PooledShape(kOp, x.shape(), window, pad, cover_all);
    CheckedNBytes(kOp, shape, 16);
    return SumWindows(
        x, window,
        pad_mode == AveragePoolPadMode::kZero ? PoolDivisor::kWindow : PoolDivisor::kInside, shape);
}

Array Unpool(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride,
             const AxisPads& pad, const std::optional<PerAxis>& outsize, bool cover_all) {
    constexpr const char* kOp = kUnpool.name;
    CheckImages(kOp, x);
    CheckFloat(kOp, x);
    const auto axes = static_cast<int8_t>(x.ndim() - 2);
    const PoolWindow window = MakeWindow(kOp, axes, ksize, stride, pad);
    return Spread(kUnpool, x, window, PoolDivisor::kOne,
                  UnpooledShape(kOp, x.shape(), window, pad, outsize, cover_all));
}

Array MaxUnpool(const Array& x, const Array& indices, const PerAxis& ksize,
                const std::optional<PerAxis>& stride, const AxisPads& pad,
                const std::optional<PerAxis>& outsize, bool cover_all) {
    constexpr const char* kOp = kMaxUnpool.name;
    CheckImages(kOp, x);
    CheckFloat(kOp, x);
    if (indices.shape() != x.shape()) {
        throw DimensionError{kOp, ": indices.shape is ", indices.shape(), ", but x.shape is ",
                             x.shape()};
    }
    if (!IsInt(indices.dtype())) {
        throw DtypeError{kOp, ": indices have dtype ", GetDtypeName(indices.dtype()),
                         ", expected integers"};
    }
    CheckSameDevice(kOp, x.device(), indices.device());
    const auto axes = static_cast<int8_t>(x.ndim() - 2);
    const PoolWindow window = MakeWindow(kOp, axes, ksize, stride, pad);
    const Shape shape = UnpooledShape(kOp, x.shape(), window, pad, outsize, cover_all);
    return Scatter(kMaxUnpool, x, {{kOp, "indices", indices}, false}, window, shape);
}

Array AdaptiveMaxPool(const Array& x, const PerAxis& output_size) {
    return AdaptiveMax("adaptive_max_pool", x, output_size);
}

Array AdaptiveAveragePool(const Array& x, const PerAxis& output_size) {
    return AdaptiveAverage("adaptive_average_pool", x, output_size);
}

Array GlobalMaxPool(const Array& x) { return AdaptiveMax("global_max_pool", x, 1); }

Array GlobalAveragePool(const Array& x) { return AdaptiveAverage("global_average_pool", x, 1); }

}  // namespace chainerx

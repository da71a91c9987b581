#include "chainerx/onnx/windows.h"

#include <algorithm>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"

namespace chainerx::onnx {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;  // so that products of two fit

}  // namespace

Shape ReadPerAxis(const Call& call, const char* name, int64_t n, int64_t fallback, int64_t least) {
    if (!call.HasAttribute(name)) return Shape::Filled(n, fallback);
    const std::vector<int64_t> values = call.IntList(name);
    if (static_cast<int64_t>(values.size()) != n) {
        throw DimensionError{"attribute ", name, " has ", values.size(), " elements, expected ", n};
    }
    for (const int64_t v : values) {
        if (v < least || v > kMost) {
            throw ValueError{"attribute ", name,   " has ", v, ", expected numbers from ",
                             least,        " to ", kMost};
        }
    }
    return ToShape(values);
}

int64_t Windows::OutputLength(int8_t axis, int64_t length) const {
    const int64_t room = length + before[axis] + after[axis] - Extent(axis);
    if (!is_ceil) return room < 0 ? 0 : room / stride[axis] + 1;
    const int64_t n = room < 0 ? 1 : (room + stride[axis] - 1) / stride[axis] + 1;
    // No window begins in the pad behind.
    return (n - 1) * stride[axis] >= length + before[axis] ? n - 1 : n;
}

Windows ReadWindows(const Call& call, const Shape& x, const Shape& size) {
    const int64_t n = x.size() - 2;
    if (n < 1 || size.size() != n) {
        throw DimensionError{"windows of shape ", size, " do not fit an input of shape ", x};
    }
    for (const int64_t v : size) {
        if (v < 1 || v > kMost) throw DimensionError{"windows have shape ", size};
    }
    Windows w;
    w.size = size;
    w.stride = ReadPerAxis(call, "strides", n, 1, 1);
    w.dilation = ReadPerAxis(call, "dilations", n, 1, 1);
    w.before = Shape::Filled(n, 0);
    w.after = Shape::Filled(n, 0);
    w.is_ceil = call.Int("ceil_mode", 0) != 0;
    const std::string_view automatic = call.String("auto_pad", "NOTSET");
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
        for (int8_t i = 0; i < n; ++i) {
            const int64_t length = x[i + 2];
            const int64_t outputs = (length + w.stride[i] - 1) / w.stride[i];
            const int64_t total =
                std::max<int64_t>((outputs - 1) * w.stride[i] + w.Extent(i) - length, 0);
            const int64_t half = total / 2;
            w.before[i] = automatic == "SAME_UPPER" ? half : total - half;
            w.after[i] = total - w.before[i];
        }
    } else if (automatic == "NOTSET" || automatic.empty()) {
        const Shape pads = ReadPerAxis(call, "pads", 2 * n, 0, 0);
        for (int64_t i = 0; i < n; ++i) {
            w.before[i] = pads[i];
            w.after[i] = pads[i + n];
        }
    } else if (automatic != "VALID") {
        throw ValueError{"attribute auto_pad is \"", automatic,
                         "\", expected NOTSET, SAME_UPPER, SAME_LOWER or VALID"};
    }
    return w;
}

Shape KernelShape(const Call& call, const Shape& x, const Shape& fallback) {
    if (!call.HasAttribute("kernel_shape")) {
        if (fallback.empty()) throw ValueError{"attribute kernel_shape is missing"};
        return fallback;
    }
    const Shape shape = ToShape(call.IntList("kernel_shape"));
    if (shape.size() != x.size() - 2) {
        throw DimensionError{"attribute kernel_shape is ", shape, ", but the input has shape ", x};
    }
    return shape;
}

}  // namespace chainerx::onnx

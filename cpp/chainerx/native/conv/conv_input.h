// Prepares the operands of RunImplicitGemm and RunDirectConv from arrays.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/conv/conv_operands.h"
#include "chainerx/native/conv/implicit_gemm.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

// Merges an axis of a single tap with the next one where strides allow.
void MergeAxes(auto* conv) {
    const auto is_plain = [](const ConvAxis& axis) {
        return axis.taps == 1 && axis.offset == 0 && axis.step == 1 && axis.in == axis.out;
    };
    int n = 0;
    for (int a = 0; a < conv->ndim; ++a) {
        const ConvAxis& next = conv->axes[a];
        if (n != 0) {
            ConvAxis& axis = conv->axes[n - 1];
            if (is_plain(axis) && is_plain(next) && axis.x_stride == next.in * next.x_stride &&
                axis.y_stride == next.out * next.y_stride) {
                const int64_t length = axis.in * next.in;
                axis = next;
                axis.in = axis.out = length;
                continue;
            }
        }
        conv->axes[n++] = next;
    }
    conv->ndim = n;
}

// The input of a convolution, a few images at a time, in a layout that RunImplicitGemm reads.
class ConvInput {
 public:
    // `steps` is the step of the last axis, by which it is split into phases.
    ConvInput(const Array& x, Dtype dtype, int64_t step)
        : x_{x}, step_{step}, item_{GetItemSize(dtype)}, dtype_{dtype} {
        const int8_t last = x.ndim() - 1;
        is_copied_ =
            dtype != x.dtype() || step != 1 || (x.shape()[last] > 1 && x.strides()[last] != item_);
        for (int8_t a = 0; a < last; ++a) is_copied_ = is_copied_ || x.strides()[a] % item_ != 0;
    }

    bool is_copied() const { return is_copied_; }
    int64_t nbytes_of_image() const {
        return x_.shape()[0] == 0 ? 0 : x_.GetTotalSize() / x_.shape()[0] * item_;
    }

    // Sets the address and the strides of images [begin, end).
    template <typename T>
    void Give(int64_t begin, int64_t end, ConvOperands<T>* conv) {
        Prepare(begin, end, &conv->phase);
        conv->x = reinterpret_cast<const T*>(held_.raw_data());
        conv->x_image = held_.strides()[0] / item_;
        conv->x_channel = held_.strides()[1] / item_;
        for (int a = 0; a < conv->ndim; ++a) {
            conv->axes[a].x_stride = held_.strides()[a + 2] / item_;
        }
        conv->axes[conv->ndim - 1].x_stride = 1;
    }

 private:
    // Sets held_ and the distance between the phases of its last axis.
    void Prepare(int64_t begin, int64_t end, int64_t* phase);

    const Array& x_;
    const int64_t step_;
    const int64_t item_;
    const Dtype dtype_;
    bool is_copied_;
    Array held_;
};

// Calls run(begin, end, y) for all images at once, or for a few at a time if they are converted; y
// is the array to write, of `dtype`.
void InGroups(ConvInput& input, Dtype dtype, const Array& out, const auto& run) {
    const int64_t n = out.shape()[0];
    const bool widens = out.dtype() != dtype;
    if (n == 0) return;
    int64_t group = n;
    if (widens || input.is_copied()) {
        const int64_t nbytes =
            input.nbytes_of_image() + (widens ? out.GetTotalSize() / n * GetItemSize(dtype) : 0);
        group = CountTogether(nbytes, n);
    }
    for (int64_t begin = 0; begin < n; begin += group) {
        const int64_t end = std::min(n, begin + group);
        const Array y = Images(out, begin, end);
        if (!widens) {
            run(begin, end, y);
            continue;
        }
        const Array wide = EmptyUnchecked(y.shape(), dtype, y.device());
        run(begin, end, wide);
        CallOn<kernels::AsType>(y.device(), wide, y);
    }
}

// Strides of the result are multiples of y_unit.
template <typename T>
ConvOperands<T> MakeConv(const Array& w, const Array& b, int64_t groups, const Strides& y_strides,
                         int64_t y_unit, bool forward) {
    ConvOperands<T> conv;
    const Strides w_strides{w.shape(), 1};
    const int64_t outs = w.shape()[0] / groups;
    const int64_t ins = w.shape()[1];
    conv.groups = groups;
    conv.ins = forward ? ins : outs;
    conv.outs = forward ? outs : ins;
    conv.ndim = w.ndim() - 2;
    conv.w = reinterpret_cast<const T*>(w.raw_data());
    conv.w_out = w_strides[forward ? 0 : 1];
    conv.w_in = w_strides[forward ? 1 : 0];
    conv.w_group = outs * w_strides[0];
    conv.bias = b.shape()[0] != 0 ? reinterpret_cast<const T*>(b.raw_data()) : nullptr;
    conv.y_image = y_strides[0] / y_unit;
    conv.y_channel = y_strides[1] / y_unit;
    for (int a = 0; a < conv.ndim; ++a) {
        conv.axes[a].taps = w.shape()[a + 2];
        conv.axes[a].w_stride = w_strides[a + 2];
        conv.axes[a].y_stride = y_strides[a + 2] / y_unit;
    }
    return conv;
}

// Sets the axes of a forward pass except for their strides in x, and returns the view of x that is
// read: an axis with a single tap shrinks to the elements which that tap reads.
Array SetAxes(const Array& x, const ConvGeometry& geometry, const Array& y, auto* conv) {
    Shape shape = x.shape();
    Strides strides = x.strides();
    for (int a = 0; a < conv->ndim; ++a) {
        ConvAxis& axis = conv->axes[a];
        axis.out = y.shape()[a + 2];
        axis.step = geometry.stride[a];
        axis.offset = -geometry.pad[a];
        axis.dilate = geometry.dilate[a];
        if (axis.taps == 1 && axis.offset == 0 && axis.out > 0 &&
            axis.out - 1 <= (shape[a + 2] - 1) / axis.step) {
            shape[a + 2] = axis.out;
            strides[a + 2] *= axis.step;
            axis.step = 1;
        }
        axis.in = shape[a + 2];
    }
    return internal::MakeView(x, shape, strides, x.raw_data());
}

}  // namespace chainerx::native

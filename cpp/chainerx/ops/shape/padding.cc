#include "chainerx/ops/shape/padding.h"

#include <utility>

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/shape/embed.h"
#include "chainerx/ops/shape/pad_values.h"

namespace chainerx {
namespace {

constexpr OpInfo kPad{"pad"};

// Returns the source index of the element at `i` of a padded axis; the axis itself is [0, n).
int64_t Source(int64_t i, int64_t n, PadMode mode) {
    const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
    switch (mode) {
        case PadMode::kEdge:
            return i < 0 ? 0 : i >= n ? n - 1 : i;
        case PadMode::kReflect: {
            if (n == 1) return 0;
            const int64_t k = modulo(i, 2 * (n - 1));
            return k < n ? k : 2 * (n - 1) - k;
        }
        case PadMode::kSymmetric: {
            const int64_t k = modulo(i, 2 * n);
            return k < n ? k : 2 * n - 1 - k;
        }
        default:
            return modulo(i, n);
    }
}

// The result while it is filled axis by axis: axes before `axis` are complete, those behind it have
// only their middle.
struct Canvas {
    const Array& y;
    const Shape& inner;  // the shape of the middle
    const PadWidths& widths;

    // Returns `length` elements of the axis from `begin` on, in steps of -1, 0 or 1.
    Array Part(int8_t axis, int64_t begin, int64_t length, int64_t step) const {
        Shape shape;
        Strides strides;
        char* data = y.raw_data();
        for (int8_t i = 0; i < y.ndim(); ++i) {
            const int64_t stride = y.strides()[i];
            shape.push_back(i < axis ? y.shape()[i] : i == axis ? length : inner[i]);
            strides.push_back(i == axis ? stride * step : stride);
            if (i == axis) data += begin * stride;
            if (i > axis) data += widths[static_cast<size_t>(i)].first * stride;
        }
        return internal::MakeView(y, shape, strides, data);
    }

    void FillMiddle(const Array& x) const {
        if (x.GetTotalSize() != 0) CallOn<kernels::AsType>(x.device(), x, Part(-1, 0, 0, 1));
    }

    void FillConstant(int8_t axis, const std::pair<Scalar, Scalar>& values) const {
        const auto [before, after] = widths[static_cast<size_t>(axis)];
        const int64_t behind = before + inner[axis];
        if (before != 0) {
            CallOn<kernels::Fill>(y.device(), Part(axis, 0, before, 1), values.first);
        }
        if (after != 0) {
            CallOn<kernels::Fill>(y.device(), Part(axis, behind, after, 1), values.second);
        }
    }

    // Fills the pads from the middle of the axis, run by run.
    void FillFrom(int8_t axis, PadMode mode) const {
        const auto [before, after] = widths[static_cast<size_t>(axis)];
        const int64_t n = inner[axis];
        const auto copy = [&, before = before](int64_t begin, int64_t end) {
            while (begin < end) {
                const int64_t first = Source(begin, n, mode);
                int64_t length = 1;
                int64_t step = 0;
                for (; begin + length < end; ++length) {
                    const int64_t d = Source(begin + length, n, mode) - first - step * (length - 1);
                    if (length == 1 && d >= -1 && d <= 1) {
                        step = d;
                    } else if (d != step) {
                        break;
                    }
                }
                CallOn<kernels::AsType>(y.device(), Part(axis, before + first, length, step),
                                        Part(axis, before + begin, length, 1));
                begin += length;
            }
        };
        copy(-before, 0);
        copy(n, n + after);
    }
};

// Removes the pads from a gradient, in the reverse order of the axes.
Array WithoutPads(const Array& gy, const Shape& inner, const PadWidths& widths, PadMode mode) {
    Array g = gy;
    for (int8_t axis = gy.ndim() - 1; axis >= 0; --axis) {
        const auto [before, after] = widths[static_cast<size_t>(axis)];
        if (before == 0 && after == 0) continue;
        const int64_t n = inner[axis];
        std::vector<int64_t> source;
        for (int64_t i = -before; i < n + after; ++i) source.push_back(Source(i, n, mode));
        Shape shape = g.shape();
        shape[axis] = n;
        const Array indices =
            Array::FromHost(source, {static_cast<int64_t>(source.size())}, gy.device());
        g = internal::TakeGrad(g, shape, axis, indices, IndexBoundsMode::kRaise);
    }
    return g;
}

// Pads with elements of x, or with constants.
Array PadInPlaces(const Array& x, const Shape& shape, const PadWidths& widths, PadMode mode,
                  const PadOptions& options) {
    Array y = EmptyUnchecked(shape, x.dtype(), x.device());
    const Canvas canvas{y, x.shape(), widths};
    canvas.FillMiddle(x);
    const bool is_constant = mode == PadMode::kConstant || mode == PadMode::kEmpty;
    if (y.GetTotalSize() != 0) {
        for (int8_t i = 0; i < x.ndim(); ++i) {
            if (is_constant) {
                canvas.FillConstant(i, mode == PadMode::kEmpty ? std::pair<Scalar, Scalar>{0, 0}
                                                               : options.values.Of(i));
            } else {
                canvas.FillFrom(i, mode);
            }
        }
    }
    if (Record rec{kPad, {x}, y}) {
        if (is_constant) {
            internal::Placement placement{shape, y.strides(), 0};
            for (int8_t i = 0; i < x.ndim(); ++i) {
                placement.offset += widths[static_cast<size_t>(i)].first * y.strides()[i];
            }
            rec.Grad(0, [placement, inner = x.shape()](const Array& gy) {
                return internal::Extract(gy, placement, inner);
            });
        } else {
            rec.Grad(0, [inner = x.shape(), widths, mode](const Array& gy) {
                return WithoutPads(gy, inner, widths, mode);
            });
        }
    }
    return y;
}

// Pads with values that are computed from preceding axes, in a graph.
Array PadByJoining(const Array& x, const PadWidths& widths, PadMode mode,
                   const PadOptions& options) {
    Array y = x;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const auto [before, after] = widths[static_cast<size_t>(i)];
        if (before == 0 && after == 0) continue;
        const auto [head, tail] = internal::PadsOf(y, i, before, after, mode, options);
        std::vector<Array> parts;
        if (!head.is_null()) parts.push_back(head);
        parts.push_back(y);
        if (!tail.is_null()) parts.push_back(tail);
        y = internal::Join(parts, i, "pad");
    }
    return y.buffer() == x.buffer() ? Copy(x) : y;
}

// The same outside of graphs, writing each element once.
Array PadWithValues(const Array& x, const Shape& shape, const PadWidths& widths, PadMode mode,
                    const PadOptions& options) {
    const Array y = EmptyUnchecked(shape, x.dtype(), x.device());
    const Canvas canvas{y, x.shape(), widths};
    canvas.FillMiddle(x);
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const auto [before, after] = widths[static_cast<size_t>(i)];
        if (before == 0 && after == 0) continue;
        const int64_t n = x.shape()[i];
        const auto [head, tail] =
            internal::PadsOf(canvas.Part(i, before, n, 1), i, before, after, mode, options);
        if (!head.is_null()) Assign(canvas.Part(i, 0, before, 1), head);
        if (!tail.is_null()) Assign(canvas.Part(i, before + n, after, 1), tail);
    }
    return y;
}

bool IsFromElements(PadMode mode) {
    return mode == PadMode::kEdge || mode == PadMode::kReflect || mode == PadMode::kSymmetric ||
           mode == PadMode::kWrap;
}

}  // namespace

Array Pad(const Array& x, const PadWidths& widths, PadMode mode, const PadOptions& options) {
    if (static_cast<int64_t>(widths.size()) != x.ndim()) {
        throw DimensionError{"pad: ", widths.size(), " pairs of widths for an array of shape ",
                             x.shape()};
    }
    Shape shape = x.shape();
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const auto [before, after] = widths[static_cast<size_t>(i)];
        if (before < 0 || after < 0) {
            throw DimensionError{"pad: the widths (", before,     ", ",           after,
                                 ") of axis ",        int64_t{i}, " are negative"};
        }
        if (__builtin_add_overflow(shape[i], before, &shape[i]) ||
            __builtin_add_overflow(shape[i], after, &shape[i])) {
            throw DimensionError{"pad: axis ", int64_t{i}, " is too large to address"};
        }
        if (mode != PadMode::kConstant && mode != PadMode::kEmpty && x.shape()[i] == 0 &&
            before + after != 0) {
            throw DimensionError{"pad: axis ", int64_t{i}, " of shape ", x.shape(),
                                 " is empty, only modes 'constant' and 'empty' can extend it"};
        }
    }
    CheckedNBytes("pad", shape, x.GetItemSize());
    if (mode == PadMode::kConstant) options.values.Check("constant_values", x);
    const bool odd = options.odd && (mode == PadMode::kReflect || mode == PadMode::kSymmetric);
    if (mode == PadMode::kConstant || mode == PadMode::kEmpty || (IsFromElements(mode) && !odd)) {
        return PadInPlaces(x, shape, widths, mode, options);
    }
    return internal::IsBackpropRequiredAny(x) ? PadByJoining(x, widths, mode, options)
                                              : PadWithValues(x, shape, widths, mode, options);
}

Array Pad(const Array& x, const PadWidths& widths, PadMode mode, const Scalar& value) {
    PadOptions options;
    options.values = PadPairs<Scalar>{{{value, value}}};
    return Pad(x, widths, mode, options);
}

}  // namespace chainerx

// Operators that sample images at computed places.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/windows.h"
#include "chainerx/ops/conv/conv.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

enum class Padding { kZeros, kBorder, kReflection };

// The places along one axis of an image.
struct Line {
    int64_t length;
    Padding padding;
    bool is_aligned;  // align_corners

    // Moves what is outside inside, by reflection at the borders.
    Array Reflected(const Array& x) const {
        const double low = is_aligned ? 0 : -0.5;
        const double range = static_cast<double>(is_aligned ? length - 1 : length);
        if (range == 0) return x * 0 + low;
        const Array t = Remainder(x - low, 2 * range);
        return Where(t <= range, t, 2 * range - t) + low;
    }
    Array Inside(const Array& x) const {
        if (padding == Padding::kBorder) return Clip(x, 0, static_cast<double>(length - 1));
        return padding == Padding::kReflection ? Reflected(x) : x;
    }
    // Whole places as indices, and 0 for those where zeros are, else 1.
    std::pair<Array, Array> Taken(const Array& place) const {
        const auto last = static_cast<double>(length - 1);
        const Array moved = padding == Padding::kReflection ? Reflected(place) : place;
        const Array index = AsType(Clip(moved, 0, last), Dtype::kInt64);
        if (padding != Padding::kZeros) return {index, {}};
        return {index, AsType(LogicalAnd(place >= 0, place <= last), place.dtype())};
    }
};

// The weights of the neighbours of a place that lies `t` behind one of them.
std::vector<std::pair<int, Array>> NeighboursOf(std::string_view mode, const Array& t) {
    if (mode == "nearest") return {{0, Array{}}};
    if (mode == "linear" || mode == "bilinear") return {{0, 1 - t}, {1, t}};
    if (mode != "cubic" && mode != "bicubic") {
        throw ValueError{"attribute mode is \"", mode, "\", expected nearest, linear or cubic"};
    }
    constexpr double a = -0.75;
    const auto outer = [](const Array& d) { return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a; };
    const auto inner = [](const Array& d) { return (d * (a + 2) - (a + 3)) * d * d + 1; };
    return {{-1, outer(t + 1)}, {0, inner(t)}, {1, inner(1 - t)}, {2, outer(2 - t)}};
}

// Neighbours along an axis: where they are, and their weights, which are null for 1.
using AxisTaps = std::vector<std::pair<Array, Array>>;

AxisTaps TapsAlong(const Array& place, const Line& line, std::string_view mode) {
    const Array whole = Floor(place);
    AxisTaps taps;
    for (auto& [step, weight] : NeighboursOf(mode, place - whole)) {
        auto [index, mask] = line.Taken(step == 0 ? whole : whole + step);
        if (!mask.is_null()) weight = weight.is_null() ? mask : weight * mask;
        taps.emplace_back(std::move(index), std::move(weight));
    }
    return taps;
}

// Moves on to the next combination of neighbours, one of each axis; false after the last one.
bool Next(const std::vector<AxisTaps>& axes, std::vector<size_t>& tap) {
    for (size_t i = 0; i < axes.size(); ++i) {
        if (++tap[i] < axes[i].size()) return true;
        tap[i] = 0;
    }
    return false;
}

// Takes a batch of images, channels last, at one place per axis for each element of the outputs.
Array SampleAt(const Array& image, const std::vector<Array>& places, const std::vector<Line>& lines,
               std::string_view mode) {
    Shape batch_shape = Shape::Filled(places[0].ndim(), 1);
    batch_shape[0] = image.shape()[0];
    const Array batch =
        Reshape(Arange(Scalar{image.shape()[0]}, Dtype::kInt64, image.device()), batch_shape);
    std::vector<AxisTaps> axes;
    for (size_t i = 0; i < places.size(); ++i) axes.push_back(TapsAlong(places[i], lines[i], mode));
    Array y;
    std::vector<size_t> tap(axes.size(), 0);
    do {
        std::vector<IndexItem> items{{NewAxis{}, batch}};
        Array weight;
        for (size_t i = 0; i < axes.size(); ++i) {
            const auto& [index, w] = axes[i][tap[i]];
            items.push_back({NewAxis{}, index});
            if (!w.is_null()) weight = weight.is_null() ? w : weight * w;
        }
        Array part = At(image, items);
        if (!weight.is_null()) {
            part = part * ExpandDims(AsType(weight, image.dtype(), false), Axes{weight.ndim()});
        }
        y = y.is_null() ? part : y + part;
    } while (Next(axes, tap));
    return y;
}

Array GridSample(const Call& call) {
    const Array x = call.X(0);
    const Array grid = call.X(1);
    const int64_t n = x.ndim() - 2;
    if (n < 1 || grid.ndim() != x.ndim() || grid.shape().back() != n ||
        grid.shape()[0] != x.shape()[0]) {
        throw DimensionError{"X and grid have shapes ", x.shape(), " and ", grid.shape()};
    }
    const std::string_view mode = call.String("mode", call.opset() >= 20 ? "linear" : "bilinear");
    const std::string_view outside = call.String("padding_mode", "zeros");
    if (outside != "zeros" && outside != "border" && outside != "reflection") {
        throw ValueError{"attribute padding_mode is \"", outside,
                         "\", expected zeros, border or reflection"};
    }
    const Padding padding = outside == "zeros"    ? Padding::kZeros
                            : outside == "border" ? Padding::kBorder
                                                  : Padding::kReflection;
    const bool is_aligned = call.Int("align_corners", 0) != 0;
    std::vector<Array> places;
    std::vector<Line> lines;
    for (int64_t i = 0; i < n; ++i) {
        lines.push_back({x.shape()[i + 2], padding, is_aligned});
        const auto length = static_cast<double>(x.shape()[i + 2]);
        const Array g = grid.At({Ellipsis{}, n - 1 - i});
        const Array place = is_aligned ? (g + 1) * ((length - 1) / 2) : ((g + 1) * length - 1) / 2;
        places.push_back(lines.back().Inside(mode == "nearest" ? Rint(place) : place));
    }
    const Axes last{static_cast<int8_t>(x.ndim() - 1)};
    return Moveaxis(SampleAt(Moveaxis(x, Axes{1}, last), places, lines, mode), last, Axes{1});
}

// A convolution whose taps are moved.
struct MovedTaps {
    Array x;       // batch, channels, height, width
    Array offset;  // by group, tap and axis
    Array mask;    // by group and tap; null if there is none
    Shape size;    // of the kernel
    Shape outputs;
    Windows windows;
    int64_t groups;

    // Checks all but the weights.
    MovedTaps(const Call& call, const Array& w)
        : x{call.X(0)},
          offset{call.X(2)},
          size{w.shape()[2], w.shape()[3]},
          windows{ReadWindows(call, x.shape(), size)},
          groups{call.Int("offset_group", 1)} {
        for (int8_t i = 0; i < 2; ++i) {
            outputs.push_back(windows.OutputLength(i, x.shape()[i + 2]));
        }
        if (call.Has(4)) mask = call.X(4);
        Check("offset", offset, 2);
        if (!mask.is_null()) Check("mask", mask, 1);
        if (groups < 1 || x.shape()[1] % groups != 0) {
            throw DimensionError{"offset_group is ", groups, ", which does not divide ",
                                 x.shape()[1], " channels"};
        }
    }

    int64_t n_taps() const { return size.GetTotalSize(); }

    // What the kernel sees at this tap: an image as large as the output.
    Array At(int64_t tap) const {
        const std::vector<Line> lines{{x.shape()[2], Padding::kZeros, true},
                                      {x.shape()[3], Padding::kZeros, true}};
        const int64_t channels = x.shape()[1] / groups;
        std::vector<Array> sampled;
        for (int64_t g = 0; g < groups; ++g) {
            const int64_t row = g * n_taps() + tap;
            const std::vector<Array> places{Place(tap, row, 0), Place(tap, row, 1)};
            const Array image = x.At({Slice{}, Slice{g * channels, (g + 1) * channels}});
            Array part = SampleAt(Moveaxis(image, Axes{1}, Axes{3}), places, lines, "linear");
            if (!mask.is_null()) part = part * ExpandDims(mask.At({Slice{}, row}), Axes{3});
            sampled.push_back(Moveaxis(part, Axes{3}, Axes{1}));
        }
        return Concatenate(sampled, 1);
    }

 private:
    void Check(const char* name, const Array& a, int64_t per_tap) const {
        const Shape expected{x.shape()[0], groups * n_taps() * per_tap, outputs[0], outputs[1]};
        if (!(a.shape() == expected)) {
            throw DimensionError{name, " has shape ", a.shape(), ", expected ", expected};
        }
    }

    // Where a tap lies along an axis; `row` is its place among all groups.
    Array Place(int64_t tap, int64_t row, int8_t axis) const {
        const int64_t in_kernel = axis == 0 ? tap / size[1] : tap % size[1];
        const int64_t first = in_kernel * windows.dilation[axis] - windows.before[axis];
        const Array step = Arange(Scalar{outputs[axis]}, Dtype::kFloat64, x.device()) *
                               static_cast<double>(windows.stride[axis]) +
                           static_cast<double>(first);
        const Shape along = axis == 0 ? Shape{-1, 1} : Shape{-1};
        return offset.At({Slice{}, row * 2 + axis}) + AsType(Reshape(step, along), offset.dtype());
    }
};

// A sampled image and a convolution of one pixel for each tap.
Array DeformConv(const Call& call) {
    const Array w = call.X(1);
    if (call.X(0).ndim() != 4 || w.ndim() != 4 || call.X(2).ndim() != 4) {
        throw DimensionError{"X, W and offset have shapes ",
                             call.X(0).shape(),
                             ", ",
                             w.shape(),
                             " and ",
                             call.X(2).shape(),
                             ", expected 4 dimensions"};
    }
    const MovedTaps taps{call, w};
    Array y;
    for (int64_t tap = 0; tap < taps.n_taps(); ++tap) {
        const int64_t row = tap / taps.size[1];
        const int64_t column = tap % taps.size[1];
        const Array weights =
            w.At({Slice{}, Slice{}, Slice{row, row + 1}, Slice{column, column + 1}});
        const Array part =
            Conv(taps.At(tap), weights, std::nullopt, 1, 0, false, 1, call.Int("group", 1));
        y = y.is_null() ? part : y + part;
    }
    return call.Has(3) ? y + Reshape(call.X(3), Shape{-1, 1, 1}) : y;
}

Array AffineGrid(const Call& call) {
    const Array theta = call.X(0);
    const std::vector<int64_t> size = call.Ints(1);
    const auto n = static_cast<int64_t>(size.size()) - 2;
    if ((n != 2 && n != 3) || !(theta.shape() == Shape{size[0], n, n + 1})) {
        throw DimensionError{"theta has shape ", theta.shape(), " and size has ", size.size(),
                             " elements"};
    }
    const bool is_aligned = call.Int("align_corners", 0) != 0;
    Shape shape;
    for (int64_t i = 0; i < n; ++i) shape.push_back(size[static_cast<size_t>(i) + 2]);
    std::vector<Array> columns;
    for (int64_t i = n; i-- > 0;) {  // x first, which is the last axis
        const auto length = static_cast<double>(shape[i]);
        Array place = Arange(Scalar{shape[i]}, Dtype::kFloat64, theta.device());
        if (is_aligned) {
            place = place * (2 / std::max(length - 1, 1.0)) - 1;
        } else {
            place = (place * 2 + 1) / length - 1;
        }
        Shape along = Shape::Filled(n, 1);
        along[i] = shape[i];
        columns.push_back(Ravel(BroadcastTo(Reshape(AsType(place, theta.dtype()), along), shape)));
    }
    columns.push_back(Ones(Shape{shape.GetTotalSize()}, theta.dtype(), theta.device()));
    const Array y = Matmul(Stack(columns, 1), Swapaxes(theta, 1, 2));
    Shape result{size[0]};
    for (const int64_t d : shape) result.push_back(d);
    result.push_back(n);
    return Reshape(y, result);
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(AffineGrid, 20),
    CX_OPERATOR_SINCE(DeformConv, 19),
    CX_OPERATOR_SINCE(GridSample, 16),
};

}  // namespace

std::span<const Operator> SamplingOperators() { return kOperators; }

}  // namespace chainerx::onnx

// Operators on images: sampling at given places, regions, boxes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/windows.h"
#include "chainerx/ops/conv/conv.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/reduce/reduction.h"
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

// Takes a batch of images, channels last, at one place per axis for each element of the outputs.
Array SampleAt(const Array& image, const std::vector<Array>& places, const std::vector<Line>& lines,
               std::string_view mode) {
    Shape batch_shape = Shape::Filled(places[0].ndim(), 1);
    batch_shape[0] = image.shape()[0];
    const Array batch =
        Reshape(Arange(Scalar{image.shape()[0]}, Dtype::kInt64, image.device()), batch_shape);
    // For each axis its neighbours: index and weight, which is null for 1.
    std::vector<std::vector<std::pair<Array, Array>>> axes;
    for (size_t i = 0; i < places.size(); ++i) {
        const Array whole = Floor(places[i]);
        std::vector<std::pair<Array, Array>>& taps = axes.emplace_back();
        for (auto& [step, weight] : NeighboursOf(mode, places[i] - whole)) {
            auto [index, mask] = lines[i].Taken(step == 0 ? whole : whole + step);
            if (!mask.is_null()) weight = weight.is_null() ? mask : weight * mask;
            taps.emplace_back(std::move(index), std::move(weight));
        }
    }
    Array y;
    std::vector<size_t> tap(axes.size(), 0);
    for (bool goes_on = true; goes_on;) {
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
        goes_on = false;
        for (size_t i = 0; i < axes.size() && !goes_on; ++i) {
            goes_on = ++tap[i] < axes[i].size();
            if (!goes_on) tap[i] = 0;
        }
    }
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

// A convolution whose taps are moved: a sampled image and a convolution of one pixel for each tap.
Array DeformConv(const Call& call) {
    const Array x = call.X(0);
    const Array w = call.X(1);
    const Array offset = call.X(2);
    if (x.ndim() != 4 || w.ndim() != 4 || offset.ndim() != 4) {
        throw DimensionError{
            "X, W and offset have shapes ", x.shape(), ", ", w.shape(), " and ", offset.shape(),
            ", expected 4 dimensions"};
    }
    const Shape size{w.shape()[2], w.shape()[3]};
    const Windows windows = ReadWindows(call, x.shape(), size);
    const int64_t groups = call.Int("offset_group", 1);
    const int64_t taps = size.GetTotalSize();
    const Shape outputs{windows.OutputLength(0, x.shape()[2]),
                        windows.OutputLength(1, x.shape()[3])};
    const auto check = [&](const char* name, const Array& a, int64_t per_tap) {
        const Shape expected{x.shape()[0], groups * taps * per_tap, outputs[0], outputs[1]};
        if (!(a.shape() == expected)) {
            throw DimensionError{name, " has shape ", a.shape(), ", expected ", expected};
        }
    };
    check("offset", offset, 2);
    if (call.Has(4)) check("mask", call.X(4), 1);
    if (groups < 1 || x.shape()[1] % groups != 0) {
        throw DimensionError{"offset_group is ", groups, ", which does not divide ", x.shape()[1],
                             " channels"};
    }
    const int64_t channels = x.shape()[1] / groups;
    const std::vector<Line> lines{{x.shape()[2], Padding::kZeros, true},
                                  {x.shape()[3], Padding::kZeros, true}};
    Array y;
    for (int64_t tap = 0; tap < taps; ++tap) {
        const Shape place_in_kernel{tap / size[1], tap % size[1]};
        std::vector<Array> sampled;
        for (int64_t g = 0; g < groups; ++g) {
            std::vector<Array> places;
            for (int8_t i = 0; i < 2; ++i) {
                const Array step = Arange(Scalar{outputs[i]}, Dtype::kFloat64, x.device()) *
                                       static_cast<double>(windows.stride[i]) +
                                   static_cast<double>(place_in_kernel[i] * windows.dilation[i] -
                                                       windows.before[i]);
                const Array start =
                    AsType(Reshape(step, i == 0 ? Shape{-1, 1} : Shape{-1}), offset.dtype());
                places.push_back(offset.At({Slice{}, (g * taps + tap) * 2 + i}) + start);
            }
            const Array image = x.At({Slice{}, Slice{g * channels, (g + 1) * channels}});
            Array part = SampleAt(Moveaxis(image, Axes{1}, Axes{3}), places, lines, "linear");
            if (call.Has(4)) {
                part = part * ExpandDims(call.X(4).At({Slice{}, g * taps + tap}), Axes{3});
            }
            sampled.push_back(Moveaxis(part, Axes{3}, Axes{1}));
        }
        const int64_t row = place_in_kernel[0];
        const int64_t column = place_in_kernel[1];
        const Array weights =
            w.At({Slice{}, Slice{}, Slice{row, row + 1}, Slice{column, column + 1}});
        const Array part = Conv(Concatenate(sampled, 1), weights, std::nullopt, 1, 0, false, 1,
                                call.Int("group", 1));
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

// Neighbours along one axis of a region: two indices and two weights for each sample.
struct Samples {
    std::array<std::vector<int64_t>, 2> places;
    std::array<std::vector<double>, 2> weights;

    void Add(double place, int64_t length) {
        const bool is_outside = place < -1 || place > static_cast<double>(length);
        place = std::max(place, 0.0);
        auto low = static_cast<int64_t>(is_outside ? 0 : place);
        int64_t high = low + 1;
        if (low >= length - 1) {
            low = high = length - 1;
            place = static_cast<double>(low);
        }
        const double behind = place - static_cast<double>(low);
        places[0].push_back(low);
        places[1].push_back(high);
        weights[0].push_back(is_outside ? 0 : 1 - behind);
        weights[1].push_back(is_outside ? 0 : behind);
    }
};

Samples SamplesOf(double start, double end, int64_t bins, int64_t per_bin, int64_t length) {
    Samples s;
    const double bin = (end - start) / static_cast<double>(bins);
    for (int64_t i = 0; i < bins; ++i) {
        for (int64_t k = 0; k < per_bin; ++k) {
            s.Add(start + static_cast<double>(i) * bin +
                      (static_cast<double>(k) + 0.5) * bin / static_cast<double>(per_bin),
                  length);
        }
    }
    return s;
}

Array RoiAlign(const Call& call) {
    const Array x = call.X(0);
    const std::vector<double> rois = call.Doubles(1);
    const std::vector<int64_t> images = call.Ints(2);
    const int64_t height = call.Int("output_height", 1);
    const int64_t width = call.Int("output_width", 1);
    if (x.ndim() != 4 || rois.size() != 4 * images.size() || height < 1 || width < 1 ||
        x.GetTotalSize() == 0) {
        throw DimensionError{"X has shape ",
                             x.shape(),
                             ", there are ",
                             rois.size(),
                             " numbers of regions for ",
                             images.size(),
                             " images, and outputs of ",
                             height,
                             " x ",
                             width};
    }
    const std::string_view mode = call.String("mode", "avg");
    if (mode != "avg" && mode != "max") {
        throw ValueError{"attribute mode is \"", mode, "\", expected avg or max"};
    }
    const bool is_half = call.opset() >= 16 && call.String("coordinate_transformation_mode",
                                                           "half_pixel") == "half_pixel";
    const double scale = call.Float("spatial_scale", 1);
    const int64_t ratio = call.Int("sampling_ratio", 0);
    std::vector<Array> regions;
    for (size_t i = 0; i < images.size(); ++i) {
        std::array<double, 4> edges;  // x1, y1, x2, y2
        for (size_t k = 0; k < 4; ++k) {
            edges[k] = rois[4 * i + k] * scale - (is_half ? 0.5 : 0);
            if (!(std::abs(edges[k]) < 1e6)) throw ValueError{"a region has the edge ", edges[k]};
        }
        if (!is_half) {  // regions have one pixel at least
            edges[2] = std::max(edges[2], edges[0] + 1);
            edges[3] = std::max(edges[3], edges[1] + 1);
        }
        const auto per_bin = [ratio](double length, int64_t bins) {
            if (ratio > 0) return ratio;
            const double n = std::ceil(length / static_cast<double>(bins));
            return std::max<int64_t>(static_cast<int64_t>(n), 1);
        };
        const int64_t ny = per_bin(edges[3] - edges[1], height);
        const int64_t nx = per_bin(edges[2] - edges[0], width);
        const Samples sy = SamplesOf(edges[1], edges[3], height, ny, x.shape()[2]);
        const Samples sx = SamplesOf(edges[0], edges[2], width, nx, x.shape()[3]);
        const Array image = At(x, images[i]);
        Array region;
        for (size_t a = 0; a < 2; ++a) {
            const Array rows = Take(image, Array::FromHost(sy.places[a], {height * ny}, x.device()),
                                    1, IndexBoundsMode::kRaise);
            const Array wy = Array::FromHost(sy.weights[a], {height * ny, 1}, x.device());
            for (size_t b = 0; b < 2; ++b) {
                const Array wx = Array::FromHost(sx.weights[b], {width * nx}, x.device());
                const Array part =
                    Take(rows, Array::FromHost(sx.places[b], {width * nx}, x.device()), 2,
                         IndexBoundsMode::kRaise) *
                    AsType(wy * wx, x.dtype());
                region = region.is_null() ? part
                         : mode == "avg"  ? region + part
                                          : Maximum(region, part);
            }
        }
        region = Reshape(region, {x.shape()[1], height, ny, width, nx});
        const Axes samples{2, 4};
        regions.push_back(mode == "avg" ? Mean(region, samples) : AMax(region, samples));
    }
    if (regions.empty()) {
        return Zeros(Shape{0, x.shape()[1], height, width}, x.dtype(), x.device());
    }
    return Stack(regions, 0);
}

Array MaxRoiPool(const Call& call) {
    const Array x = call.X(0);
    const std::vector<double> rois = call.Doubles(1);  // image, x1, y1, x2, y2
    const std::vector<int64_t> pooled = call.IntList("pooled_shape");
    if (x.ndim() != 4 || rois.size() % 5 != 0 || pooled.size() != 2 || pooled[0] < 1 ||
        pooled[1] < 1) {
        throw DimensionError{"X has shape ", x.shape(), ", and there are ", rois.size(),
                             " numbers of regions, expected 5 for each"};
    }
    const double scale = call.Float("spatial_scale", 1);
    // First and last pixel of a bin.
    const auto bin = [&](double from, double to, int64_t i, int64_t bins, int64_t length) {
        const double start = std::round(from * scale);
        const double size =
            std::max(std::round(to * scale) - start + 1, 1.0) / static_cast<double>(bins);
        const auto place = [&](double p) {
            return static_cast<int64_t>(std::clamp(p + start, 0.0, static_cast<double>(length)));
        };
        return Slice{place(std::floor(static_cast<double>(i) * size)),
                     place(std::ceil(static_cast<double>(i + 1) * size))};
    };
    std::vector<Array> bins;
    for (size_t i = 0; i < rois.size(); i += 5) {
        const Array image = At(x, static_cast<int64_t>(rois[i]));
        for (int64_t h = 0; h < pooled[0]; ++h) {
            const Slice rows = bin(rois[i + 2], rois[i + 4], h, pooled[0], x.shape()[2]);
            for (int64_t w = 0; w < pooled[1]; ++w) {
                const Slice columns = bin(rois[i + 1], rois[i + 3], w, pooled[1], x.shape()[3]);
                const Array part = image.At({Slice{}, rows, columns});
                const bool is_empty = *rows.stop <= *rows.start || *columns.stop <= *columns.start;
                bins.push_back(is_empty ? Zeros(Shape{x.shape()[1]}, x.dtype(), x.device())
                                        : AMax(part, Axes{1, 2}));
            }
        }
    }
    const Shape shape{static_cast<int64_t>(rois.size() / 5), pooled[0], pooled[1], x.shape()[1]};
    if (bins.empty()) return Zeros({0, x.shape()[1], pooled[0], pooled[1]}, x.dtype(), x.device());
    return Transpose(Reshape(Stack(bins, 0), shape), Axes{0, 3, 1, 2});
}

Array Col2Im(const Call& call) {
    const Array x = call.X(0);
    const Shape image = ToShape(call.Ints(1));
    const Shape block = ToShape(call.Ints(2));
    Shape whole{1, 1};
    for (const int64_t d : image) whole.push_back(d);
    const Windows w = ReadWindows(call, whole, block);
    const int64_t n = block.size();
    const int64_t taps = block.GetTotalSize();
    Shape padded;
    Shape outputs;
    for (int8_t i = 0; i < n; ++i) {
        padded.push_back(image[i] + w.before[i] + w.after[i]);
        outputs.push_back(w.OutputLength(i, image[i]));
    }
    if (x.ndim() != 3 || x.shape()[1] % taps != 0 || x.shape()[2] != outputs.GetTotalSize()) {
        throw DimensionError{"the input has shape ",
                             x.shape(),
                             ", expected columns of ",
                             taps,
                             " for ",
                             outputs,
                             " blocks"};
    }
    const int64_t channels = x.shape()[1] / taps;
    Shape columns_shape{x.shape()[0], channels, taps};
    Shape y_shape{x.shape()[0], channels};
    for (const int64_t d : outputs) columns_shape.push_back(d);
    for (const int64_t d : padded) y_shape.push_back(d);
    const Array columns = Reshape(x, columns_shape);
    Array y = Zeros(y_shape, x.dtype(), x.device());
    for (int64_t tap = 0; tap < taps; ++tap) {
        std::vector<IndexItem> items{{Slice{}, {}}, {Slice{}, {}}};
        int64_t rest = taps;
        for (int8_t i = 0; i < n; ++i) {
            rest /= block[i];
            const int64_t start = tap / rest % block[i] * w.dilation[i];
            items.push_back(
                {Slice{start, start + (outputs[i] - 1) * w.stride[i] + 1, w.stride[i]}, {}});
        }
        y = IndexUpdate(y, items, columns.At({Slice{}, Slice{}, tap}), ScatterRule::kAdd);
    }
    std::vector<ArrayIndex> inner(2, Slice{});
    for (int8_t i = 0; i < n; ++i) {
        inner.emplace_back(Slice{w.before[i], w.before[i] + image[i]});
    }
    return y.At(inner);
}

// The corners of a box in order: top, left, bottom, right.
std::array<double, 4> CornersOf(const double* box, bool is_centred) {
    if (is_centred) {  // x, y of the centre, width and height
        return {box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2};
    }
    return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]),
            std::max(box[1], box[3])};
}

double OverlapOf(const std::array<double, 4>& a, const std::array<double, 4>& b) {
    const double height = std::min(a[2], b[2]) - std::max(a[0], b[0]);
    const double width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
    if (height <= 0 || width <= 0) return 0;
    const double common = height * width;
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
}

// A loop over boxes whose length depends on their values, so it runs on the host.
Array NonMaxSuppression(const Call& call) {
    const Shape shape = call.X(1).shape();  // batch, classes, boxes
    const std::vector<double> boxes = call.Doubles(0);
    const std::vector<double> scores = call.Doubles(1);
    if (shape.size() != 3 || !(call.X(0).shape() == Shape{shape[0], shape[2], 4})) {
        throw DimensionError{"boxes and scores have shapes ", call.X(0).shape(), " and ", shape};
    }
    const int64_t most = call.Has(2) ? call.IntAt(2) : 0;
    const double overlap = call.Has(3) ? call.DoubleAt(3) : 0;
    const double least = call.Has(4) ? call.DoubleAt(4) : -INFINITY;
    const bool is_centred = call.Int("center_point_box", 0) != 0;
    std::vector<int64_t> chosen;
    for (int64_t row = 0; row < shape[0] * shape[1]; ++row) {
        internal::CheckInterrupt();
        const int64_t batch = row / shape[1];
        const double* score = scores.data() + row * shape[2];
        std::vector<int64_t> order;
        for (int64_t i = 0; i < shape[2]; ++i) {
            if (score[i] > least) order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(),
                         [score](int64_t a, int64_t b) { return score[a] > score[b]; });
        std::vector<std::array<double, 4>> kept;
        for (const int64_t i : order) {
            if (static_cast<int64_t>(kept.size()) >= most) break;
            const auto box = CornersOf(boxes.data() + (batch * shape[2] + i) * 4, is_centred);
            if (std::any_of(kept.begin(), kept.end(),
                            [&](const auto& k) { return OverlapOf(k, box) > overlap; })) {
                continue;
            }
            kept.push_back(box);
            chosen.insert(chosen.end(), {batch, row % shape[1], i});
        }
    }
    return Array::FromHost(chosen, Shape{static_cast<int64_t>(chosen.size() / 3), 3},
                           call.device());
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(AffineGrid, 20), CX_OPERATOR_SINCE(Col2Im, 18),
    CX_OPERATOR_SINCE(DeformConv, 19), CX_OPERATOR_SINCE(GridSample, 16),
    CX_OPERATOR_SINCE(MaxRoiPool, 1),  CX_OPERATOR_SINCE(NonMaxSuppression, 10),
    CX_OPERATOR_SINCE(RoiAlign, 10),
};

}  // namespace

std::span<const Operator> VisionOperators() { return kOperators; }

}  // namespace chainerx::onnx

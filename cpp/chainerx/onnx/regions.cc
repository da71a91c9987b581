// Operators on regions of images, and on boxes.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// Samples along an axis: more than any region has pixels.
constexpr int64_t kMostSamples = int64_t{1} << 22;

// An edge of a region, in pixels.
double EdgeOf(double edge) {
    if (!(std::abs(edge) < 1e6)) throw ValueError{"a region has the edge ", edge};
    return edge;
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
    if (bins > kMostSamples / per_bin) {
        throw ValueError{"a region has ",
                         bins,
                         " bins of ",
                         per_bin,
                         " samples along an axis, expected at most ",
                         kMostSamples,
                         " samples"};
    }
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

// The regions of RoiAlign: x1, y1, x2, y2 of each, in pixels.
std::vector<std::array<double, 4>> RegionsOf(const Call& call, const std::vector<double>& rois) {
    const bool is_half = call.opset() >= 16 && call.String("coordinate_transformation_mode",
                                                           "half_pixel") == "half_pixel";
    const double scale = call.Float("spatial_scale", 1);
    std::vector<std::array<double, 4>> regions(rois.size() / 4);
    for (size_t i = 0; i < regions.size(); ++i) {
        std::array<double, 4>& edges = regions[i];
        for (size_t k = 0; k < 4; ++k) {
            edges[k] = EdgeOf(rois[4 * i + k] * scale - (is_half ? 0.5 : 0));
        }
        if (!is_half) {  // regions have one pixel at least
            edges[2] = std::max(edges[2], edges[0] + 1);
            edges[3] = std::max(edges[3], edges[1] + 1);
        }
    }
    return regions;
}

// All samples of a region of an image, channels x rows x columns, combined from their neighbours.
Array SampledRegion(const Array& image, const Samples& sy, const Samples& sx, bool is_mean) {
    Device& device = image.device();
    const auto ny = static_cast<int64_t>(sy.places[0].size());
    const auto nx = static_cast<int64_t>(sx.places[0].size());
    Array region;
    for (size_t a = 0; a < 2; ++a) {
        const Array rows =
            Take(image, Array::FromHost(sy.places[a], {ny}, device), 1, IndexBoundsMode::kRaise);
        const Array wy = Array::FromHost(sy.weights[a], {ny, 1}, device);
        for (size_t b = 0; b < 2; ++b) {
            const Array wx = Array::FromHost(sx.weights[b], {nx}, device);
            const Array columns = Array::FromHost(sx.places[b], {nx}, device);
            const Array part =
                Take(rows, columns, 2, IndexBoundsMode::kRaise) * AsType(wy * wx, image.dtype());
            region = region.is_null() ? part : is_mean ? region + part : Maximum(region, part);
        }
    }
    return region;
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
    const int64_t ratio = call.Int("sampling_ratio", 0);
    const auto per_bin = [ratio](double length, int64_t bins) {
        if (ratio > 0) return ratio;
        const double n = std::ceil(length / static_cast<double>(bins));
        return std::max<int64_t>(static_cast<int64_t>(n), 1);
    };
    const std::vector<std::array<double, 4>> regions = RegionsOf(call, rois);
    std::vector<Array> ys;
    for (size_t i = 0; i < images.size(); ++i) {
        const auto [x1, y1, x2, y2] = regions[i];
        const int64_t ny = per_bin(y2 - y1, height);
        const int64_t nx = per_bin(x2 - x1, width);
        const Samples sy = SamplesOf(y1, y2, height, ny, x.shape()[2]);
        const Samples sx = SamplesOf(x1, x2, width, nx, x.shape()[3]);
        const Array y = Reshape(SampledRegion(At(x, images[i]), sy, sx, mode == "avg"),
                                {x.shape()[1], height, ny, width, nx});
        const Axes samples{2, 4};
        ys.push_back(mode == "avg" ? Mean(y, samples) : AMax(y, samples));
    }
    if (ys.empty()) return Zeros(Shape{0, x.shape()[1], height, width}, x.dtype(), x.device());
    return Stack(ys, 0);
}

Array MaxRoiPool(const Call& call) {
    const Array x = call.X(0);
    const std::vector<double> rois = call.Doubles(1);  // image, x1, y1, x2, y2
    const std::vector<int64_t> pooled = call.IntList("pooled_shape");
    if (x.ndim() != 4 || rois.size() % 5 != 0) {
        throw DimensionError{"X has shape ", x.shape(), ", and there are ", rois.size(),
                             " numbers of regions, expected 5 for each"};
    }
    constexpr int64_t kMostBins = int64_t{1} << 20;
    if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1 || pooled[1] > kMostBins ||
        pooled[0] > kMostBins / pooled[1]) {
        throw ValueError{"attribute pooled_shape is ", ToShape(pooled), ", expected at most ",
                         kMostBins, " bins"};
    }
    const double scale = call.Float("spatial_scale", 1);
    // First and last pixel of a bin.
    const auto bin = [&](double from, double to, int64_t i, int64_t bins, int64_t length) {
        const double start = std::round(EdgeOf(from * scale));
        const double size =
            std::max(std::round(EdgeOf(to * scale)) - start + 1, 1.0) / static_cast<double>(bins);
        const auto place = [&](double p) {
            return static_cast<int64_t>(std::clamp(p + start, 0.0, static_cast<double>(length)));
        };
        return Slice{place(std::floor(static_cast<double>(i) * size)),
                     place(std::ceil(static_cast<double>(i + 1) * size))};
    };
    std::vector<Array> bins;
    for (size_t i = 0; i < rois.size(); i += 5) {
        if (!(rois[i] >= 0 && rois[i] < static_cast<double>(x.shape()[0]))) {
            throw IndexError{"a region is of image ", rois[i], " of ", x.shape()[0]};
        }
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
    CX_OPERATOR_SINCE(MaxRoiPool, 1),
    CX_OPERATOR_SINCE(NonMaxSuppression, 10),
    CX_OPERATOR_SINCE(RoiAlign, 10),
};

}  // namespace

std::span<const Operator> RegionOperators() { return kOperators; }

}  // namespace chainerx::onnx

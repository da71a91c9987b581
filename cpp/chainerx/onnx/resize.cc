// Resize and its predecessor Upsample: each axis in turn, as a weighted sum of a few neighbours.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::onnx {
namespace {

struct Rules {
    std::string_view mode;         // nearest, linear, cubic
    std::string_view coordinates;  // coordinate_transformation_mode
    std::string_view nearest;
    double cubic_a;
    bool excludes_outside;
    bool is_antialiased;
    double outside;  // extrapolation_value
};

struct AxisPlan {
    int64_t length;  // of the input
    int64_t outputs;
    double scale;
    double start{0};  // of the region of interest, as a share of the axis
    double end{1};
};

// Where output i lies in the input.
double SourceOf(const Rules& rules, const AxisPlan& p, int64_t i) {
    const auto x = static_cast<double>(i);
    const auto length = static_cast<double>(p.length);
    const double exact = p.scale * length;  // the outputs, before they are rounded down
    const std::string_view c = rules.coordinates;
    if (c == "half_pixel" || (c == "pytorch_half_pixel" && p.outputs > 1)) {
        return (x + 0.5) / p.scale - 0.5;
    }
    if (c == "pytorch_half_pixel") return 0;
    if (c == "half_pixel_symmetric") {
        const double adjustment = static_cast<double>(p.outputs) / exact;
        return length / 2 * (1 - adjustment) + (x + 0.5) / p.scale - 0.5;
    }
    if (c == "align_corners") return p.outputs == 1 ? 0 : x * (length - 1) / (exact - 1);
    if (c == "asymmetric") return x / p.scale;
    if (c == "tf_half_pixel_for_nn") return (x + 0.5) / p.scale;
    if (c == "tf_crop_and_resize") {
        if (p.outputs == 1) return 0.5 * (p.start + p.end) * (length - 1);
        return p.start * (length - 1) + x * (p.end - p.start) * (length - 1) / (exact - 1);
    }
    throw ValueError{"attribute coordinate_transformation_mode is \"", c, "\", which is unknown"};
}

// A whole number; far outside of all axes, but with neighbours, if it is too large, or NaN.
int64_t ToPlace(double x) {
    constexpr int64_t kEnd = int64_t{1} << 52;
    if (!(x > -static_cast<double>(kEnd))) return -kEnd;
    return x < static_cast<double>(kEnd) ? static_cast<int64_t>(x) : kEnd;
}

int64_t NearestOf(const Rules& rules, double x) {
    if (rules.nearest == "round_prefer_floor") return ToPlace(std::ceil(x - 0.5));
    if (rules.nearest == "round_prefer_ceil") return ToPlace(std::floor(x + 0.5));
    if (rules.nearest == "floor") return ToPlace(std::floor(x));
    if (rules.nearest == "ceil") return ToPlace(std::ceil(x));
    throw ValueError{"attribute nearest_mode is \"", rules.nearest, "\", which is unknown"};
}

// The weight of a neighbour at a distance.
double WeightOf(const Rules& rules, double distance) {
    const double d = std::abs(distance);
    if (rules.mode == "linear") return std::max(0.0, 1 - d);
    const double a = rules.cubic_a;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// One axis, and where its outputs lie in the input.
struct ResizedAxis {
    const Array& x;
    int8_t axis;
    const Rules& rules;
    const AxisPlan& plan;
    std::vector<double> sources;

    ResizedAxis(const Array& x, int8_t axis, const Rules& rules, const AxisPlan& plan)
        : x{x}, axis{axis}, rules{rules}, plan{plan} {
        sources.reserve(static_cast<size_t>(plan.outputs));  // fails at once if they are too many
        for (int64_t i = 0; i < plan.outputs; ++i) sources.push_back(SourceOf(rules, plan, i));
    }

    int64_t Clamped(int64_t place) const { return std::clamp<int64_t>(place, 0, plan.length - 1); }
    Array Taken(const std::vector<int64_t>& places) const {
        const Array indices = Array::FromHost(places, Shape{plan.outputs}, x.device());
        return Take(x, indices, axis, IndexBoundsMode::kRaise);
    }
    // Something of each output, which is broadcast along the other axes.
    template <typename T>
    Array Along(const std::vector<T>& values) const {
        Shape along = Shape::Filled(x.ndim(), 1);
        along[axis] = plan.outputs;
        return Array::FromHost(values, along, x.device());
    }
};

Array TakeNearest(const ResizedAxis& line) {
    std::vector<int64_t> places;
    for (const double source : line.sources) {
        // Scales are floats: 0.2 of them is a little more, and would miss what ties.
        places.push_back(line.Clamped(NearestOf(line.rules, static_cast<float>(source))));
    }
    return line.Taken(places);
}

// Neighbour k of all outputs is one gather.
Array Interpolate(const ResizedAxis& line) {
    const Rules& rules = line.rules;
    const size_t n = line.sources.size();
    const double reach = rules.mode == "linear" ? 1 : 2;
    const double zoom = rules.is_antialiased ? std::min(line.plan.scale, 1.0) : 1;
    const auto half = static_cast<int64_t>(std::ceil(reach / zoom));
    std::vector<std::vector<double>> weights;
    std::vector<std::vector<int64_t>> places;
    std::vector<double> totals(n, 0);
    for (int64_t k = -half; k <= half; ++k) {
        std::vector<double>& w = weights.emplace_back(n);
        std::vector<int64_t>& at = places.emplace_back(n);
        for (size_t i = 0; i < n; ++i) {
            const double source = line.sources[i];
            const int64_t place = ToPlace(std::floor(source)) + k;
            at[i] = line.Clamped(place);
            w[i] = WeightOf(rules, (static_cast<double>(place) - source) * zoom);
            if (rules.excludes_outside && place != at[i]) w[i] = 0;
            totals[i] += w[i];
        }
    }
    Array y;
    for (size_t k = 0; k < weights.size(); ++k) {
        std::vector<double>& w = weights[k];
        const bool is_needed = y.is_null() && k + 1 == weights.size();
        if (!is_needed && std::ranges::all_of(w, [](double v) { return v == 0; })) continue;
        for (size_t i = 0; i < n; ++i) w[i] /= totals[i];
        const Array part = line.Taken(places[k]) * AsType(line.Along(w), line.x.dtype());
        y = y.is_null() ? part : y + part;
    }
    return y;
}

Array ResizeAxis(const Array& x, int8_t axis, const Rules& rules, const AxisPlan& plan) {
    const ResizedAxis line{x, axis, rules, plan};
    if (plan.outputs == 0) return line.Taken({});
    const Array y = rules.mode == "nearest" ? TakeNearest(line) : Interpolate(line);
    if (rules.coordinates != "tf_crop_and_resize") return y;
    std::vector<bool> is_inside;
    for (const double source : line.sources) {
        is_inside.push_back(source >= 0 && source <= static_cast<double>(plan.length - 1));
    }
    return Where(line.Along(is_inside), y, rules.outside);
}

Array ResizeAxes(const Call& call, const Array& x, const std::vector<int64_t>& axes,
                 const Rules& rules, const std::vector<AxisPlan>& plans) {
    if (rules.mode != "nearest" && rules.mode != "linear" && rules.mode != "cubic") {
        throw ValueError{"attribute mode is \"", rules.mode,
                         "\", expected nearest, linear or cubic"};
    }
    const bool is_exact = rules.mode == "nearest" || IsFloat(x.dtype());
    Array y = is_exact ? x : AsType(x, Dtype::kFloat32);
    for (size_t i = 0; i < axes.size(); ++i) {
        const AxisPlan& p = plans[i];
        if (!(p.scale > 0) || p.outputs < 0 || p.outputs > int64_t{1} << 40) {
            throw ValueError{"an axis of length ", p.length, " can't be scaled by ", p.scale};
        }
        if (p.outputs > 0 && p.length == 0) {
            throw DimensionError{"an axis of length 0 can't be resized to ", p.outputs};
        }
        const bool is_same = p.outputs == p.length && p.scale == 1 && p.start == 0 && p.end == 1;
        if (!is_same) y = ResizeAxis(y, call.Axis(axes[i], x.ndim()), rules, p);
    }
    return AsType(y, x.dtype(), false);
}

// `rounding` is added to the number of outputs before it is rounded down.
AxisPlan PlanOf(int64_t length, double scale, double rounding = 0) {
    const double outputs = std::floor(static_cast<double>(length) * scale + rounding);
    const bool fits = outputs >= 0 && outputs < 0x1p41;
    return {length, fits ? static_cast<int64_t>(outputs) : -1, scale};
}

std::vector<int64_t> AllAxes(const Array& x) {
    std::vector<int64_t> axes(static_cast<size_t>(x.ndim()));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

// Versions 7 to 10, and Resize of version 10.
Array Upsample(const Call& call) {
    const Array x = call.X(0);
    std::vector<double> scales;
    if (call.HasAttribute("scales")) {
        const std::vector<float> list = call.FloatList("scales");
        scales.assign(list.begin(), list.end());
    } else {
        scales = call.Doubles(1);
    }
    const std::vector<int64_t> axes = AllAxes(x);
    if (scales.size() != axes.size()) {
        throw DimensionError{"scales has ", scales.size(), " elements, expected ", axes.size()};
    }
    std::vector<AxisPlan> plans;
    for (size_t i = 0; i < axes.size(); ++i) {
        plans.push_back(PlanOf(x.shape()[axes[i]], scales[i]));
    }
    const std::string_view mode = call.String("mode", "nearest");
    const Rules rules{
        mode == "bilinear" ? "linear" : mode, "asymmetric", "floor", 0, false, false, 0};
    return ResizeAxes(call, x, axes, rules, plans);
}

// The scale that all axes get, if the policy keeps the aspect ratio; else 0.
double CommonScale(const Call& call, const Array& x, const std::vector<int64_t>& axes,
                   const std::vector<int64_t>& sizes) {
    const std::string_view policy = call.String("keep_aspect_ratio_policy", "stretch");
    double common = 0;
    if (policy == "stretch") return common;
    for (size_t i = 0; i < axes.size(); ++i) {
        const int64_t length = x.shape()[call.Axis(axes[i], x.ndim())];
        const double s = static_cast<double>(sizes[i]) / static_cast<double>(length);
        const bool is_better = policy == "not_larger" ? s < common : s > common;
        if (i == 0 || is_better) common = s;
    }
    return common;
}

std::vector<AxisPlan> PlansOf(const Call& call, const Array& x, const std::vector<int64_t>& axes) {
    const auto scales = call.Has(2) ? call.Doubles(2) : std::vector<double>{};
    const auto sizes = call.Has(3) ? call.Ints(3) : std::vector<int64_t>{};
    if ((scales.empty() ? sizes.size() : scales.size()) != axes.size()) {
        throw DimensionError{
            "scales and sizes have ", scales.size(), " and ",          sizes.size(),
            " elements, expected ",   axes.size(),   " of one of them"};
    }
    const double common = scales.empty() ? CommonScale(call, x, axes, sizes) : 0;
    std::vector<AxisPlan> plans;
    for (size_t i = 0; i < axes.size(); ++i) {
        const int64_t length = x.shape()[call.Axis(axes[i], x.ndim())];
        if (!scales.empty()) {
            plans.push_back(PlanOf(length, scales[i]));
        } else if (common > 0) {
            plans.push_back(PlanOf(length, common, 0.5));
        } else {
            const double scale = static_cast<double>(sizes[i]) / static_cast<double>(length);
            plans.push_back({length, sizes[i], scale});
        }
    }
    return plans;
}

Array Resize(const Call& call) {
    const Array x = call.X(0);
    std::vector<int64_t> axes = call.IntList("axes");
    if (axes.empty()) axes = AllAxes(x);
    const Rules rules{call.String("mode", "nearest"),
                      call.String("coordinate_transformation_mode", "half_pixel"),
                      call.String("nearest_mode", "round_prefer_floor"),
                      call.Float("cubic_coeff_a", -0.75),
                      call.Int("exclude_outside", 0) != 0,
                      call.Int("antialias", 0) != 0,
                      call.Float("extrapolation_value", 0)};
    std::vector<AxisPlan> plans = PlansOf(call, x, axes);
    if (rules.coordinates == "tf_crop_and_resize") {
        const std::vector<double> roi = call.Doubles(1);
        if (roi.size() != 2 * axes.size()) {
            throw DimensionError{"roi has ", roi.size(), " elements, expected ", 2 * axes.size()};
        }
        for (size_t i = 0; i < axes.size(); ++i) {
            plans[i].start = roi[i];
            plans[i].end = roi[i + axes.size()];
        }
    }
    return ResizeAxes(call, x, axes, rules, plans);
}

constexpr Operator kOperators[] = {
    {"Resize", 10, 10, &Run<Upsample>},
    CX_OPERATOR_SINCE(Resize, 11),
    {"Upsample", 7, 10, &Run<Upsample>},
};

}  // namespace

std::span<const Operator> ResizeOperators() { return kOperators; }

}  // namespace chainerx::onnx

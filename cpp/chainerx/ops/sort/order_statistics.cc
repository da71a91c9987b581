#include "chainerx/ops/sort/order_statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx {
namespace {

constexpr std::string_view kMethodNames[] = {"inverted_cdf",
                                             "averaged_inverted_cdf",
                                             "closest_observation",
                                             "interpolated_inverted_cdf",
                                             "hazen",
                                             "weibull",
                                             "linear",
                                             "median_unbiased",
                                             "normal_unbiased",
                                             "lower",
                                             "higher",
                                             "midpoint",
                                             "nearest"};

// A position between two elements of a sorted row, and the weight of the second.
struct Place {
    int64_t low;
    int64_t high;
    double share;
};

// Returns the fractional index of a quantile, counted from 0.
double FractionalPlace(QuantileMethod method, double n, double q) {
    const auto between = [&](double alpha, double beta) {
        return n * q + (alpha + q * (1 - alpha - beta)) - 1;
    };
    switch (method) {
        case QuantileMethod::kInvertedCdf:
        case QuantileMethod::kAveragedInvertedCdf:
            return n * q - 1;
        case QuantileMethod::kClosestObservation:
            return n * q - 1.5;
        case QuantileMethod::kInterpolatedInvertedCdf:
            return between(0, 1);
        case QuantileMethod::kHazen:
            return between(0.5, 0.5);
        case QuantileMethod::kWeibull:
            return between(0, 0);
        case QuantileMethod::kMedianUnbiased:
            return between(1.0 / 3, 1.0 / 3);
        case QuantileMethod::kNormalUnbiased:
            return between(3.0 / 8, 3.0 / 8);
        default:
            return (n - 1) * q;
    }
}

// Returns the method's weight of the second element, from the distance to the first.
double Share(QuantileMethod method, double floor, double distance) {
    switch (method) {
        case QuantileMethod::kInvertedCdf:
            return distance > 0 ? 1 : 0;
        case QuantileMethod::kAveragedInvertedCdf:
            return distance > 0 ? 1 : 0.5;
        // the even one, counted from 1, of two equally near ones
        case QuantileMethod::kClosestObservation:
            return distance > 0 || std::fmod(floor, 2) == 0 ? 1 : 0;
        case QuantileMethod::kLower:
            return 0;
        case QuantileMethod::kHigher:
            return distance > 0 ? 1 : 0;
        case QuantileMethod::kMidpoint:
            return distance > 0 ? 0.5 : 0;
        case QuantileMethod::kNearest:  // rounds as rint()
            return std::nearbyint(floor + distance) - floor;
        default:
            return distance;
    }
}

Place FindPlace(QuantileMethod method, int64_t n, double q) {
    const double place = FractionalPlace(method, static_cast<double>(n), q);
    const double floor = std::floor(place);
    const double share = Share(method, floor, place - floor);
    const auto clip = [n](double i) {
        return static_cast<int64_t>(std::clamp(i, 0.0, static_cast<double>(n - 1)));
    };
    if (share == 0 || share == 1) return {clip(floor + share), clip(floor + share), 0};
    return {clip(floor), clip(floor + 1), share};
}

// Returns the derivative of the second element's weight in q.
double ShareSlope(QuantileMethod method, int64_t n) {
    switch (method) {
        case QuantileMethod::kInterpolatedInvertedCdf:
        case QuantileMethod::kHazen:
        case QuantileMethod::kWeibull:
        case QuantileMethod::kLinear:
        case QuantileMethod::kMedianUnbiased:
        case QuantileMethod::kNormalUnbiased: {
            const auto size = static_cast<double>(n);
            return FractionalPlace(method, size, 1) - FractionalPlace(method, size, 0);
        }
        default:
            return 0;  // the result is an element, or the middle of two
    }
}

// The operand with the reduced axes merged into the last one.
struct Rows {
    Array x;  // in the graph of the operand
    int64_t n{0};
    Shape shape;  // of the result
};

// Returns the remaining axes, then the reduced ones.
Axes ReducedLast(const Axes& sorted, int8_t ndim) {
    Axes order;
    for (int8_t i = 0; i < ndim; ++i) {
        if (std::find(sorted.begin(), sorted.end(), i) == sorted.end()) order.push_back(i);
    }
    for (const int8_t a : sorted) order.push_back(a);
    return order;
}

Rows ToRows(const char* op, const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = NormalizeAxes(op, axes, x.ndim());
    const Axes order = ReducedLast(sorted, x.ndim());
    Rows rows;
    rows.n = internal::CountReduced(x.shape(), sorted);
    rows.shape = ReduceShape(x.shape(), sorted, keepdims);
    const Array from = AsType(x, FloatResult(x.dtype()), false);
    rows.x = Reshape(internal::Permute(from, order), {rows.shape.GetTotalSize(), rows.n});
    return rows;
}

void CheckProbabilities(const char* op, const std::vector<double>& q, double most) {
    for (const double p : q) {
        if (!(p >= 0 && p <= most)) {
            throw ValueError{op, ": q is ", p, ", expected 0 to ", static_cast<int64_t>(most)};
        }
    }
}

// Converts (rows, m) to the shape of the result, with an axis of quantiles in front.
Array ToResult(const Array& y, const Shape& shape, Dtype dtype) {
    Shape with_axis{y.shape()[1]};
    for (const int64_t d : shape) with_axis.push_back(d);
    return Reshape(AsContiguous(Transpose(AsType(y, dtype, false))), with_axis);
}

// a + share (b - a), computed from the nearer end, so that share 1 gives b; in the middle, the
// mean, which is infinite if one of them is. Equal ends, which may be infinite, are returned
// unchanged.
Array Interpolate(const Array& a, const Array& b, const Array& share) {
    const Array step = Subtract(b, a);
    const Array from_low = Add(a, Multiply(step, share));
    const Array from_high = Subtract(b, Multiply(step, Subtract(Scalar{1}, share)));
    const Array mean = Add(Multiply(a, Scalar{0.5}), Multiply(b, Scalar{0.5}));
    const Array y = Where(Less(share, Scalar{0.5}), from_low, from_high);
    return Where(Equal(a, b), a, Where(Equal(share, Scalar{0.5}), mean, y));
}

// The probabilities, and the dependence of results on them.
struct Probabilities {
    std::vector<double> values;
    Array change{};  // zeros in the graph of the probabilities; null outside of graphs
};

// Makes y depend on the probabilities, with the slope from `low` to `high` times `growth`, the
// derivative of the weights. The slope between infinite elements counts as 0.
Array WithChange(const Array& y, const Array& change, const Array& low, const Array& high,
                 const Array& growth) {
    const Array step = Subtract(high, low);
    const Array slope =
        Multiply(Where(Isfinite(internal::Detached(step)), step, Scalar{0}), growth);
    return Add(y, Multiply(AsType(change, y.dtype(), false), slope));
}

// Returns elements of sorted rows. Complex numbers are ordered by real, then by imaginary parts.
Array Chosen(const char* op, const Array& rows, const std::vector<int64_t>& places) {
    if (!IsComplex(rows.dtype())) return internal::SelectSorted(op, rows, 1, places);
    const Shape shape{static_cast<int64_t>(places.size())};
    return Take(Sort(rows, int8_t{1}), Array::FromHost(places, shape, rows.device()), 1);
}

// Returns quantiles of rows without NaN.
Array RowQuantiles(const char* op, const Rows& rows, const Probabilities& q,
                   QuantileMethod method) {
    std::vector<Place> places;
    std::vector<int64_t> needed;
    bool interpolates = false;
    for (const double p : q.values) {
        places.push_back(FindPlace(method, rows.n, p));
        needed.push_back(places.back().low);
        needed.push_back(places.back().high);
        interpolates |= places.back().share != 0;
    }
    needed.push_back(rows.n - 1);  // a NaN would be last
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());

    Device& device = rows.x.device();
    const Array chosen = Chosen(op, rows.x, needed);
    const auto pick = [&](int64_t Place::* which) {
        std::vector<int64_t> at;
        for (const Place& place : places) {
            at.push_back(std::lower_bound(needed.begin(), needed.end(), place.*which) -
                         needed.begin());
        }
        return Take(chosen, Array::FromHost(at, Shape{static_cast<int64_t>(at.size())}, device), 1);
    };
    const Dtype wide = internal::WideDtype(rows.x.dtype());
    Array y = AsType(pick(&Place::low), wide, false);
    if (interpolates) {
        std::vector<double> shares;
        for (const Place& place : places) shares.push_back(place.share);
        const Array share =
            AsType(Array::FromHost(shares, Shape{static_cast<int64_t>(shares.size())}, device),
                   RealDtype(wide));
        const Array low = y;
        const Array high = AsType(pick(&Place::high), wide, false);
        y = Interpolate(low, high, share);
        if (!q.change.is_null()) {
            y = WithChange(y, q.change, low, high,
                           Full(Shape{}, Scalar{ShareSlope(method, rows.n)}, y.dtype(), device));
        }
    } else if (!q.change.is_null()) {
        y = Add(y, Multiply(AsType(q.change, wide, false), Scalar{0}));
    }
    const int64_t last = static_cast<int64_t>(needed.size()) - 1;
    const ArrayIndex items[] = {Slice{}, Slice{last, last + 1}};
    const Array largest = At(chosen, items);
    return Where(Isnan(internal::Detached(largest)), AsType(largest, wide, false), y);
}

// Returns quantiles of rows with different numbers of elements, since NaN is sorted to the end.
Array RowNanQuantiles(const Rows& rows, const Probabilities& q, QuantileMethod method) {
    Device& device = rows.x.device();
    const Array is_number = LogicalNot(Isnan(internal::Detached(rows.x)));
    const std::vector<int64_t> counts = CountNonzero(is_number, Axes{1}).ToHost<int64_t>();
    std::vector<int64_t> low;
    std::vector<int64_t> high;
    std::vector<double> shares;
    std::vector<double> growth;
    for (const int64_t n : counts) {
        growth.push_back(ShareSlope(method, std::max<int64_t>(n, 1)));
        for (const double p : q.values) {
            // A row without numbers gives its first element, which is NaN.
            const Place place = FindPlace(method, std::max<int64_t>(n, 1), p);
            low.push_back(place.low);
            high.push_back(place.high);
            shares.push_back(place.share);
        }
    }
    const Shape shape{static_cast<int64_t>(counts.size()), static_cast<int64_t>(q.values.size())};
    const Dtype wide = internal::WideDtype(rows.x.dtype());
    const Array sorted = Sort(rows.x, int8_t{1});
    const auto pick = [&](const std::vector<int64_t>& at) {
        return AsType(TakeAlongAxis(sorted, Array::FromHost(at, shape, device), int8_t{1}), wide,
                      false);
    };
    const Array share = AsType(Array::FromHost(shares, shape, device), RealDtype(wide));
    const Array first = pick(low);
    const Array second = pick(high);
    const Array y = Interpolate(first, second, share);
    if (q.change.is_null()) return y;
    return WithChange(y, q.change, first, second,
                      AsType(Array::FromHost(growth, Shape{shape[0], 1}, device), y.dtype()));
}

Array Quantiles(const char* op, const Array& x, const Probabilities& q, const OptionalAxes& axes,
                QuantileMethod method, bool keepdims, bool skips_nan) {
    const Rows rows = ToRows(op, x, axes, keepdims);
    const Dtype dtype = rows.x.dtype();
    const int64_t size = rows.shape.GetTotalSize();
    const auto count = static_cast<int64_t>(q.values.size());
    if (size == 0 || count == 0 || rows.n == 0) {
        // Rows without elements give NaN; it is in the graph, as any result.
        Array none = Zeros({size, count}, dtype, x.device());
        if (!q.change.is_null()) {
            none = Add(none, Multiply(AsType(q.change, dtype, false), Scalar{0}));
        }
        return ToResult(Add(none, Mean(rows.x, Axes{1}, true)), rows.shape, dtype);
    }
    const Array y =
        skips_nan ? RowNanQuantiles(rows, q, method) : RowQuantiles(op, rows, q, method);
    return ToResult(y, rows.shape, dtype);
}

// Reshapes the weights to rows, as x, in float64.
Array ToRowWeights(const char* op, const Array& x, const Array& weights, const OptionalAxes& axes,
                   const Rows& rows) {
    CheckSameDevice(op, x.device(), weights.device());
    internal::CheckReal(op, weights);
    const Axes sorted = NormalizeAxes(op, axes, x.ndim());
    const Array w = AsType(internal::Detached(weights), Dtype::kFloat64, false);
    if (w.GetTotalSize() != 0 && AMin(w).Item<double>() < 0) {
        throw ValueError{op, ": weights holds ", AMin(w).Item<double>(), ", expected 0 or more"};
    }
    const Array total = Sum(w, w.shape() == x.shape() ? OptionalAxes{sorted} : std::nullopt);
    if (total.GetTotalSize() != 0 && rows.n != 0 &&
        !All(LogicalAnd(Isfinite(total), Greater(total, Scalar{0}))).Item<bool>()) {
        throw ValueError{op, ": weights of a row add up to 0, or are not finite"};
    }
    const Shape all{rows.shape.GetTotalSize(), rows.n};
    if (w.shape() == x.shape()) {
        return Reshape(internal::Permute(w, ReducedLast(sorted, x.ndim())), all);
    }
    const internal::NamedAxes named = internal::NameAxes(op, axes, x);
    if (!axes || w.shape() != named.shape) {
        throw DimensionError{op,        ": weights has shape ",  w.shape(), ", expected ",
                             x.shape(), " of a, or that of axis"};
    }
    return BroadcastTo(Reshape(internal::Permute(w, named.order), {1, rows.n}), all);
}

Array WeightedQuantiles(const char* op, const Array& x, const Probabilities& q,
                        const Array& weights, const OptionalAxes& axes, bool keepdims,
                        bool skips_nan) {
    internal::CheckReal(op, x);
    const Rows rows = ToRows(op, x, axes, keepdims);
    Array w = ToRowWeights(op, x, weights, axes, rows);
    const Dtype dtype = rows.x.dtype();
    const Array detached = internal::Detached(rows.x);
    const int64_t size = rows.shape.GetTotalSize();
    const auto count = static_cast<int64_t>(q.values.size());
    if (size == 0 || count == 0 || rows.n == 0) {
        return Quantiles(op, x, q, axes, QuantileMethod::kInvertedCdf, keepdims, skips_nan);
    }
    if (skips_nan) w = Where(Isnan(detached), Scalar{0}, w);
    const Array order = ArgSort(detached, int8_t{1});
    const Array running = CumSum(TakeAlongAxis(w, order, int8_t{1}), int8_t{1});
    const ArrayIndex last[] = {Slice{}, Slice{rows.n - 1, rows.n}};
    const Array share = ExpandDims(Divide(running, At(running, last)), Axes{1});
    // Elements of weight 0 come before every share, even before share 0.
    const Array wanted =
        Reshape(Array::FromHost(q.values, Shape{count}, x.device()), {1, count, 1});
    const Array before = LogicalOr(Less(share, wanted), Equal(share, Scalar{0}));
    const Array place = Minimum(CountNonzero(before, Axes{2}), Scalar{rows.n - 1});
    Array y = TakeAlongAxis(rows.x, TakeAlongAxis(order, place, int8_t{1}), int8_t{1});
    if (!skips_nan) {  // it is sorted to the end
        const Array largest = TakeAlongAxis(rows.x, At(order, last), int8_t{1});
        y = Where(Isnan(internal::Detached(largest)), largest, y);
    }
    if (!q.change.is_null()) y = Add(y, Multiply(AsType(q.change, dtype, false), Scalar{0}));
    return ToResult(y, rows.shape, dtype);
}

Array First(const Array& y) { return Reshape(y, Shape{y.shape().begin() + 1, y.shape().end()}); }

// Converts probabilities from 0 to `most`, 1 or 100.
Probabilities ToProbabilities(const char* op, std::vector<double> q, int most) {
    CheckProbabilities(op, q, most);
    if (most != 1) {
        for (double& p : q) p /= most;
    }
    return {std::move(q)};
}

Probabilities ToProbabilities(const char* op, const Array& x, const Array& q, int most) {
    if (IsComplex(q.dtype())) throw DtypeError{op, ": q must be real numbers, got ", q.dtype()};
    Probabilities p = ToProbabilities(op, q.ToHost<double>(), most);
    if (internal::IsBackpropRequiredAny(q)) {
        const Array here = Reshape(q.ToDevice(x.device()), {q.GetTotalSize()});
        p.change = Subtract(here, internal::Detached(here));
        if (most != 1) p.change = Divide(p.change, Scalar{static_cast<double>(most)});
    }
    return p;
}

// Replaces the first axis by the axes of the probabilities.
Array OfShape(const Array& y, const Shape& shape) {
    Shape all = shape;
    for (int8_t i = 1; i < y.ndim(); ++i) all.push_back(y.shape()[i]);
    return Reshape(y, all);
}

}  // namespace

QuantileMethod GetQuantileMethod(const char* op, std::string_view name) {
    const auto* at = std::find(std::begin(kMethodNames), std::end(kMethodNames), name);
    if (at != std::end(kMethodNames)) {
        return static_cast<QuantileMethod>(at - std::begin(kMethodNames));
    }
    std::string known;
    for (const std::string_view method : kMethodNames) {
        known += std::string{known.empty() ? "" : ", "} + std::string{method};
    }
    throw ValueError{op, ": method is '", name, "', expected one of ", known};
}

Array Median(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return First(Quantiles("median", x, {{0.5}}, axes, QuantileMethod::kLinear, keepdims, false));
}
Array NanMedian(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return First(Quantiles("nanmedian", x, {{0.5}}, axes, QuantileMethod::kLinear, keepdims, true));
}

#define CX_QUANTILE(Name, op, most, skips_nan)                                                  \
    Array Name(const Array& x, const std::vector<double>& q, const OptionalAxes& axes,          \
               QuantileMethod method, bool keepdims) {                                          \
        const Probabilities p = ToProbabilities(op, q, most);                                   \
        internal::CheckReal(op, x);                                                             \
        return Quantiles(op, x, p, axes, method, keepdims, skips_nan);                          \
    }                                                                                           \
    Array Name(const Array& x, const std::vector<double>& q, const Array& weights,              \
               const OptionalAxes& axes, bool keepdims) {                                       \
        const Probabilities p = ToProbabilities(op, q, most);                                   \
        return WeightedQuantiles(op, x, p, weights, axes, keepdims, skips_nan);                 \
    }                                                                                           \
    Array Name(const Array& x, const Array& q, const OptionalAxes& axes, QuantileMethod method, \
               bool keepdims) {                                                                 \
        const Probabilities p = ToProbabilities(op, x, q, most);                                \
        internal::CheckReal(op, x);                                                             \
        return OfShape(Quantiles(op, x, p, axes, method, keepdims, skips_nan), q.shape());      \
    }                                                                                           \
    Array Name(const Array& x, const Array& q, const Array& weights, const OptionalAxes& axes,  \
               bool keepdims) {                                                                 \
        const Probabilities p = ToProbabilities(op, x, q, most);                                \
        return OfShape(WeightedQuantiles(op, x, p, weights, axes, keepdims, skips_nan),         \
                       q.shape());                                                              \
    }                                                                                           \
    Array Name(const Array& x, double q, const OptionalAxes& axes, QuantileMethod method,       \
               bool keepdims) {                                                                 \
        return First(Name(x, std::vector<double>{q}, axes, method, keepdims));                  \
    }
CX_QUANTILE(Quantile, "quantile", 1, false)
CX_QUANTILE(NanQuantile, "nanquantile", 1, true)
CX_QUANTILE(Percentile, "percentile", 100, false)
CX_QUANTILE(NanPercentile, "nanpercentile", 100, true)
#undef CX_QUANTILE

}  // namespace chainerx

#include "chainerx/ops/signal/series.h"

#include <algorithm>
#include <cmath>

#include "chainerx/core/interrupt.h"
#include "chainerx/ops/elementwise/power.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"

namespace chainerx {
namespace {

using internal::Join;
using internal::PartAlong;

// Returns the differences of elements 1, 2, ... and their predecessors.
Array Differences(const Array& x, int8_t axis) {
    const Array next = PartAlong(x, axis, 1);
    const Array before = PartAlong(x, axis, 0, std::max<int64_t>(x.shape()[axis] - 1, 0));
    return IsBool(x.dtype()) ? NotEqual(next, before) : next - before;
}

// Converts values to join to x on the axis: a number is broadcast to the width of x.
Array Edge(const Array& edge, const Array& x, int8_t axis) {
    if (edge.ndim() != 0) return edge;
    Shape shape = x.shape();
    shape[axis] = 1;
    return BroadcastTo(edge, shape);
}

// Reshapes a vector to lie along one of `ndim` axes.
Array Along(const Array& v, int8_t axis, int8_t ndim) {
    Shape shape;
    shape.resize(ndim, 1);
    shape[axis] = v.shape()[0];
    return Reshape(v, shape);
}

}  // namespace

Array Diff(const Array& x, int64_t n, int8_t axis, const std::optional<Array>& prepend,
           const std::optional<Array>& append) {
    if (n < 0) throw ValueError{"diff: n is ", n, ", expected 0 or more"};
    const int8_t a = NormalizeAxis("diff", axis, x.ndim());
    if (n == 0) return x;
    Array y = x;
    if (prepend) y = Join({Edge(*prepend, x, a), y}, a, "diff");
    if (append) y = Join({y, Edge(*append, x, a)}, a, "diff");
    for (; n > 0; --n) {
        y = Differences(y, a);
        if (y.shape()[a] == 0) break;
    }
    return y;
}

Array Ediff1d(const Array& x, const std::optional<Array>& to_end,
              const std::optional<Array>& to_begin) {
    if (IsBool(x.dtype())) throw DtypeError{"ediff1d: ary must be of numbers, got bool"};
    std::vector<Array> parts{Differences(Ravel(x), 0)};
    for (const std::optional<Array>* edge : {&to_begin, &to_end}) {
        if (!*edge) continue;
        if (GetCategory((*edge)->dtype()) > GetCategory(x.dtype())) {
            throw DtypeError{"ediff1d: ",       edge == &to_end ? "to_end" : "to_begin",
                             " is of ",         (*edge)->dtype(),
                             ", the array of ", x.dtype()};
        }
        parts.insert(edge == &to_end ? parts.end() : parts.begin(),
                     AsType(Ravel(**edge), x.dtype(), false));
    }
    return parts.size() == 1 ? parts[0] : Join(parts, 0, "ediff1d");
}

namespace {

Array Divided(const Array& x, const ArrayOrScalar& by) {
    if (const Scalar* s = std::get_if<Scalar>(&by)) return x / *s;
    return x / std::get<Array>(by);
}

// The gradient for equal distances h.
Array GradientByDistance(const Array& f, int8_t a, const ArrayOrScalar& h, int edge_order) {
    const int64_t n = f.shape()[a];
    const auto at = [&](int64_t i) { return PartAlong(f, a, i, i + 1); };
    std::vector<Array> parts;
    if (edge_order == 1) {
        parts.push_back(at(1) - at(0));
    } else {
        parts.push_back(at(1) * 2 - at(0) * 1.5 - at(2) * 0.5);
    }
    if (n > 2) parts.push_back((PartAlong(f, a, 2) - PartAlong(f, a, 0, n - 2)) * 0.5);
    if (edge_order == 1) {
        parts.push_back(at(n - 1) - at(n - 2));
    } else {
        parts.push_back(at(n - 1) * 1.5 - at(n - 2) * 2 + at(n - 3) * 0.5);
    }
    return Divided(Join(parts, a, "gradient"), h);
}

// Returns the derivative at t of the parabola through three points; the outer ones are d1 before
// and d2 after the middle, from which t is measured.
Array OfParabola(const Array& f0, const Array& f1, const Array& f2, const Array& d1,
                 const Array& d2, const Array& t) {
    const Array slope1 = (f1 - f0) / d1;
    const Array slope2 = (f2 - f1) / d2;
    const Array curvature = (slope2 - slope1) / (d1 + d2);
    return (slope1 * d2 + slope2 * d1) / (d1 + d2) + curvature * t * 2;
}

Array GradientByCoordinates(const Array& f, int8_t a, const Array& x, int edge_order) {
    const int64_t n = f.shape()[a];
    const Array d = Along(Differences(x, 0), a, f.ndim());
    const auto at = [a](const Array& y, int64_t i) { return PartAlong(y, a, i, i + 1); };
    const auto parabola = [&](int64_t i, const Array& t) {  // i: the first of three points
        return OfParabola(at(f, i), at(f, i + 1), at(f, i + 2), at(d, i), at(d, i + 1), t);
    };
    std::vector<Array> parts;
    parts.push_back(edge_order == 1 ? (at(f, 1) - at(f, 0)) / at(d, 0) : parabola(0, -at(d, 0)));
    if (n > 2) {
        parts.push_back(OfParabola(PartAlong(f, a, 0, n - 2), PartAlong(f, a, 1, n - 1),
                                   PartAlong(f, a, 2), PartAlong(d, a, 0, n - 2),
                                   PartAlong(d, a, 1), Zeros({}, d.dtype(), d.device())));
    }
    parts.push_back(edge_order == 1 ? (at(f, n - 1) - at(f, n - 2)) / at(d, n - 2)
                                    : parabola(n - 3, at(d, n - 2)));
    return Join(parts, a, "gradient");
}

}  // namespace

std::vector<Array> Gradient(const Array& f, const std::vector<ArrayOrScalar>& spacing,
                            const OptionalAxes& axes, int edge_order) {
    static constexpr const char* kOp = "gradient";
    const Axes along = axes ? *axes : NormalizeAxes(kOp, axes, f.ndim());
    NormalizeAxes(kOp, along, f.ndim());  // for its errors
    if (edge_order != 1 && edge_order != 2) {
        throw ValueError{kOp, ": edge_order is ", edge_order, ", expected 1 or 2"};
    }
    if (spacing.size() > 1 && static_cast<int64_t>(spacing.size()) != along.size()) {
        throw DimensionError{kOp, ": ", spacing.size(), " spacings for ", along.size(), " axes"};
    }
    if (IsBool(f.dtype())) throw DtypeError{kOp, ": f must be of numbers, got bool"};
    const Array values = AsType(f, FloatResult(f.dtype()), false);
    std::vector<Array> out;
    for (int8_t k = 0; k < along.ndim(); ++k) {
        const int8_t a = NormalizeAxis(kOp, along[k], f.ndim());
        const int64_t n = f.shape()[a];
        if (n < edge_order + 1) {
            throw ValueError{kOp,       ": axis ",           static_cast<int>(a), " of shape ",
                             f.shape(), " is shorter than ", edge_order + 1};
        }
        const ArrayOrScalar h = spacing.empty()
                                    ? ArrayOrScalar{Scalar{1}}
                                    : spacing[spacing.size() == 1 ? 0 : static_cast<size_t>(k)];
        const Array* x = std::get_if<Array>(&h);
        if (x == nullptr || x->ndim() == 0) {
            out.push_back(GradientByDistance(values, a, h, edge_order));
            continue;
        }
        CheckSameDevice(kOp, f.device(), x->device());
        if (x->ndim() != 1 || x->shape()[0] != n) {
            throw DimensionError{kOp,          ": coordinates of shape ", x->shape(),
                                 " for axis ", static_cast<int>(a),       " of shape ",
                                 f.shape()};
        }
        const Array coordinates = AsType(*x, FloatResult(x->dtype()), false);
        out.push_back(GradientByCoordinates(values, a, coordinates, edge_order));
    }
    return out;
}

Array Trapezoid(const Array& y, const std::optional<Array>& x, const ArrayOrScalar& dx,
                int8_t axis) {
    const int8_t a = NormalizeAxis("trapezoid", axis, y.ndim());
    if (IsBool(y.dtype())) throw DtypeError{"trapezoid: y must be of numbers, got bool"};
    const Array f = AsType(y, FloatResult(y.dtype()), false);
    const int64_t n = f.shape()[a];
    const Array heights = PartAlong(f, a, 1) + PartAlong(f, a, 0, std::max<int64_t>(n - 1, 0));
    // Widths may have more axes than y: then their last axis is a different one.
    const auto total = [&](const Array& widths) {
        const Array areas = heights * widths;
        return Sum(areas, Axes{NormalizeAxis("trapezoid", axis, areas.ndim())});
    };
    if (!x) {
        const Array half = Sum(heights, Axes{a}) * 0.5;
        if (const Scalar* s = std::get_if<Scalar>(&dx)) return half * *s;
        const Array& d = std::get<Array>(dx);
        return d.ndim() == 0 ? half * d : total(d) * 0.5;
    }
    CheckSameDevice("trapezoid", y.device(), x->device());
    const Array places = AsType(*x, FloatResult(x->dtype()), false);
    const Array d = x->ndim() == 1
                        ? Along(Differences(places, 0), a, y.ndim())
                        : Differences(places, NormalizeAxis("trapezoid", axis, x->ndim()));
    return total(d) * 0.5;
}

Array Unwrap(const Array& p, std::optional<double> discont, int8_t axis, double period) {
    static constexpr const char* kOp = "unwrap";
    const int8_t a = NormalizeAxis(kOp, axis, p.ndim());
    if (!(period > 0))
        throw ValueError{kOp, ": period is ", period, ", expected a positive number"};
    if (IsBool(p.dtype())) throw DtypeError{kOp, ": p must be of numbers, got bool"};
    const Array x = AsType(p, FloatResult(p.dtype()), false);
    if (x.shape()[a] < 2) return Copy(x);
    // The correction is constant between steps, so it has no derivative.
    const Array step = Differences(internal::Detached(x), a);
    const double half = period / 2;
    Array rest = Remainder(step + half, Scalar{period}) - half;
    rest = Where(LogicalAnd(rest == -half, step > 0), half, rest);
    const Array correction = Where(Absolute(step) < discont.value_or(half), 0, rest - step);
    return Join({PartAlong(x, a, 0, 1), PartAlong(x, a, 1) + CumSum(correction, a)}, a, kOp);
}

namespace {

Array Cumulative(const char* op, const Array& x, std::optional<int8_t> axis,
                 std::optional<Dtype> dtype, bool include_initial, double initial,
                 Array (*scan)(const Array&, std::optional<int8_t>)) {
    if (!axis && x.ndim() > 1) {
        throw ValueError{op, ": axis is needed for an array of shape ", x.shape()};
    }
    const Array line = AtLeast1D(x);
    const int8_t a = NormalizeAxis(op, axis.value_or(0), line.ndim());
    const Array y = scan(dtype ? AsType(line, *dtype, false) : line, a);
    const Array total = dtype ? AsType(y, *dtype, false) : y;
    if (!include_initial) return total;
    Shape shape = total.shape();
    shape[a] = 1;
    return Join({Full(shape, Scalar{initial}, total.dtype(), x.device()), total}, a, op);
}

}  // namespace

Array CumulativeSum(const Array& x, std::optional<int8_t> axis, std::optional<Dtype> dtype,
                    bool include_initial) {
    return Cumulative("cumulative_sum", x, axis, dtype, include_initial, 0, &CumSum);
}

Array CumulativeProd(const Array& x, std::optional<int8_t> axis, std::optional<Dtype> dtype,
                     bool include_initial) {
    return Cumulative("cumulative_prod", x, axis, dtype, include_initial, 1, &CumProd);
}

Array Polyval(const Array& p, const Array& x) {
    if (p.ndim() != 1) {
        throw DimensionError{"polyval: p has shape ", p.shape(), ", expected one dimension"};
    }
    CheckSameDevice("polyval", p.device(), x.device());
    const int64_t n = p.shape()[0];
    if (n == 0) return ZerosLike(x);
    const auto coefficient = [&](int64_t k) { return At(p, k); };
    Array y = coefficient(0);
    if (n == 1) return x * 0 + y;
    for (int64_t k = 1; k < n; ++k) {
        internal::CheckInterrupt();
        y = y * x + coefficient(k);
    }
    return y;
}

Array Vander(const Array& x, std::optional<int64_t> n, bool increasing) {
    if (x.ndim() != 1) {
        throw DimensionError{"vander: x has shape ", x.shape(), ", expected one dimension"};
    }
    const int64_t columns = n.value_or(x.shape()[0]);
    if (columns < 0) throw DimensionError{"vander: N is ", columns, ", expected 0 or more"};
    const int64_t rows = x.shape()[0];
    // Powers are cumulative products; the first factor is 1.
    const Array factors =
        BroadcastTo(ExpandDims(x, Axes{1}), {rows, std::max<int64_t>(columns - 1, 0)});
    Array y = CumProd(factors, int8_t{1});
    if (columns > 0) {
        y = Join({Ones({rows, 1}, y.dtype(), x.device()), y}, 1, "vander");
    }
    return increasing ? y : Copy(Flip(y, Axes{1}));
}

namespace {

// Returns numbers from 0 to 1, along a first axis before those of `shape`.
Array Shares(int64_t num, bool endpoint, Dtype dtype, const Shape& shape, Device& device) {
    return Along(Linspace(0, 1, num, endpoint, dtype, device), 0,
                 static_cast<int8_t>(shape.ndim() + 1));
}

// Moves the first axis to its place, and casts the elements, truncating fractions.
Array PlaceAxis(const char* op, const Array& y, int8_t axis, Dtype dtype) {
    return AsType(Moveaxis(y, Axes{0}, Axes{NormalizeAxis(op, axis, y.ndim())}), dtype, false);
}

// Returns the common dtype of the ends; DtypeError if `dtype` cannot hold it.
Dtype CommonOfEnds(const char* op, const Array& start, const Array& stop,
                   std::optional<Dtype> dtype) {
    CheckSameDevice(op, start.device(), stop.device());
    const Dtype common = FloatResult(PromoteTypes(start.dtype(), stop.dtype()));
    if (dtype && IsComplex(common) && !IsComplex(*dtype)) {
        throw DtypeError{op, ": dtype is ", *dtype, ", and the ends are complex"};
    }
    return common;
}

}  // namespace

Array Linspace(const Array& start, const Array& stop, int64_t num, bool endpoint,
               std::optional<Dtype> dtype, int8_t axis) {
    const Dtype common = CommonOfEnds("linspace", start, stop, dtype);
    const Dtype wide = internal::WideDtype(common);
    const Array from = AsType(start, wide, false);
    const Array to = AsType(stop, wide, false);
    const Shape shape = BroadcastShapes("linspace", start.shape(), stop.shape());
    const Array t = Shares(num, endpoint, RealDtype(wide), shape, start.device());
    Array y = from + (to - from) * t;
    // rounding must not miss the end
    if (endpoint && num > 1) y = Where(Equal(t, Scalar{1}), to, y);
    if (dtype && IsInt(*dtype) && !IsComplex(common)) y = Floor(y);
    return PlaceAxis("linspace", y, axis, dtype.value_or(common));
}

Array Logspace(double start, double stop, int64_t num, bool endpoint, double base, Dtype dtype,
               Device& device) {
    const Array exponents = Linspace(start, stop, num, endpoint, Dtype::kFloat64, device);
    return AsType(Power(Scalar{base}, exponents), dtype, false);
}

Array Logspace(const Array& start, const Array& stop, int64_t num, bool endpoint, const Array& base,
               std::optional<Dtype> dtype, int8_t axis) {
    static constexpr const char* kOp = "logspace";
    CheckSameDevice(kOp, start.device(), base.device());
    const Dtype common = PromoteTypes(CommonOfEnds(kOp, start, stop, dtype), base.dtype());
    CommonOfEnds(kOp, start, base, dtype);
    const Dtype wide = internal::WideDtype(common);
    const Shape shape =
        BroadcastShapes(kOp, BroadcastShapes(kOp, start.shape(), stop.shape()), base.shape());
    const Array exponents = Linspace(BroadcastTo(AsType(start, wide, false), shape),
                                     AsType(stop, wide, false), num, endpoint);
    return PlaceAxis(kOp, Power(AsType(base, wide, false), exponents), axis,
                     dtype.value_or(common));
}

Array Geomspace(const Array& start, const Array& stop, int64_t num, bool endpoint,
                std::optional<Dtype> dtype, int8_t axis) {
    static constexpr const char* kOp = "geomspace";
    const Dtype common = CommonOfEnds(kOp, start, stop, dtype);
    const Dtype wide = internal::WideDtype(common);
    const Array from = AsType(start, wide, false);
    const Array to = AsType(stop, wide, false);
    // Interpolates the logarithms of both ends, relative to the sign of the first, which for
    // complex numbers is a direction.
    const Array sign = from / Absolute(from);
    const Array exponents =
        Linspace(AsType(Log10(Absolute(from)), wide, false), Log10(to / sign), num, endpoint);
    Array y = sign * Power(Scalar{10}, exponents);
    // The ends are exact.
    const Shape shape = BroadcastShapes(kOp, start.shape(), stop.shape());
    const Array t = Shares(num, endpoint, RealDtype(wide), shape, start.device());
    y = Where(t == 0, from, y);
    if (endpoint && num > 1) y = Where(t == 1, to, y);
    return PlaceAxis(kOp, y, axis, dtype.value_or(common));
}

Array Geomspace(double start, double stop, int64_t num, bool endpoint, Dtype dtype,
                Device& device) {
    if (!(start * stop > 0)) {
        throw ValueError{"geomspace: start is ", start, " and stop ", stop,
                         ", expected numbers of one sign, and not 0"};
    }
    const double sign = start < 0 ? -1 : 1;
    const Array y = Logspace(std::log10(start * sign), std::log10(stop * sign), num, endpoint, 10.0,
                             Dtype::kFloat64, device) *
                    sign;
    // The ends are exact.
    if (num > 0) WritableAt(y, std::vector<ArrayIndex>{int64_t{0}}).Fill(start);
    if (num > 1 && endpoint) WritableAt(y, std::vector<ArrayIndex>{int64_t{-1}}).Fill(stop);
    return AsType(y, dtype, false);
}

}  // namespace chainerx

// Linear interpolation.
#include <cmath>
#include <complex>

#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/signal/series.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx {
namespace {

constexpr const char* kOp = "interp";

void CheckPoints(const Array& x, const Array& xp, const Array& fp) {
    CheckSameDevice(kOp, x.device(), xp.device());
    CheckSameDevice(kOp, x.device(), fp.device());
    if (xp.ndim() != 1 || fp.shape() != xp.shape()) {
        throw DimensionError{kOp,        ": xp has shape ",
                             xp.shape(), " and fp ",
                             fp.shape(), ", expected the same, with one dimension"};
    }
    if (xp.shape()[0] == 0) throw ValueError{kOp, ": xp is empty"};
    for (const Array* a : {&x, &xp}) {
        if (IsComplex(a->dtype())) {
            throw DtypeError{kOp, ": ", a == &x ? "x" : "xp", " must be real, got ", a->dtype()};
        }
    }
}

// Returns where the width or slope of a line between finite points overflows.
Array IsFar(const Array& x0, const Array& x1, const Array& y0, const Array& y1) {
    const Array width = x1 - x0;
    const Array slope = (y1 - y0) / Where(width == Scalar{0}, Scalar{1}, width);
    const Array fits = LogicalAnd(Isfinite(width), Isfinite(slope));
    const Array is_known =
        LogicalAnd(LogicalAnd(Isfinite(x0), Isfinite(x1)), LogicalAnd(Isfinite(y0), Isfinite(y1)));
    return LogicalAnd(LogicalAnd(LogicalNot(fits), is_known), width != Scalar{0});
}

// Interpolates such lines by weights, and returns 0 elsewhere: infinities and NaN must not reach
// the gradients of other lines.
Array OnFarLine(const Array& is_far, const Array& x, const Array& x0, const Array& x1,
                const Array& y0, const Array& y1) {
    const Array part = Where(is_far, x / 4 - x0 / 4, 0) / Where(is_far, x1 / 4 - x0 / 4, 1);
    return Where(is_far, y0, 0) * (1 - part) + Where(is_far, y1, 0) * part;
}

// Interpolates at x, between at least two points.
Array Between(const Array& given, const Array& given_xp, const Array& fp) {
    // Makes zeros positive, so that differences of equal numbers have one sign.
    const Array x = given + 0;
    const Array xp = given_xp + 0;
    const int64_t n = xp.shape()[0];
    const Array found = SearchSorted(internal::Detached(xp), internal::Detached(x), true);
    const Array before = Clip(found - 1, Scalar{0}, Scalar{n - 2});
    const Array x0 = Take(xp, before, int8_t{0});
    const Array y0 = Take(fp, before, int8_t{0});
    const Array x1 = Take(xp, before + 1, int8_t{0});
    const Array y1 = Take(fp, before + 1, int8_t{0});
    using internal::Detached;
    const Array is_far = IsFar(Detached(x0), Detached(x1), Detached(y0), Detached(y1));
    const Array width = x1 - x0;
    // If points coincide, the result is that of the last one.
    const Array is_step = LogicalOr(is_far, Equal(Detached(width), Scalar{0}));
    const Array slope = Where(is_far, 0, y1 - y0) / Where(is_step, Scalar{1}, width);
    // At a point the step times the slope is -0, so that adding it to any y0 gives y0.
    const Array step = Where(Signbit(Detached(slope)), x - x0, -(x0 - x));
    const Array y =
        Where(is_far, OnFarLine(is_far, x, x0, x1, y0, y1), y0 + slope * Where(is_far, 0, step));
    // Beside a value that is not finite, results are still defined at the points, from the other
    // side, and on level lines. They get no gradient, as it would be NaN everywhere else.
    const Array at = Detached(x);
    const Array back = Detached(y1 + slope * (x - x1));
    const Array is_level = LogicalAnd(Isnan(back), Equal(Detached(y0), Detached(y1)));
    const Array level = Where(Isnan(at), at, Detached(y0));
    const Array beside = Where(Equal(at, Detached(x0)), Detached(y0), Where(is_level, level, back));
    return Where(Isnan(Detached(y)), beside, y);
}

// Returns whether one kernel computes all: no gradient, and a supported dtype.
bool IsPlain(const Array& x, const Array& xp, const Array& fp, const std::optional<Scalar>& left,
             const std::optional<Scalar>& right) {
    const auto fits = [](const std::optional<Scalar>& s) {
        return !s || (s->kind() != DtypeKind::kComplex && !s->IsHugeInt());
    };
    const bool has_dtype = fp.dtype() == Dtype::kFloat32 || fp.dtype() == Dtype::kFloat64;
    return has_dtype && xp.shape()[0] > 1 && x.GetTotalSize() != 0 && fits(left) && fits(right) &&
           HasKernel<kernels::Interp>(x.device()) && !internal::IsBackpropRequiredAny(x) &&
           !internal::IsBackpropRequiredAny(xp) && !internal::IsBackpropRequiredAny(fp);
}

// Interpolates both parts of complex numbers separately.
Array Inside(const Array& x, const Array& xp, const Array& fp, const std::optional<Scalar>& left,
             const std::optional<Scalar>& right) {
    if (IsComplex(fp.dtype())) {
        const auto part = [](const std::optional<Scalar>& s,
                             bool is_real) -> std::optional<Scalar> {
            if (!s) return std::nullopt;
            const auto number = s->To<std::complex<double>>();
            return Scalar{is_real ? number.real() : number.imag()};
        };
        return MakeComplex(Inside(x, xp, Real(fp), part(left, true), part(right, true)),
                           Inside(x, xp, Imag(fp), part(left, false), part(right, false)));
    }
    const int64_t n = xp.shape()[0];
    if (IsPlain(x, xp, fp, left, right)) {
        const auto number = [](const std::optional<Scalar>& s) {
            return s ? std::optional{s->To<double>()} : std::nullopt;
        };
        const Array y = EmptyUnchecked(x.shape(), fp.dtype(), x.device());
        CallOn<kernels::Interp>(x.device(), AsContiguous(x), AsContiguous(xp), AsContiguous(fp),
                                number(left), number(right), y);
        return y;
    }
    const Array first = internal::Detached(At(xp, 0));
    const Array last = internal::Detached(At(xp, n - 1));
    const Array at = internal::Detached(x);
    Array y = n == 1 ? At(fp, 0) + (x - At(xp, 0)) * 0 : Between(x, xp, fp);
    y = Where(Less(at, first), At(fp, 0), y);
    y = Where(GreaterEqual(at, last), At(fp, n - 1), y);
    if (left) y = Where(Less(at, first), *left, y);
    if (right) y = Where(Greater(at, last), *right, y);
    return y;
}

}  // namespace

Array Interp(const Array& x, const Array& xp, const Array& fp, const std::optional<Scalar>& left,
             const std::optional<Scalar>& right, std::optional<double> period) {
    CheckPoints(x, xp, fp);
    const Dtype real = FloatResult(PromoteTypes(x.dtype(), xp.dtype()));
    const Dtype value = FloatResult(PromoteTypes(real, fp.dtype()));
    const Dtype place = IsComplex(value) ? RealDtype(value) : value;
    const Array at = AsType(x, place, false);
    const Array places = AsType(xp, place, false);
    const Array values = AsType(fp, value, false);
    if (!period) return Inside(at, places, values, left, right);
    if (*period == 0 || !std::isfinite(*period)) {
        throw ValueError{kOp, ": period is ", *period, ", expected a number that is not 0"};
    }
    const double length = std::abs(*period);
    const Array rest = Remainder(places, Scalar{length});
    const Array order = ArgSort(internal::Detached(rest), int8_t{0});
    const Array px = Take(rest, order, int8_t{0});
    const Array pf = Take(values, order, int8_t{0});
    const auto end = [](const Array& v, int64_t i) { return At(v, i).Reshape({1}); };
    // Adds a point on both sides.
    return Inside(Remainder(at, Scalar{length}),
                  Concatenate({end(px, -1) - length, px, end(px, 0) + length}),
                  Concatenate({end(pf, -1), pf, end(pf, 0)}), std::nullopt, std::nullopt);
}

}  // namespace chainerx

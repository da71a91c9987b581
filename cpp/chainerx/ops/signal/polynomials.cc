#include "chainerx/ops/signal/polynomials.h"

#include <algorithm>
#include <cfloat>
#include <vector>

#include "chainerx/core/interrupt.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/power.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/index/index_arrays.h"
#include "chainerx/ops/linalg/decomposition.h"
#include "chainerx/ops/linalg/factor.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/matrices.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/signal/series.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx {
namespace {

using internal::Detached;
using internal::PartAlong;

Array ToVector(const char* op, const char* name, const Array& x) {
    if (x.ndim() > 1) {
        throw DimensionError{op, ": ", name, " has shape ", x.shape(), ", expected one dimension"};
    }
    if (IsBool(x.dtype())) throw DtypeError{op, ": ", name, " must be of numbers, got bool"};
    return AtLeast1D(x);
}

Array ToFloats(const Array& x) { return AsType(x, FloatResult(x.dtype()), false); }

Array Part(const Array& x, int64_t begin, std::optional<int64_t> end = std::nullopt) {
    return PartAlong(x, 0, begin, end);
}

Array Join(const char* op, const std::vector<Array>& parts) { return internal::Join(parts, 0, op); }

Array ZerosBeside(const Array& x, int64_t n) { return Zeros({n}, x.dtype(), x.device()); }

// Pads with zero coefficients up to n.
Array Raised(const char* op, const Array& x, int64_t n) {
    const int64_t missing = n - x.shape()[0];
    return missing > 0 ? Join(op, {ZerosBeside(x, missing), x}) : x;
}

// Returns the first and the last index that holds, -1 if none does.
std::pair<int64_t, int64_t> Ends(const Array& holds) {
    const Array places = Flatnonzero(holds);
    const int64_t n = places.shape()[0];
    if (n == 0) return {-1, -1};
    return {At(places, 0).Item<int64_t>(), At(places, n - 1).Item<int64_t>()};
}

// Removes leading zeros, but keeps at least one coefficient.
Array Trimmed(const Array& p) {
    if (p.shape()[0] == 0) return ZerosBeside(p, 1);
    const int64_t first = Ends(NotEqual(Detached(p), 0)).first;
    return Part(p, first < 0 ? p.shape()[0] - 1 : first);
}

// Returns n, n - 1, ..., 1, as integers if p has them.
Array Exponents(const Array& p, int64_t n) {
    const Dtype dtype = IsInt(p.dtype()) ? Dtype::kInt64 : p.dtype();
    return AsType(Arange(Scalar{n}, Scalar{int64_t{0}}, Scalar{-1}, Dtype::kInt64, p.device()),
                  dtype, false);
}

void CheckCount(const char* op, const char* name, int64_t n) {
    if (n < 0) throw ValueError{op, ": ", name, " is ", n, ", expected 0 or more"};
}

Array Combined(const char* op, const Array& a1, const Array& a2, const auto& f) {
    CheckSameDevice(op, a1.device(), a2.device());
    const Array x1 = ToVector(op, "a1", a1);
    const Array x2 = ToVector(op, "a2", a2);
    const int64_t n = std::max(x1.shape()[0], x2.shape()[0]);
    return f(Raised(op, x1, n), Raised(op, x2, n));
}

}  // namespace

Array Polyadd(const Array& a1, const Array& a2) {
    return Combined("polyadd", a1, a2, [](const Array& x1, const Array& x2) { return x1 + x2; });
}

Array Polysub(const Array& a1, const Array& a2) {
    return Combined("polysub", a1, a2, [](const Array& x1, const Array& x2) { return x1 - x2; });
}

Array Polymul(const Array& a1, const Array& a2) {
    CheckSameDevice("polymul", a1.device(), a2.device());
    return Convolve(Trimmed(ToVector("polymul", "a1", a1)), Trimmed(ToVector("polymul", "a2", a2)));
}

std::pair<Array, Array> Polydiv(const Array& u, const Array& v) {
    static constexpr const char* kOp = "polydiv";
    CheckSameDevice(kOp, u.device(), v.device());
    const Dtype dtype = FloatResult(PromoteTypes(u.dtype(), v.dtype()));
    Array rest = AsType(ToVector(kOp, "u", u), dtype, false);
    const Array divisor = AsType(ToVector(kOp, "v", v), dtype, false);
    if (rest.shape()[0] == 0 || divisor.shape()[0] == 0) {
        throw ValueError{kOp, ": ", rest.shape()[0] == 0 ? "u" : "v", " is empty"};
    }
    const int64_t n = divisor.shape()[0] - 1;
    const int64_t steps = rest.shape()[0] - n;
    const Array scale = 1.0 / Part(divisor, 0, 1);
    const Array others = Part(divisor, 1);
    std::vector<Array> quotient;
    for (int64_t i = 0; i < steps; ++i) {
        internal::CheckInterrupt();
        const Array q = Part(rest, 0, 1) * scale;
        quotient.push_back(q);
        rest = Join(kOp, {Part(rest, 1, n + 1) - q * others, Part(rest, n + 1)});
    }
    if (quotient.empty()) quotient.push_back(ZerosBeside(rest, 1));
    if (rest.shape()[0] == 0) return {Join(kOp, quotient), ZerosBeside(rest, 1)};
    constexpr double kNothing = 1e-8;
    const Array counts = LogicalNot(Absolute(Detached(rest)) <= kNothing);
    const int64_t first = Ends(counts).first;
    return {Join(kOp, quotient), Part(rest, first < 0 ? rest.shape()[0] - 1 : first)};
}

Array Polyder(const Array& p, int64_t m) {
    CheckCount("polyder", "m", m);
    Array y = ToVector("polyder", "p", p);
    for (; m > 0 && y.shape()[0] > 0; --m) {
        const int64_t n = y.shape()[0] - 1;
        y = Part(y, 0, n) * Exponents(y, n);
    }
    return y;
}

Array Polyint(const Array& p, int64_t m, const std::optional<Array>& k) {
    static constexpr const char* kOp = "polyint";
    CheckCount(kOp, "m", m);
    Array y = ToVector(kOp, "p", p);
    // One constant per integration, so that absurd counts run out of memory instead of looping for
    // ever.
    Array constants;
    if (k) {
        CheckSameDevice(kOp, p.device(), k->device());
        constants = ToVector(kOp, "k", *k);
        const int64_t n = constants.shape()[0];
        if (n < m && n != 1) {
            throw DimensionError{kOp, ": ", n, " constants k for ", m, " integrations"};
        }
        if (n == 1) constants = Copy(BroadcastTo(constants, {m}));
    } else {
        constants = Zeros({m}, FloatResult(p.dtype()), p.device());
    }
    for (int64_t i = 0; i < m; ++i) {
        internal::CheckInterrupt();
        const Array powers = ToFloats(y) / Exponents(y, y.shape()[0]);
        y = Join(kOp, {powers, Part(constants, i, i + 1)});
    }
    return y;
}

Array Poly(const Array& seq_of_zeros) {
    static constexpr const char* kOp = "poly";
    const bool is_matrix = seq_of_zeros.ndim() == 2;
    if (is_matrix && seq_of_zeros.shape()[0] != seq_of_zeros.shape()[1]) {
        throw DimensionError{kOp, ": seq_of_zeros has shape ", seq_of_zeros.shape(),
                             ", expected one dimension or a square matrix"};
    }
    const Array zeros = is_matrix ? linalg::Eigvals(ToFloats(seq_of_zeros))
                                  : ToFloats(ToVector(kOp, "seq_of_zeros", seq_of_zeros));
    Array y = Ones({1}, zeros.dtype(), zeros.device());
    for (int64_t i = 0; i < zeros.shape()[0]; ++i) {
        internal::CheckInterrupt();
        const Array zero = ZerosBeside(y, 1);
        y = Join(kOp, {y, zero}) - Join(kOp, {zero, y}) * Part(zeros, i, i + 1);
    }
    if (!IsComplex(y.dtype())) return y;
    const Array plain = Detached(zeros);
    return All(Equal(Sort(plain), Sort(Conj(plain)))).Item<bool>() ? Real(y) : y;
}

Array Roots(const Array& p) {
    static constexpr const char* kOp = "roots";
    const Array given = ToFloats(Detached(ToVector(kOp, "p", p)));
    internal::CheckPrecision(kOp, "p", given);
    const Dtype complex = internal::ComplexOf(given.dtype());
    const auto [first, last] = Ends(NotEqual(given, 0));
    if (first < 0) return Zeros({0}, complex, given.device());
    const Array at_zero = Zeros({given.shape()[0] - 1 - last}, complex, given.device());
    const int64_t n = last - first;
    if (n == 0) return at_zero;
    const Array row = -Part(given, first + 1, last + 1) / Part(given, first, first + 1);
    const Array companion =
        Join(kOp, {ExpandDims(row, Axes{0}), Eye(n - 1, n, 0, given.dtype(), given.device())});
    return Join(kOp, {linalg::Eigvals(companion), at_zero});
}

namespace {

constexpr const char* kFit = "polyfit";

struct Fit {
    Array a;      // the powers of x times their weights, each column divided by its norm
    Array b;      // y times its weights
    Array scale;  // the norms
};

void CheckPoints(const Array& x, const Array& y) {
    CheckSameDevice(kFit, x.device(), y.device());
    if (x.ndim() != 1) {
        throw DimensionError{kFit, ": x has shape ", x.shape(), ", expected one dimension"};
    }
    if (x.shape()[0] == 0) throw ValueError{kFit, ": x is empty"};
    if (y.ndim() != 1 && y.ndim() != 2) {
        throw DimensionError{kFit, ": y has shape ", y.shape(), ", expected one or two dimensions"};
    }
    if (y.shape()[0] != x.shape()[0]) {
        throw DimensionError{kFit, ": y.shape is ", y.shape(), ", that of x ", x.shape()};
    }
}

// Broadcasts a vector along the rows of y.
Array BesideRows(const Array& v, const Array& y) {
    return y.ndim() == 1 ? v : ExpandDims(v, Axes{1});
}

Fit PrepareFit(const Array& x, const Array& y, int64_t deg, const std::optional<Array>& w) {
    CheckCount(kFit, "deg", deg);
    CheckPoints(x, y);
    const Dtype dtype = FloatResult(PromoteTypes(x.dtype(), y.dtype()));
    const Array places = AsType(x, dtype, false);
    internal::CheckPrecision(kFit, "x", places);
    Array a = Vander(places, deg + 1);
    Array b = AsType(y, dtype, false);
    if (w) {
        CheckSameDevice(kFit, x.device(), w->device());
        if (w->shape() != x.shape()) {
            throw DimensionError{kFit, ": w.shape is ", w->shape(), ", expected ", x.shape()};
        }
        const Array weights = AsType(*w, dtype, false);
        a = a * ExpandDims(weights, Axes{1});
        b = b * BesideRows(weights, y);
    }
    // Scaling columns to norm 1 gives the best condition. The norms cancel out in the result, and
    // so in gradients.
    const Array lengths = Sqrt(Sum(Square(Absolute(Detached(a))), Axes{0}));
    const Array scale = Where(lengths == 0, 1, lengths);
    return {a / scale, b, scale};
}

PolyfitResult Solve(const Fit& fit, std::optional<double> rcond) {
    const bool is_single = RealDtype(fit.a.dtype()) == Dtype::kFloat32;
    const double resolution = is_single ? FLT_EPSILON : DBL_EPSILON;
    const double cutoff = rcond.value_or(static_cast<double>(fit.a.shape()[0]) * resolution);
    const linalg::LstsqResult found = linalg::Lstsq(fit.a, fit.b, cutoff, kFit);
    const Array p = found.x / BesideRows(fit.scale, fit.b);
    return {p, found.residuals, found.rank, found.s, cutoff};
}

}  // namespace

PolyfitResult Polyfit(const Array& x, const Array& y, int64_t deg, std::optional<double> rcond,
                      const std::optional<Array>& w) {
    return Solve(PrepareFit(x, y, deg, w), rcond);
}

std::pair<Array, Array> PolyfitCovariance(const Array& x, const Array& y, int64_t deg,
                                          std::optional<double> rcond,
                                          const std::optional<Array>& w, bool scaled) {
    const Fit fit = PrepareFit(x, y, deg, w);
    const PolyfitResult found = Solve(fit, rcond);
    const Array inverse = linalg::Inv(Matmul(Conj(Transpose(fit.a)), fit.a), kFit);
    Array v = inverse / (ExpandDims(fit.scale, Axes{1}) * fit.scale);
    if (y.ndim() == 2) v = ExpandDims(v, Axes{2});
    if (!scaled)
        return {found.p,
                y.ndim() == 2 ? Copy(BroadcastTo(v, {deg + 1, deg + 1, y.shape()[1]})) : v};
    const int64_t freedom = x.shape()[0] - (deg + 1);
    if (freedom <= 0) {
        throw ValueError{kFit, ": a covariance by residuals needs more than ", deg + 1,
                         " points, got ", x.shape()[0]};
    }
    const Array rest = fit.b - Matmul(fit.a, found.p * BesideRows(fit.scale, fit.b));
    const Array variance = Sum(Square(Absolute(rest)), Axes{0}) / static_cast<double>(freedom);
    return {found.p, v * variance};
}

}  // namespace chainerx

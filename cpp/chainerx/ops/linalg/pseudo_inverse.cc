// Functions of singular values: pseudo-inverses, least squares, ranks.
#include <algorithm>
#include <limits>

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/real_operands.h"
#include "chainerx/ops/linalg/decomposition.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/matrices.h"
#include "chainerx/ops/routine.h"

namespace chainerx::linalg {
namespace {

using internal::Adjoint;
using internal::ColumnsOf;
using internal::Conjugate;
using internal::Detached;
using internal::RowsOf;
using internal::SwapLast;
using internal::ToColumn;
using internal::ToRow;

constexpr OpInfo kPinv{"pinv"};
constexpr OpInfo kLstsq{"lstsq"};

double Resolution(Dtype dtype) {
    return RealDtype(dtype) == Dtype::kFloat32 ? std::numeric_limits<float>::epsilon()
                                               : std::numeric_limits<double>::epsilon();
}

// Singular values below this fraction of the largest may be rounding errors.
double DefaultCutoff(const Array& a) {
    return static_cast<double>(std::max(RowsOf(a), ColumnsOf(a))) * Resolution(a.dtype());
}

// Converts limits to the dtype of s (..., k), with an axis for the singular values.
Array LimitsOf(const char* op, const char* name, const Array& s, const Array& limits) {
    CheckSameDevice(op, s.device(), limits.device());
    internal::CheckReal(op, name, limits);
    Shape rows = s.shape();
    rows.resize(rows.ndim() - 1);
    if (!IsBroadcastable(limits.shape(), rows)) {
        throw DimensionError{op,
                             ": ",
                             name,
                             " of shape ",
                             limits.shape(),
                             " does not broadcast to ",
                             rows,
                             ", the axes before those of the matrices"};
    }
    return AsType(ExpandDims(Detached(limits), Axes{-1}), s.dtype(), false);
}

// Returns which of s (..., k) are larger than the limit.
Array IsAbove(const char* op, const char* name, const Array& s, const Limit& limit) {
    if (const double* number = std::get_if<double>(&limit)) return s > Scalar{*number};
    return s > LimitsOf(op, name, s, std::get<Array>(limit));
}

// Returns which of s (..., k) are larger than rcond times the largest.
Array IsLarge(const char* op, const char* name, const Array& s, const Limit& rcond) {
    const double* number = std::get_if<double>(&rcond);
    const Array limits =
        number != nullptr ? Array{} : LimitsOf(op, name, s, std::get<Array>(rcond));
    if (s.GetTotalSize() == 0) return Zeros(s.shape(), Dtype::kBool, s.device());
    const Array largest = AMax(s, Axes{-1}, true);
    return s > (number != nullptr ? largest * *number : largest * limits);
}

// Returns 1 / x where `counts`, else 0.
Array InverseWhere(const Array& counts, const Array& x) {
    return Where(counts, Reciprocal(Where(counts, x, 1)), 0);
}

// The gradient if only zeros are cut off: p is the pseudo-inverse of a (Golub and Pereyra, 1973,
// for constant rank).
Array WholePinvGrad(const Array& a, const Array& p, const Array& gp) {
    const Array ph = Adjoint(p);
    const Array g = Conjugate(gp);
    const Array gh = Adjoint(g);
    const Array rows = Matmul(Matmul(gh, p), ph);     // g^H p p^H
    const Array columns = Matmul(ph, Matmul(p, gh));  // p^H p g^H
    const Array outside = rows - Matmul(a, Matmul(p, rows));
    const Array beside = columns - Matmul(Matmul(columns, p), a);
    return Conjugate(outside + beside - Matmul(Matmul(ph, g), ph));
}

// The gradient if singular values beside 0 are cut off: that of v f(s) u^H with f(s) = 1 / s for
// those that count and 0 for others (Noferini, A formula for the Frechet derivative of a
// generalized matrix function, 2017). The vectors that count rotate towards the others as `a`
// changes.
Array CutPinvGrad(const Array& a, const Array& counts, const Array& gp) {
    const auto [u, s, vh] = Svd(a, false);
    const Array f = InverseWhere(counts, s);
    const Array both = ToColumn(f) * ToRow(f);
    const Array is_mixed = ToColumn(counts) != ToRow(counts);
    const auto quotient = [&](const Array& x, const Array& y) {
        return Where(is_mixed, x, 0) / Where(is_mixed, y, 1);
    };
    const Array even = quotient(ToColumn(f) - ToRow(f), ToColumn(s) - ToRow(s)) - both;
    const Array odd =
        Where(is_mixed, quotient(ToColumn(f) + ToRow(f), ToColumn(s) + ToRow(s)), both);
    // The gradient of the adjoint of the pseudo-inverse, which has the shape of `a`.
    const Array g = SwapLast(gp);
    const Array rows = Matmul(Adjoint(u), g);
    const Array inner = Matmul(rows, Adjoint(vh));
    const Array inner_h = Adjoint(inner);
    Array ga = Matmul(Matmul(u, even * (inner + inner_h) + odd * (inner - inner_h)) * 0.5, vh);
    const Array squares = Square(f);
    if (RowsOf(a) > ColumnsOf(a)) {
        const Array columns = Matmul(g, Adjoint(vh));
        ga = ga + Matmul((columns - Matmul(u, inner)) * ToRow(squares), vh);
    } else if (RowsOf(a) < ColumnsOf(a)) {
        ga = ga + Matmul(u * ToRow(squares), rows - Matmul(inner, vh));
    }
    return Conjugate(ga);
}

// Singular values that are cut off, as backward needs them.
struct Cut {
    Array counts;     // those that are not cut off
    bool has_digits;  // whether one that is cut off exceeds rounding errors; waits for the device
};

Cut CutOf(const Array& a, const Array& s, const Array& counts) {
    if (s.GetTotalSize() == 0) return {counts, false};
    const Array noise = AMax(s, Axes{-1}, true) * DefaultCutoff(a);
    return {counts, Any(LogicalAnd(LogicalNot(counts), s > noise)).Item<bool>()};
}

Array PinvGrad(const Array& a, const Array& p, const Cut& cut, const Array& gp) {
    return cut.has_digits ? CutPinvGrad(a, cut.counts, gp) : WholePinvGrad(a, p, gp);
}

}  // namespace

std::string ToString(const Limit& limit) {
    const double* number = std::get_if<double>(&limit);
    return number != nullptr ? StrCat(*number) : "an array";
}

Array Pinv(const Array& a, const std::optional<Limit>& rcond, bool hermitian) {
    if (hermitian) return Pinv(internal::HermitianOfLower("pinv", a), rcond);
    internal::CheckMatrices("pinv", a);
    const auto [u, s, vh] = internal::ComputeSvd("pinv", a, false, true);
    const Limit limit = rcond ? *rcond : Limit{std::max(1e-15, DefaultCutoff(a))};
    const Array counts = IsLarge("pinv", "rcond", s, limit);
    const Array p = Matmul(Adjoint(vh) * ToRow(InverseWhere(counts, s)), Adjoint(u));
    if (Record rec{kPinv, {a}, p}) {
        rec.Grad(0, [a = rec.Save(a), p = rec.SaveOutput(p), cut = CutOf(a, s, counts)](
                        const Array& gp) { return PinvGrad(a(), p(), cut, gp); });
    }
    return p;
}

LstsqResult Lstsq(const Array& a, const Array& b, std::optional<double> rcond, const char* op) {
    internal::CheckPrecision(op, "a", a);
    internal::CheckPrecision(op, "b", b);
    CheckSameDevice(op, a.device(), b.device());
    if (a.ndim() != 2) {
        throw DimensionError{op, ": a has ", static_cast<int>(a.ndim()), " axes, expected 2"};
    }
    if (b.ndim() != 1 && b.ndim() != 2) {
        throw DimensionError{op, ": b has ", static_cast<int>(b.ndim()), " axes, expected 1 or 2"};
    }
    const int64_t m = RowsOf(a);
    const int64_t n = ColumnsOf(a);
    if (b.shape()[0] != m) {
        throw DimensionError{op,          ": b.shape[0] is ", b.shape()[0], ", expected ", m,
                             " (shapes ", a.shape(),          " and ",      b.shape(),     ")"};
    }
    const Dtype dtype = PromoteTypes(a.dtype(), b.dtype());
    const Array a2 = AsType(a, dtype, false);
    const Array b2 = b.ndim() == 1 ? ToColumn(AsType(b, dtype, false)) : AsType(b, dtype, false);
    const double cutoff = rcond ? (*rcond < 0 ? Resolution(dtype) : *rcond) : DefaultCutoff(a2);
    const auto [u, s, vh] = internal::ComputeSvd(op, a2, false, true);
    const Array counts = IsLarge(op, "rcond", s, cutoff);
    const Array scaled = ToColumn(InverseWhere(counts, s)) * Matmul(Adjoint(u), Detached(b2));
    Array x = Matmul(Adjoint(vh), scaled);
    if (Record rec{kLstsq, {a2, b2}, x}) {
        rec.GradAll([a = rec.Save(a2), b = rec.Save(b2), cutoff,
                     cut = CutOf(a2, s, counts)](GradContext& context) {
            const Array gx = context.output_grad();
            const Array p = Pinv(a(), cutoff);
            if (context.IsInputGradRequired(0)) {
                context.SetInputGrad(0, PinvGrad(a(), p, cut, Matmul(gx, SwapLast(b()))));
            }
            if (context.IsInputGradRequired(1)) context.SetInputGrad(1, Matmul(SwapLast(p), gx));
        });
    }
    int64_t rank = 0;
    const Array count = CountNonzero(counts);
    count.device().CopyToHost(&rank, count.raw_data(), sizeof(rank));
    Array residuals = Zeros(Shape{0}, RealDtype(dtype), a.device());
    if (rank == n && m > n) {
        const Array difference = b2 - Matmul(a2, x);
        residuals = Sum(Real(difference * Conjugate(difference)), Axes{0});
    }
    if (b.ndim() == 1) x = internal::FromColumn(x);
    return {x, residuals, rank, s};
}

Array MatrixRank(const Array& a, const std::optional<Limit>& tol, bool hermitian,
                 const std::optional<Limit>& rtol) {
    internal::CheckPrecision("matrix_rank", "A", a);
    if (tol && rtol) {
        throw ValueError{"matrix_rank: tol is ", ToString(*tol), " and rtol is ", ToString(*rtol),
                         "; expected one of them"};
    }
    if (a.ndim() < 2) return AsType(Any(Detached(a) != Scalar{0}), Dtype::kInt64);
    if (hermitian) internal::CheckSquareMatrices("matrix_rank", a, "A");
    const Array s =
        internal::ComputeSvd("matrix_rank",
                             hermitian ? internal::HermitianOfLower("matrix_rank", Detached(a)) : a,
                             false, false)
            .s;
    const Array counts =
        tol ? IsAbove("matrix_rank", "tol", s, *tol)
            : IsLarge("matrix_rank", "rtol", s, rtol.value_or(Limit{DefaultCutoff(a)}));
    return CountNonzero(counts, Axes{-1});
}

}  // namespace chainerx::linalg

// Decompositions, each by one kernel, with gradients.
#include "chainerx/ops/linalg/decomposition.h"

#include <algorithm>

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/linalg/factor.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/matrices.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// Stands for an output that is not wanted.
Array NoArray(const Array& like) { return EmptyUnchecked(Shape{0}, like.dtype(), like.device()); }

}  // namespace

linalg::SvdResult internal::ComputeSvd(const char* op, const Array& a, bool full, bool vectors) {
    CheckMatrices(op, a);
    const int64_t m = RowsOf(a);
    const int64_t n = ColumnsOf(a);
    const int64_t k = std::min(m, n);
    const Shape batch = BatchOf(a);
    const auto make = [&](const Shape& shape) { return EmptyOf(op, shape, a.dtype(), a.device()); };
    linalg::SvdResult r{
        vectors ? make(WithMatrix(batch, m, full ? m : k)) : NoArray(a),
        EmptyOf(op, WithVector(batch, k), RealDtype(a.dtype()), a.device()),
        vectors ? make(WithMatrix(batch, full ? n : k, n)) : NoArray(a),
    };
    CallOn<kernels::SingularValues>(a.device(), op, WorkingCopy(a), r.u, r.s, r.vh);
    return r;
}

namespace linalg {
namespace {

using internal::Adjoint;
using internal::BatchOf;
using internal::ColumnsOf;
using internal::Conjugate;
using internal::EmptyOf;
using internal::FirstColumns;
using internal::FirstRows;
using internal::HermitianPart;
using internal::RowsOf;
using internal::SwapLast;
using internal::ToColumn;
using internal::ToRow;
using internal::WithMatrix;
using internal::WithVector;
using internal::WorkingCopy;

constexpr OpInfo kSvd{"svd", &kernels::SingularValues::kInfo};
constexpr OpInfo kSvdvals{"svdvals", &kernels::SingularValues::kInfo};
constexpr OpInfo kEigh{"eigh", &kernels::SymmetricEigen::kInfo};
constexpr OpInfo kEigvalsh{"eigvalsh", &kernels::SymmetricEigen::kInfo};
constexpr OpInfo kEig{"eig", &kernels::Eigen::kInfo};
constexpr OpInfo kEigvals{"eigvals", &kernels::Eigen::kInfo};
constexpr OpInfo kQr{"qr", &kernels::FactorOrthogonal::kInfo};

int64_t Smaller(const Array& a) { return std::min(RowsOf(a), ColumnsOf(a)); }

// Returns 1 / (w_j - w_i) at (i, j), 0 on the diagonal. It is infinite for equal eigenvalues: their
// eigenvectors are not unique, and the gradient must show that.
Array InverseDifferences(const Array& w) {
    const Array one = Identity(w.shape().back(), w.dtype(), w.device());
    return Reciprocal(ToRow(w) - ToColumn(w) + one) - one;
}

// Returns x minus its projection on the columns, or rows, of y.
Array OutsideColumns(const Array& x, const Array& y) {
    return x - Matmul(y, Matmul(Adjoint(y), x));
}
Array OutsideRows(const Array& x, const Array& y) { return x - Matmul(Matmul(x, Adjoint(y)), y); }

// Returns the imaginary parts of the diagonal, as imaginary numbers; (..., 1, k).
Array TurnOf(const Array& x) {
    const Array imag = Imag(Diagonal(x, 0, -2, -1));
    return ToRow(MakeComplex(ZerosLike(imag), imag));
}

// The formulas below are for gradients dL/da + i dL/db, the conjugates of ours; for real numbers
// both are the same.

// ---- singular values

// Townsend, Differentiating the singular value decomposition, 2016; for complex matrices Wan and
// Zhang, Automatic differentiation for complex valued SVD, 2019. Null arrays are zeros. u and vh
// have as many columns, or rows, as there are singular values.
//
// The complex vectors of a pair may be multiplied by a common phase. Only their relative phase
// changes with x; the imaginary parts of u^H gu and of v^H gv give it, and are opposite if the loss
// does not depend on the common phase.
Array SvdGrad(const SvdResult& y, const SvdResult& gy) {
    const SvdResult g{gy.u.is_null() ? gy.u : Conjugate(gy.u), gy.s,
                      gy.vh.is_null() ? gy.vh : Conjugate(gy.vh)};
    const bool is_complex = IsComplex(y.u.dtype());
    const bool is_tall = RowsOf(y.u) > ColumnsOf(y.u);
    const bool is_wide = ColumnsOf(y.vh) > RowsOf(y.vh);
    const Array s = ToRow(y.s);
    const Array squares = y.s * y.s;
    // gx = left vh + u right; the diagonal belongs to `left`.
    Array left;
    Array right;
    const auto add = [](Array& to, const Array& x) { to = to.is_null() ? x : to + x; };
    if (!g.s.is_null()) add(left, y.u * ToRow(g.s));
    if (!g.u.is_null()) {
        const Array x = Matmul(Adjoint(y.u), g.u);
        add(left, Matmul(y.u, InverseDifferences(squares) * (x - Adjoint(x)) * s));
        if (is_tall) add(left, OutsideColumns(g.u, y.u) / s);
        if (is_complex) add(left, y.u * (TurnOf(x) / (s * 2)));
    }
    if (!g.vh.is_null()) {
        const Array x = Matmul(y.vh, Adjoint(g.vh));
        const Array inner = ToColumn(y.s) * (InverseDifferences(squares) * (x - Adjoint(x)));
        right = Matmul(inner, y.vh);
        if (is_wide) add(right, OutsideRows(g.vh, y.vh) / ToColumn(y.s));
        if (is_complex) add(left, y.u * (TurnOf(x) / (s * -2)));
    }
    if (right.is_null()) return Conjugate(Matmul(left, y.vh));
    const Array gx = Matmul(y.u, right);
    return Conjugate(left.is_null() ? gx : Matmul(left, y.vh) + gx);
}

[[noreturn]] CX_COLD void ThrowNoGrad(const char* op, const char* what, const char* why) {
    throw GradientError{op, ": ", what, " has no gradient: ", why};
}

// ---- orthogonal factors

// For a = q r with square, or wide, r = (u, v): a = (q u, q v), and q follows from the first part.
// The diagonal of u is real.
Array QrGrad(const Array& a, const Array& q, const Array& r, const Array& gq_of_loss,
             const Array& gr_of_loss) {
    if (gq_of_loss.is_null() && gr_of_loss.is_null()) return {};
    Array gq = gq_of_loss.is_null() ? gq_of_loss : Conjugate(gq_of_loss);
    const Array gr = gr_of_loss.is_null() ? gr_of_loss : Conjugate(gr_of_loss);
    const int64_t k = RowsOf(r);
    const int64_t n = ColumnsOf(r);
    const ArrayIndex behind[] = {Ellipsis{}, Slice{k, n, 1}};
    Array gx2;
    Array gu = gr;
    if (n > k && !gr.is_null()) {
        const Array gv = At(gr, behind);
        gx2 = Matmul(q, gv);
        const Array part = Matmul(At(a, behind), Adjoint(gv));
        gq = gq.is_null() ? part : gq + part;
        gu = FirstColumns(gr, k);
    }
    const Array u = FirstColumns(r, k);
    Array x;
    if (!gu.is_null()) x = Matmul(u, Adjoint(Triu(gu)));
    if (!gq.is_null()) {
        const Array y = Matmul(Adjoint(gq), q);
        x = x.is_null() ? -y : x - y;
    }
    Array inner = Matmul(q, internal::HermitianOfLower("qr", x));
    if (!gq.is_null()) inner = gq + inner;
    const Array gx1 = Adjoint(Solve(u, Adjoint(inner)));
    if (n == k) return Conjugate(gx1);
    if (gx2.is_null()) {
        Shape shape = a.shape();
        shape[a.ndim() - 1] = n - k;
        gx2 = Zeros(shape, a.dtype(), a.device());
    }
    return Conjugate(Concatenate({gx1, gx2}, static_cast<int8_t>(a.ndim() - 1)));
}

struct Reflections {
    Array h;
    Array tau;
};
Reflections Factor(const Array& a) {
    internal::CheckMatrices("qr", a);
    Reflections r{WorkingCopy(a),
                  EmptyUnchecked(WithVector(BatchOf(a), Smaller(a)), a.dtype(), a.device())};
    CallOn<kernels::FactorOrthogonal>(a.device(), "qr", r.h, r.tau);
    return r;
}

Array TriangleOf(const Reflections& r, int64_t rows) { return Triu(FirstRows(r.h, rows)); }

// Returns the first `columns` columns of the product of the reflections.
Array OrthogonalOf(const Reflections& r, int64_t columns) {
    const int64_t m = RowsOf(r.h);
    const int64_t n = ColumnsOf(r.h);
    Array q = r.h;
    if (columns < n) {
        q = Copy(FirstColumns(r.h, columns));
    } else if (columns > n) {
        q = EmptyOf("qr", WithMatrix(BatchOf(r.h), m, columns), r.h.dtype(), r.h.device());
        CopyTo(FirstColumns(q, n), r.h);
    }
    CallOn<kernels::MakeOrthogonal>(q.device(), "qr", q, r.tau);
    return q;
}

}  // namespace

SvdResult Svd(const Array& a, bool full_matrices, bool hermitian) {
    if (hermitian) return Svd(internal::HermitianOfLower("svd", a), full_matrices);
    SvdResult y = internal::ComputeSvd("svd", a, full_matrices, true);
    const Array outputs[] = {y.u, y.s, y.vh};
    const ConstArrayRef inputs[] = {a};
    if (Record rec{kSvd, inputs, outputs}) {
        rec.GradAll([u = rec.SaveOutput(y.u), s = rec.SaveOutput(y.s),
                     vh = rec.SaveOutput(y.vh)](GradContext& context) {
            if (!context.IsInputGradRequired(0)) return;
            SvdResult y{u(), s(), vh()};
            const auto grad = [&](int i) {
                return context.HasOutputGrad(i) ? context.output_grad(i) : Array{};
            };
            const SvdResult g{grad(0), grad(1), grad(2)};
            const int64_t k = y.s.shape().back();
            constexpr const char* kWhy =
                "full_matrices is True, and the vectors that complete a basis may be any; expected "
                "False";
            if (ColumnsOf(y.u) > k && !g.u.is_null()) ThrowNoGrad("svd", "u", kWhy);
            if (RowsOf(y.vh) > k && !g.vh.is_null()) ThrowNoGrad("svd", "vh", kWhy);
            y.u = FirstColumns(y.u, k);
            y.vh = FirstRows(y.vh, k);
            context.SetInputGrad(0, SvdGrad(y, g));
        });
    }
    return y;
}

Array Svdvals(const Array& a, bool hermitian, const char* op) {
    if (hermitian) return Svdvals(internal::HermitianOfLower(op, a), false, op);
    Array s = internal::ComputeSvd(op, a, false, false).s;
    if (Record rec{kSvdvals, {a}, s}) {
        rec.Grad(0, [a = rec.Save(a)](const Array& gs) {
            const SvdResult y = Svd(a(), false);
            return Conjugate(Matmul(y.u * ToRow(gs), y.vh));
        });
    }
    return s;
}

namespace {

// Allocates the eigenvalues of Hermitian matrices.
Array EmptyValues(const Array& a) {
    return EmptyUnchecked(WithVector(BatchOf(a), ColumnsOf(a)), RealDtype(a.dtype()), a.device());
}

}  // namespace

std::pair<Array, Array> Eigh(const Array& a, bool lower) {
    internal::CheckSquareMatrices("eigh", a);
    const Array v = WorkingCopy(a);
    const Array w = EmptyValues(a);
    CallOn<kernels::SymmetricEigen>(a.device(), "eigh", lower, true, v, w);
    const Array outputs[] = {w, v};
    const ConstArrayRef inputs[] = {a};
    if (Record rec{kEigh, inputs, outputs}) {
        rec.GradAll([w = rec.SaveOutput(w), v = rec.SaveOutput(v)](GradContext& context) {
            if (!context.IsInputGradRequired(0)) return;
            const Array v2 = v();
            const Array vh = Adjoint(v2);
            Array left;
            if (context.HasOutputGrad(0)) left = v2 * ToRow(context.output_grad(0));
            if (context.HasOutputGrad(1)) {
                const Array gv = Conjugate(context.output_grad(1));
                const Array x = Matmul(v2, InverseDifferences(w()) * Matmul(vh, gv));
                left = left.is_null() ? x : left + x;
            }
            context.SetInputGrad(0, Conjugate(HermitianPart(Matmul(left, vh))));
        });
    }
    return {w, v};
}

Array Eigvalsh(const Array& a, bool lower) {
    internal::CheckSquareMatrices("eigvalsh", a);
    const Array w = EmptyValues(a);
    CallOn<kernels::SymmetricEigen>(a.device(), "eigvalsh", lower, false, WorkingCopy(a), w);
    if (Record rec{kEigvalsh, {a}, w}) {
        rec.Grad(0, [a = rec.Save(a), lower](const Array& gw) {
            const Array v = Eigh(a(), lower).second;
            return Conjugate(HermitianPart(Matmul(v * ToRow(gw), Adjoint(v))));
        });
    }
    return w;
}

namespace {

std::pair<Array, Array> ComputeEig(const OpInfo& op, const Array& a, bool vectors) {
    internal::CheckSquareMatrices(op.name, a);
    const Dtype dtype = internal::ComplexOf(a.dtype());
    const auto make = [&](const Shape& s) { return EmptyOf(op.name, s, dtype, a.device()); };
    const Array w = make(WithVector(BatchOf(a), ColumnsOf(a)));
    const Array v = make(vectors ? a.shape() : Shape{0});
    CallOn<kernels::Eigen>(a.device(), op.name, WorkingCopy(a), w, v);
    const Array outputs[] = {w, v};
    const ConstArrayRef inputs[] = {a};
    if (Record rec{op, inputs, {outputs, size_t{vectors ? 2u : 1u}}}) {
        rec.GradAll([&op](GradContext&) {
            ThrowNoGrad(op.name, "the result", "expected a symmetric matrix, and eigh");
        });
    }
    return {w, v};
}

}  // namespace

std::pair<Array, Array> Eig(const Array& a) { return ComputeEig(kEig, a, true); }

Array Eigvals(const Array& a) { return ComputeEig(kEigvals, a, false).first; }

std::pair<Array, Array> Qr(const Array& a, QrMode mode) {
    const Reflections factored = Factor(a);
    const int64_t columns = mode == QrMode::kComplete ? RowsOf(a) : Smaller(a);
    const bool raw = mode == QrMode::kRaw;
    // Computes the triangle first, since q may take the memory of the reflections. LAPACK's factors
    // are those of the transposed matrix.
    const Array r = raw ? Conjugate(factored.tau) : TriangleOf(factored, columns);
    const Array q = raw ? SwapLast(factored.h) : OrthogonalOf(factored, columns);
    const Array outputs[] = {q, r};
    const ConstArrayRef inputs[] = {a};
    if (Record rec{kQr, inputs, outputs}) {
        rec.GradAll([a = rec.Save(a), q = rec.SaveOutput(q), r = rec.SaveOutput(r),
                     raw](GradContext& context) {
            if (!context.IsInputGradRequired(0)) return;
            if (raw) ThrowNoGrad("qr", "mode 'raw'", "expected 'reduced', 'complete' or 'r'");
            if (RowsOf(r()) > ColumnsOf(r())) {
                ThrowNoGrad("qr", "mode 'complete' of more rows than columns",
                            "the vectors that complete a basis may be any; expected 'reduced'");
            }
            const auto grad = [&](int i) {
                return context.HasOutputGrad(i) ? context.output_grad(i) : Array{};
            };
            context.SetInputGrad(0, QrGrad(a(), q(), r(), grad(0), grad(1)));
        });
    }
    return {q, r};
}

Array QrR(const Array& a) {
    Array r = TriangleOf(Factor(a), Smaller(a));
    if (Record rec{kQr, {a}, r}) {
        rec.Grad(0, [a = rec.Save(a)](const Array& gr) {
            const auto [q, r] = Qr(a());
            return QrGrad(a(), q, r, Array{}, gr);
        });
    }
    return r;
}

}  // namespace linalg
}  // namespace chainerx

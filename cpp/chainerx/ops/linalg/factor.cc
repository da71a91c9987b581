#include "chainerx/ops/linalg/factor.h"

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/linalg/det_gradient.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/matrices.h"
#include "chainerx/ops/routine.h"

namespace chainerx::linalg {
namespace {

using internal::Adjoint;
using internal::BatchOf;
using internal::Conjugate;
using internal::FromColumn;
using internal::HermitianPart;
using internal::SwapLast;
using internal::ToColumn;
using internal::WithMatrix;
using internal::WorkingCopy;

constexpr OpInfo kInv{"inv", &kernels::SolveInPlace::kInfo};
constexpr OpInfo kSolve{"solve", &kernels::SolveInPlace::kInfo};
constexpr OpInfo kDet{"det", &kernels::Determinant::kInfo};
constexpr OpInfo kSlogdet{"slogdet", &kernels::Determinant::kInfo};
constexpr OpInfo kCholesky{"cholesky", &kernels::CholeskyInPlace::kInfo};

// Reshapes x (...,) to (..., 1, 1), to multiply matrices with it.
Array AsScale(const Array& x) { return Reshape(x, WithMatrix(x.shape(), 1, 1)); }

// Solves for matrices b. Both have one dtype.
Array SolveMatrices(const Array& a, const Array& b, const char* op = "solve") {
    const Shape batch = BroadcastShapes(op, BatchOf(a), BatchOf(b));
    const int64_t n = a.shape().back();
    const Shape shape_a = WithMatrix(batch, n, n);
    const Shape shape_b = WithMatrix(batch, n, b.shape().back());
    CheckedNBytes(op, shape_a, a.GetItemSize());
    CheckedNBytes(op, shape_b, b.GetItemSize());
    Array y = WorkingCopy(BroadcastTo(internal::Detached(b), shape_b));
    CallOn<kernels::SolveInPlace>(a.device(), "solve",
                                  WorkingCopy(BroadcastTo(internal::Detached(a), shape_a)), y);
    if (Record rec{kSolve, {a, b}, y}) {
        rec.Grad(0, [a = rec.Save(a), y = rec.SaveOutput(y)](const Array& gy) {
            return Negative(Matmul(SolveMatrices(SwapLast(a()), gy), SwapLast(y())));
        });
        rec.Grad(1,
                 [a = rec.Save(a)](const Array& gy) { return SolveMatrices(SwapLast(a()), gy); });
    }
    return y;
}

struct Determinants {
    Array det;
    Array sign;
    Array log;
};
Determinants FindDeterminants(const char* op, const Array& a) {
    internal::CheckSquareMatrices(op, a);
    const auto make = [&](Dtype dtype) { return EmptyUnchecked(BatchOf(a), dtype, a.device()); };
    Determinants d{make(a.dtype()), make(a.dtype()), make(RealDtype(a.dtype()))};
    CallOn<kernels::Determinant>(a.device(), WorkingCopy(a), d.det, d.sign, d.log);
    return d;
}

}  // namespace

Array Inv(const Array& a, const char* op) {
    internal::CheckSquareMatrices(op, a);
    const Array ones = Identity(a.shape().back(), a.dtype(), a.device());
    Array y = WorkingCopy(BroadcastTo(ones, a.shape()));
    CallOn<kernels::SolveInPlace>(a.device(), op, WorkingCopy(a), y);
    if (Record rec{kInv, {a}, y}) {
        rec.Grad(0, [y = rec.SaveOutput(y)](const Array& gy) {
            const Array yt = SwapLast(y());
            return Negative(Matmul(Matmul(yt, gy), yt));
        });
    }
    return y;
}

Array Solve(const Array& a, const Array& b, const char* op) {
    internal::CheckSquareMatrices(op, a);
    internal::CheckPrecision(op, "b", b);
    CheckSameDevice(op, a.device(), b.device());
    if (b.ndim() == 0) throw DimensionError{op, ": b has no axes, expected at least 1"};
    const bool is_vector = b.ndim() == 1;
    const int8_t axis = is_vector ? 0 : static_cast<int8_t>(b.ndim() - 2);
    if (b.shape()[axis] != a.shape().back()) {
        throw DimensionError{op,
                             ": b.shape[",
                             static_cast<int>(axis),
                             "] is ",
                             b.shape()[axis],
                             ", expected ",
                             a.shape().back(),
                             " (shapes ",
                             a.shape(),
                             " and ",
                             b.shape(),
                             ")"};
    }
    const Dtype dtype = PromoteTypes(a.dtype(), b.dtype());
    const Array a2 = AsType(a, dtype, false);
    const Array b2 = AsType(b, dtype, false);
    return is_vector ? FromColumn(SolveMatrices(a2, ToColumn(b2), op)) : SolveMatrices(a2, b2, op);
}

Array Det(const Array& a) {
    Array y = FindDeterminants("det", a).det;
    if (Record rec{kDet, {a}, y}) {
        rec.Grad(0, [a = rec.Save(a)](const Array& gy) {
            return Multiply(AsScale(gy), internal::Cofactors(a()));
        });
    }
    return y;
}

namespace {

// With t the trace of a^-1 da, the logarithm changes by the real part of t, and the sign by itself
// times the imaginary part. Null arrays are zeros.
Array SlogdetGrad(const Array& a, const Array& sign, const Array& gsign, const Array& glog) {
    Array g = glog;
    if (!gsign.is_null()) {
        const Array turn = Imag(Multiply(gsign, sign));
        const Array i = MakeComplex(ZerosLike(turn), turn);
        g = g.is_null() ? i : Add(i, g);
    }
    return Multiply(AsScale(g), SwapLast(Inv(a)));
}

}  // namespace

std::pair<Array, Array> Slogdet(const Array& a) {
    const Determinants d = FindDeterminants("slogdet", a);
    if (!IsComplex(a.dtype())) {
        if (Record rec{kSlogdet, {a}, d.log}) {
            rec.Grad(0, [a = rec.Save(a)](const Array& gy) {
                return SlogdetGrad(a(), Array{}, Array{}, gy);
            });
        }
        return {d.sign, d.log};
    }
    const Array outputs[] = {d.sign, d.log};
    const ConstArrayRef inputs[] = {a};
    if (Record rec{kSlogdet, inputs, outputs}) {
        rec.GradAll([a = rec.Save(a), sign = rec.SaveOutput(d.sign)](GradContext& context) {
            if (!context.IsInputGradRequired(0)) return;
            const auto grad = [&](int i) {
                return context.HasOutputGrad(i) ? context.output_grad(i) : Array{};
            };
            context.SetInputGrad(0, SlogdetGrad(a(), sign(), grad(0), grad(1)));
        });
    }
    return {d.sign, d.log};
}

// With P(x) the lower triangle of x and half its diagonal, the conjugate of the gradient is the
// Hermitian part of L^-H P(L^H g) L^-1, where g is that of gL (Murray, Differentiation of the
// Cholesky decomposition, 2016).
Array Cholesky(const Array& a) {
    internal::CheckSquareMatrices("cholesky", a);
    Array y = WorkingCopy(a);
    CallOn<kernels::CholeskyInPlace>(a.device(), y);
    if (Record rec{kCholesky, {a}, y}) {
        rec.Grad(0, [y = rec.SaveOutput(y)](const Array& gy) {
            const Array lh = Adjoint(y());
            const Array x = Matmul(lh, Tril(Conjugate(gy)));
            const Array left = SolveMatrices(lh, Multiply(Add(Tril(x), Tril(x, -1)), 0.5));
            return Conjugate(HermitianPart(Adjoint(SolveMatrices(lh, Adjoint(left)))));
        });
    }
    return y;
}

Array Cholesky(const Array& a, bool upper) {
    return upper && a.ndim() >= 2 ? Adjoint(Cholesky(Adjoint(a))) : Cholesky(a);
}

}  // namespace chainerx::linalg

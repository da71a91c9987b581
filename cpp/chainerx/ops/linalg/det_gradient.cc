// With x a y = diag(d) and det x det y = 1, the cofactors of a are x^T c y^T, where c are those of
// diag(d): products of all elements of d but one. They need no inverse, and neither does their
// derivative.
#include "chainerx/ops/linalg/det_gradient.h"

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/linalg/factor.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/matrices.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/padding.h"

namespace chainerx::internal {
namespace {

constexpr OpInfo kCofactors{"cofactors", &kernels::Diagonalize::kInfo};
constexpr OpInfo kCofactorsAlong{"cofactors_along", &kernels::Diagonalize::kInfo};

struct DiagonalForm {
    Array x;
    Array d;
    Array y;
};
DiagonalForm FindDiagonal(const Array& a) {
    const auto make = [&](const Shape& shape) {
        return EmptyUnchecked(shape, a.dtype(), a.device());
    };
    const int64_t n = RowsOf(a);
    DiagonalForm f{make(a.shape()), make(WithVector(BatchOf(a), n)), make(a.shape())};
    CallOn<kernels::Diagonalize>(a.device(), WorkingCopy(a), f.x, f.d, f.y);
    return f;
}

// Returns the product of the elements before each element of the last axis.
Array ProductBefore(const Array& d) {
    const int8_t last = d.ndim() - 1;
    PadWidths one(static_cast<size_t>(d.ndim()));
    one.back() = {1, 0};
    return FirstColumns(CumProd(Pad(d, one, PadMode::kConstant, Scalar{1}), last),
                        d.shape().back());
}

Array ProductAfter(const Array& d) {
    const Axes last{static_cast<int8_t>(d.ndim() - 1)};
    return Flip(ProductBefore(Flip(d, last)), last);
}

// Returns the products of all elements but i and j, at [i, j]; 0 on the diagonal.
Array ProductsButTwo(const Array& d) {
    const int64_t n = d.shape().back();
    const Array is_later = Triu(Ones(Shape{n, n}, Dtype::kBool, d.device()), 1);
    const Array between = ProductBefore(Where(is_later, ToRow(d), Scalar{1}));
    const Array above = Triu(ToColumn(ProductBefore(d)) * between * ToRow(ProductAfter(d)), 1);
    return above + SwapLast(above);
}

// Converts to float64 or complex128, so that products of many elements overflow less.
Array InRange(const Array& d) {
    return AsType(d, IsComplex(d.dtype()) ? Dtype::kComplex128 : Dtype::kFloat64, false);
}

Array TraceOfProduct(const Array& a, const Array& b) {
    const auto i = static_cast<int8_t>(a.ndim() - 1);
    return Sum(a * SwapLast(b), Axes{static_cast<int8_t>(i - 1), i}, true);
}

// The gradient of <w, CofactorsAlong(a, g)> in a, by the inverse; fails where a is singular.
Array AlongBoth(const Array& a, const Array& g, const Array& w) {
    const Array y = linalg::Inv(a);
    const Array yg = Matmul(y, g);
    const Array yw = Matmul(y, w);
    const Array trace_g = TraceOfProduct(y, g);
    const Array trace_w = TraceOfProduct(y, w);
    const Array change = y * (trace_g * trace_w - TraceOfProduct(yg, yw)) -
                         Matmul(yg, y) * trace_w - Matmul(yw, y) * trace_g +
                         Matmul(Matmul(yg, yw) + Matmul(yw, yg), y);
    return SwapLast(change * ToColumn(ToColumn(linalg::Det(a))));
}

// The directional derivative of the cofactors along g. It is symmetric, as the Hessian of the
// determinant.
Array CofactorsAlong(const Array& a, const Array& g) {
    Array y = ZerosLike(a);
    if (a.GetTotalSize() != 0) {
        const DiagonalForm f = FindDiagonal(a);
        const Array but_two = AsType(ProductsButTwo(InRange(f.d)), a.dtype(), false);
        const Array b = Matmul(Matmul(f.x, Detached(g)), f.y);
        const Array diagonal = Matmul(but_two, ToColumn(Diagonal(b, 0, -2, -1)));
        const Array one = Identity(RowsOf(a), a.dtype(), a.device());
        const Array core = diagonal * one - but_two * SwapLast(b);
        y = Matmul(Matmul(SwapLast(f.x), core), SwapLast(f.y));
    }
    if (Record rec{kCofactorsAlong, {a, g}, y}) {
        rec.Grad(0, [a = rec.Save(a), g = rec.Save(g)](const Array& gy) {
            return AlongBoth(a(), g(), gy);
        });
        rec.Grad(1, [a = rec.Save(a)](const Array& gy) { return CofactorsAlong(a(), gy); });
    }
    return y;
}

}  // namespace

Array Cofactors(const Array& a) {
    Array y = ZerosLike(a);
    if (a.GetTotalSize() != 0) {
        const DiagonalForm f = FindDiagonal(a);
        const Array d = InRange(f.d);
        const Array but_one = AsType(ProductBefore(d) * ProductAfter(d), a.dtype(), false);
        y = Matmul(SwapLast(f.x) * ToRow(but_one), SwapLast(f.y));
    }
    if (Record rec{kCofactors, {a}, y}) {
        rec.Grad(0, [a = rec.Save(a)](const Array& gy) { return CofactorsAlong(a(), gy); });
    }
    return y;
}

}  // namespace chainerx::internal

#include "chainerx/ops/linalg/norm.h"

#include <cmath>

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/linalg/decomposition.h"
#include "chainerx/ops/linalg/factor.h"
#include "chainerx/ops/linalg/matrices.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx::linalg {
namespace {

using Kind = NormOrder::Kind;

Array ToFloat(const Array& x) { return AsType(x, FloatResult(x.dtype()), false); }

// Returns squared absolute values, which are real.
Array Squares(const Array& x) {
    if (!IsComplex(x.dtype())) return x * x;
    return Real(x) * Real(x) + Imag(x) * Imag(x);
}

// The derivative at 0 is defined as 0.
Array Root(const Array& x) {
    const Array zero = x == Scalar{0};
    return Where(zero, 0, Sqrt(Where(zero, 1, x)));
}

Array Magnitude(const Array& x) {
    const Array values = ToFloat(x);
    return IsComplex(values.dtype()) ? Root(Squares(values)) : Absolute(values);
}

// Returns the largest of nonnegative numbers; 0, as a sum, if there are none.
Array Largest(const Array& sizes, const OptionalAxes& axes, bool keepdims = false) {
    if (sizes.GetTotalSize() == 0) return Sum(sizes, axes, keepdims);
    return AMax(sizes, axes, keepdims);
}

Array Euclidean(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Array values = ToFloat(x);
    if (!IsComplex(values.dtype())) return Root(internal::SumSquares(values, axes, keepdims));
    return Root(Sum(Squares(values), axes, keepdims));
}

// Returns the root of the sum of powers. Where the derivative of a power or of the root is
// infinite, at 0, that of the norm is defined as 0.
Array RootOfPowers(const Array& sizes, double order, const OptionalAxes& axes, bool keepdims) {
    Array powers;
    if (order < 2) {
        const Array zero = sizes == Scalar{0};
        powers = Where(zero, order > 0 ? 0 : INFINITY, Power(Where(zero, 1, sizes), Scalar{order}));
    } else {
        powers = Power(sizes, Scalar{order});
    }
    const Array sum = Sum(powers, axes, keepdims);
    const Array is_zero = sum == Scalar{order > 0 ? 0 : INFINITY};
    return Where(is_zero, 0, Power(Where(is_zero, 1, sum), Scalar{1 / order}));
}

Array OfWideVectors(const char* op, const Array& x, double order, const OptionalAxes& axes,
                    bool keepdims) {
    if (order == 2) return Euclidean(x, axes, keepdims);
    if (order == 0) {
        const Array counts = AsType(x != Scalar{0}, RealDtype(FloatResult(x.dtype())));
        return Sum(counts, axes, keepdims);
    }
    if (std::isnan(order)) throw ValueError{op, ": ord is nan, expected a number"};
    const Array sizes = Magnitude(x);
    if (std::isinf(order)) {
        return order > 0 ? Largest(sizes, axes, keepdims) : AMin(sizes, axes, keepdims);
    }
    if (order == 1) return Sum(sizes, axes, keepdims);
    return RootOfPowers(sizes, order, axes, keepdims);
}

Array OfVectors(const char* op, const Array& x, double order, const OptionalAxes& axes,
                bool keepdims) {
    return internal::InWide(
        x, [&](const Array& wide) { return OfWideVectors(op, wide, order, axes, keepdims); });
}

[[noreturn]] CX_COLD void ThrowOrder(const char* op, const NormOrder& order, const char* expected) {
    throw ValueError{op, ": ord is ", order, ", expected ", expected};
}

// Applies f to the singular values of matrices. At a zero matrix the norm has a kink: its
// derivatives are defined as 0, by computing with another matrix, whose singular values are
// distinct.
Array OfSingularValues(const char* op, const Array& matrices, const auto& f) {
    if (!internal::IsBackpropRequiredAny(matrices) || matrices.GetTotalSize() == 0) {
        return f(Svdvals(matrices, false, op));
    }
    const int64_t columns = internal::ColumnsOf(matrices);
    const Dtype dtype = matrices.dtype();
    const Array other = Eye(internal::RowsOf(matrices), columns, 0, dtype, matrices.device()) *
                        Arange(1, columns + 1, 1, dtype, matrices.device());
    const Array is_zero = All(internal::Detached(matrices) == 0, Axes{-2, -1}, true);
    const Array y = f(Svdvals(Where(is_zero, other, matrices), false, op));
    return Where(Reshape(is_zero, y.shape()), 0, y);
}

// Norms over the axes `rows` and `columns`, neither negative.
Array OfWideMatrices(const char* op, const Array& x, const NormOrder& order, int8_t rows,
                     int8_t columns, bool keepdims) {
    const Axes both{rows, columns};
    if (order.kind == Kind::kDefault || order.kind == Kind::kFrobenius) {
        return Euclidean(x, both, keepdims);
    }
    const double p = std::abs(order.number);
    const bool by_sums = order.kind == Kind::kNumber && (p == 1 || std::isinf(p));
    Array y;
    if (by_sums) {
        const Array sums = Sum(Magnitude(x), p == 1 ? Axes{rows} : Axes{columns}, true);
        y = order.number > 0 ? Largest(sums, both) : AMin(sums, both);
    } else if (order.kind == Kind::kNuclear || p == 2) {
        const Array matrices = Moveaxis(ToFloat(x), both, Axes{-2, -1});
        y = OfSingularValues(op, matrices, [&](const Array& s) {
            return order.kind == Kind::kNuclear ? Sum(s, Axes{-1})
                   : order.number > 0           ? Largest(s, Axes{-1})
                                                : AMin(s, Axes{-1});
        });
    } else {
        ThrowOrder(op, order, "None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices");
    }
    if (!keepdims) return y;
    Shape shape = x.shape();
    shape[rows] = 1;
    shape[columns] = 1;
    return Reshape(y, shape);
}

Array OfMatrices(const char* op, const Array& x, const NormOrder& order, int8_t rows,
                 int8_t columns, bool keepdims) {
    return internal::InWide(x, [&](const Array& wide) {
        return OfWideMatrices(op, wide, order, rows, columns, keepdims);
    });
}

}  // namespace

std::string NormOrder::ToString() const {
    switch (kind) {
        case Kind::kFrobenius:
            return "'fro'";
        case Kind::kNuclear:
            return "'nuc'";
        case Kind::kDefault:
            return "None";
        case Kind::kNumber:
            break;
    }
    return StrCat(number);
}

Array Norm(const Array& x, const NormOrder& order, const OptionalAxes& axes, bool keepdims) {
    if (!axes) {
        if (order.kind == Kind::kDefault) return OfVectors("norm", x, 2, std::nullopt, keepdims);
        if (x.ndim() != 1 && x.ndim() != 2) {
            throw DimensionError{"norm: x has ", static_cast<int>(x.ndim()),
                                 " axes, expected 1 or 2 with ord ", order,
                                 ", or axis to be given"};
        }
        return Norm(x, order, x.ndim() == 1 ? Axes{0} : Axes{0, 1}, keepdims);
    }
    if (axes->ndim() == 1) {
        const Axes axis{NormalizeAxis("norm", (*axes)[0], x.ndim())};
        if (order.kind == Kind::kFrobenius || order.kind == Kind::kNuclear) {
            ThrowOrder("norm", order, "None or a number for vectors");
        }
        return OfVectors("norm", x, order.number, axis, keepdims);
    }
    if (axes->ndim() != 2) {
        throw DimensionError{"norm: axis has ", static_cast<int>(axes->ndim()),
                             " axes, expected 1 or 2"};
    }
    const int8_t rows = NormalizeAxis("norm", (*axes)[0], x.ndim());
    const int8_t columns = NormalizeAxis("norm", (*axes)[1], x.ndim());
    if (rows == columns) {
        throw DimensionError{"norm: axis has axis ", static_cast<int>(rows), " twice"};
    }
    return OfMatrices("norm", x, order, rows, columns, keepdims);
}

Array VectorNorm(const Array& x, const OptionalAxes& axes, double order, bool keepdims) {
    return OfVectors("vector_norm", x, order, axes, keepdims);
}

Array MatrixNorm(const Array& x, const NormOrder& order, bool keepdims) {
    if (x.ndim() < 2) {
        throw DimensionError{"matrix_norm: x has ", static_cast<int>(x.ndim()),
                             " axes, expected at least 2"};
    }
    return OfMatrices("matrix_norm", x, order, static_cast<int8_t>(x.ndim() - 2),
                      static_cast<int8_t>(x.ndim() - 1), keepdims);
}

Array Cond(const Array& x, const NormOrder& order) {
    internal::CheckMatrices("cond", x, "x");
    if (internal::RowsOf(x) == 0 || internal::ColumnsOf(x) == 0) {
        throw DimensionError{"cond: x has shape ", x.shape(), ", expected matrices with elements"};
    }
    const bool by_values = order.kind == Kind::kDefault ||
                           (order.kind == Kind::kNumber && std::abs(order.number) == 2);
    if (!by_values) {
        internal::CheckSquareMatrices("cond", x, "x");
        return MatrixNorm(x, order) * MatrixNorm(Inv(x, "cond"), order);
    }
    const Array s = Svdvals(x, false, "cond");
    const ArrayIndex first[] = {Ellipsis{}, int64_t{0}};
    const ArrayIndex last[] = {Ellipsis{}, int64_t{-1}};
    const Array most = At(s, first);
    const Array least = At(s, last);
    // A zero matrix gives the same as in NumPy, too.
    const Array is_zero = Equal(internal::Detached(most), Scalar{0});
    return Where(is_zero, INFINITY, order.number < 0 ? least / most : most / least);
}

}  // namespace chainerx::linalg

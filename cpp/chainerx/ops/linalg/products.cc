// Compositions of matrix products and views.
#include "chainerx/ops/linalg/products.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "chainerx/kernels/elementwise/complex.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/linalg/contraction.h"
#include "chainerx/ops/linalg/factor.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/matrices.h"
#include "chainerx/ops/linalg/vecdot.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::FromColumn;
using internal::SwapLast;
using internal::ToColumn;
using internal::ToRow;

Array Conjugated(const Array& x) { return IsComplex(x.dtype()) ? Conj(x) : x; }

void CheckAxes(const char* op, const char* name, const Array& x, int8_t least) {
    if (x.ndim() >= least) return;
    throw DimensionError{op,
                         ": ",
                         name,
                         " has ",
                         static_cast<int>(x.ndim()),
                         " axes, expected at least ",
                         static_cast<int>(least)};
}

void CheckVector(const char* op, const char* name, const Array& x) {
    if (x.ndim() == 1) return;
    throw DimensionError{op, ": ", name, " has ", static_cast<int>(x.ndim()), " axes, expected 1"};
}

[[noreturn]] CX_COLD void ThrowLengths(const char* op, const char* name1, int64_t axis1,
                                       int64_t length1, const char* name2, int64_t axis2,
                                       int64_t length2) {
    throw DimensionError{op,       ": ",  name1,     ".shape[", axis1,   "] is ", length1,
                         ", but ", name2, ".shape[", axis2,     "] is ", length2};
}

void CheckLengths(const char* op, const Array& x1, int8_t axis1, const Array& x2, int8_t axis2,
                  const char* name1 = "x1", const char* name2 = "x2") {
    if (x1.shape()[axis1] == x2.shape()[axis2]) return;
    ThrowLengths(op, name1, axis1, x1.shape()[axis1], name2, axis2, x2.shape()[axis2]);
}

Array MoveToEnd(const Array& x, int8_t axis) {
    return axis == x.ndim() - 1 ? x : Moveaxis(x, Axes{axis}, Axes{static_cast<int8_t>(-1)});
}

}  // namespace

Array Tensordot(const Array& a, const Array& b, const std::vector<int64_t>& axes_a,
                const std::vector<int64_t>& axes_b) {
    if (axes_a.size() != axes_b.size()) {
        throw DimensionError{"tensordot: axes has ", axes_a.size(), " axes of a, and ",
                             axes_b.size(), " of b"};
    }
    // b gets its own labels; the axes of a that are not summed over get the following ones.
    EinsumLabels labels_a(static_cast<size_t>(a.ndim()), -1);
    EinsumLabels labels_b;
    for (int8_t i = 0; i < b.ndim(); ++i) labels_b.push_back(i);
    internal::LabelSet summed = 0;
    for (size_t i = 0; i < axes_a.size(); ++i) {
        const int8_t axis_a = NormalizeAxis("tensordot", axes_a[i], a.ndim());
        const int8_t axis_b = NormalizeAxis("tensordot", axes_b[i], b.ndim());
        if (labels_a[static_cast<size_t>(axis_a)] >= 0 || internal::Has(summed, axis_b)) {
            throw DimensionError{"tensordot: axes has axis ", axes_a[i], " of a, or ", axes_b[i],
                                 " of b, twice"};
        }
        CheckLengths("tensordot", a, axis_a, b, axis_b, "a", "b");
        labels_a[static_cast<size_t>(axis_a)] = axis_b;
        summed |= internal::LabelSet{1} << axis_b;
    }
    int next = b.ndim();
    EinsumLabels output;
    for (int& label : labels_a) {
        if (label >= 0) continue;
        label = next++;
        output.push_back(label);
    }
    for (int label : labels_b) {
        if (!internal::Has(summed, label)) output.push_back(label);
    }
    CheckSameDevice("tensordot", a.device(), b.device());
    if (output.size() > kMaxNdim) internal::ThrowTooManyDims(static_cast<int64_t>(output.size()));
    const Dtype dtype = PromoteTypes(a.dtype(), b.dtype());
    return ToOrder(
        internal::Contract({AsType(a, dtype, false), labels_a}, {AsType(b, dtype, false), labels_b},
                           internal::SetOf(output), output),
        output);
}

Array Tensordot(const Array& a, const Array& b, int64_t n_axes) {
    if (n_axes < 0 || n_axes > a.ndim() || n_axes > b.ndim()) {
        throw DimensionError{"tensordot: axes is ", n_axes,
                             ", but a has ",        static_cast<int>(a.ndim()),
                             " axes, and b ",       static_cast<int>(b.ndim())};
    }
    std::vector<int64_t> axes_a;
    std::vector<int64_t> axes_b;
    for (int64_t i = 0; i < n_axes; ++i) {
        axes_a.push_back(a.ndim() - n_axes + i);
        axes_b.push_back(i);
    }
    return Tensordot(a, b, axes_a, axes_b);
}

Array Vecdot(const Array& x1, const Array& x2, int8_t axis) {
    CheckAxes("vecdot", "x1", x1, 1);
    CheckAxes("vecdot", "x2", x2, 1);
    const int8_t axis1 = NormalizeAxis("vecdot", axis, x1.ndim());
    const int8_t axis2 = NormalizeAxis("vecdot", axis, x2.ndim());
    CheckLengths("vecdot", x1, axis1, x2, axis2);
    const Array a = MoveToEnd(Conjugated(x1), axis1);
    const Array b = MoveToEnd(x2, axis2);
    if (const std::optional<Array> y = internal::TryVecdot(a, b)) return *y;
    return FromColumn(FromColumn(Matmul(ToRow(a), ToColumn(b))));
}

Array Matvec(const Array& x1, const Array& x2) {
    CheckAxes("matvec", "x1", x1, 2);
    CheckAxes("matvec", "x2", x2, 1);
    CheckLengths("matvec", x1, x1.ndim() - 1, x2, x2.ndim() - 1);
    return x2.ndim() == 1 ? Matmul(x1, x2) : FromColumn(Matmul(x1, ToColumn(x2)));
}

Array Vecmat(const Array& x1, const Array& x2) {
    CheckAxes("vecmat", "x1", x1, 1);
    CheckAxes("vecmat", "x2", x2, 2);
    CheckLengths("vecmat", x1, x1.ndim() - 1, x2, x2.ndim() - 2);
    const Array vectors = Conjugated(x1);
    if (x1.ndim() == 1) return Matmul(vectors, x2);
    return FromColumn(SwapLast(Matmul(ToRow(vectors), x2)));
}

Array Outer(const Array& a, const Array& b) {
    return Multiply(ToColumn(Ravel(a)), ToRow(Ravel(b)));
}

Array Vdot(const Array& a, const Array& b) {
    if (a.GetTotalSize() != b.GetTotalSize()) {
        throw DimensionError{"vdot: a has ", a.GetTotalSize(), " elements, but b has ",
                             b.GetTotalSize()};
    }
    if (IsComplex(a.dtype()) && a.dtype() == b.dtype() && &a.device() == &b.device() &&
        HasKernel<kernels::ConjugateDot>(a.device()) && !internal::IsBackpropRequiredAny(a) &&
        !internal::IsBackpropRequiredAny(b)) {
        Array y = EmptyUnchecked(Shape{}, a.dtype(), a.device());
        CallOn<kernels::ConjugateDot>(y.device(), AsContiguous(Ravel(a)), AsContiguous(Ravel(b)),
                                      y);
        return y;
    }
    return Matmul(Ravel(Conjugated(a)), Ravel(b));
}

Array Inner(const Array& a, const Array& b) {
    if (a.ndim() == 0 || b.ndim() == 0) return Multiply(a, b);
    CheckLengths("inner", a, a.ndim() - 1, b, b.ndim() - 1, "a", "b");
    return Tensordot(a, b, {a.ndim() - 1}, {b.ndim() - 1});
}

Array Kron(const Array& a, const Array& b) {
    const int8_t ndim = std::max(a.ndim(), b.ndim());
    if (2 * ndim > kMaxNdim) {
        throw DimensionError{"kron: a has ",        static_cast<int>(a.ndim()),
                             " axes, and b ",       static_cast<int>(b.ndim()),
                             ", expected at most ", kMaxNdim / 2};
    }
    Shape shape_a;
    Shape shape_b;
    Shape shape;
    const auto length = [ndim](const Array& x, int8_t i) {
        const int missing = ndim - x.ndim();
        return i < missing ? int64_t{1} : x.shape()[i - missing];
    };
    for (int8_t i = 0; i < ndim; ++i) {
        shape_a.push_back(length(a, i));
        shape_a.push_back(1);
        shape_b.push_back(1);
        shape_b.push_back(length(b, i));
        int64_t product;
        if (__builtin_mul_overflow(length(a, i), length(b, i), &product)) {
            throw DimensionError{"kron: shapes ", a.shape(), " and ", b.shape(),
                                 " make an array that is too large to address"};
        }
        shape.push_back(product);
    }
    return Reshape(Multiply(Reshape(a, shape_a), Reshape(b, shape_b)), shape);
}

Array Cross(const Array& a, const Array& b, int8_t axis_a, int8_t axis_b, int8_t axis_c) {
    const auto prepare = [](const char* name, const Array& x, int8_t axis) {
        CheckAxes("cross", name, x, 1);
        axis = NormalizeAxis("cross", axis, x.ndim());
        if (x.shape()[axis] != 3) {
            throw DimensionError{
                "cross: ",       name,          ".shape[", static_cast<int>(axis), "] is ",
                x.shape()[axis], ", expected 3"};
        }
        return MoveToEnd(x, axis);
    };
    const Array x = prepare("a", a, axis_a);
    const Array y = prepare("b", b, axis_b);
    const auto part = [](const Array& v, int64_t i) {
        const ArrayIndex index[] = {Ellipsis{}, i};
        return At(v, index);
    };
    std::vector<Array> parts;
    for (int64_t i = 0; i < 3; ++i) {
        const int64_t j = (i + 1) % 3;
        const int64_t k = (i + 2) % 3;
        parts.push_back(
            Subtract(Multiply(part(x, j), part(y, k)), Multiply(part(x, k), part(y, j))));
    }
    const auto ndim = static_cast<int8_t>(parts[0].ndim() + 1);
    return Stack(parts, NormalizeAxis("cross", axis_c, ndim));
}

Array Trace(const Array& a, int64_t offset, int8_t axis1, int8_t axis2,
            std::optional<Dtype> dtype) {
    CheckAxes("trace", "a", a, 2);
    const Array diagonal = Diagonal(a, offset, axis1, axis2);
    if (!dtype) return Sum(diagonal, Axes{-1});
    return AsType(Sum(AsType(diagonal, *dtype, false), Axes{-1}), *dtype, false);
}

Array MatrixTranspose(const Array& x) {
    CheckAxes("matrix_transpose", "x", x, 2);
    return SwapLast(x);
}

namespace linalg {
namespace {

// Finds where to split each product of arrays i to j with the least work; (*work)[i][j] is that
// work.
std::vector<std::vector<size_t>> FindSplits(const std::vector<Array>& matrices) {
    const size_t n = matrices.size();
    std::vector<double> lengths;
    for (const Array& x : matrices) lengths.push_back(static_cast<double>(x.shape()[0]));
    lengths.push_back(static_cast<double>(matrices.back().shape()[1]));
    std::vector<std::vector<double>> work(n, std::vector<double>(n, 0));
    std::vector<std::vector<size_t>> splits(n, std::vector<size_t>(n, 0));
    for (size_t length = 1; length < n; ++length) {
        for (size_t i = 0; i + length < n; ++i) {
            const size_t j = i + length;
            work[i][j] = std::numeric_limits<double>::infinity();
            for (size_t k = i; k < j; ++k) {
                const double w =
                    work[i][k] + work[k + 1][j] + lengths[i] * lengths[k + 1] * lengths[j + 1];
                if (w < work[i][j]) {
                    work[i][j] = w;
                    splits[i][j] = k;
                }
            }
        }
    }
    return splits;
}

Array Product(const std::vector<Array>& matrices, const std::vector<std::vector<size_t>>& splits,
              size_t i, size_t j) {
    if (i == j) return matrices[i];
    const size_t k = splits[i][j];
    return Matmul(Product(matrices, splits, i, k), Product(matrices, splits, k + 1, j));
}

}  // namespace

Array MultiDot(const std::vector<Array>& arrays) {
    const size_t n = arrays.size();
    if (n < 2) {
        throw ValueError{"multi_dot: there are ", n, " arrays, expected at least 2"};
    }
    std::vector<Array> matrices;
    for (size_t i = 0; i < n; ++i) {
        const Array& x = arrays[i];
        const bool is_vector = x.ndim() == 1 && (i == 0 || i == n - 1);
        if (x.ndim() != 2 && !is_vector) {
            throw DimensionError{"multi_dot: arrays[",
                                 i,
                                 "] has ",
                                 static_cast<int>(x.ndim()),
                                 " axes, expected 2",
                                 i == 0 || i == n - 1 ? " or 1" : ""};
        }
        matrices.push_back(!is_vector ? x : i == 0 ? ToRow(x) : ToColumn(x));
        if (i > 0 && matrices[i - 1].shape()[1] != matrices[i].shape()[0]) {
            throw DimensionError{"multi_dot: arrays[", i,
                                 "] has shape ",       x.shape(),
                                 ", expected ",        matrices[i - 1].shape()[1],
                                 " rows by shape ",    arrays[i - 1].shape(),
                                 " before it"};
        }
    }
    Array y = Product(matrices, FindSplits(matrices), 0, n - 1);
    Shape shape;
    if (arrays[0].ndim() == 2) shape.push_back(y.shape()[0]);
    if (arrays[n - 1].ndim() == 2) shape.push_back(y.shape()[1]);
    return shape.ndim() == 2 ? y : Reshape(y, shape);
}

Array MatrixPower(const Array& a, int64_t n) {
    CheckAxes("matrix_power", "a", a, 2);
    if (internal::RowsOf(a) != internal::ColumnsOf(a)) {
        throw DimensionError{"matrix_power: a has matrices of ", internal::RowsOf(a), " x ",
                             internal::ColumnsOf(a), ", expected square ones"};
    }
    if (n == 0) {
        return Copy(
            BroadcastTo(Identity(internal::ColumnsOf(a), a.dtype(), a.device()), a.shape()));
    }
    Array square = n < 0 ? Inv(a, "matrix_power") : a;
    Array y;
    for (uint64_t left = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;
         left >>= 1) {
        if ((left & 1) != 0) y = y.is_null() ? square : Matmul(y, square);
        if (left <= 1) break;
        square = Matmul(square, square);
    }
    return n == 1 ? Copy(a) : y;
}

Array Outer(const Array& x1, const Array& x2) {
    CheckVector("outer", "x1", x1);
    CheckVector("outer", "x2", x2);
    return Multiply(ToColumn(x1), ToRow(x2));
}

Array Diagonal(const Array& x, int64_t offset) {
    CheckAxes("diagonal", "x", x, 2);
    return chainerx::Diagonal(x, offset, -2, -1);
}

Array Trace(const Array& x, int64_t offset, std::optional<Dtype> dtype) {
    CheckAxes("trace", "x", x, 2);
    return chainerx::Trace(x, offset, -2, -1, dtype);
}

Array Cross(const Array& x1, const Array& x2, int8_t axis) {
    CheckAxes("cross", "x1", x1, 1);
    CheckAxes("cross", "x2", x2, 1);
    const int8_t axis1 = NormalizeAxis("cross", axis, x1.ndim());
    const int8_t axis2 = NormalizeAxis("cross", axis, x2.ndim());
    return chainerx::Cross(x1, x2, axis1, axis2, axis);
}

Array Tensorsolve(const Array& a, const Array& b, const OptionalAxes& axes) {
    Array x = a;
    if (axes) {
        Axes order;
        uint32_t moved = 0;
        for (int8_t axis : *axes) moved |= 1u << NormalizeAxis("tensorsolve", axis, a.ndim());
        for (int8_t i = 0; i < a.ndim(); ++i) {
            if ((moved >> i & 1) == 0) order.push_back(i);
        }
        for (int8_t axis : *axes) order.push_back(NormalizeAxis("tensorsolve", axis, a.ndim()));
        x = Transpose(a, order);
    }
    if (b.ndim() > x.ndim()) {
        throw DimensionError{"tensorsolve: b has ", static_cast<int>(b.ndim()),
                             " axes, expected at most those of a, ", static_cast<int>(x.ndim())};
    }
    const Shape shape(x.shape().begin() + b.ndim(), x.shape().end());
    const int64_t rows = b.GetTotalSize();
    const int64_t columns = shape.GetTotalSize();
    if (rows != columns || x.GetTotalSize() != rows * columns) {
        throw DimensionError{
            "tensorsolve: a.shape is ",       a.shape(), ", b.shape is ",   b.shape(),
            "; expected as many equations, ", rows,      ", as unknowns, ", columns};
    }
    return Reshape(Solve(Reshape(x, Shape{rows, columns}), Ravel(b), "tensorsolve"), shape);
}

Array Tensorinv(const Array& a, int64_t ind) {
    if (ind <= 0 || ind > a.ndim()) {
        throw ValueError{"tensorinv: ind is ", ind, ", expected 1 to ", static_cast<int>(a.ndim())};
    }
    const Shape first(a.shape().begin(), a.shape().begin() + ind);
    Shape shape(a.shape().begin() + ind, a.shape().end());
    const int64_t rows = first.GetTotalSize();
    const int64_t columns = shape.GetTotalSize();
    if (rows != columns) {
        throw DimensionError{"tensorinv: a.shape is ",
                             a.shape(),
                             ", of which the first ",
                             ind,
                             " axes have ",
                             rows,
                             " elements, expected those of the others, ",
                             columns};
    }
    for (int64_t n : first) shape.push_back(n);
    return Reshape(Inv(Reshape(a, Shape{rows, columns}), "tensorinv"), shape);
}

}  // namespace linalg
}  // namespace chainerx

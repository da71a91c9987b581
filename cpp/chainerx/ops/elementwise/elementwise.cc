#include "chainerx/ops/elementwise/elementwise.h"

#include <cmath>
#include <optional>

#include "chainerx/ops/elementwise/comparison.h"
#include "chainerx/ops/elementwise/elementwise_call.h"
#include "chainerx/ops/elementwise/layout.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

// Returns the scalar to compare an array with; logical operations reduce it to a bool first.
Scalar Comparable(const ElementwiseOp& op, const Scalar& scalar) {
    if (!IsLogical(op)) return scalar;
    return Scalar{scalar.To<Complex128>() != Complex128{}};  // before a cast can make it 0
}

bool IsBeyond(Dtype dtype, const Scalar& scalar) {
    return (IsInt(dtype) || IsBool(dtype)) && scalar.kind() != DtypeKind::kComplex &&
           !scalar.Fits(dtype);
}

// Replaces `x` in a comparison with a number beyond its dtype: such a number is NaN, or lies on the
// same side of all elements, so that zeros compare alike.
Array StandIn(const Array& x) { return Zeros(x.shape(), Dtype::kFloat64, x.device()); }

// Returns the dtype to which a comparison casts both the array and the scalar.
Dtype CheckedComparisonDtype(const ElementwiseOp& op, const char* name, Dtype dtype,
                             const Scalar& scalar) {
    Lookup(op, name, dtype);
    const Dtype both = ComparisonDtype(dtype, scalar);
    if (both != dtype) Lookup(op, name[1] == '1' ? "x2" : "x1", both);
    if (scalar.IsHugeInt() && !IsInt(both) && std::isinf(scalar.To<double>())) {
        throw OverflowError{op.name, ": an integer is too large for the dtype ", both};
    }
    return both;
}

}  // namespace

void CheckForward(const ForwardInputs& f, size_t n_inputs, size_t n_attributes) {
    const auto& [x, y, tangents, attributes] = f;
    if (x.size() != n_inputs || tangents.size() != n_inputs) {
        throw ChainerxError{"forward derivative: ", x.size(), " inputs and ", tangents.size(),
                            " tangents, expected ", n_inputs, " of each"};
    }
    if (attributes.size() != n_attributes) {
        throw ChainerxError{"forward derivative: ", attributes.size(), " attributes, expected ",
                            n_attributes, "; backward has released those of the node"};
    }
    for (size_t i = 0; i < n_inputs; ++i) {
        if (BroadcastShapes("forward derivative", x[i].shape(), y.shape()) != y.shape()) {
            throw DimensionError{"forward derivative: input ",
                                 i,
                                 " has shape ",
                                 x[i].shape(),
                                 ", which does not broadcast to that of y, ",
                                 y.shape()};
        }
        if (!tangents[i].is_null() && tangents[i].shape() != x[i].shape()) {
            throw DimensionError{"forward derivative: tangent ",
                                 i,
                                 " has shape ",
                                 tangents[i].shape(),
                                 ", input ",
                                 i,
                                 " has ",
                                 x[i].shape()};
        }
    }
}

Array CallUnary(const ElementwiseOp& op, const Array& x) {
    if (IsComputedIn(op, x.dtype())) [[likely]] {
        Array y = EmptyResult(x, op.to_bool ? Dtype::kBool : x.dtype());
        CallKernelOf(op, x, y);
        return y;
    }
    const Dtype dtype = Lookup(op, "x", x.dtype());
    Array holder;
    const Array& in = As(x, dtype, holder);
    Array y = EmptyResult(x, op.to_bool ? Dtype::kBool : dtype);
    CallKernelOf(op, in, y);
    return y;
}

Array CallUnary(const ElementwiseOp& op, const Array& x, double attr) {
    const Dtype dtype = Lookup(op, "x", x.dtype());
    Array holder;
    const Array& in = As(x, dtype, holder);
    Array y = EmptyResult(x, dtype);
    CallKernel<void(const Array&, double, const Array&)>(*op.kernel, y.device(), in, attr, y);
    return y;
}

namespace {

Array CallMixed(const ElementwiseOp& op, const Array& x1, const Array& x2) {
    const Dtype dtype = Promoted(op, x1.dtype(), x2.dtype());
    if (dtype == Dtype::kFloat64 && op.to_bool && IsInt(x1.dtype()) && IsInt(x2.dtype()) &&
        !IsLogical(op)) [[unlikely]] {
        return CompareWithUInt64(op, x1, x2);
    }
    Array holder1;
    Array holder2;
    const Array& in1 = As(x1, dtype, holder1);
    const Array& in2 = AsSecond(op, x2, dtype, holder2);
    const Dtype out_dtype = op.to_bool ? Dtype::kBool : dtype;
    const Shape shape = BroadcastShapes(op.name, x1.shape(), x2.shape());
    CheckedNBytes(op.name, shape, GetItemSize(out_dtype));
    Array y = EmptyResult(shape, x1, x2, out_dtype);
    CallKernelOf(op, Operand{in1}, Operand{in2}, y);
    return y;
}

}  // namespace

Array CallBinary(const ElementwiseOp& op, const Array& x1, const Array& x2) {
    CheckSameDevice(op.name, x1.device(), x2.device());
    const Dtype dtype = x1.dtype();
    if (dtype == x2.dtype() && IsComputedIn(op, dtype) && x1.shape() == x2.shape()) [[likely]] {
        Array y = EmptyResult(x1.shape(), x1, x2, op.to_bool ? Dtype::kBool : dtype);
        CallKernelOf(op, Operand{x1}, Operand{x2}, y);
        return y;
    }
    return CallMixed(op, x1, x2);
}

namespace {

Array CompareScalar(const ElementwiseOp& op, const Array& x1, const Scalar& x2) {
    const Scalar with = Comparable(op, x2);
    const Dtype dtype = CheckedComparisonDtype(op, "x1", x1.dtype(), with);
    if (IsBeyond(dtype, with)) [[unlikely]]
        return CompareScalar(op, StandIn(x1), with.To<double>());
    Array holder;
    const Array& in1 = As(x1, dtype, holder);
    Array y = EmptyResult(x1, Dtype::kBool);
    CallKernelOf(op, Operand{in1}, Operand{with}, y);
    return y;
}

Array CompareScalar(const ElementwiseOp& op, const Scalar& x1, const Array& x2) {
    const Scalar with = Comparable(op, x1);
    const Dtype dtype = CheckedComparisonDtype(op, "x2", x2.dtype(), with);
    if (IsBeyond(dtype, with)) [[unlikely]]
        return CompareScalar(op, with.To<double>(), StandIn(x2));
    Array holder;
    const Array& in2 = As(x2, dtype, holder);
    Array y = EmptyResult(x2, Dtype::kBool);
    CallKernelOf(op, Operand{with}, Operand{in2}, y);
    return y;
}

}  // namespace

Array CallBinary(const ElementwiseOp& op, const Array& x1, const Scalar& x2) {
    if (op.to_bool) return CompareScalar(op, x1, x2);
    const Dtype dtype = Promoted(op, "x1", x1.dtype(), x2);
    if (dtype == x1.dtype()) [[likely]] {
        Array y = EmptyResult(x1, dtype);
        CallKernelOf(op, Operand{x1}, Operand{x2}, y);
        return y;
    }
    Array holder;
    const Array& in1 = As(x1, dtype, holder);
    Array y = EmptyResult(x1, dtype);
    CallKernelOf(op, Operand{in1}, Operand{x2}, y);
    return y;
}

Array CallBinary(const ElementwiseOp& op, const Scalar& x1, const Array& x2) {
    if (op.to_bool) return CompareScalar(op, x1, x2);
    const Dtype dtype = Promoted(op, "x2", x2.dtype(), x1);
    Array holder;
    const Array& in2 = As(x2, dtype, holder);
    Array y = EmptyResult(x2, dtype);
    CallKernelOf(op, Operand{x1}, Operand{in2}, y);
    return y;
}

Array CallTernary(const ElementwiseOp& op, const Operand& x1, const Operand& x2,
                  const Operand& x3) {
    const Named operands[] = {{"x1", x1}, {"x2", x2}, {"x3", x3}};
    const Dtype dtype = PromotedOf(op, operands);
    const Array* arrays[3];
    const Array* first = nullptr;
    const Shape* shape = nullptr;
    Shape broadcast;
    bool is_contiguous = true;
    for (int i = 0; i < 3; ++i) {
        const Operand& x = operands[i].x;
        arrays[i] = x.is_array() ? &x.array() : nullptr;
        if (arrays[i] == nullptr) continue;
        is_contiguous &= arrays[i]->IsContiguous();
        if (first == nullptr) {
            first = arrays[i];
            shape = &first->shape();
            continue;
        }
        CheckSameDevice(op.name, first->device(), arrays[i]->device());
        if (arrays[i]->shape() != *shape) {
            broadcast = BroadcastShapes(op.name, *shape, arrays[i]->shape());
            shape = &broadcast;
        }
    }
    CheckedNBytes(op.name, *shape, GetItemSize(dtype));
    Array holders[3];  // all operands are checked before any is converted
    std::optional<Operand> in[3];
    for (int i = 0; i < 3; ++i) {
        if (arrays[i] == nullptr) {
            in[i].emplace(operands[i].x);
        } else {
            in[i].emplace(As(*arrays[i], dtype, holders[i]));
        }
    }
    Array y = is_contiguous ? EmptyUnchecked(*shape, dtype, first->device())
                            : EmptyInOrderOf(*shape, dtype, first->device(), arrays);
    CallKernelOf(op, *in[0], *in[1], *in[2], y);
    return y;
}

}  // namespace chainerx::internal

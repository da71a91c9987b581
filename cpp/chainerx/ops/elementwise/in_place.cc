// x1 = op(x1, x2), the kernel of assignment operators such as +=.
#include "chainerx/core/overlap.h"
#include "chainerx/ops/elementwise/elementwise_call.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

// In-place results may be narrowed, but not to a lower category: a float does not go into an
// integer.
CX_COLD void CheckInPlaceDtype(const ElementwiseOp& op, Dtype dtype, Dtype result) {
    if (GetCategory(result) != GetCategory(dtype)) {
        throw DtypeError{"i",
                         op.name,
                         ": the result has dtype ",
                         GetDtypeName(result),
                         ", which does not go into the dtype of x1, ",
                         GetDtypeName(dtype)};
    }
}

}  // namespace

void CallInPlace(const ElementwiseOp& op, const Array& x1, const Array& x2) {
    CheckInPlaceOutput(op.name, x1);
    CheckInPlaceInput(op.name, x2);
    CheckSameDevice(op.name, x1.device(), x2.device());
    const Dtype result = Promoted(op, x1.dtype(), x2.dtype());
    if (result != x1.dtype()) CheckInPlaceDtype(op, x1.dtype(), result);
    if (x1.shape() != x2.shape() &&
        BroadcastShapes(op.name, x1.shape(), x2.shape()) != x1.shape()) {
        throw DimensionError{"i",
                             op.name,
                             ": x2.shape is ",
                             x2.shape(),
                             ", expected one that broadcasts to x1.shape, ",
                             x1.shape()};
    }
    if (result != x1.dtype()) {  // the result fits the dtype of x1, but x2 may not
        Assign(x1, CallBinary(op, Detached(x1), Detached(x2)));
        return;
    }
    Array holder;
    const Array* in2 = &AsSecond(op, x2, x1.dtype(), holder);
    if (MustCopy(x1, *in2)) {
        holder = Copy(Detached(*in2));
        in2 = &holder;
    }
    x1.buffer()->MarkWritten();
    CallKernelOf(op, Operand{x1}, Operand{*in2}, x1);
}

void CallInPlace(const ElementwiseOp& op, const Array& x1, const Scalar& x2) {
    CheckInPlaceOutput(op.name, x1);
    const Dtype result = Promoted(op, "x1", x1.dtype(), x2);
    if (result != x1.dtype()) CheckInPlaceDtype(op, x1.dtype(), result);
    x1.buffer()->MarkWritten();
    CallKernelOf(op, Operand{x1}, Operand{x2}, x1);
}

}  // namespace chainerx::internal

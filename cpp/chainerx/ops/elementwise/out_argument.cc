#include "chainerx/ops/elementwise/out_argument.h"

#include <optional>

#include "chainerx/core/overlap.h"
#include "chainerx/kernels/elementwise/where.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/elementwise/elementwise_call.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

constexpr const char* kNames[] = {"x1", "x2", "x3"};

void CheckFitsShape(const char* op, const char* name, const Array& x, const Array& out) {
    if (x.shape() == out.shape() || BroadcastShapes(op, x.shape(), out.shape()) == out.shape())
        [[likely]] {
        return;
    }
    throw DimensionError{
        op, ": ", name, " of shape ", x.shape(), " does not broadcast to ", out.shape(), " of out"};
}

void CheckFitsDtype(const char* op, Dtype dtype, const Array& out) {
    if (GetCategory(dtype) <= GetCategory(out.dtype())) return;
    throw DtypeError{op, ": the result has dtype ", dtype, ", which does not go into that of out, ",
                     out.dtype()};
}

void CheckMask(const char* op, const Array& where) {
    CheckDtype(IsBool(where.dtype()), op, "where", where.dtype(), "bool");
}

// Returns `x`, or a copy that `holder` keeps if writing to `out` would change `x`.
const Array& Unshared(const Array& x, const Array& out, Array& holder) {
    if (!MustCopy(out, x)) return x;
    holder = Copy(Detached(x));
    return holder;
}

// Returns whether the kernel can write to `out` itself: no operand needs a conversion, and the
// result has the dtype of `out`.
bool IsDirect(const ElementwiseOp& op, std::span<const Operand> operands, const Array& out) {
    std::optional<Dtype> dtype;
    bool has_scalar = false;
    for (const Operand& x : operands) {
        if (!x.is_array()) {
            has_scalar = true;
        } else if (!dtype) {
            dtype = x.array().dtype();
        } else if (*dtype != x.array().dtype()) {
            return false;
        }
    }
    if (!dtype || !IsComputedIn(op, *dtype)) return false;
    if (out.dtype() != (op.to_bool ? Dtype::kBool : *dtype)) return false;
    if (!has_scalar) return true;
    // these depend on the scalar itself
    if (op.to_bool || op.rule == DtypeRule::kShift) return false;
    if (operands.size() == 2) {
        const int array = operands[0].is_array() ? 0 : 1;
        return Promoted(op, kNames[array], *dtype, operands[1 - array].scalar()) == *dtype;
    }
    const Named named[] = {
        {kNames[0], operands[0]}, {kNames[1], operands[1]}, {kNames[2], operands[2]}};
    return PromotedOf(op, named) == *dtype;
}

Array Compute(const ElementwiseOp& op, std::span<const Operand> xs) {
    if (xs.size() == 1) return CallUnary(op, xs[0].array());
    if (xs.size() == 3) return CallTernary(op, xs[0], xs[1], xs[2]);
    if (!xs[0].is_array()) return CallBinary(op, xs[0].scalar(), xs[1].array());
    if (!xs[1].is_array()) return CallBinary(op, xs[0].array(), xs[1].scalar());
    return CallBinary(op, xs[0].array(), xs[1].array());
}

}  // namespace

void ComputeInto(const ElementwiseOp& op, std::span<const Operand> operands, const Array& out,
                 const Array* where) {
    CheckInPlaceOutput(op.name, out);
    for (const Operand& x : operands) {
        if (!x.is_array()) continue;
        CheckInPlaceInput(op.name, x.array());
        CheckSameDevice(op.name, out.device(), x.array().device());
    }
    if (where != nullptr || !IsDirect(op, operands, out)) {
        StoreInto(op.name, Compute(op, operands), out, where);
        return;
    }
    for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].is_array()) CheckFitsShape(op.name, kNames[i], operands[i].array(), out);
    }
    Array holders[3];
    std::optional<Operand> in[3];
    for (size_t i = 0; i < operands.size(); ++i) {
        const Operand& x = operands[i];
        in[i].emplace(x.is_array() ? Operand{Unshared(x.array(), out, holders[i])} : x);
    }
    out.buffer()->MarkWritten();
    if (operands.size() == 1) {
        CallKernelOf(op, in[0]->array(), out);
    } else if (operands.size() == 2) {
        CallKernelOf(op, *in[0], *in[1], out);
    } else {
        CallKernelOf(op, *in[0], *in[1], *in[2], out);
    }
}

void StoreInto(const char* op, const Array& y, const Array& out, const Array* where) {
    CheckInPlaceOutput(op, out);
    CheckInPlaceInput(op, y);
    CheckSameDevice(op, out.device(), y.device());
    CheckFitsDtype(op, y.dtype(), out);
    CheckFitsShape(op, "the result", y, out);
    if (where != nullptr) {
        CheckMask(op, *where);
        CheckSameDevice(op, out.device(), where->device());
        CheckFitsShape(op, "where", *where, out);
    }
    if (out.GetTotalSize() == 0) return;
    Array holder;
    if (where == nullptr) {
        const Array& from = Unshared(y, out, holder);
        out.buffer()->MarkWritten();
        CallOn<kernels::AsType>(out.device(), BroadcastTo(Detached(from), out.shape()), out);
        return;
    }
    Array mask_holder;
    const Array from = AsType(Detached(Unshared(y, out, holder)), out.dtype(), false);
    const Array& mask = Unshared(*where, out, mask_holder);
    out.buffer()->MarkWritten();
    CallOn<kernels::Where>(out.device(), mask, Operand{from}, Operand{out}, out);
}

void CheckComputesIn(const ElementwiseOp& op, Dtype dtype) {
    if (op.to_bool ? IsBool(dtype) : IsComputedIn(op, dtype)) return;
    throw DtypeError{op.name, ": dtype is ", dtype, ", in which it is not computed"};
}

void CheckOperandAs(const char* op, const char* name, const Scalar& x, Dtype dtype) {
    if (GetCategory(x.kind()) > GetCategory(dtype)) {
        throw DtypeError{op,        ": ",
                         name,      " is a number of dtype ",
                         x.dtype(), ", which does not go into dtype, ",
                         dtype};
    }
}

Array OperandAs(const char* op, const char* name, const Array& x, Dtype dtype) {
    if (GetCategory(x.dtype()) > GetCategory(dtype)) {
        throw DtypeError{
            op, ": ", name, " has dtype ", x.dtype(), ", which does not go into dtype, ", dtype};
    }
    return AsType(x, dtype, false);
}

Array OrZero(const char* op, const Array& y, const Array& where) {
    CheckMask(op, where);
    return IsBool(y.dtype()) ? Where(where, y, Scalar{false}) : Where(where, y, Scalar{0});
}

}  // namespace chainerx::internal

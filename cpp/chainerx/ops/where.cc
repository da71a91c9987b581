#include "chainerx/ops/where.h"

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/creation.h"

namespace chainerx {
namespace {

Array Call(const Array& condition, const Operand& x, const Operand& y, Dtype dtype,
           const Shape& shape) {
    CheckedNBytes("where", shape, GetItemSize(dtype));
    const Array mask = AsType(internal::Detached(condition), Dtype::kBool, false);
    Array out = EmptyUnchecked(shape, dtype, condition.device());
    CallOn<kernels::Where>(condition.device(), mask, x, y, out);
    return out;
}

Array Cast(const Array& x, Dtype dtype) { return AsType(internal::Detached(x), dtype, false); }

}  // namespace

Array Where(const Array& condition, const Array& x, const Array& y) {
    CheckSameDevice("where", condition.device(), x.device());
    CheckSameDevice("where", condition.device(), y.device());
    const Dtype dtype = PromoteTypes(x.dtype(), y.dtype());
    const Shape shape = BroadcastShapes(
        "where", BroadcastShapes("where", condition.shape(), x.shape()), y.shape());
    const Array in_x = Cast(x, dtype);
    const Array in_y = Cast(y, dtype);
    Array out = Call(condition, Operand{in_x}, Operand{in_y}, dtype, shape);
    if (Record rec{"where", {x, y}, out}) {
        rec.Grad(0, [c = rec.Save(condition)](const Array& gy) { return Where(c(), gy, 0); });
        rec.Grad(1, [c = rec.Save(condition)](const Array& gy) { return Where(c(), 0, gy); });
    }
    return out;
}

Array Where(const Array& condition, const Array& x, const Scalar& y) {
    CheckSameDevice("where", condition.device(), x.device());
    const Dtype dtype = ResultType(x.dtype(), y);
    const Shape shape = BroadcastShapes("where", condition.shape(), x.shape());
    const Array in_x = Cast(x, dtype);
    Array out = Call(condition, Operand{in_x}, Operand{y}, dtype, shape);
    if (Record rec{"where", {x}, out}) {
        rec.Grad(0, [c = rec.Save(condition)](const Array& gy) { return Where(c(), gy, 0); });
    }
    return out;
}

Array Where(const Array& condition, const Scalar& x, const Array& y) {
    CheckSameDevice("where", condition.device(), y.device());
    const Dtype dtype = ResultType(y.dtype(), x);
    const Shape shape = BroadcastShapes("where", condition.shape(), y.shape());
    const Array in_y = Cast(y, dtype);
    Array out = Call(condition, Operand{x}, Operand{in_y}, dtype, shape);
    if (Record rec{"where", {y}, out}) {
        rec.Grad(0, [c = rec.Save(condition)](const Array& gy) { return Where(c(), 0, gy); });
    }
    return out;
}

Array Where(const Array& condition, const Scalar& x, const Scalar& y) {
    const Dtype dtype = PromoteTypes(x.dtype(), y.dtype());
    return Call(condition, Operand{x}, Operand{y}, dtype, condition.shape());
}

}  // namespace chainerx

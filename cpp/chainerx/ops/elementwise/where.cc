#include "chainerx/ops/elementwise/where.h"

#include <algorithm>

#include "chainerx/kernels/elementwise/where.h"
#include "chainerx/ops/elementwise/layout.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kWhere{"where", &kernels::Where::kInfo, Batching::kElementwise};

// Returns `x` itself, or a converted copy that `holder` keeps.
const Array& As(const Array& x, Dtype dtype, Array& holder) {
    if (x.dtype() == dtype) return x;
    holder = AsType(internal::Detached(x), dtype, false);
    return holder;
}

// Returns the broadcast shape of all; equal shapes cost no more than a comparison.
Shape Broadcast(const Shape& s1, const Shape& s2) {
    return s1 == s2 ? s1 : BroadcastShapes("where", s1, s2);
}

Array Call(const Array& condition, const Operand& x, const Operand& y, Dtype dtype,
           const Shape& shape) {
    CheckedNBytes("where", shape, GetItemSize(dtype));
    Array holder;
    const Array* const operands[] = {&condition, x.is_array() ? &x.array() : nullptr,
                                     y.is_array() ? &y.array() : nullptr};
    const bool plain = std::ranges::all_of(
        operands, [](const Array* a) { return a == nullptr || a->IsContiguous(); });
    Array out = plain ? EmptyUnchecked(shape, dtype, condition.device())
                      : internal::EmptyInOrderOf(shape, dtype, condition.device(), operands);
    CallOn<kernels::Where>(condition.device(), As(condition, Dtype::kBool, holder), x, y, out);
    return out;
}

}  // namespace

Array Where(const Array& condition, const Array& x, const Array& y) {
    CheckSameDevice("where", condition.device(), x.device());
    CheckSameDevice("where", condition.device(), y.device());
    const Dtype dtype = PromoteTypes(x.dtype(), y.dtype());
    const Shape shape = Broadcast(Broadcast(condition.shape(), x.shape()), y.shape());
    Array holder_x;
    Array holder_y;
    const Operand in_x{As(x, dtype, holder_x)};
    const Operand in_y{As(y, dtype, holder_y)};
    Array out = Call(condition, in_x, in_y, dtype, shape);
    if (Record rec{kWhere, {x, y}, out}) {
        rec.Grad(0, [c = rec.Save(condition)](const Array& gy) { return Where(c(), gy, 0); });
        rec.Grad(1, [c = rec.Save(condition)](const Array& gy) { return Where(c(), 0, gy); });
    }
    return out;
}

Array Where(const Array& condition, const Array& x, const Scalar& y) {
    CheckSameDevice("where", condition.device(), x.device());
    const Dtype dtype = ResultType(x.dtype(), y);
    internal::CheckIntFits("where", dtype, y);
    const Shape shape = Broadcast(condition.shape(), x.shape());
    Array holder;
    Array out = Call(condition, Operand{As(x, dtype, holder)}, Operand{y}, dtype, shape);
    if (Record rec{kWhere, {x}, out}) {
        rec.Grad(0, [c = rec.Save(condition)](const Array& gy) { return Where(c(), gy, 0); });
    }
    return out;
}

Array Where(const Array& condition, const Scalar& x, const Array& y) {
    CheckSameDevice("where", condition.device(), y.device());
    const Dtype dtype = ResultType(y.dtype(), x);
    internal::CheckIntFits("where", dtype, x);
    const Shape shape = Broadcast(condition.shape(), y.shape());
    Array holder;
    Array out = Call(condition, Operand{x}, Operand{As(y, dtype, holder)}, dtype, shape);
    if (Record rec{kWhere, {y}, out}) {
        rec.Grad(0, [c = rec.Save(condition)](const Array& gy) { return Where(c(), 0, gy); });
    }
    return out;
}

Array Where(const Array& condition, const Scalar& x, const Scalar& y) {
    const Dtype dtype = PromoteTypes(x.dtype(), y.dtype());
    for (const Scalar* s : {&x, &y}) internal::CheckIntFits("where", dtype, *s);
    return Call(condition, Operand{x}, Operand{y}, dtype, condition.shape());
}

}  // namespace chainerx

#include "chainerx/ops/arithmetic.h"

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

// The output of an elementwise operation of two arrays, and the call of its kernel.
template <typename K>
Array CallBinary(const char* op, const Array& x1, const Array& x2) {
    CheckSameDevice(op, x1.device(), x2.device());
    const bool same = x1.dtype() == x2.dtype();
    const Dtype dtype = same ? x1.dtype() : PromoteTypes(x1.dtype(), x2.dtype());
    if (x1.shape() == x2.shape()) {
        Array y = EmptyUnchecked(x1.shape(), dtype, x1.device());
        if (same) {
            CallOn<K>(y.device(), Operand{x1}, Operand{x2}, y);
        } else {
            CallOn<K>(y.device(), Operand{AsType(internal::Detached(x1), dtype, false)},
                      Operand{AsType(internal::Detached(x2), dtype, false)}, y);
        }
        return y;
    }
    const Shape shape = BroadcastShapes(op, x1.shape(), x2.shape());
    CheckedNBytes(op, shape, GetItemSize(dtype));
    Array y = EmptyUnchecked(shape, dtype, x1.device());
    const Array b1 = BroadcastTo(AsType(internal::Detached(x1), dtype, false), shape);
    const Array b2 = BroadcastTo(AsType(internal::Detached(x2), dtype, false), shape);
    CallOn<K>(y.device(), Operand{b1}, Operand{b2}, y);
    return y;
}

template <typename K>
Array CallBinary(const char*, const Array& x1, const Scalar& x2) {
    const Dtype dtype = ResultType(x1.dtype(), x2);
    Array y = EmptyUnchecked(x1.shape(), dtype, x1.device());
    if (x1.dtype() == dtype) {
        CallOn<K>(y.device(), Operand{x1}, Operand{x2}, y);
    } else {
        CallOn<K>(y.device(), Operand{AsType(internal::Detached(x1), dtype, false)}, Operand{x2},
                  y);
    }
    return y;
}

}  // namespace

Array Add(const Array& x1, const Array& x2) {
    Array y = CallBinary<kernels::Add>("add", x1, x2);
    if (Record rec{"add", {x1, x2}, y}) {
        rec.Grad(0, [](const Array& gy) { return gy; });
        rec.Grad(1, [](const Array& gy) { return gy; });
    }
    return y;
}

Array Add(const Array& x1, const Scalar& x2) {
    Array y = CallBinary<kernels::Add>("add", x1, x2);
    if (Record rec{"add", {x1}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

Array Multiply(const Array& x1, const Array& x2) {
    Array y = CallBinary<kernels::Multiply>("multiply", x1, x2);
    if (Record rec{"multiply", {x1, x2}, y}) {
        rec.Grad(0, [x2 = rec.Save(x2)](const Array& gy) { return Multiply(gy, x2()); });
        rec.Grad(1, [x1 = rec.Save(x1)](const Array& gy) { return Multiply(gy, x1()); });
    }
    return y;
}

Array Multiply(const Array& x1, const Scalar& x2) {
    Array y = CallBinary<kernels::Multiply>("multiply", x1, x2);
    if (Record rec{"multiply", {x1}, y}) {
        rec.Grad(0, [x2](const Array& gy) { return Multiply(gy, x2); });
    }
    return y;
}

void internal::IAdd(const Array& x1, const Array& x2) {
    CheckInPlaceOutput("iadd", x1);
    CheckInPlaceInput("iadd", x2);
    CallOn<kernels::Add>(x1.device(), Operand{x1}, Operand{x2}, x1);
}

}  // namespace chainerx

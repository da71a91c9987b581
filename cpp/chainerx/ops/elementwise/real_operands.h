// Operands of compositions of elementwise operations: real numbers in a float dtype, of one shape.
#pragma once

#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/error.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::internal {

// DtypeError for complex numbers.
inline void CheckReal(const char* op, const char* name, const Array& x) {
    CheckDtype(!IsComplex(x.dtype()), op, name, x.dtype(), "a real dtype (not complex)");
}

// Returns the float dtype in which real numbers are computed.
inline Dtype RealFloatOf(const char* op, const char* name, const Array& x) {
    CheckReal(op, name, x);
    return FloatResult(x.dtype());
}

// Converts two operands to one float dtype and one shape, outside all graphs.
inline std::pair<Array, Array> RealFloatPair(const char* op, const Array& x1, const Array& x2) {
    CheckReal(op, "x1", x1);
    CheckReal(op, "x2", x2);
    CheckSameDevice(op, x1.device(), x2.device());
    const Dtype dtype = FloatResult(PromoteTypes(x1.dtype(), x2.dtype()));
    const Shape shape = BroadcastShapes(op, x1.shape(), x2.shape());
    CheckedNBytes(op, shape, GetItemSize(dtype));
    return {BroadcastTo(AsType(Detached(x1), dtype, false), shape),
            BroadcastTo(AsType(Detached(x2), dtype, false), shape)};
}

// Converts a weak scalar beside `x` to an array of the dtype in which both compute.
inline Array ArrayBeside(const Array& x, const Scalar& number) {
    return Full(Shape{}, number, ResultType(x.dtype(), number), x.device());
}

}  // namespace chainerx::internal

// Defines the overloads of a routine of two arrays in which one of them is a number.
#define CX_WITH_NUMBERS(Name)                             \
    inline auto Name(const Array& x1, const Scalar& x2) { \
        return Name(x1, internal::ArrayBeside(x1, x2));   \
    }                                                     \
    inline auto Name(const Scalar& x1, const Array& x2) { \
        return Name(internal::ArrayBeside(x2, x1), x2);   \
    }

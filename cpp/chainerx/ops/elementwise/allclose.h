// Tests whether arrays are equal, or equal within a tolerance.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/elementwise/real_operands.h"

namespace chainerx {

struct Closeness {
    double rtol{1e-5};
    double atol{1e-8};
    bool equal_nan{false};  // whether NaN equals NaN
};

// Returns |a - b| <= atol + rtol * |b|, elementwise; an infinity is close only to itself.
CX_API Array Isclose(const Array& a, const Array& b, const Closeness& closeness = {});
// Returns whether all elements are close. Waits for the device.
CX_API bool Allclose(const Array& a, const Array& b, const Closeness& closeness = {});
// Returns whether shapes and elements are equal. Waits for the device.
CX_API bool ArrayEqual(const Array& a1, const Array& a2, bool equal_nan = false);
// The same, but broadcasts the shapes.
CX_API bool ArrayEquiv(const Array& a1, const Array& a2);

namespace internal {
// Compares integers as float64, since the dtype of x may not hold `number`.
inline Array NumberCloseTo(const Array& x, const Scalar& number) {
    const bool are_whole =
        !IsFloat(x.dtype()) && !IsComplex(x.dtype()) && number.kind() < DtypeKind::kFloat;
    return are_whole ? Full(Shape{}, number.To<double>(), Dtype::kFloat64, x.device())
                     : ArrayBeside(x, number);
}
}  // namespace internal

#define CX_CLOSE_TO_NUMBER(Result, Name)                                                   \
    inline Result Name(const Array& a, const Scalar& b, const Closeness& closeness = {}) { \
        return Name(a, internal::NumberCloseTo(a, b), closeness);                          \
    }                                                                                      \
    inline Result Name(const Scalar& a, const Array& b, const Closeness& closeness = {}) { \
        return Name(internal::NumberCloseTo(b, a), b, closeness);                          \
    }
CX_CLOSE_TO_NUMBER(Array, Isclose)
CX_CLOSE_TO_NUMBER(bool, Allclose)
#undef CX_CLOSE_TO_NUMBER

}  // namespace chainerx

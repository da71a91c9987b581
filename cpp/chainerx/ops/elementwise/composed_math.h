// Elementwise functions of mathematics that are made of others.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// To so many decimals, of two equally near values the one whose last decimal is even; to tens,
// hundreds and so on for negative counts. Integers stay integers. Not differentiable.
CX_API Array Round(const Array& x, int64_t decimals = 0);
// `nan` for nan, and for infinities other numbers, without which the greatest and the least of the
// dtype. Differentiable where elements stay.
CX_API Array NanToNum(const Array& x, const Scalar& nan = 0,
                      const std::optional<Scalar>& posinf = std::nullopt,
                      const std::optional<Scalar>& neginf = std::nullopt);

// The quotient and the remainder of FloorDivide and Remainder.
CX_API std::pair<Array, Array> Divmod(const Array& x1, const Array& x2);
CX_API std::pair<Array, Array> Divmod(const Array& x1, const Scalar& x2);
CX_API std::pair<Array, Array> Divmod(const Scalar& x1, const Array& x2);
// The power in float64 or complex128.
CX_API Array FloatPower(const Array& x1, const Array& x2);
CX_API Array FloatPower(const Array& x1, const Scalar& x2);
CX_API Array FloatPower(const Scalar& x1, const Array& x2);

// How many bits of the absolute value are set, as uint8.
CX_API Array BitwiseCount(const Array& x);

// Angles, from radians and from degrees.
CX_API Array Degrees(const Array& x);
CX_API Array Radians(const Array& x);
// sin(pi x) / (pi x), and 1 at 0. Differentiable, any order.
CX_API Array Sinc(const Array& x);

// The argument of complex numbers, 0 or pi of real ones.
CX_API Array Angle(const Array& z, bool degrees = false);
// The real part, if all imaginary ones are below `tolerance` in units of the precision, or, if that
// is at most 1, as such. Waits for the device.
CX_API Array RealIfClose(const Array& x, double tolerance = 100);

CX_API Array Isposinf(const Array& x);
CX_API Array Isneginf(const Array& x);
// Whether the imaginary part is 0, or is not.
CX_API Array Isreal(const Array& x);
CX_API Array Iscomplex(const Array& x);

}  // namespace chainerx

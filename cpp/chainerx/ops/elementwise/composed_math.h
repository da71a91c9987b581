// Elementwise mathematical functions that are compositions of others.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// Rounds to `decimals` decimals, half to even; negative counts round to tens, hundreds and so on.
// Integers stay integers. Not differentiable.
CX_API Array Round(const Array& x, int64_t decimals = 0);
// Replaces NaN by `nan`, and infinities by the given numbers, by default the largest and smallest
// of the dtype. Differentiable at elements that are not replaced.
CX_API Array NanToNum(const Array& x, const Scalar& nan = 0,
                      const std::optional<Scalar>& posinf = std::nullopt,
                      const std::optional<Scalar>& neginf = std::nullopt);

// Returns FloorDivide and Remainder of x1 and x2.
CX_API std::pair<Array, Array> Divmod(const Array& x1, const Array& x2);
CX_API std::pair<Array, Array> Divmod(const Array& x1, const Scalar& x2);
CX_API std::pair<Array, Array> Divmod(const Scalar& x1, const Array& x2);
// Computes the power in float64 or complex128.
CX_API Array FloatPower(const Array& x1, const Array& x2);
CX_API Array FloatPower(const Array& x1, const Scalar& x2);
CX_API Array FloatPower(const Scalar& x1, const Array& x2);

// Counts the set bits of the absolute value, as uint8.
CX_API Array BitwiseCount(const Array& x);

// Converts angles from radians to degrees, and back.
CX_API Array Degrees(const Array& x);
CX_API Array Radians(const Array& x);
// Returns sin(pi x) / (pi x), and 1 at 0. Differentiable, any order.
CX_API Array Sinc(const Array& x);

// Returns the argument of complex numbers; for real ones 0 or pi.
CX_API Array Angle(const Array& z, bool degrees = false);
// Returns the real part if all imaginary parts are below `tolerance`, which counts in units of the
// machine epsilon if it is greater than 1, and is absolute otherwise. Waits for the device.
CX_API Array RealIfClose(const Array& x, double tolerance = 100);

CX_API Array Isposinf(const Array& x);
CX_API Array Isneginf(const Array& x);
// Returns whether the imaginary part is 0, and whether it is not.
CX_API Array Isreal(const Array& x);
CX_API Array Iscomplex(const Array& x);

}  // namespace chainerx

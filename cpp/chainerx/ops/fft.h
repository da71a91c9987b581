// Fourier transforms of numbers that are given as real and imaginary parts.
#pragma once

#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// The discrete Fourier transform along the last axis, or the inverse one, which divides by the
// length. Real floats of one dtype and shape; 16-bit ones are computed in float32. DimensionError
// if the axis is not there or empty. Differentiable.
CX_API std::pair<Array, Array> Fft(const Array& real, const Array& imag);
CX_API std::pair<Array, Array> Ifft(const Array& real, const Array& imag);

}  // namespace chainerx

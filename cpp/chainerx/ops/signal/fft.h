// Fourier transforms, named as in numpy.fft. Differentiable, any order.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// The direction that divides by the length; kOrtho: both divide by its square root.
enum class FftNorm : int8_t { kBackward, kOrtho, kForward };

// Options: the axis, its length (truncated or zero-padded; all of it by default), the norm.
struct FftAxis {
    std::optional<int64_t> n{};
    int8_t axis{-1};
    FftNorm norm{FftNorm::kBackward};
};

// Integers and bool are computed in the default float dtype, 16-bit floats in float32. The result
// is complex, except for Irfft and Hfft.
CX_API Array Fft(const Array& x, const FftAxis& a = {});
CX_API Array Ifft(const Array& x, const FftAxis& a = {});
// DtypeError for complex arrays.
CX_API Array Rfft(const Array& x, const FftAxis& a = {});
CX_API Array Ihfft(const Array& x, const FftAxis& a = {});
// `n` is the length of the result, 2 (length - 1) by default.
CX_API Array Irfft(const Array& x, const FftAxis& a = {});
CX_API Array Hfft(const Array& x, const FftAxis& a = {});

// Options for several axes: the last ones, as many as `shape` has, by default all.
struct FftAxes {
    std::optional<std::vector<int64_t>> shape{};  // -1 for the length of x
    std::optional<std::vector<int64_t>> axes{};
    FftNorm norm{FftNorm::kBackward};
};
CX_API Array FftN(const Array& x, const FftAxes& a = {}, const char* op = "fftn");
CX_API Array IfftN(const Array& x, const FftAxes& a = {}, const char* op = "ifftn");
CX_API Array RfftN(const Array& x, const FftAxes& a = {}, const char* op = "rfftn");
CX_API Array IrfftN(const Array& x, const FftAxes& a = {}, const char* op = "irfftn");

// Returns the frequencies of Fft, and of Rfft, for n samples with spacing d.
CX_API Array FftFreq(int64_t n, double d, Dtype dtype, Device& device);
CX_API Array RfftFreq(int64_t n, double d, Dtype dtype, Device& device);
// Shifts frequency 0 to the middle of the axes, by default all, and back.
CX_API Array FftShift(const Array& x, const OptionalAxes& axes = std::nullopt);
CX_API Array IfftShift(const Array& x, const OptionalAxes& axes = std::nullopt);

}  // namespace chainerx

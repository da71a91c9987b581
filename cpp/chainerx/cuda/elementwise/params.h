// Parameters of elementwise kernels, for the host and the device (cuda/elementwise/device/loops.h).
#pragma once

#include <bit>
#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

// Elements that a thread computes where strides are arbitrary.
inline constexpr int kStridedElements = 4;

// A scalar operand, in the dtype of the arrays.
struct alignas(16) ScalarBytes {
    unsigned char bytes[16];
};

template <int kInputs>
struct ElementwiseParams {
    int64_t size;
    Ptr<char> out;
    Ptr<char> in[kInputs];
    ScalarBytes scalars[kInputs];
};

// A dimension's length, and what divides by it: a multiplication and a shift for 32-bit numbers
// (Granlund and Montgomery, 1994).
struct Divisor {
    int64_t size;
    uint32_t multiplier;
    uint32_t shift;

#if defined(CX_TEST_DRIVER) || defined(__CUDACC_RTC__)
    uint32_t Divide(uint32_t x) const { return (__umulhi(x, multiplier) + x) >> shift; }
    uint64_t Divide(uint64_t x) const { return x / static_cast<uint64_t>(size); }
#endif
};

// For 0 <= x < 2^31: x / size is (high half of x * multiplier, plus x) >> shift.
inline Divisor MakeDivisor(int64_t size) {
    Divisor divisor{size, 0, 0};
    if (size > 0x7fffffff || size <= 0) return divisor;
    const int shift = 64 - std::countl_zero(static_cast<uint64_t>(size - 1));
    const auto rest = static_cast<uint64_t>((int64_t{1} << shift) - size);
    divisor.shift = static_cast<uint32_t>(shift);
    divisor.multiplier = static_cast<uint32_t>((rest << 32) / static_cast<uint64_t>(size) + 1);
    return divisor;
}

// Dimensions are merged where all operands allow; the fastest comes first. Strides are in bytes,
// those of the output first.
template <int kInputs>
struct StridedParams {
    int64_t size;
    Ptr<char> out;
    Ptr<char> in[kInputs];
    ScalarBytes scalars[kInputs];
    unsigned scalar_mask;
    int ndim;
    Divisor dims[kMaxDims];
    int64_t strides[kInputs + 1][kMaxDims];
};

}  // namespace chainerx::cuda

// What kernels of random numbers derive from their parameters before they draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/core/dtype.h"
#include "chainerx/core/kernel_error.h"

namespace chainerx {

// The largest T below `high`, toward `low`, to which rounding is clamped.
template <typename T>
ComputeType<T> LastBelow(double low, double high) {
    using C = ComputeType<T>;
    const T rounded = Cast<T>(high);
    const C top = Cast<C>(rounded);
    if (top < high || low >= high) return top;
    if constexpr (std::is_same_v<T, C>) {
        return std::nextafter(top, -std::numeric_limits<C>::infinity());
    } else {
        const uint16_t bits = rounded.bits();
        if ((bits & 0x7fff) == 0) return Cast<C>(T::FromBits(0x8001));
        return Cast<C>(T::FromBits(top > 0 ? bits - 1 : bits + 1));
    }
}

// A number of [low, high), from a uniform u of [0, 1): min(first + width * u, last). Where low is
// above high, it is the negative of that.
template <typename C>
struct UniformRange {
    C first;
    C width;
    C last;
};
template <typename T>
UniformRange<ComputeType<T>> MakeUniformRange(double low, double high) {
    using C = ComputeType<T>;
    if (!(low <= high)) {
        low = -low;
        high = -high;
    }
    return {static_cast<C>(low), static_cast<C>(high - low), LastBelow<T>(low, high)};
}

// Elements whose 32 bits are below it are dropped.
inline uint32_t DropoutThreshold(double ratio) {
    return static_cast<uint32_t>(std::min(std::ceil(ratio * 0x1p32), 0x1p32 - 1));
}

// The error of a range whose ends are operands: it is empty, or an end is beyond the dtype.
inline KernelError MakeRangeError(bool of_low, bool is_empty, bool closed, int64_t position,
                                  double end) {
    const char* expected = "what the dtype holds";
    if (is_empty) {
        expected = closed ? "a number not below low" : "a number above low";
    } else if (!of_low && !closed) {
        expected = "what the dtype holds, or one more";
    }
    return KernelError::Domain("integers", of_low ? "low" : "high", position, end, expected);
}

}  // namespace chainerx

// What a convolution that is a layer has beyond its operands.
#pragma once

#include <limits>

namespace chainerx {

// The bounds that results are clipped to, as activations do; NaN stays.
struct ConvLimits {
    double low{-std::numeric_limits<double>::infinity()};
    double high{std::numeric_limits<double>::infinity()};

    bool operator==(const ConvLimits&) const = default;
    bool is_none() const { return low == -high && high == std::numeric_limits<double>::infinity(); }
};

}  // namespace chainerx

// Domains of numeric operands.
#pragma once

#include <limits>

namespace chainerx {

// An interval. It never contains NaN. Plain data; the texts are literals.
struct Domain {
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    double low;
    double high;
    bool has_low;
    bool has_high;
    const char* expected;  // for messages

    bool Has(double x) const {
        return (has_low ? x >= low : x > low) && (has_high ? x <= high : x < high);
    }

    bool operator==(const Domain&) const = default;
};

inline constexpr Domain kAnyFinite{-Domain::kInfinity, Domain::kInfinity, false, false,
                                   "a finite number"};
inline constexpr Domain kZeroOrAbove{0, Domain::kInfinity, true, false, "a finite number >= 0"};
inline constexpr Domain kAboveZero{0, Domain::kInfinity, false, false, "a finite number > 0"};
inline constexpr Domain kProbability{0, 1, true, true, "0 to 1"};
inline constexpr Domain kPositiveProbability{0, 1, false, true, "a number > 0, up to 1"};
inline constexpr Domain kNotNan{-Domain::kInfinity, Domain::kInfinity, true, true, "a number"};

}  // namespace chainerx

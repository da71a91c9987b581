// Von Mises angles, and choice by probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "chainerx/native/random/random.h"
#include "chainerx/native/random/substream.h"

namespace chainerx::native {

inline constexpr double kPi = 3.141592653589793238;

// D. J. Best, N. I. Fisher, "Efficient simulation of the von Mises distribution", Applied
// Statistics, 1979.
inline double DrawAngle(const philox::Stream& stream, int64_t element, double kappa, double u,
                        double v) {
    if (kappa < 1e-8) return kPi * (2 * u - 1);
    // Nearly normal with variance 1 / kappa; r, which approaches 1, would accept nothing.
    if (kappa > 1e10) {
        const double radius = std::sqrt(-2 * std::log1p(-v) / kappa);
        return std::clamp(radius * std::cos(2 * kPi * u), -kPi, kPi);
    }
    // The envelope is a wrapped Cauchy distribution.
    const double tau = 1 + std::sqrt(1 + 4 * kappa * kappa);
    const double rho = (tau - std::sqrt(2 * tau)) / (2 * kappa);
    const double r = kappa < 1e-5 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
    Substream substream{stream, element};
    while (!substream.is_used_up()) {
        // u of either sign gives the angle under the envelope.
        const double z = std::cos(2 * kPi * u);
        const double f = (1 + r * z) / (r + z);
        const double c = kappa * (r - f);
        if (c * (2 - c) > v || std::log(c / v) + 1 - c >= 0) {
            const double angle = std::acos(std::clamp(f, -1.0, 1.0));
            return u < 0.5 ? angle : -angle;
        }
        const philox::Block block = substream.Next();
        u = philox::ToUniform(philox::Join(block.v[0], block.v[1]));
        v = philox::ToUniform(philox::Join(block.v[2], block.v[3]));
    }
    return 0;
}

// The first j with u * row[count - 1] < row[j].
inline int64_t FindPlace(const double* row, int64_t count, double u) {
    const double* place = std::upper_bound(row, row + count, u * row[count - 1]);
    // The product was rounded up to the last sum: takes the first place with that sum.
    if (place == row + count) place = std::lower_bound(row, row + count, row[count - 1]);
    return place - row;
}

}  // namespace chainerx::native

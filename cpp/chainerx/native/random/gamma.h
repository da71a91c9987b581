// Gamma variates: G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM
// Transactions on Mathematical Software, 2000. For a normal z, d (1 + c z)^3 is nearly gamma, and
// few are rejected; for a shape below 1, a variate of shape + 1 is scaled by a power of a uniform
// number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "chainerx/native/random/random.h"
#include "chainerx/native/random/substream.h"

namespace chainerx::native {

template <typename C>
struct Cubes {
    C d;
    C c;

    // A shape beyond the range of C is clamped to its largest number.
    explicit Cubes(double shape)
        : d{static_cast<C>(std::min((shape < 1 ? shape + 1 : shape) - 1.0 / 3,
                                    static_cast<double>(std::numeric_limits<C>::max())))},
          c{1 / std::sqrt(9 * d)} {}

    // Returns whether a variate is accepted by the paper's squeeze. If not, IsRight() decides.
    bool Draw(C z, C u, C* y) const {
        const C t = 1 + c * z;
        *y = d * (t * t * t);
        return (t > 0) & (u < 1 - static_cast<C>(0.0331) * (z * z) * (z * z));
    }
};

inline bool IsRight(double d, double c, double z, double u) {
    const double t = 1 + c * z;
    if (!(t > 0)) return false;
    const double v = t * t * t;
    return std::log(u) < 0.5 * z * z + d * (1 - v + std::log(v));
}

// Draws an element whose first normal z and u were not accepted by the squeeze.
inline double DrawSlowly(const philox::Stream& stream, int64_t element, double d, double c,
                         double z, double u) {
    Substream substream{stream, element};
    while (!IsRight(d, c, z, u)) {
        if (substream.is_used_up()) return 0;
        const philox::Block block = substream.Next();
        double unused;
        philox::ToNormals(philox::Join(block.v[0], block.v[1]),
                          philox::Join(block.v[2], block.v[3]), &z, &unused);
        const philox::Block next = substream.Next();
        u = philox::ToUniform(philox::Join(next.v[0], next.v[1]));
    }
    const double t = 1 + c * z;
    return d * (t * t * t);
}

// Completes a variate `y` of shape, or of shape + 1 if that is below 1: scales it by a power of the
// uniform number u, or returns its logarithm, clamped to finite values, since others are subtracted
// from it.
inline double FinishGamma(double y, double shape, double u, bool log) {
    const double power = shape < 1 ? std::log1p(-u) / shape : 0;
    return log ? std::max(std::log(y) + power, std::numeric_limits<double>::lowest())
               : y * std::exp(power);
}

}  // namespace chainerx::native

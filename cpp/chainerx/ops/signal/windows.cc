#include "chainerx/ops/signal/windows.h"

#include <algorithm>
#include <cmath>

#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/special.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Returns f of m points from -1 to 1; a single sample is the middle.
Array Window(int64_t m, Dtype dtype, Device& device, const auto& f) {
    const int64_t steps = std::max<int64_t>(m - 1, 1);
    const Array number = Arange(Scalar{m > 1 ? 1 - m : int64_t{0}}, Scalar{std::max<int64_t>(m, 0)},
                                Scalar{2}, Dtype::kFloat64, device);
    return AsType(f(number / static_cast<double>(steps)), dtype, false);
}

}  // namespace

Array Bartlett(int64_t m, Dtype dtype, Device& device) {
    return Window(m, dtype, device, [](const Array& t) { return 1 - Absolute(t); });
}

Array Blackman(int64_t m, Dtype dtype, Device& device) {
    return Window(m, dtype, device, [](const Array& t) {
        return 0.42 + Cos(t * kPi) * 0.5 + Cos(t * (2 * kPi)) * 0.08;
    });
}

Array Hamming(int64_t m, Dtype dtype, Device& device) {
    return Window(m, dtype, device, [](const Array& t) { return 0.54 + Cos(t * kPi) * 0.46; });
}

Array Hanning(int64_t m, Dtype dtype, Device& device) {
    return Window(m, dtype, device, [](const Array& t) { return 0.5 + Cos(t * kPi) * 0.5; });
}

Array Kaiser(int64_t m, double beta, Dtype dtype, Device& device) {
    const double b = std::fabs(beta);
    return Window(m, dtype, device, [&](const Array& t) {
        // Both functions omit their factor of exp(b), which may overflow.
        const Array at = Sqrt((1 - t) * (1 + t)) * b;
        const Array peak = I0e(Full(Shape{}, Scalar{b}, Dtype::kFloat64, device));
        return Exp(at - b) * I0e(at) / peak;
    });
}

}  // namespace chainerx

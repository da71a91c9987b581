#include "chainerx/ops/elementwise/tables/activation.h"

#include "chainerx/kernels/elementwise/activation.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// Clips x to where powers don't overflow and beyond which the derivatives vanish.
Array NearZero(const Array& x) { return Clip(x, -64.0, 64.0); }

// The same for powers of exp(x).
Array WithinGate(const Array& x) { return Clip(x, -1000.0, 1000.0); }

// The second derivative of x s, where s = sigmoid(x).
Array SiluCurve(const Array& far) {
    const Array x = WithinGate(far);
    const Array s = Sigmoid(x);
    return s * (1 - s) * (2 + x * (1 - s * 2));
}

// The second derivative of x t, where t = tanh(softplus(x)).
Array MishCurve(const Array& far) {
    const Array x = WithinGate(far);
    const Array s = Sigmoid(x);
    const Array t = Tanh(Softplus(x));
    return (1 - Square(t)) * s * (2 + x * (1 - s - s * t * 2));
}

// The second derivative of x N(x), where N is the standard normal distribution function.
Array GeluErfCurve(const Array& far) {
    constexpr double kInverseSqrt2Pi = 0.39894228040143268;
    const Array square = Square(NearZero(far));
    return (2 - square) * Exp(square * -0.5) * kInverseSqrt2Pi;
}

// The second derivative of x (1 + tanh(u(x))) / 2, where u(x) = a x + b x^3.
Array GeluTanhCurve(const Array& far) {
    constexpr double kA = 0.79788456080286536;
    constexpr double kB = 0.035677408136300123;
    const Array x = NearZero(far);
    const Array square = Square(x);
    const Array t = Tanh(x * (square * kB + kA));
    const Array u1 = square * (3 * kB) + kA;  // the derivatives of u
    const Array u2 = x * (6 * kB);
    return (1 - Square(t)) * (u1 + x * (u2 * 0.5 - t * Square(u1)));
}

}  // namespace
}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/activation.def"
#include "chainerx/ops/elementwise/define_family.h"

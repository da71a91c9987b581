#include "chainerx/ops/composed.h"

#include "chainerx/core/error.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/operators.h"

namespace chainerx {

Array Fabs(const Array& x) { return Absolute(AsType(x, FloatResult(x.dtype()), false)); }

Array Clip(const Array& a, const std::optional<Scalar>& a_min, const std::optional<Scalar>& a_max) {
    if (!a_min && !a_max)
        throw ValueError{"clip: a_min and a_max are both None, expected one bound"};
    // A bound that no element can cross is none, and need not fit the dtype.
    const auto is_needless = [&](const Scalar& bound, bool is_low) {
        return IsInt(a.dtype()) && bound.kind() < DtypeKind::kFloat && !bound.Fits(a.dtype()) &&
               (bound.To<double>() < 0) == is_low;
    };
    const bool low = a_min && !is_needless(*a_min, true);
    const bool high = a_max && !is_needless(*a_max, false);
    if (!low && !high) return Copy(a);
    Array y = a;
    if (low) y = Maximum(y, *a_min);
    if (high) y = Minimum(y, *a_max);
    return y;
}

Array ClippedRelu(const Array& x, double z) { return Minimum(Relu(x), z); }

Array Softplus(const Array& x, double beta) {
    if (beta == 1.0) return Softplus(x);
    return Softplus(AsType(x, FloatResult(x.dtype()), false) * beta) / beta;
}

Array Crelu(const Array& x, int8_t axis) {
    if (axis < -x.ndim() || axis >= x.ndim()) {
        throw DimensionError{"crelu: axis is ", static_cast<int>(axis),
                             ", expected one of x, which has ", static_cast<int>(x.ndim()),
                             " dimensions"};
    }
    const Array y[] = {Relu(x), Relu(-AsType(x, FloatResult(x.dtype()), false))};
    const ConstArrayRef parts[] = {y[0], y[1]};
    return Concatenate(parts, axis);
}

Array AbsoluteError(const Array& x1, const Array& x2) { return Absolute(x1 - x2); }
Array SquaredError(const Array& x1, const Array& x2) { return Square(x1 - x2); }

}  // namespace chainerx

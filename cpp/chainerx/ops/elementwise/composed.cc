#include "chainerx/ops/elementwise/composed.h"

#include <vector>

#include "chainerx/kernels/elementwise/activation.h"
#include "chainerx/ops/elementwise/elementwise.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kClip{"clip", nullptr, Batching::kElementwise};
constexpr OpInfo kClippedRelu{"clipped_relu", nullptr, Batching::kElementwise};
constexpr OpInfo kSoftplus{"softplus", nullptr, Batching::kElementwise};

Array EluGrad(const Array& y, double alpha, const Array& gy) {
    return Where(y > 0, gy, gy * (y + alpha));
}
Array EluForward(const ForwardInputs& f) {
    internal::CheckForward(f, 1, 1);
    return f.tangents[0].is_null() ? Array{} : EluGrad(f.y, f.attributes[0], f.tangents[0]);
}
constexpr OpInfo kElu{"elu", &kernels::EluOfX::kInfo, Batching::kElementwise, &EluForward};
constexpr OpInfo kCrelu{"crelu", nullptr, Batching::kAxes};
constexpr OpInfo kSwish{"swish", nullptr, Batching::kElementwise};
constexpr OpInfo kSquaredError{"squared_error", nullptr, Batching::kElementwise};

}  // namespace

Array Fabs(const Array& x) { return Absolute(AsType(x, FloatResult(x.dtype()), false)); }

Array Clip(const Array& a, const std::optional<Scalar>& a_min, const std::optional<Scalar>& a_max) {
    if (!a_min && !a_max)
        throw ValueError{"clip: a_min and a_max are both None, expected one bound"};
    // Ignores a bound that no element can cross; it need not fit the dtype.
    const auto is_needless = [&](const Scalar& bound, bool is_low) {
        return IsInt(a.dtype()) && bound.kind() < DtypeKind::kFloat && !bound.Fits(a.dtype()) &&
               (bound.To<double>() < 0) == is_low;
    };
    const bool low = a_min && !is_needless(*a_min, true);
    const bool high = a_max && !is_needless(*a_max, false);
    if (!low && !high) return Copy(a);
    if (low && high) return Clamp(a, *a_min, *a_max);
    Array y = low ? Maximum(internal::Detached(a), *a_min) : Minimum(internal::Detached(a), *a_max);
    if (Record rec{kClip, {a}, y}) {
        rec.Grad(0, [a = rec.Save(a), low, bound = low ? *a_min : *a_max](const Array& gy) {
            const Array x = a();
            return Where(low ? x >= bound : x <= bound, gy, Scalar{0});
        });
    }
    return y;
}

Array ClippedRelu(const Array& x, double z) {
    const Array a = AsType(x, FloatResult(x.dtype()), false);
    Array y = Clamp(internal::Detached(a), 0, z);
    if (Record rec{kClippedRelu, {a}, y}) {
        rec.Grad(0, [a = rec.Save(a), z](const Array& gy) {
            const Array x = a();
            return Where(LogicalAnd(x > 0, x < z), gy, Scalar{0});
        });
    }
    return y;
}

Array Softplus(const Array& x, double beta) {
    if (beta == 1.0) return Softplus(x);
    const Array a = AsType(x, FloatResult(x.dtype()), false);
    Array y = Softplus(internal::Detached(a) * beta) / beta;
    if (Record rec{kSoftplus, {a}, y}) {
        rec.Grad(0, [a = rec.Save(a), beta](const Array& gy) { return gy * Sigmoid(a() * beta); });
    }
    return y;
}

Array Elu(const Array& x, double alpha) {
    CheckDtype(!IsComplex(x.dtype()), "elu", "x", x.dtype(), "a real dtype (not complex)");
    if (!(alpha >= 0)) return EluOfX(x, alpha);
    const Array a = AsType(x, FloatResult(x.dtype()), false);
    Array y = EluOfX(internal::Detached(a), alpha);
    if (Record rec{kElu, {a}, y}) {
        rec.Grad(
            0, [y = rec.SaveOutput(y), alpha](const Array& gy) { return EluGrad(y(), alpha, gy); });
        rec.SetAttributes({alpha});
    }
    return y;
}

Array Gelu(const Array& x, GeluApproximation approximate) {
    return approximate == GeluApproximation::kTanh ? GeluTanh(x) : GeluErf(x);
}

Array Crelu(const Array& x, int8_t axis) {
    if (axis < -x.ndim() || axis >= x.ndim()) {
        throw DimensionError{"crelu: axis is ", static_cast<int>(axis),
                             ", expected one of x, which has ", static_cast<int>(x.ndim()),
                             " dimensions"};
    }
    const Array a = AsType(x, FloatResult(x.dtype()), false);
    const Array detached = internal::Detached(a);
    const Array both[] = {Relu(detached), Relu(-detached)};
    const ConstArrayRef parts[] = {both[0], both[1]};
    Array y = Concatenate(parts, axis);
    if (Record rec{kCrelu, {a}, y}) {
        rec.Grad(0, [a = rec.Save(a), axis](const Array& gy) {
            const std::vector<Array> parts = Split(gy, 2, axis);
            return RectifyGrad(a(), parts[0]) - RectifyGrad(-a(), parts[1]);
        });
    }
    return y;
}

Array Swish(const Array& x, const Array& beta) {
    const Dtype dtype = FloatResult(PromoteTypes(x.dtype(), beta.dtype()));
    const Array a = AsType(x, dtype, false);
    const Array b = AsType(beta, dtype, false);
    const Array detached = internal::Detached(a);
    Array y = detached * Sigmoid(detached * internal::Detached(b));
    if (Record rec{kSwish, {a, b}, y}) {
        rec.Grad(0, [a = rec.Save(a), b = rec.Save(b)](const Array& gy) {
            const Array t = a() * b();
            const Array s = Sigmoid(t);
            return gy * s * (t * (1 - s) + 1);
        });
        rec.Grad(1, [a = rec.Save(a), b = rec.Save(b)](const Array& gy) {
            const Array x = a();
            // for large negative x this is 0 * x, not 0 * inf
            return x * SigmoidGrad(Sigmoid(x * b()), gy * x);
        });
    }
    return y;
}

Array AbsoluteError(const Array& x1, const Array& x2) { return Absolute(x1 - x2); }

namespace {

// The gradient of a sum is one number, broadcast; outside of graphs, drops the broadcast
// dimensions.
Array WithoutBroadcasting(const Array& gy) {
    if (gy.body()->slot != nullptr || gy.GetTotalSize() == 0) return gy;
    for (int64_t stride : gy.strides()) {
        if (stride != 0) return gy;
    }
    return internal::MakeView(gy, Shape{}, Strides{}, gy.raw_data());
}

}  // namespace

Array SquaredError(const Array& x1, const Array& x2) {
    Array y = Square(internal::Detached(x1) - internal::Detached(x2));
    if (Record rec{kSquaredError, {x1, x2}, y}) {
        rec.GradAll([x1 = rec.Save(x1), x2 = rec.Save(x2)](GradContext& context) {
            const Array gx = (x1() - x2()) * (WithoutBroadcasting(context.output_grad()) * 2);
            if (context.IsInputGradRequired(0)) context.SetInputGrad(0, gx);
            if (context.IsInputGradRequired(1)) context.SetInputGrad(1, -gx);
        });
    }
    return y;
}

}  // namespace chainerx

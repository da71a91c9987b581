// Gamma numbers, and distributions derived from them.
//
// Their gradients in the shape are implicit: if F(x; a) is fixed, dx/da = -(dF/da) / (dF/dx) (M.
// Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", NeurIPS 2018).

#include "chainerx/kernels/random/random.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/special.h"
#include "chainerx/ops/norm/softmax.h"
#include "chainerx/ops/random/random_plan.h"
#include "chainerx/ops/routine.h"

namespace chainerx::random {
namespace {

constexpr OpInfo kGamma{"standard_gamma", &kernels::RandomGamma::kInfo};
constexpr OpInfo kMixture{"noncentral_chisquare", &kernels::RandomPoisson::kInfo};
constexpr Domain kNonc{0, 1e18, true, true, "0 to 1e18"};
// Below this, F(x; a) equals x^a / Gamma(a + 1) to all digits.
constexpr double kSmall = 1e-17;
constexpr double kLogSmall = -39.14394658089878;

// Returns d log x / da for a gamma number x, float64.
Array LogSlope(const Array& a, const Array& x, const Array& is_small, const Array& log_x) {
    const Array series = (Digamma(a + 1) - log_x) / a;
    const Array inside = Where(is_small, 1, x);
    const Array exact = Negative(GammaincSlope(a, inside) / (GammaDensity(a, inside) * inside));
    return Where(is_small, series, exact);
}

// Draws gamma numbers of shape `a`, or their logarithms, in float32 or float64.
Array Draw(const Plan& plan, const Array& a, bool log, Dtype compute) {
    Array y = EmptyUnchecked(plan.shape(), compute, plan.device());
    CallOn<kernels::RandomGamma>(plan.device(), plan.state(), Spread(a, plan.shape()), log, y);
    if (Record rec{kGamma, {a}, y}) {
        rec.Grad(0, [log, a = rec.Save(a), saved = rec.SaveOutput(y)](const Array& gy) {
            const Array y = AsType(saved(), Dtype::kFloat64, false);
            if (log) return gy * LogSlope(a(), Exp(y), y < kLogSmall, y);
            const Array is_small = y < kSmall;
            const Array log_y = Log(Where(is_small, Maximum(y, 1e-300), 1));
            return gy * (y * LogSlope(a(), y, is_small, log_y));
        });
    }
    return y;
}

Array DrawLog(const Plan& plan, const Array& a) { return Draw(plan, a, true, Dtype::kFloat64); }

// Returns the shape of the gamma variable whose double is noncentral chi-square: half the degrees
// of freedom plus a Poisson number.
Array NoncentralShape(const Plan& plan, const Array& df, const Array& nonc) {
    Array count = EmptyUnchecked(plan.shape(), Dtype::kInt64, plan.device());
    CallOn<kernels::RandomPoisson>(plan.device(), plan.state(),
                                   Spread(internal::Detached(nonc) * 0.5, plan.shape()), count);
    Array more = AsType(count, Dtype::kFloat64);
    if (Record rec{kMixture, {nonc}, more}) {
        rec.Grad(0, [op = plan.op()](const Array& gy) -> Array { RefuseGradient(op, "nonc", gy); });
    }
    return df * 0.5 + more;
}

}  // namespace

Array StandardGamma(const Parameter& shape, const Options& options) {
    const Plan plan{kGamma.name, {{"shape", shape, kAboveZero}}, options};
    return plan.Finish(Draw(plan, plan.Get(0), false, plan.compute_dtype()));
}

Array Gamma(const Parameter& shape, const Parameter& scale, const Options& options) {
    const Plan plan{
        "gamma", {{"shape", shape, kAboveZero}, {"scale", scale, kZeroOrAbove}}, options};
    const Dtype compute = plan.compute_dtype();
    const Array y = Draw(plan, plan.Get(0), false, compute);
    return plan.Finish(plan.Is(1, 1) ? y : y * plan.Get(1, compute));
}

Array Beta(const Parameter& a, const Parameter& b, const Options& options) {
    const Plan plan{"beta", {{"a", a, kAboveZero}, {"b", b, kAboveZero}}, options};
    const Array x = DrawLog(plan, plan.Get(0));
    return plan.Finish(Sigmoid(x - DrawLog(plan, plan.Get(1))));
}

Array ChiSquare(const Parameter& df, const Options& options) {
    const Plan plan{"chisquare", {{"df", df, kAboveZero}}, options};
    return plan.Finish(Draw(plan, plan.Get(0) * 0.5, false, Dtype::kFloat64) * 2);
}

Array F(const Parameter& dfnum, const Parameter& dfden, const Options& options) {
    const Plan plan{"f", {{"dfnum", dfnum, kAboveZero}, {"dfden", dfden, kAboveZero}}, options};
    const Array n = plan.Get(0);
    const Array d = plan.Get(1);
    const Array x = DrawLog(plan, n * 0.5);
    return plan.Finish(Exp(x - DrawLog(plan, d * 0.5)) * (d / n));
}

Array NoncentralChiSquare(const Parameter& df, const Parameter& nonc, const Options& options) {
    const Plan plan{kMixture.name, {{"df", df, kAboveZero}, {"nonc", nonc, kNonc}}, options};
    const Array shape = NoncentralShape(plan, plan.Get(0), plan.Get(1));
    return plan.Finish(Draw(plan, shape, false, Dtype::kFloat64) * 2);
}

Array NoncentralF(const Parameter& dfnum, const Parameter& dfden, const Parameter& nonc,
                  const Options& options) {
    const Plan plan{
        "noncentral_f",
        {{"dfnum", dfnum, kAboveZero}, {"dfden", dfden, kAboveZero}, {"nonc", nonc, kNonc}},
        options};
    const Array n = plan.Get(0);
    const Array d = plan.Get(1);
    const Array x = DrawLog(plan, NoncentralShape(plan, n, plan.Get(2)));
    return plan.Finish(Exp(x - DrawLog(plan, d * 0.5)) * (d / n));
}

Array StandardT(const Parameter& df, const Options& options) {
    const Plan plan{"standard_t", {{"df", df, kAboveZero}}, options};
    const Array half = plan.Get(0) * 0.5;
    const Array z = plan.Normal();
    return plan.Finish(z * Sqrt(half) * Exp(DrawLog(plan, half) * -0.5));
}

Array Dirichlet(const Array& alpha, const Options& options) {
    constexpr const char* kOp = "dirichlet";
    if (alpha.ndim() == 0) throw DimensionError{kOp, ": alpha is 0-dimensional, expected (..., k)"};
    Options inner = options;
    if (inner.size) inner.size->push_back(alpha.shape()[alpha.ndim() - 1]);
    const Parameter shapes{alpha};
    const Plan plan{kOp, {{"alpha", shapes, kAboveZero}}, inner};
    return plan.Finish(
        Softmax(DrawLog(plan, plan.Get(0)), Axes{static_cast<int8_t>(plan.shape().ndim() - 1)}));
}

}  // namespace chainerx::random

// Distributions given by one formula of uniform or normal numbers and the parameters.
#include <cmath>

#include "chainerx/kernels/random/random.h"
#include "chainerx/ops/elementwise/power.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/special.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/linalg/factor.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/random/random_plan.h"
#include "chainerx/ops/routine.h"

namespace chainerx::random {
namespace {

constexpr double kPi = 3.141592653589793238;

// Returns loc + scale z, with parameters 0 and 1.
Array Placed(const Plan& plan, const Array& z, Dtype compute = Dtype::kFloat64) {
    const Array scaled = plan.Is(1, 1) ? z : z * plan.Get(1, compute);
    return plan.Is(0, 0) ? scaled : scaled + plan.Get(0, compute);
}

Plan LocationScale(const char* op, const Parameter& loc, const Parameter& scale,
                   const Options& options) {
    return {op, {{"loc", loc, kAnyFinite}, {"scale", scale, kZeroOrAbove}}, options};
}

}  // namespace

Array Normal(const Parameter& loc, const Parameter& scale, const Options& options) {
    const Plan plan = LocationScale("normal", loc, scale, options);
    if (!loc.is_array() && !scale.is_array()) {
        Array out = EmptyUnchecked(plan.shape(), plan.dtype(), plan.device());
        CallOn<kernels::RandomNormal>(plan.device(), plan.state(), loc.number(), scale.number(),
                                      out);
        return out;
    }
    const Dtype compute = plan.compute_dtype();
    return plan.Finish(Placed(plan, plan.Normal(compute), compute));
}

Array Uniform(const Parameter& low, const Parameter& high, const Options& options) {
    const Plan plan{"uniform", {{"low", low, kAnyFinite}, {"high", high, kAnyFinite}}, options};
    if (!low.is_array() && !high.is_array()) {
        const double width = high.number() - low.number();
        if (!std::isfinite(width)) {
            throw ValueError{"uniform: high - low is ", width, ", expected a finite number"};
        }
        Array out = EmptyUnchecked(plan.shape(), plan.dtype(), plan.device());
        CallOn<kernels::RandomUniform>(plan.device(), plan.state(), low.number(), high.number(),
                                       out);
        return out;
    }
    const Dtype compute = plan.compute_dtype();
    const Array from = plan.Get(0, compute);
    const Array width = plan.Get(1, compute) - from;
    CheckDomain("uniform", "high - low", width, kAnyFinite);
    return plan.Finish(from + width * plan.Uniform(compute));
}

Array Laplace(const Parameter& loc, const Parameter& scale, const Options& options) {
    const Plan plan = LocationScale("laplace", loc, scale, options);
    const Array u = plan.OpenUniform();
    const Array z = Where(u < 0.5, Log(u * 2), Negative(Log((1 - u) * 2)));
    return plan.Finish(Placed(plan, z));
}

Array Logistic(const Parameter& loc, const Parameter& scale, const Options& options) {
    const Plan plan = LocationScale("logistic", loc, scale, options);
    const Array u = plan.OpenUniform();
    return plan.Finish(Placed(plan, Log(u) - Log1p(Negative(u))));
}

Array Gumbel(const Parameter& loc, const Parameter& scale, const Options& options) {
    const Plan plan = LocationScale("gumbel", loc, scale, options);
    return plan.Finish(Placed(plan, Negative(Log(Negative(Log(plan.OpenUniform()))))));
}

Array Cauchy(const Parameter& loc, const Parameter& scale, const Options& options) {
    const Plan plan = LocationScale("cauchy", loc, scale, options);
    return plan.Finish(Placed(plan, Tan((plan.OpenUniform() - 0.5) * kPi)));
}

Array LogNormal(const Parameter& mean, const Parameter& sigma, const Options& options) {
    const Plan plan{
        "lognormal", {{"mean", mean, kAnyFinite}, {"sigma", sigma, kZeroOrAbove}}, options};
    return plan.Finish(Exp(Placed(plan, plan.Normal())));
}

Array MultivariateNormal(const Array& mean, const Array& cov, const Options& options) {
    constexpr const char* kOp = "multivariate_normal";
    if (mean.ndim() < 1 || cov.ndim() < 2) {
        throw DimensionError{kOp,          ": mean has shape ",
                             mean.shape(), " and cov ",
                             cov.shape(),  ", expected (..., d) and (..., d, d)"};
    }
    const int64_t d = mean.shape()[mean.ndim() - 1];
    Shape batch = cov.shape();
    batch.resize(cov.ndim() - 2);
    Shape event = batch;
    event.push_back(d);
    if (cov.shape()[cov.ndim() - 1] != d || cov.shape()[cov.ndim() - 2] != d) {
        throw DimensionError{kOp, ": cov.shape is ",     cov.shape(), ", expected (..., ", d, ", ",
                             d,   ") as mean.shape is ", mean.shape()};
    }
    Options inner = options;
    if (inner.size) inner.size->push_back(d);
    if (!inner.size) inner.size = BroadcastShapes(kOp, mean.shape(), event);
    if (!IsBroadcastable(event, *inner.size)) {
        throw DimensionError{kOp,           ": size is ",
                             *options.size, ", which cov of shape ",
                             cov.shape(),   " doesn't broadcast to"};
    }
    const Parameter loc{mean};
    CheckSameDevice(kOp, mean.device(), cov.device());
    if (!inner.dtype && IsFloat(mean.dtype()) && IsFloat(cov.dtype())) {
        inner.dtype = PromoteTypes(mean.dtype(), cov.dtype());
    }
    const Plan plan{kOp, {{"mean", loc, kAnyFinite}}, inner};
    CheckDomain(kOp, "cov", cov, kAnyFinite);
    const Array factor = linalg::Cholesky(AsType(cov, Dtype::kFloat64, false));
    const Array z = plan.Normal();
    const Array moved = cov.ndim() == 2
                            ? Matmul(z, Transpose(factor))
                            : Squeeze(Matmul(factor, ExpandDims(z, Axes{-1})), Axes{-1});
    return plan.Finish(plan.Get(0) + moved);
}

Array Exponential(const Parameter& scale, const Options& options) {
    const Plan plan{"exponential", {{"scale", scale, kZeroOrAbove}}, options};
    const Array e = plan.Exponential();
    return plan.Finish(plan.Is(0, 1) ? e : e * plan.Get(0));
}

Array Weibull(const Parameter& a, const Options& options) {
    const Plan plan{"weibull", {{"a", a, kAboveZero}}, options};
    return plan.Finish(Exp(Log(Negative(Log(plan.OpenUniform()))) / plan.Get(0)));
}

Array Pareto(const Parameter& a, const Options& options) {
    const Plan plan{"pareto", {{"a", a, kAboveZero}}, options};
    return plan.Finish(Expm1(plan.Exponential() / plan.Get(0)));
}

Array Power(const Parameter& a, const Options& options) {
    const Plan plan{"power", {{"a", a, kAboveZero}}, options};
    return plan.Finish(Exp(Log(plan.OpenUniform()) / plan.Get(0)));
}

Array Rayleigh(const Parameter& scale, const Options& options) {
    const Plan plan{"rayleigh", {{"scale", scale, kZeroOrAbove}}, options};
    const Array z = Sqrt(plan.Exponential() * 2);
    return plan.Finish(plan.Is(0, 1) ? z : z * plan.Get(0));
}

Array Triangular(const Parameter& left, const Parameter& mode, const Parameter& right,
                 const Options& options) {
    constexpr const char* kOp = "triangular";
    const Plan plan{
        kOp,
        {{"left", left, kAnyFinite}, {"mode", mode, kAnyFinite}, {"right", right, kAnyFinite}},
        options};
    const Array from = plan.Get(0);
    const Array top = plan.Get(1);
    const Array to = plan.Get(2);
    CheckDomain(kOp, "mode - left", top - from, kZeroOrAbove);
    CheckDomain(kOp, "right - mode", to - top, kZeroOrAbove);
    const Array width = to - from;
    CheckDomain(kOp, "right - left", width, kAboveZero);
    const Array u = plan.OpenUniform();
    const Array is_rising = u < (top - from) / width;
    // The branch that is not taken evaluates its square root at 1, where it has a derivative.
    const Array rising = Where(is_rising, u * width * (top - from), 1);
    const Array falling = Where(is_rising, 1, (1 - u) * width * (to - top));
    return plan.Finish(Where(is_rising, from + Sqrt(rising), to - Sqrt(falling)));
}

namespace {

constexpr OpInfo kVonMises{"vonmises", &kernels::RandomVonMises::kInfo};
constexpr OpInfo kWald{"wald", nullptr};

}  // namespace

Array VonMises(const Parameter& mu, const Parameter& kappa, const Options& options) {
    const Plan plan{
        kVonMises.name, {{"mu", mu, kAnyFinite}, {"kappa", kappa, kZeroOrAbove}}, options};
    const Array concentration = plan.Get(1);
    Array angle = EmptyUnchecked(plan.shape(), Dtype::kFloat64, plan.device());
    CallOn<kernels::RandomVonMises>(plan.device(), plan.state(), plan.GetSpread(1), angle);
    if (Record rec{kVonMises, {concentration}, angle}) {
        rec.Grad(0, [](const Array& gy) -> Array { RefuseGradient(kVonMises.name, "kappa", gy); });
    }
    return plan.Finish((angle + plan.Get(0) + kPi) % (2 * kPi) - kPi);
}

// The equation that a squared normal variable solves has two roots, whose product is mean^2; one of
// them is chosen at random (J. R. Michael, W. R. Schucany, R. W. Haas, "Generating random variates
// using transformations with multiple roots", The American Statistician, 1976). It is computed as a
// ratio to the mean, without cancellation.
Array Wald(const Parameter& mean, const Parameter& scale, const Options& options) {
    const Plan plan{
        kWald.name, {{"mean", mean, kAboveZero}, {"scale", scale, kAboveZero}}, options};
    const Array means = plan.Get(0);
    const Array scales = plan.Get(1);
    const Array at = internal::Detached(means);
    const Array r = Square(plan.Normal()) * (at / internal::Detached(scales) * 0.5);
    const Array inverse = r + 1 + Sqrt(r * (r + 2));  // of the smaller root
    const Array is_smaller = plan.Uniform() * (1 + 1 / inverse) <= 1;
    Array y = at * Where(is_smaller, 1 / inverse, inverse);
    if (Record rec{kWald, {means, scales}, y}) {
        rec.Grad(0, [](const Array& gy) -> Array { RefuseGradient(kWald.name, "mean", gy); });
        rec.Grad(1, [](const Array& gy) -> Array { RefuseGradient(kWald.name, "scale", gy); });
    }
    return plan.Finish(y);
}

}  // namespace chainerx::random

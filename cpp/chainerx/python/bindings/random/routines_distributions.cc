// chainerx.random: continuous distributions.
#include "chainerx/ops/random/random_distributions.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/generator.h"

namespace chainerx::python {
namespace {

#define CX_NUMBERS \
    "Returns:\n"   \
    "    ndarray: Independent samples. Differentiable in array parameters, "
#define CX_RAISES_RANGE                                                                        \
    "Raises:\n"                                                                                \
    "    ValueError: If a parameter is out of range; for elements of arrays, when the device " \
    "computes."
// Binds a distribution of one or two parameters whose defaults (text and number) are those of the
// C++ function.
#define CX_ONE(name, Routine, p, of_p, default_p, text, result)                                   \
    CX_DRAW(name, #p ": float | ndarray" default_p ", " CX_DRAW_SIGNATURE,                        \
            text "\n\nArgs:\n    " #p " (float or ndarray): " of_p                                \
                 "\n" CX_DRAW_ARGS CX_NUMBERS result ".\n" CX_RAISES_RANGE) {                     \
        return Wrap(                                                                              \
            random::Routine(ToParameter(#name, #p, a[0], 1), ToDrawOptions(#name, self, a + 1))); \
    }
#define CX_TWO(name, Routine, p, of_p, default_p, q, of_q, default_q, text, result) \
    CX_DRAW(name,                                                                   \
            #p ": float | ndarray" default_p ", " #q ": float | ndarray" default_q  \
               ", " CX_DRAW_SIGNATURE,                                              \
            text "\n\nArgs:\n    " #p " (float or ndarray): " of_p "\n    " #q      \
                 " (float or ndarray): " of_q "\n" CX_DRAW_ARGS CX_NUMBERS result   \
                 ".\n" CX_RAISES_RANGE) {                                           \
        return Wrap(random::Routine(ToParameter(#name, #p, a[0], 0),                \
                                    ToParameter(#name, #q, a[1], 1),                \
                                    ToDrawOptions(#name, self, a + 2)));            \
    }
#define CX_LOC_SCALE(name, Routine, text)                                                          \
    CX_TWO(name, Routine, loc, "Location.", " = 0.0", scale, "Scale, at least 0.", " = 1.0", text, \
           "any order")

CX_LOC_SCALE(laplace, Laplace, "Samples from a Laplace distribution.")
CX_LOC_SCALE(logistic, Logistic, "Samples from a logistic distribution.")
CX_LOC_SCALE(gumbel, Gumbel, "Samples from a Gumbel distribution, of maxima.")
CX_LOC_SCALE(cauchy, Cauchy, "Samples from a Cauchy distribution.")
CX_TWO(lognormal, LogNormal, mean, "Mean of the logarithms.", " = 0.0", sigma,
       "Standard deviation of the logarithms, at least 0.", " = 1.0",
       "Samples from a log-normal distribution: their logarithms are normal.", "any order")

CX_DRAW(standard_cauchy, CX_DRAW_SIGNATURE,
        "Samples from the standard Cauchy distribution.\n\n"
        "Args:\n" CX_DRAW_ARGS
        "Returns:\n"
        "    ndarray: Independent samples.") {
    return Wrap(random::Cauchy(0, 1, ToDrawOptions("standard_cauchy", self, a)));
}

CX_ONE(exponential, Exponential, scale, "Mean, at least 0.", " = 1.0",
       "Samples from an exponential distribution.", "any order")
CX_DRAW(standard_exponential, CX_DRAW_OUT_SIGNATURE,
        "Samples from the standard exponential distribution, of mean 1.\n\n"
        "Args:\n" CX_DRAW_OUT_ARGS
        "Returns:\n"
        "    ndarray: Independent samples.") {
    return DrawInto("standard_exponential", self, a,
                    [](const random::Options& options) { return random::Exponential(1, options); });
}
CX_ONE(weibull, Weibull, a, "Shape parameter, above 0.", "",
       "Samples from a Weibull distribution of scale 1.", "any order")
CX_ONE(
    pareto, Pareto, a, "Shape parameter, above 0.", "",
    "Samples from a Lomax distribution (Pareto's, shifted to 0): density ``a (1 + x)**(-a - 1)``.",
    "any order")
CX_ONE(power, Power, a, "Shape parameter, above 0.", "",
       "Samples from a power distribution: density ``a x**(a - 1)`` on [0, 1].", "any order")
CX_ONE(rayleigh, Rayleigh, scale, "Scale, at least 0.", " = 1.0",
       "Samples from a Rayleigh distribution: lengths of vectors of two normal variables.",
       "any order")

#define CX_FIRST "once, by implicit reparameterization"
#define CX_GAMMA_SOURCE \
    "\nSource: Marsaglia, Tsang, ACM TOMS 2000; gradients: Figurnov, Mohamed, Mnih, NeurIPS 2018."

CX_DRAW(
    standard_gamma, "shape: float | ndarray, " CX_DRAW_OUT_SIGNATURE,
    "Samples from a gamma distribution of scale 1.\n\n"
    "Args:\n"
    "    shape (float or ndarray): Shape parameter, above 0.\n" CX_DRAW_OUT_ARGS CX_NUMBERS CX_FIRST
    ".\n" CX_RAISES_RANGE CX_GAMMA_SOURCE) {
    return DrawInto("standard_gamma", self, a + 1, [&](const random::Options& options) {
        return random::StandardGamma(ToParameter("standard_gamma", "shape", a[0]), options);
    });
}
CX_DRAW(gamma, "shape: float | ndarray, scale: float | ndarray = 1.0, " CX_DRAW_SIGNATURE,
        "Samples from a gamma distribution.\n\n"
        "Args:\n"
        "    shape (float or ndarray): Shape parameter, above 0.\n"
        "    scale (float or ndarray): Scale, at least 0.\n" CX_DRAW_ARGS CX_NUMBERS
        "any order in ``scale``, " CX_FIRST " in ``shape``.\n" CX_RAISES_RANGE CX_GAMMA_SOURCE) {
    return Wrap(random::Gamma(ToParameter("gamma", "shape", a[0]),
                              ToParameter("gamma", "scale", a[1], 1),
                              ToDrawOptions("gamma", self, a + 2)));
}
CX_TWO(beta, Beta, a, "First shape parameter, above 0.", "", b, "Second shape parameter, above 0.",
       "", "Samples from a beta distribution.", CX_FIRST)
CX_ONE(chisquare, ChiSquare, df, "Degrees of freedom, above 0.", "",
       "Samples from a chi-square distribution.", CX_FIRST)
CX_TWO(f, F, dfnum, "Degrees of freedom of the numerator, above 0.", "", dfden,
       "Degrees of freedom of the denominator, above 0.", "",
       "Samples from an F distribution: ratios of chi-square variables, each divided by its "
       "degrees of freedom.",
       CX_FIRST)
CX_ONE(standard_t, StandardT, df, "Degrees of freedom, above 0.", "",
       "Samples from Student's t distribution.", CX_FIRST)

CX_DRAW(noncentral_chisquare, "df: float | ndarray, nonc: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a noncentral chi-square distribution: sums of squares of normal variables "
        "whose squared means add up to ``nonc``.\n\n"
        "Args:\n"
        "    df (float or ndarray): Degrees of freedom, above 0.\n"
        "    nonc (float or ndarray): Noncentrality, 0 to 1e18.\n" CX_DRAW_ARGS CX_NUMBERS CX_FIRST
        " in ``df``; a gradient in ``nonc`` raises a ChainerxError.\n" CX_RAISES_RANGE) {
    constexpr const char* kOp = "noncentral_chisquare";
    return Wrap(random::NoncentralChiSquare(ToParameter(kOp, "df", a[0]),
                                            ToParameter(kOp, "nonc", a[1]),
                                            ToDrawOptions(kOp, self, a + 2)));
}
CX_DRAW(noncentral_f,
        "dfnum: float | ndarray, dfden: float | ndarray, nonc: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a noncentral F distribution: ratios of noncentral to central chi-square "
        "variables, each divided by its degrees of freedom.\n\n"
        "Args:\n"
        "    dfnum (float or ndarray): Degrees of freedom of the numerator, above 0.\n"
        "    dfden (float or ndarray): Degrees of freedom of the denominator, above 0.\n"
        "    nonc (float or ndarray): Noncentrality of the numerator, 0 to 1e18.\n" CX_DRAW_ARGS
            CX_NUMBERS CX_FIRST
        " in the degrees of freedom; a gradient in ``nonc`` raises a "
        "ChainerxError.\n" CX_RAISES_RANGE) {
    constexpr const char* kOp = "noncentral_f";
    return Wrap(random::NoncentralF(ToParameter(kOp, "dfnum", a[0]),
                                    ToParameter(kOp, "dfden", a[1]), ToParameter(kOp, "nonc", a[2]),
                                    ToDrawOptions(kOp, self, a + 3)));
}
CX_DRAW(wald, "mean: float | ndarray, scale: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from an inverse Gaussian distribution.\n\n"
        "Args:\n"
        "    mean (float or ndarray): Mean, above 0.\n"
        "    scale (float or ndarray): Scale, above 0; the variance is ``mean**3 / "
        "scale``.\n" CX_DRAW_ARGS
        "Returns:\n"
        "    ndarray: Independent samples. A gradient in a parameter raises a "
        "ChainerxError.\n" CX_RAISES_RANGE
        "\nSource: Michael, Schucany, Haas, The American Statistician, 1976.") {
    return Wrap(random::Wald(ToParameter("wald", "mean", a[0]), ToParameter("wald", "scale", a[1]),
                             ToDrawOptions("wald", self, a + 2)));
}

CX_DRAW(dirichlet, "alpha: ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a Dirichlet distribution: vectors that add up to 1.\n\n"
        "Args:\n"
        "    alpha (ndarray): Concentration, (..., k), above 0.\n"
        "    size: Shape of the result without the last axis; None is that of ``alpha``.\n"
        "    dtype: A real float dtype; None is that of ``alpha`` if it is one, else float64.\n"
        "    device: That of ``alpha``.\n"
        "Returns:\n"
        "    ndarray: (..., k). Differentiable, " CX_FIRST
        ".\n"
        "Raises:\n    DimensionError: If ``alpha`` is 0-dimensional.\n"
        "    ValueError: If an element is out of range, when the device computes.") {
    return Wrap(random::Dirichlet(ToArray("dirichlet", "alpha", a[0]),
                                  ToDrawOptions("dirichlet", self, a + 1)));
}

CX_DRAW(multivariate_normal, "mean: ndarray, cov: ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a multivariate normal distribution.\n\n"
        "Args:\n"
        "    mean (ndarray): Mean, (..., d).\n"
        "    cov (ndarray): Covariance, (..., d, d), positive definite.\n"
        "    size: Shape of the result without the last axis; None is that of the parameters.\n"
        "    dtype: A real float dtype; None is that of the parameters.\n"
        "    device: That of the parameters.\n"
        "Returns:\n"
        "    ndarray: (..., d). Differentiable in both, any order.\n"
        "Raises:\n"
        "    DimensionError: If the shapes don't fit.\n"
        "    LinAlgError: If a matrix is not positive definite.\n"
        "Note:\n"
        "    Standard normal vectors are multiplied by the Cholesky factor of ``cov``.") {
    return Wrap(random::MultivariateNormal(ToArray("multivariate_normal", "mean", a[0]),
                                           ToArray("multivariate_normal", "cov", a[1]),
                                           ToDrawOptions("multivariate_normal", self, a + 2)));
}

CX_DRAW(triangular,
        "left: float | ndarray, mode: float | ndarray, right: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a triangular distribution.\n\n"
        "Args:\n"
        "    left (float or ndarray): Lower end.\n"
        "    mode (float or ndarray): Peak of the density, ``left`` to ``right``.\n"
        "    right (float or ndarray): Upper end, above ``left``.\n" CX_DRAW_ARGS CX_NUMBERS
        "any order.\n" CX_RAISES_RANGE) {
    constexpr const char* kOp = "triangular";
    return Wrap(random::Triangular(ToParameter(kOp, "left", a[0]), ToParameter(kOp, "mode", a[1]),
                                   ToParameter(kOp, "right", a[2]),
                                   ToDrawOptions(kOp, self, a + 3)));
}

CX_DRAW(truncated_normal,
        "low: float | ndarray, high: float | ndarray, loc: float | ndarray = 0.0, "
        "scale: float | ndarray = 1.0, " CX_DRAW_SIGNATURE,
        "Samples from a truncated normal distribution.\n\n"
        "Args:\n"
        "    low (float or ndarray): Lower bound; it may be infinite.\n"
        "    high (float or ndarray): Upper bound, above ``low``.\n"
        "    loc (float or ndarray): Mean before truncation.\n"
        "    scale (float or ndarray): Standard deviation before truncation, above "
        "0.\n" CX_DRAW_ARGS CX_NUMBERS "any order.\n" CX_RAISES_RANGE) {
    constexpr const char* kOp = "truncated_normal";
    return Wrap(
        random::TruncatedNormal(ToParameter(kOp, "low", a[0]), ToParameter(kOp, "high", a[1]),
                                ToParameter(kOp, "loc", a[2]), ToParameter(kOp, "scale", a[3], 1),
                                ToDrawOptions(kOp, self, a + 4)));
}

CX_DRAW(vonmises, "mu: float | ndarray, kappa: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a von Mises distribution: angles from -pi to pi.\n\n"
        "Args:\n"
        "    mu (float or ndarray): Mode.\n"
        "    kappa (float or ndarray): Concentration, at least 0.\n" CX_DRAW_ARGS
        "Returns:\n"
        "    ndarray: Independent angles. Differentiable in ``mu``, any order; a gradient in "
        "``kappa`` raises a ChainerxError.\n" CX_RAISES_RANGE
        "\nSource: Best, Fisher, Applied Statistics, 1979.") {
    return Wrap(random::VonMises(ToParameter("vonmises", "mu", a[0]),
                                 ToParameter("vonmises", "kappa", a[1]),
                                 ToDrawOptions("vonmises", self, a + 2)));
}

}  // namespace
}  // namespace chainerx::python

// The incomplete gamma and beta functions, their densities and inverses, for scalars.
#pragma once

namespace chainerx::native {

// Regularized incomplete gamma functions: lower P(a, x) and upper Q(a, x), the CDF and survival
// function of the gamma distribution.
double GammaBelow(double a, double x);
double GammaAbove(double a, double x);
// x^(a - 1) exp(-x) / Gamma(a), the derivative of GammaBelow.
double GammaDensity(double a, double x);
// The derivative of GammaBelow by a.
double GammaBelowSlope(double a, double x);
// The logarithms of GammaDensity, GammaBelow and GammaAbove; they are finite where these underflow.
double LogGammaDensity(double a, double x);
double LogGammaBelow(double a, double x);
double LogGammaAbove(double a, double x);
// The density divided by either probability (the second quotient is the hazard), and the
// derivatives of the logarithms by a.
double LogGammaBelowRate(double a, double x);
double LogGammaAboveRate(double a, double x);
double LogGammaBelowSlope(double a, double x);
double LogGammaAboveSlope(double a, double x);
// The x at which GammaBelow, or GammaAbove, is p.
double GammaBelowInverse(double a, double p);
double GammaAboveInverse(double a, double p);

// Regularized incomplete beta function, and its complement: the CDF and survival function of the
// beta distribution.
double BetaBelow(double a, double b, double x);
double BetaAbove(double a, double b, double x);
// x^(a - 1) (1 - x)^(b - 1) / Beta(a, b), the derivative of BetaBelow.
double BetaDensity(double a, double b, double x);
// The derivatives of BetaBelow by a and by b.
double BetaBelowSlopeA(double a, double b, double x);
double BetaBelowSlopeB(double a, double b, double x);
// Counterparts of the gamma functions.
double LogBetaDensity(double a, double b, double x);
double LogBetaBelow(double a, double b, double x);
double LogBetaAbove(double a, double b, double x);
double LogBetaBelowRate(double a, double b, double x);
double LogBetaAboveRate(double a, double b, double x);
double LogBetaBelowSlopeA(double a, double b, double x);
double LogBetaBelowSlopeB(double a, double b, double x);
double LogBetaAboveSlopeA(double a, double b, double x);
double LogBetaAboveSlopeB(double a, double b, double x);
double BetaBelowInverse(double a, double b, double p);

}  // namespace chainerx::native

// The incomplete gamma and beta functions, their densities and inverses, for one number.
#pragma once

namespace chainerx::native {

// The probability below x, or above it, of a gamma distribution with exponent a.
double GammaBelow(double a, double x);
double GammaAbove(double a, double x);
// x^(a - 1) exp(-x) / Gamma(a), the derivative of GammaBelow.
double GammaDensity(double a, double x);
// The derivative of GammaBelow in a.
double GammaBelowSlope(double a, double x);
// The logarithms of GammaDensity, GammaBelow and GammaAbove, also where these vanish.
double LogGammaDensity(double a, double x);
double LogGammaBelow(double a, double x);
double LogGammaAbove(double a, double x);
// The density over either probability, of which the second one is the hazard; and the derivatives
// of the logarithms in a.
double LogGammaBelowRate(double a, double x);
double LogGammaAboveRate(double a, double x);
double LogGammaBelowSlope(double a, double x);
double LogGammaAboveSlope(double a, double x);
// Where GammaBelow, or GammaAbove, is p.
double GammaBelowInverse(double a, double p);
double GammaAboveInverse(double a, double p);

// The probability below x, or above it, of a beta distribution with exponents a and b.
double BetaBelow(double a, double b, double x);
double BetaAbove(double a, double b, double x);
// x^(a - 1) (1 - x)^(b - 1) / Beta(a, b), the derivative of BetaBelow.
double BetaDensity(double a, double b, double x);
// The derivatives of BetaBelow in a and in b.
double BetaBelowSlopeA(double a, double b, double x);
double BetaBelowSlopeB(double a, double b, double x);
// As those of the gamma functions.
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

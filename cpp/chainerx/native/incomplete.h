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
// Where GammaBelow, or GammaAbove, is p.
double GammaBelowInverse(double a, double p);
double GammaAboveInverse(double a, double p);

// The probability below x of a beta distribution with exponents a and b.
double BetaBelow(double a, double b, double x);
// x^(a - 1) (1 - x)^(b - 1) / Beta(a, b), the derivative of BetaBelow.
double BetaDensity(double a, double b, double x);
// The derivative of BetaBelow in a.
double BetaBelowSlope(double a, double b, double x);
double BetaBelowInverse(double a, double b, double p);

}  // namespace chainerx::native

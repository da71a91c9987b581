// Polynomials as NumPy's poly* have them: vectors of coefficients from the highest power down, of
// which a number is one of degree 0. Compositions, differentiable unless they say otherwise.
// DimensionError for more than one dimension, DtypeError for bool. (Values: Polyval,
// ops/signal/series.h.)
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

CX_API Array Polyadd(const Array& a1, const Array& a2);
CX_API Array Polysub(const Array& a1, const Array& a2);
// Without zeros in front, of which it waits for the device to know.
CX_API Array Polymul(const Array& a1, const Array& a2);
// Quotient and remainder, in floats; what is below 1e-8 in front of the remainder is left out, of
// which it waits for the device to know.
CX_API std::pair<Array, Array> Polydiv(const Array& u, const Array& v);
CX_API Array Polyder(const Array& p, int64_t m = 1);
// `k`: the constants of the m integrations, or one for all; 0 by default.
CX_API Array Polyint(const Array& p, int64_t m = 1, const std::optional<Array>& k = std::nullopt);

// The polynomial that is 0 there, and whose first coefficient is 1; of a square matrix, that of its
// eigenvalues. Complex zeros that come in conjugate pairs make a real one.
CX_API Array Poly(const Array& seq_of_zeros);
// The eigenvalues of the companion matrix: complex, in no order. Waits for the device; no
// gradients.
CX_API Array Roots(const Array& p);

// The polynomial of degree `deg` with the least squares of w (p(x) - y); y may have columns. In
// floats of the operands. Singular values up to `rcond` times the largest count as 0; by default
// that is as many times the resolution as there are points.
struct PolyfitResult {
    Array p;
    Array residuals;
    int64_t rank;
    Array s;
    double rcond;
};
CX_API PolyfitResult Polyfit(const Array& x, const Array& y, int64_t deg,
                             std::optional<double> rcond = std::nullopt,
                             const std::optional<Array>& w = std::nullopt);
// The polynomial, and the covariance of its coefficients (with a third axis for columns of y), with
// the variance of the residuals, or with 1 for that of a point of weight 1. An error where
// points do not determine it.
CX_API std::pair<Array, Array> PolyfitCovariance(const Array& x, const Array& y, int64_t deg,
                                                 std::optional<double> rcond = std::nullopt,
                                                 const std::optional<Array>& w = std::nullopt,
                                                 bool scaled = true);

}  // namespace chainerx

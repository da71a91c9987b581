// Polynomials as in NumPy's poly* functions: vectors of coefficients from the highest power down; a
// number has degree 0. They are compositions, and differentiable unless they say otherwise.
// DimensionError for more than one dimension, DtypeError for bool. (For values see Polyval,
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
// Removes leading zeros, for which it waits for the device.
CX_API Array Polymul(const Array& a1, const Array& a2);
// Returns the quotient and the remainder, in floats; leading coefficients of the remainder below
// 1e-8 are dropped, for which it waits for the device.
CX_API std::pair<Array, Array> Polydiv(const Array& u, const Array& v);
CX_API Array Polyder(const Array& p, int64_t m = 1);
// `k`: the constants of the m integrations, or one for all; 0 by default.
CX_API Array Polyint(const Array& p, int64_t m = 1, const std::optional<Array>& k = std::nullopt);

// Returns the monic polynomial with these roots; for a square matrix, that of its eigenvalues.
// Complex roots in conjugate pairs give a real polynomial.
CX_API Array Poly(const Array& seq_of_zeros);
// Returns the eigenvalues of the companion matrix: complex, in no order. Waits for the device; no
// gradients.
CX_API Array Roots(const Array& p);

// Fits the polynomial of degree `deg` with the least squares of w (p(x) - y); y may have columns.
// Computes in the float dtype of the operands. Singular values up to `rcond` times the largest
// count as 0; the default is the number of points times the machine epsilon.
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
// Returns the polynomial, and the covariance of its coefficients (with a third axis for columns of
// y), scaled by the variance of the residuals, or by 1 as that of a point of weight 1. An error if
// the points do not determine it.
CX_API std::pair<Array, Array> PolyfitCovariance(const Array& x, const Array& y, int64_t deg,
                                                 std::optional<double> rcond = std::nullopt,
                                                 const std::optional<Array>& w = std::nullopt,
                                                 bool scaled = true);

}  // namespace chainerx

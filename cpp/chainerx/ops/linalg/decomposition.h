// Decompositions of matrices by LAPACK, and functions of them: chainerx.linalg. They work over the
// last two axes, for float32, float64, complex64 and complex128; DtypeError otherwise,
// DimensionError for fewer axes. KernelCheckError for matrices that are not finite, for iterations
// that do not converge, and if LAPACK is missing.
//
// Gradients of vectors assume that their eigenvalues or singular values are distinct, and are not
// finite otherwise; and that the loss does not depend on the arbitrary phases of complex vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::linalg {

// a = u diag(s) vh, where s is real and descends. u and vh are square if `full_matrices`, else they
// have min(m, n) columns, or rows.
struct SvdResult {
    Array u;
    Array s;
    Array vh;
};
// `hermitian`: a is Hermitian, and only its lower triangle is read.
CX_API SvdResult Svd(const Array& a, bool full_matrices = true, bool hermitian = false);
CX_API Array Svdvals(const Array& a, bool hermitian = false, const char* op = "svdvals");

// a = v diag(w) v^H for a Hermitian matrix, where w is real and ascends. Reads one triangle, by
// default the lower one, and only the real parts of the diagonal; gradients are Hermitian.
CX_API std::pair<Array, Array> Eigh(const Array& a, bool lower = true);
CX_API Array Eigvalsh(const Array& a, bool lower = true);

// a v = v diag(w), where both are complex. No gradients.
CX_API std::pair<Array, Array> Eig(const Array& a);
CX_API Array Eigvals(const Array& a);

// a = q r, where r is upper triangular or trapezoidal. kReduced: q has min(m, n) columns;
// kComplete: q is square; kRaw: returns the Householder reflections, transposed, and their factors
// instead of q and r.
enum class QrMode : int8_t { kReduced, kComplete, kRaw };
CX_API std::pair<Array, Array> Qr(const Array& a, QrMode mode = QrMode::kReduced);
// Returns only the r of kReduced.
CX_API Array QrR(const Array& a);

// A limit for all matrices, or a real array of limits whose shape broadcasts to the axes before the
// matrices.
using Limit = std::variant<double, Array>;
CX_API std::string ToString(const Limit& limit);

// Returns the pseudo-inverse, (..., n, m). Singular values up to rcond times the largest count as
// 0. The default limit is that of MatrixRank(), or 1e-15 if that is larger.
CX_API Array Pinv(const Array& a, const std::optional<Limit>& rcond = std::nullopt,
                  bool hermitian = false);

// Returns the x of least norm that minimizes |a x - b|, for one matrix a (m, n), and b (m,) or (m,
// k). Singular values up to rcond times the largest count as 0; the default is max(m, n) times the
// machine epsilon of the dtype. The residuals are the squares of |a x - b|, (0,) unless a has rank
// n and m > n.
struct LstsqResult {
    Array x;
    Array residuals;
    int64_t rank;
    Array s;
};
CX_API LstsqResult Lstsq(const Array& a, const Array& b, std::optional<double> rcond = std::nullopt,
                         const char* op = "lstsq");

// Counts the singular values larger than tol, or by default than rtol times the largest, where rtol
// is max(m, n) times the machine epsilon of the dtype. int64. A vector has rank 1 unless it is 0.
CX_API Array MatrixRank(const Array& a, const std::optional<Limit>& tol = std::nullopt,
                        bool hermitian = false, const std::optional<Limit>& rtol = std::nullopt);

}  // namespace chainerx::linalg

namespace chainerx::internal {

// Returns the values alone, outside all graphs; only s unless `vectors`. Errors name `op`.
linalg::SvdResult ComputeSvd(const char* op, const Array& a, bool full_matrices, bool vectors);

}  // namespace chainerx::internal

// Decompositions of matrices by LAPACK, and what follows from them: chainerx.linalg. Over the last
// two axes, of float32, float64, complex64 and complex128; DtypeError otherwise, DimensionError for
// fewer axes.
// KernelCheckError for matrices that are not finite, for iterations that do not converge, and where
// there is no LAPACK.
//
// Gradients of vectors suppose that the values they belong to differ, and are not finite otherwise;
// and that the loss does not depend on the phases of complex vectors, which may be any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::linalg {

// a = u diag(s) vh, s descending and real. u and vh are square if `full_matrices`, else they have
// min(m, n) columns, or rows.
struct SvdResult {
    Array u;
    Array s;
    Array vh;
};
// `hermitian`: a is Hermitian, and only its lower triangle is read.
CX_API SvdResult Svd(const Array& a, bool full_matrices = true, bool hermitian = false);
CX_API Array Svdvals(const Array& a, bool hermitian = false, const char* op = "svdvals");

// a = v diag(w) v^H of a Hermitian matrix, w ascending and real. Reads one triangle, the lower one
// unless told otherwise, and of its diagonal the real parts; gradients are Hermitian.
CX_API std::pair<Array, Array> Eigh(const Array& a, bool lower = true);
CX_API Array Eigvalsh(const Array& a, bool lower = true);

// a v = v diag(w), both complex. No gradients.
CX_API std::pair<Array, Array> Eig(const Array& a);
CX_API Array Eigvals(const Array& a);

// a = q r, r an upper triangle, or trapezoid. kReduced: q has min(m, n) columns; kComplete: q is
// square; kRaw: the reflections, transposed, and their factors, in place of q and r.
enum class QrMode : int8_t { kReduced, kComplete, kRaw };
CX_API std::pair<Array, Array> Qr(const Array& a, QrMode mode = QrMode::kReduced);
// The r of kReduced alone.
CX_API Array QrR(const Array& a);

// A limit for all matrices, or an array of limits, real, whose shape broadcasts to the axes before
// those of the matrices.
using Limit = std::variant<double, Array>;
CX_API std::string ToString(const Limit& limit);

// The pseudo-inverse, (..., n, m). Singular values up to rcond times the largest count as 0.
// Without a limit, that of MatrixRank(), or 1e-15 if that is larger.
CX_API Array Pinv(const Array& a, const std::optional<Limit>& rcond = std::nullopt,
                  bool hermitian = false);

// The x of least norm with least |a x - b|, for one matrix a (m, n), and b (m,) or (m, k). Singular
// values up to rcond times the largest count as 0; by default that is max(m, n) times the
// resolution of the dtype. The residuals are the squares of |a x - b|, (0,) unless a has rank n and
// m > n.
struct LstsqResult {
    Array x;
    Array residuals;
    int64_t rank;
    Array s;
};
CX_API LstsqResult Lstsq(const Array& a, const Array& b, std::optional<double> rcond = std::nullopt,
                         const char* op = "lstsq");

// How many singular values are larger than tol; by default than rtol times the largest, where rtol
// is max(m, n) times the resolution of the dtype. int64. A vector has rank 1 unless it is 0.
CX_API Array MatrixRank(const Array& a, const std::optional<Limit>& tol = std::nullopt,
                        bool hermitian = false, const std::optional<Limit>& rtol = std::nullopt);

}  // namespace chainerx::linalg

namespace chainerx::internal {

// The values alone, outside all graphs; s alone unless `vectors`. Errors are those of `op`.
linalg::SvdResult ComputeSvd(const char* op, const Array& a, bool full_matrices, bool vectors);

}  // namespace chainerx::internal

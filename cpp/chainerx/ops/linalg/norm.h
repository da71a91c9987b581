// Norms of vectors and matrices, and condition numbers. Integers are computed in the default float
// dtype; norms of complex numbers are real. Differentiable, any order; the Euclidean norm of zeros
// has the gradient 0.
#pragma once

#include <string>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::linalg {

// The order of a norm: any number for vectors; +-inf, +-1 and +-2 for matrices; or the Frobenius
// norm, the square root of the sum of squares; or the nuclear norm, the sum of singular values.
struct NormOrder {
    enum class Kind : int8_t { kDefault, kNumber, kFrobenius, kNuclear };

    Kind kind{Kind::kDefault};
    double number{2};

    NormOrder() = default;
    NormOrder(double number) : kind{Kind::kNumber}, number{number} {}  // NOLINT: norm(x, 1)
    NormOrder(Kind kind) : kind{kind} {}                               // NOLINT

    std::string ToString() const;
};

// numpy.linalg.norm: the norm of vectors over one axis, of matrices over two. ValueError for an
// order that these do not have.
CX_API Array Norm(const Array& x, const NormOrder& order = {},
                  const OptionalAxes& axes = std::nullopt, bool keepdims = false);
// Returns the norm of the elements along all of the axes.
CX_API Array VectorNorm(const Array& x, const OptionalAxes& axes = std::nullopt, double order = 2,
                        bool keepdims = false);
// Returns the norms over the last two axes.
CX_API Array MatrixNorm(const Array& x,
                        const NormOrder& order = NormOrder{NormOrder::Kind::kFrobenius},
                        bool keepdims = false);
// Returns the norm of a matrix times that of its inverse; for order 2, the default, or -2 it is
// infinite for singular matrices.
CX_API Array Cond(const Array& x, const NormOrder& order = {});

}  // namespace chainerx::linalg

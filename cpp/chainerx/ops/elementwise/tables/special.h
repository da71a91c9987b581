// The functions of chainerx.special, related to the error function and the gamma function.
#pragma once

#include <cstdint>

#include "chainerx/ops/elementwise/real_operands.h"

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/special.def"
#include "chainerx/ops/elementwise/declare_family.h"

namespace chainerx {

// rel_entr(x1, x2) - x1 + x2: the divergence of two Poisson distributions.
CX_API Array KlDiv(const Array& x1, const Array& x2);
CX_WITH_NUMBERS(KlDiv)
// Riemann's zeta function, also where its sum does not converge.
CX_API Array Zeta(const Array& x);
// The logarithm of the absolute value of the beta function.
CX_API Array Betaln(const Array& a, const Array& b);
CX_WITH_NUMBERS(Betaln)
// The logarithm of the gamma function of d x d matrices, for a > (d - 1) / 2. ValueError unless d
// is from 1 to 10000.
CX_API Array Multigammaln(const Array& a, int64_t d);

}  // namespace chainerx

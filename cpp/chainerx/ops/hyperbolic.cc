#include "chainerx/kernels/hyperbolic.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/hyperbolic.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx {
namespace {

// gy / sqrt(x^2 + 1)
Array ArcsinhGrad(const Array& x, const Array& gy) {
    return IsComplex(x.dtype()) ? gy / Sqrt(x * x + 1) : gy / Hypot(x, 1);
}

}  // namespace
}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/hyperbolic.def"
#include "chainerx/ops/define_family.h"

#include "chainerx/kernels/elementwise/hyperbolic.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// gy / sqrt(x^2 + 1)
Array ArcsinhGrad(const Array& x, const Array& gy) {
    return IsComplex(x.dtype()) ? gy / Sqrt(x * x + 1) : gy / Hypot(x, 1);
}

}  // namespace
}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/hyperbolic.def"
#include "chainerx/ops/elementwise/define_family.h"

#include "chainerx/kernels/elementwise/trigonometric.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// gy / (x^2 + 1). The square of a real number may overflow though the result does not.
Array ArctanGrad(const Array& x, const Array& gy) {
    if (IsComplex(x.dtype())) return gy / (x * x + 1);
    const Array h = Hypot(x, 1);
    return gy / h / h;
}

}  // namespace
}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/trigonometric.def"
#include "chainerx/ops/elementwise/define_family.h"

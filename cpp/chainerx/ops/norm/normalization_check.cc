#include "chainerx/ops/norm/normalization_check.h"

#include "chainerx/core/device.h"
#include "chainerx/core/error.h"

namespace chainerx::internal {

void CheckNormalized(const char* op, const char* name, const Array& x, const Device& device) {
    CheckSameDevice(op, device, x.device());
    CheckDtype(IsFloat(x.dtype()), op, name, x.dtype(), "a real float");
}

void CheckEps(const char* op, double eps) {
    if (!(eps >= 0)) throw ValueError{op, ": eps is ", eps, ", expected at least 0"};
}

Shape BroadcastParams(const Shape& x, const Axes& reduced) { return ReduceShape(x, reduced, true); }

void CheckParamShape(const char* op, const char* name, const Array& param, const Shape& x,
                     const Axes& reduced) {
    const Shape expected = ReduceShape(x, reduced, false);
    if (param.shape() == expected || param.shape() == ReduceShape(x, reduced, true)) return;
    throw DimensionError{op,       ": ",           name, ".shape is ", param.shape(), ", expected ",
                         expected, " by x.shape ", x,    " and axis ", reduced};
}

}  // namespace chainerx::internal

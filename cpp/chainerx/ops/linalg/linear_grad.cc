#include "chainerx/ops/linalg/linear_grad.h"

#include "chainerx/core/device.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::internal {

ParamGrads LinearParamGrads(const Array& gy, const Array& x) {
    Device& device = gy.device();
    if (gy.dtype() != x.dtype() || !HasKernel<kernels::LinearParamGrad>(device) ||
        IsBackpropRequiredAny(gy) || IsBackpropRequiredAny(x)) {
        return {Matmul(Transpose(gy), x), Sum(gy, Axes{0})};
    }
    const int64_t outs = gy.shape()[1];
    ParamGrads grads{EmptyUnchecked(Shape{outs, x.shape()[1]}, gy.dtype(), device),
                     EmptyUnchecked(Shape{outs}, gy.dtype(), device)};
    CallOn<kernels::LinearParamGrad>(device, gy, x, grads.w, grads.b);
    return grads;
}

}  // namespace chainerx::internal

// Gradients that operations with weights and a bias share.
#pragma once

#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/core/array.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::internal {

struct ParamGrads {
    Array w;
    Array b;
};

// Returns gy^T x and the sum of the rows of gy, reading gy once unless the gradients are recorded.
ParamGrads LinearParamGrads(const Array& gy, const Array& x);

// Records these gradients for w and b, inputs 1 and 2, if there is a b. x() is (n, ins), gy (n,
// outs).
void SetParamGrads(GradContext& context, const Array& gy, const auto& x) {
    const bool of_w = context.IsInputGradRequired(1);
    const bool of_b = context.input_count() > 2 && context.IsInputGradRequired(2);
    if (of_w && of_b) {
        ParamGrads grads = LinearParamGrads(gy, x());
        context.SetInputGrad(1, std::move(grads.w));
        context.SetInputGrad(2, std::move(grads.b));
    } else if (of_w) {
        context.SetInputGrad(1, Matmul(Transpose(gy), x()));
    } else if (of_b) {
        context.SetInputGrad(2, Sum(gy, Axes{0}));
    }
}

}  // namespace chainerx::internal

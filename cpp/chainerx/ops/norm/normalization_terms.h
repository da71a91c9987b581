// Normalization composed of array operations: for backends without a kernel, and for all
// derivatives but the first.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal {

// With E the mean over `axes`: y = u * gamma + beta, where u = (x - E[x]) * r and r = 1 / sqrt(E[(x
// - E[x])^2] + eps); unless `centered`, E[x] is omitted.
struct NormalizationTerms {
    Axes axes;
    Shape params;  // shape in which gamma and beta broadcast to x
    bool centered;
    double eps;
};

// x, gamma and beta are floats of any dtypes; a float64 x is computed in float64, others in
// float32. Outside all graphs.
struct NormalizedArrays {
    Array y;     // in the dtype of the computation
    Array mean;  // with axes of length 1
    Array var;
    Array inv_std;
};
NormalizedArrays ComposedNormalization(const NormalizationTerms& terms, const Array& x,
                                       const Array& gamma, const Array& beta);

// Differentiable. ggamma and gbeta have the shape `params`.
struct NormalizationGrads {
    Array gx;
    Array ggamma;
    Array gbeta;
};
NormalizationGrads ComposedNormalizationGrad(const NormalizationTerms& terms, const Array& x,
                                             const Array& gamma, const Array& gy);

// Returns the gradients of x, gamma and gy from those of gx, ggamma and gbeta; any of these may be
// null.
struct SecondNormalizationGrads {
    Array x;
    Array gamma;
    Array gy;
};
SecondNormalizationGrads ComposedSecondGrad(const NormalizationTerms& terms, const Array& x,
                                            const Array& gamma, const Array& gy, const Array& ggx,
                                            const Array& gggamma, const Array& ggbeta);

}  // namespace chainerx::internal

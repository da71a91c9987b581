// The numbers of a step. The host writes Row, with the statements of CX_UPDATE_NUMBERS.
#pragma once

#include <algorithm>
#include <cmath>

#include "chainerx/cuda/optim/params.h"

namespace chainerx::cuda {

template <typename Row>
inline void ComputeNumbers(const NumbersParams& p) {
    const double t = *p.step + 1;
    *p.step = t;
    const double* h = p.settings;
    double* n = p.numbers;
    for (int k = 0; k < p.count; ++k) n[k] = h[k];
    Row::Apply(h, t, n);
}

}  // namespace chainerx::cuda

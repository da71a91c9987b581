// Linear-chain conditional random fields.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns the negative log-likelihood of each sequence, for transition costs (labels, labels),
// scores xs[t] (sequences, labels) and labels ys[t] (sequences,) per step; sequences that have
// ended are missing at the end. Differentiable in costs and scores, any order.
CX_API Array Crf1d(const Array& cost, const std::vector<Array>& xs, const std::vector<Array>& ys);

struct CrfPath {
    Array score;                // of the best labels of each sequence; differentiable
    std::vector<Array> labels;  // int32, as ys above
};
CX_API CrfPath ArgMaxCrf1d(const Array& cost, const std::vector<Array>& xs);

}  // namespace chainerx

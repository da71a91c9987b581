// What normalizations by channel and by row have in common: their gradient.
#pragma once

#include "chainerx/autograd/op_info.h"
#include "chainerx/core/array.h"
#include "chainerx/ops/norm/arrangement.h"
#include "chainerx/ops/norm/normalization_terms.h"

namespace chainerx::internal {

struct NormalizationPlan {
    bool by_channel;           // or by row: which kernels
    Arrangement arrangement;   // of x
    NormalizationTerms terms;  // on that

    // Elements that share statistics.
    int64_t count() const;
    // The number of gammas.
    int64_t n_params() const { return terms.params.GetTotalSize(); }
};

// For x by channel: statistics over n and s. By row: over k and s.
NormalizationPlan PlanByChannel(const Array& x, const Axes& reduced, double eps);
NormalizationPlan PlanByRow(const Arrangement& arrangement, bool centered, double eps);

// What a kernel gets of an operand with one number per parameter: a vector, outside all graphs.
Array ToVector(const Array& x, Dtype dtype);

// Makes y the result of `op` on x, gamma and beta in the graph. mean and inv_std are vectors.
void RecordNormalization(const OpInfo& op, const NormalizationPlan& plan, const Array& x,
                         const Array& gamma, const Array& beta, const Array& y, const Array& mean,
                         const Array& inv_std);

}  // namespace chainerx::internal

// The gradient shared by normalizations by channel and by row.
#pragma once

#include "chainerx/autograd/op_info.h"
#include "chainerx/core/array.h"
#include "chainerx/ops/norm/normalization_terms.h"
#include "chainerx/ops/norm/permuted_layout.h"

namespace chainerx::internal {

struct NormalizationPlan {
    bool by_channel;           // selects the kernels: by channel or by row
    Arrangement arrangement;   // of x
    NormalizationTerms terms;  // for the arranged x

    // Returns the number of elements that share statistics.
    int64_t count() const;
    // Returns the number of gammas.
    int64_t n_params() const { return terms.params.GetTotalSize(); }
};

// Statistics of x by channel are over n and s; by row, over k and s.
NormalizationPlan PlanByChannel(const Array& x, const Axes& reduced, double eps);
NormalizationPlan PlanByRow(const Arrangement& arrangement, bool centered, double eps);

// Converts an operand with one number per parameter for a kernel: to a vector, outside all graphs.
Array ToVector(const Array& x, Dtype dtype);

// Records y as the result of `op` on x, gamma and beta. mean and inv_std are vectors.
void RecordNormalization(const OpInfo& op, const NormalizationPlan& plan, const Array& x,
                         const Array& gamma, const Array& beta, const Array& y, const Array& mean,
                         const Array& inv_std);

}  // namespace chainerx::internal

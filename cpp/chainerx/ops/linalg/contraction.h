// Products of arrays whose axes have labels, summed over some: what einsum and tensordot are made
// of.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/linalg/einsum_problem.h"

namespace chainerx::internal {

struct EinsumTerm {
    Array x;
    EinsumLabels labels;  // one for each axis, all different

    LabelSet set() const { return SetOf(labels); }
};

// Summed over the labels that are not kept, in the dtype of x. Differentiable.
EinsumTerm SumOut(const EinsumTerm& term, LabelSet kept);

// The product of two, summed over the labels that are not kept. A matrix product where any is in
// both. Axes come in the order of `wanted` where that costs nothing. Differentiable.
EinsumTerm Contract(EinsumTerm a, EinsumTerm b, LabelSet kept, const EinsumLabels& wanted);

// The axes in another order. A view. Differentiable.
Array ToOrder(const EinsumTerm& term, const EinsumLabels& order);

}  // namespace chainerx::internal

// Contractions of arrays whose axes have labels, from which einsum and tensordot are composed.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/linalg/einsum_problem.h"

namespace chainerx::internal {

struct EinsumTerm {
    Array x;
    EinsumLabels labels;  // one for each axis, all distinct

    LabelSet set() const { return SetOf(labels); }
};

// Sums over the labels that are not in `kept`, in the dtype of x. Differentiable.
EinsumTerm SumOut(const EinsumTerm& term, LabelSet kept);

// Multiplies two terms and sums over the labels that are not in `kept`, by a matrix product if any
// of them is in both. Axes are in the order of `wanted` where that costs nothing. Differentiable.
EinsumTerm Contract(EinsumTerm a, EinsumTerm b, LabelSet kept, const EinsumLabels& wanted);

// Transposes the axes to another order. A view. Differentiable.
Array ToOrder(const EinsumTerm& term, const EinsumLabels& order);

}  // namespace chainerx::internal

// What einsum computes once subscripts have met shapes, and the order in which it does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chainerx/core/dims.h"
#include "chainerx/ops/linalg/einsum.h"

namespace chainerx::internal {

// Sets of labels: a bit for each.
using LabelSet = uint64_t;
inline LabelSet SetOf(const EinsumLabels& labels) {
    LabelSet set = 0;
    for (int label : labels) set |= LabelSet{1} << label;
    return set;
}
inline bool Has(LabelSet set, int label) { return (set >> label & 1) != 0; }

struct EinsumProblem {
    std::vector<EinsumLabels> inputs;  // a label for each axis
    EinsumLabels output;
    std::vector<int64_t> sizes;  // by label

    // The number of elements of an array with these axes.
    double Count(LabelSet set) const;
    std::string Text(const EinsumLabels& labels) const;
};

// ValueError if subscripts contradict themselves, DimensionError if they do not fit the shapes.
EinsumProblem MakeEinsumProblem(const EinsumSubscripts& subscripts,
                                const std::vector<Array>& operands);

// Every step, down to one array. ValueError for a path that is none.
EinsumPath FindEinsumPath(const EinsumProblem& problem, const EinsumOrder& order);

}  // namespace chainerx::internal

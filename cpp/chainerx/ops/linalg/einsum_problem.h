// Subscripts of einsum bound to shapes, and the order of the products.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chainerx/core/dims.h"
#include "chainerx/ops/linalg/einsum.h"

namespace chainerx::internal {

// A set of labels has one bit for each.
using LabelSet = uint64_t;
inline LabelSet SetOf(const EinsumLabels& labels) {
    LabelSet set = 0;
    for (int label : labels) set |= LabelSet{1} << label;
    return set;
}
inline bool Has(LabelSet set, int label) { return (set >> label & 1) != 0; }

struct EinsumProblem {
    std::vector<EinsumLabels> inputs;  // one label for each axis
    EinsumLabels output;
    std::vector<int64_t> sizes;  // by label

    // Returns the number of elements of an array with these axes.
    double Count(LabelSet set) const;
    std::string Text(const EinsumLabels& labels) const;
};

// ValueError if subscripts contradict themselves, DimensionError if they do not fit the shapes.
EinsumProblem MakeEinsumProblem(const EinsumSubscripts& subscripts,
                                const std::vector<Array>& operands);

// Returns every step, down to one array. ValueError for an invalid path.
EinsumPath FindEinsumPath(const EinsumProblem& problem, const EinsumOrder& order);

}  // namespace chainerx::internal

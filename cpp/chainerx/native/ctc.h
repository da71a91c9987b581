// The lattice of a row of connectionist temporal classification.
#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/core/array.h"

namespace chainerx::native {

inline constexpr const char* kCtcName = "connectionist_temporal_classification";

// Throws a KernelError for lengths and labels that don't fit. Both kernels of a gradient ask
// again: the memory may have been written to by others.
void CheckCtc(const Array& x, const Array& t, const Array& input_length, const Array& label_length);

// The classes of the states, a blank before, between and behind all labels, of a checked row.
struct CtcPath {
    std::vector<int64_t> classes;
    int64_t steps;

    CtcPath(const Array& t, const Array& input_length, const Array& label_length, int64_t blank,
            int64_t row);
    int64_t size() const { return static_cast<int64_t>(classes.size()); }
    // Whether state s may follow s - 2: not across a label that repeats, nor between blanks.
    bool MaySkip(int64_t s) const {
        return s >= 2 && classes[static_cast<size_t>(s)] != classes[static_cast<size_t>(s - 2)];
    }
};

}  // namespace chainerx::native

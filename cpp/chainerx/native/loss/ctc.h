// Targets of CTC: the states of a row, and the checked labels and lengths.
#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/core/array.h"

namespace chainerx::native {

inline constexpr const char* kCtcName = "connectionist_temporal_classification";

// The classes of the states: a blank before, between and after all labels of a row.
struct CtcPath {
    std::vector<int64_t> classes;
    int64_t steps;

    int64_t size() const { return static_cast<int64_t>(classes.size()); }
    // Whether state s may follow s - 2: not across a repeated label, nor between blanks.
    bool MaySkip(int64_t s) const {
        return s >= 2 && classes[static_cast<size_t>(s)] != classes[static_cast<size_t>(s - 2)];
    }
};

// Labels and lengths, checked against the scores x. Each kernel copies and checks them, since
// another thread may write to the arrays meanwhile.
class CtcTargets {
 public:
    // Throws a KernelError if they don't fit.
    CtcTargets(const Array& x, const Array& t, const Array& input_length,
               const Array& label_length);

    int64_t steps(int64_t row) const { return steps_[static_cast<size_t>(row)]; }
    CtcPath PathOf(int64_t row, int64_t blank) const;

 private:
    std::vector<std::vector<int64_t>> labels_;  // of each row
    std::vector<int64_t> steps_;
};

}  // namespace chainerx::native

// Connectionist temporal classification.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns the negative log-probability, (rows,), that row b of softmax(x[:input_length[b]]) writes
// t[b, :label_length[b]], where labels may be repeated with blanks between them. Scores x are
// (steps, rows, classes), labels t (rows, labels). Differentiable in x, twice.
CX_API Array ConnectionistTemporalClassification(const Array& x, const Array& t,
                                                 const Array& input_length,
                                                 const Array& label_length, int64_t blank);

}  // namespace chainerx

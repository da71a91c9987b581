// Attention as one recorded operation, and as a composition.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/attention/attention_options.h"

namespace chainerx::internal {

// Arguments as the kernel Attention takes them, but the mask is not broadcast yet. A null mask or
// key means none; the key is in no graph, and nothing writes to it.
struct AttentionInputs {
    const Array& q;
    const Array& k;
    const Array& v;
    const Array& mask;
    const Array& key;
    AttentionOptions options;

    // The shape of the full matrix of scores.
    Shape scores_shape() const {
        Shape shape = q.shape();
        shape.back() = k.shape()[k.ndim() - 2];
        return shape;
    }
};

Array RecordedAttention(const AttentionInputs& in);

// ---- attention_composed.cc ----
Array ComposedAttention(const AttentionInputs& in);

}  // namespace chainerx::internal

// Attention as an operation, and made of others.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/attention/attention_options.h"

namespace chainerx::internal {

// As the kernel Attention takes them, but for mask, which still has to broadcast. A null mask or
// key is none; the key is in no graph, and written by nobody.
struct AttentionInputs {
    const Array& q;
    const Array& k;
    const Array& v;
    const Array& mask;
    const Array& key;
    AttentionOptions options;

    // Of all scores.
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

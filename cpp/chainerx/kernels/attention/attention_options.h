// Attributes of attention.
#pragma once

namespace chainerx {

struct AttentionOptions {
    double scale;    // of the scores
    double dropout;  // the probability that a weight becomes 0
    bool is_causal;  // query i sees keys 0, ..., i

    bool operator==(const AttentionOptions&) const = default;
};

}  // namespace chainerx

// Attention.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

struct AttentionSettings {
    double dropout{0};              // the probability that a weight becomes 0
    bool is_causal{false};          // query i sees keys 0, ..., i
    std::optional<double> scale{};  // of the scores; 1 / sqrt(width) without
    bool is_grouped{false};         // a head of keys serves several adjacent ones of queries
    std::optional<uint64_t> key{};  // of dropout, see Dropout
};

// softmax(scale query key^T + mask) value, over the last two axes; (..., queries, width), (...,
// keys, width), (..., keys, width of values). Other axes broadcast, but for the number of heads,
// axis -3, where they are grouped. mask, which broadcasts to (..., queries, keys), is bool (False:
// takes no part), or a float that is added. A query with no key gives 0. The rows of the result lie
// in memory as those of `query` do. Differentiable in all that are floats, any order.
//
// Never makes all scores, neither here nor in backward, which keeps the arguments, the result and a
// number per query, and computes weights again; dropout draws them again. Only a gradient that is
// itself differentiated is composed of other routines, and keeps several arrays of all scores.
CX_API Array ScaledDotProductAttention(const Array& query, const Array& key, const Array& value,
                                       const std::optional<Array>& mask = std::nullopt,
                                       const AttentionSettings& settings = {});

}  // namespace chainerx

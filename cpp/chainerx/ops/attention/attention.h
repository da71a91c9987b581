// Scaled dot-product attention.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

struct AttentionSettings {
    double dropout{0};              // the probability that a weight becomes 0
    bool is_causal{false};          // causal mask: query i sees keys 0, ..., i
    std::optional<double> scale{};  // factor of the scores; 1 / sqrt(width) by default
    // grouped-query attention: adjacent heads of queries share a head of keys
    bool is_grouped{false};
    std::optional<uint64_t> key{};  // RNG key of dropout, see Dropout
};

// Computes softmax(scale query key^T + mask) value over the last two axes, for shapes (...,
// queries, width), (..., keys, width) and (..., keys, width of values). The other axes broadcast,
// except the number of heads, axis -3, if heads are grouped. mask broadcasts to (..., queries,
// keys); it is bool (False masks a key out) or a float that is added. A query with no key gives 0.
// The result has the memory layout of `query`. Differentiable in all float inputs, any order.
//
// The matrix of scores is never materialized, neither here nor in backward: backward saves the
// arguments, the result and one number per query, recomputes the weights and replays dropout. Only
// a gradient that is itself differentiated is composed of other routines, and keeps several arrays
// of all scores.
CX_API Array ScaledDotProductAttention(const Array& query, const Array& key, const Array& value,
                                       const std::optional<Array>& mask = std::nullopt,
                                       const AttentionSettings& settings = {});

}  // namespace chainerx

// Sums of products in Einstein's notation.
//
// A label is the number of an axis: 0 to 51 are A to Z, a to z; axes under an ellipsis get the
// following labels. The set of labels of one product fits into a word of 64 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

using EinsumLabels = std::vector<int>;
inline constexpr int kEinsumLetters = 52;
inline constexpr int kEinsumEllipsis = -1;

// Parsed subscripts such as "ij,jk->ik". Without an output it has the ellipsis, and then the labels
// that occur once, sorted.
struct EinsumSubscripts {
    std::vector<EinsumLabels> inputs;
    std::optional<EinsumLabels> output;

    EinsumSubscripts() = default;
    EinsumSubscripts(const char* text) : EinsumSubscripts{std::string_view{text}} {}  // NOLINT
    // ValueError if it is malformed.
    CX_API EinsumSubscripts(std::string_view text);  // NOLINT: as it is written
};

// The operands that each step multiplies, as indices into those that are left; the product is
// appended. A final step multiplies all that are left.
using EinsumPath = std::vector<std::vector<int64_t>>;

// The order in which operands are multiplied.
struct EinsumOrder {
    enum class Search : int8_t { kLeftToRight, kGreedy, kOptimal, kGiven };

    Search search{Search::kLeftToRight};
    std::optional<double> most_elements{};  // of an intermediate result
    EinsumPath path{};                      // kGiven
};

// Returns the sum of products of all operands over the labels that are not in the output. Products
// of two operands are matrix products. Products and sums have the promoted dtype. A single operand
// without a sum gives a view. Differentiable, any order.
CX_API Array Einsum(const EinsumSubscripts& subscripts, const std::vector<Array>& operands,
                    const EinsumOrder& order = {});

struct EinsumPlan {
    EinsumPath path;
    std::string report;  // steps and costs, for people
};
CX_API EinsumPlan PlanEinsum(const EinsumSubscripts& subscripts, const std::vector<Array>& operands,
                             const EinsumOrder& order = {EinsumOrder::Search::kGreedy});

}  // namespace chainerx

// Sums of products in Einstein's notation.
//
// A label names an axis: 0 to 51 are A to Z, a to z; axes under an ellipsis get the labels behind
// those. Labels of one product fit into a word of 64 bits.
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

// "ij,jk->ik", taken apart. Without an output it has the labels that are there once, sorted, behind
// the ellipsis.
struct EinsumSubscripts {
    std::vector<EinsumLabels> inputs;
    std::optional<EinsumLabels> output;

    EinsumSubscripts() = default;
    EinsumSubscripts(const char* text) : EinsumSubscripts{std::string_view{text}} {}  // NOLINT
    // ValueError if it is malformed.
    CX_API EinsumSubscripts(std::string_view text);  // NOLINT: as it is written
};

// Which operands are multiplied in each step, by their places in what is left; the product goes to
// the end. What is left at last is multiplied in one step more.
using EinsumPath = std::vector<std::vector<int64_t>>;

// In which order operands are multiplied.
struct EinsumOrder {
    enum class Search : int8_t { kLeftToRight, kGreedy, kOptimal, kGiven };

    Search search{Search::kLeftToRight};
    std::optional<double> most_elements{};  // of what is in between
    EinsumPath path{};                      // kGiven
};

// The sum of products of all operands over the labels that are not in the output. Products of two
// are products of matrices. Differentiable, any order. In the promoted dtype, sums too. A view
// where there is one operand and nothing is summed.
CX_API Array Einsum(const EinsumSubscripts& subscripts, const std::vector<Array>& operands,
                    const EinsumOrder& order = {});

struct EinsumPlan {
    EinsumPath path;
    std::string report;  // steps and costs, for people
};
CX_API EinsumPlan PlanEinsum(const EinsumSubscripts& subscripts, const std::vector<Array>& operands,
                             const EinsumOrder& order = {EinsumOrder::Search::kGreedy});

}  // namespace chainerx

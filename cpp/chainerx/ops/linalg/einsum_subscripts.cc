// Subscripts of einsum: from text to labels, and from labels to axes.
#include <algorithm>

#include "chainerx/core/error.h"
#include "chainerx/ops/linalg/einsum.h"
#include "chainerx/ops/linalg/einsum_problem.h"

namespace chainerx {
namespace {

constexpr int kMaxLabels = kEinsumLetters + kMaxNdim;
static_assert(kMaxLabels <= 64, "sets of labels are words");

// Returns -2 for characters that are no letters.
int LabelOf(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    return -2;
}

// Returns one character of UTF-8, which may have several bytes unless it is a letter.
std::string_view CharacterAt(std::string_view text, size_t i) {
    size_t n = 1;
    while (i + n < text.size() && (text[i + n] & 0xC0) == 0x80) ++n;
    return text.substr(i, n);
}

EinsumLabels ParseTerm(std::string_view text, std::string_view whole) {
    EinsumLabels labels;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ') continue;
        if (text.substr(i, 3) == "...") {
            labels.push_back(kEinsumEllipsis);
            i += 2;
            continue;
        }
        const int label = LabelOf(text[i]);
        if (label < 0) {
            throw ValueError{"einsum: '", CharacterAt(text, i), "' in '", whole,
                             "' is not a letter, expected letters, '...', ',' and one '->'"};
        }
        labels.push_back(label);
    }
    return labels;
}

void CheckEllipses(const EinsumLabels& labels, const char* what) {
    if (std::count(labels.begin(), labels.end(), kEinsumEllipsis) > 1) {
        throw ValueError{"einsum: the subscripts of ", what,
                         " have several ellipses, expected one"};
    }
}

std::string TextOf(int label) {
    if (label >= kEinsumLetters) return ".";
    return std::string(1, static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26));
}

// Returns labels for all axes. Those of an ellipsis are counted from the right, so that they
// broadcast.
EinsumLabels ForAxes(const EinsumLabels& labels, int8_t ndim, size_t operand) {
    const auto dots = std::find(labels.begin(), labels.end(), kEinsumEllipsis);
    const bool has_dots = dots != labels.end();
    const int64_t named = static_cast<int64_t>(labels.size()) - (has_dots ? 1 : 0);
    if (named > ndim || (!has_dots && named < ndim)) {
        throw DimensionError{"einsum: operand ",
                             operand,
                             " has ",
                             static_cast<int>(ndim),
                             " axes, but its subscripts name ",
                             named,
                             has_dots ? " and an ellipsis" : ""};
    }
    EinsumLabels axes(labels.begin(), dots);
    for (int64_t i = ndim - named - 1; i >= 0; --i) {
        axes.push_back(kEinsumLetters + static_cast<int>(i));
    }
    if (has_dots) axes.insert(axes.end(), dots + 1, labels.end());
    return axes;
}

}  // namespace

EinsumSubscripts::EinsumSubscripts(std::string_view text) {
    const size_t arrow = text.find("->");
    std::string_view rest = text.substr(0, arrow);
    while (true) {
        const size_t comma = rest.find(',');
        inputs.push_back(ParseTerm(rest.substr(0, comma), text));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (arrow != std::string_view::npos) output = ParseTerm(text.substr(arrow + 2), text);
}

double internal::EinsumProblem::Count(LabelSet set) const {
    double count = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
        if (Has(set, static_cast<int>(i))) count *= static_cast<double>(sizes[i]);
    }
    return count;
}

std::string internal::EinsumProblem::Text(const EinsumLabels& labels) const {
    std::string text;
    for (int label : labels) text += TextOf(label);
    return text;
}

internal::EinsumProblem internal::MakeEinsumProblem(const EinsumSubscripts& subscripts,
                                                    const std::vector<Array>& operands) {
    if (operands.empty()) throw ValueError{"einsum: there are 0 operands, expected at least 1"};
    if (subscripts.inputs.size() != operands.size()) {
        throw ValueError{"einsum: there are ", operands.size(), " operands, but subscripts of ",
                         subscripts.inputs.size()};
    }
    EinsumProblem problem;
    problem.sizes.assign(kMaxLabels, 1);
    int64_t n_dots = 0;
    int times[kMaxLabels] = {};
    for (size_t i = 0; i < operands.size(); ++i) {
        const Shape& shape = operands[i].shape();
        CheckEllipses(subscripts.inputs[i], "an operand");
        problem.inputs.push_back(ForAxes(subscripts.inputs[i], shape.ndim(), i));
        const EinsumLabels& labels = problem.inputs.back();
        for (int8_t axis = 0; axis < shape.ndim(); ++axis) {
            const int label = labels[static_cast<size_t>(axis)];
            if (label >= kEinsumLetters) {
                n_dots = std::max<int64_t>(n_dots, label - kEinsumLetters + 1);
            }
            ++times[label];
            int64_t& size = problem.sizes[static_cast<size_t>(label)];
            if (size == 1) size = shape[axis];
            const auto first = std::find(labels.begin(), labels.end(), label);
            const int64_t length = shape[first - labels.begin()];
            // The length differs within an operand, or between operands without being 1, which
            // broadcasts.
            if (shape[axis] != length || (shape[axis] != size && shape[axis] != 1)) {
                throw DimensionError{"einsum: label '", TextOf(label),
                                     "' has length ",   shape[axis],
                                     " in operand ",    i,
                                     ", expected ",     shape[axis] != length ? length : size};
            }
        }
    }
    EinsumLabels output;
    if (subscripts.output) {
        output = *subscripts.output;
    } else {
        output.push_back(kEinsumEllipsis);
        for (int label = 0; label < kEinsumLetters; ++label) {
            if (times[label] == 1) output.push_back(label);
        }
    }
    CheckEllipses(output, "the output");
    const bool has_dots = std::find(output.begin(), output.end(), kEinsumEllipsis) != output.end();
    if (n_dots > 0 && !has_dots) {
        throw ValueError{"einsum: the output has no ellipsis, but the operands have ", n_dots,
                         " axes under one, which are not summed over"};
    }
    const auto ndim = static_cast<int64_t>(output.size()) - (has_dots ? 1 : 0) + n_dots;
    if (ndim > kMaxNdim) internal::ThrowTooManyDims(ndim);
    problem.output = ForAxes(output, static_cast<int8_t>(ndim), operands.size());
    int in_output[kMaxLabels] = {};
    for (int label : problem.output) {
        if (times[label] == 0) {
            throw ValueError{"einsum: label '", TextOf(label), "' of the output is in no operand"};
        }
        if (++in_output[label] > 1) {
            throw ValueError{"einsum: the output has label '", TextOf(label), "' ",
                             in_output[label], " times, expected once"};
        }
    }
    return problem;
}

}  // namespace chainerx

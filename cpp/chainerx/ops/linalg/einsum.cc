#include "chainerx/ops/linalg/einsum.h"

#include <algorithm>
#include <utility>

#include "chainerx/ops/linalg/contraction.h"
#include "chainerx/ops/linalg/einsum_problem.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::EinsumProblem;
using internal::EinsumTerm;
using internal::LabelSet;

// Takes the diagonal along axes with the same label, and drops axes that broadcast.
EinsumTerm ToTerm(const EinsumProblem& problem, Array x, EinsumLabels labels) {
    for (size_t i = 0; i < labels.size();) {
        const auto again =
            std::find(labels.begin() + static_cast<int64_t>(i) + 1, labels.end(), labels[i]);
        if (again == labels.end()) {
            ++i;
            continue;
        }
        x = Diagonal(x, 0, static_cast<int8_t>(i), static_cast<int8_t>(again - labels.begin()));
        const int label = labels[i];
        labels.erase(again);
        labels.erase(labels.begin() + static_cast<int64_t>(i));
        labels.push_back(label);
    }
    Shape shape;
    EinsumLabels kept;
    for (size_t i = 0; i < labels.size(); ++i) {
        const int64_t length = x.shape()[static_cast<int64_t>(i)];
        if (length == 1 && problem.sizes[static_cast<size_t>(labels[i])] != 1) continue;
        shape.push_back(length);
        kept.push_back(labels[i]);
    }
    if (kept.size() != labels.size()) x = Reshape(x, shape);
    return {std::move(x), std::move(kept)};
}

std::vector<EinsumTerm> ToTerms(const EinsumProblem& problem, const std::vector<Array>& operands) {
    Dtype dtype = operands[0].dtype();
    for (const Array& x : operands) {
        CheckSameDevice("einsum", operands[0].device(), x.device());
        dtype = PromoteTypes(dtype, x.dtype());
    }
    std::vector<EinsumTerm> terms;
    for (size_t i = 0; i < operands.size(); ++i) {
        terms.push_back(ToTerm(problem, AsType(operands[i], dtype, false), problem.inputs[i]));
    }
    return terms;
}

}  // namespace

Array Einsum(const EinsumSubscripts& subscripts, const std::vector<Array>& operands,
             const EinsumOrder& order) {
    const EinsumProblem problem = internal::MakeEinsumProblem(subscripts, operands);
    const EinsumPath path = internal::FindEinsumPath(problem, order);
    std::vector<EinsumTerm> terms = ToTerms(problem, operands);
    const LabelSet output = internal::SetOf(problem.output);
    for (const std::vector<int64_t>& step : path) {
        std::vector<EinsumTerm> chosen;
        for (size_t i = step.size(); i-- > 0;) {
            chosen.push_back(std::move(terms[static_cast<size_t>(step[i])]));
            terms.erase(terms.begin() + step[i]);
        }
        // Multiplies from left to right; `chosen` has them in reverse.
        while (chosen.size() > 1) {
            EinsumTerm a = std::move(chosen.back());
            chosen.pop_back();
            EinsumTerm b = std::move(chosen.back());
            chosen.pop_back();
            LabelSet kept = output;
            for (const EinsumTerm& term : terms) kept |= term.set();
            for (const EinsumTerm& term : chosen) kept |= term.set();
            chosen.push_back(Contract(std::move(a), std::move(b), kept, problem.output));
        }
        terms.push_back(std::move(chosen.back()));
    }
    const Array y = ToOrder(SumOut(terms[0], output), problem.output);
    // Returns a view, not the operand itself, as any other routine does.
    return y.body() == operands[0].body() ? y.MakeView() : y;
}

}  // namespace chainerx

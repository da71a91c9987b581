// The order in which einsum multiplies its operands.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/ops/linalg/einsum.h"
#include "chainerx/ops/linalg/einsum_problem.h"

namespace chainerx {
namespace internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Counts the additions and multiplications of a product of two over all these labels.
double WorkOf(const EinsumProblem& problem, LabelSet all, bool sums) {
    return problem.Count(all) * (sums ? 2 : 1);
}

std::vector<int64_t> AllOf(size_t n) {
    std::vector<int64_t> places(n);
    for (size_t i = 0; i < n; ++i) places[i] = static_cast<int64_t>(i);
    return places;
}

std::vector<LabelSet> SetsOf(const EinsumProblem& problem) {
    std::vector<LabelSet> sets;
    for (const EinsumLabels& labels : problem.inputs) sets.push_back(SetOf(labels));
    return sets;
}

// Multiplies at each step the two operands whose product needs the least memory beyond their own,
// and those without a common label only when no others are left.
EinsumPath FindGreedy(const EinsumProblem& problem, double most) {
    std::vector<LabelSet> terms = SetsOf(problem);
    const LabelSet output = SetOf(problem.output);
    EinsumPath path;
    while (terms.size() > 1) {
        double best_growth = kInfinity;
        double best_work = kInfinity;
        std::vector<int64_t> best;
        LabelSet best_kept = 0;
        for (const bool outer : {false, true}) {
            for (size_t i = 0; i < terms.size(); ++i) {
                CheckInterrupt();
                for (size_t j = i + 1; j < terms.size(); ++j) {
                    if (!outer && (terms[i] & terms[j]) == 0) continue;
                    LabelSet later = output;
                    for (size_t k = 0; k < terms.size(); ++k) {
                        if (k != i && k != j) later |= terms[k];
                    }
                    const LabelSet all = terms[i] | terms[j];
                    const LabelSet kept = all & later;
                    const double size = problem.Count(kept);
                    if (size > most) continue;
                    const double growth = size - problem.Count(terms[i]) - problem.Count(terms[j]);
                    const double work = WorkOf(problem, all, kept != all);
                    if (growth < best_growth || (growth == best_growth && work < best_work)) {
                        best_growth = growth;
                        best_work = work;
                        best = {static_cast<int64_t>(i), static_cast<int64_t>(j)};
                        best_kept = kept;
                    }
                }
            }
            if (!best.empty()) break;
        }
        if (best.empty()) {  // every product is too large
            path.push_back(AllOf(terms.size()));
            return path;
        }
        terms.erase(terms.begin() + best[1]);
        terms.erase(terms.begin() + best[0]);
        terms.push_back(best_kept);
        path.push_back(std::move(best));
    }
    return path;
}

// Finds the cheapest tree of products for each set of operands from those of smaller sets.
EinsumPath FindOptimal(const EinsumProblem& problem, double most) {
    constexpr size_t kMax = 16;
    const std::vector<LabelSet> terms = SetsOf(problem);
    const size_t n = terms.size();
    if (n > kMax) {
        throw ValueError{"einsum: optimize is 'optimal' for ", n, " operands, expected at most ",
                         kMax, "; use 'greedy'"};
    }
    const LabelSet output = SetOf(problem.output);
    const uint32_t end = uint32_t{1} << n;
    const auto labels_of = [&](uint32_t subset) {
        LabelSet set = 0;
        for (size_t i = 0; i < n; ++i) set |= (subset >> i & 1) != 0 ? terms[i] : 0;
        return set;
    };
    struct Best {
        double work{kInfinity};
        uint32_t left{0};
        LabelSet labels{0};
    };
    std::vector<Best> best(end);
    for (uint32_t subset = 1; subset < end; ++subset) {
        CheckInterrupt();
        Best& b = best[subset];
        const LabelSet inside = labels_of(subset);
        b.labels = inside & (labels_of(end - 1 - subset) | output);
        if ((subset & (subset - 1)) == 0) {
            b.work = 0;
            b.labels = inside;
            continue;
        }
        if (problem.Count(b.labels) > most && subset != end - 1) continue;
        for (uint32_t left = (subset - 1) & subset; left > subset - left;
             left = (left - 1) & subset) {
            const Best& l = best[left];
            const Best& r = best[subset - left];
            const LabelSet all = l.labels | r.labels;
            const double work = l.work + r.work + WorkOf(problem, all, all != b.labels);
            if (work < b.work) {
                b.work = work;
                b.left = left;
            }
        }
    }
    if (best[end - 1].work == kInfinity) return {AllOf(n)};
    // Converts the tree to indices, starting with the deepest products.
    std::vector<uint32_t> left_over;
    for (size_t i = 0; i < n; ++i) left_over.push_back(uint32_t{1} << i);
    EinsumPath path;
    const auto multiply = [&](const auto& self, uint32_t subset) -> void {
        if ((subset & (subset - 1)) == 0) return;
        const uint32_t left = best[subset].left;
        self(self, left);
        self(self, subset - left);
        std::vector<int64_t> places;
        for (const uint32_t part : {left, subset - left}) {
            places.push_back(std::find(left_over.begin(), left_over.end(), part) -
                             left_over.begin());
        }
        std::ranges::sort(places);
        left_over.erase(left_over.begin() + places[1]);
        left_over.erase(left_over.begin() + places[0]);
        left_over.push_back(subset);
        path.push_back(std::move(places));
    };
    multiply(multiply, end - 1);
    return path;
}

EinsumPath CheckPath(const EinsumPath& given, size_t n) {
    EinsumPath path;
    auto left = static_cast<int64_t>(n);
    for (std::vector<int64_t> step : given) {
        std::ranges::sort(step);
        const bool repeats = std::ranges::adjacent_find(step) != step.end();
        if (step.empty() || repeats || step.front() < 0 || step.back() >= left) {
            std::string text;
            for (int64_t place : step) text += (text.empty() ? "" : ", ") + std::to_string(place);
            throw ValueError{"einsum: a step of the path is (", text,
                             "), expected different numbers from 0 to ", left - 1};
        }
        left -= static_cast<int64_t>(step.size()) - 1;
        path.push_back(std::move(step));
    }
    if (left > 1) path.push_back(AllOf(static_cast<size_t>(left)));
    return path;
}

}  // namespace

EinsumPath FindEinsumPath(const EinsumProblem& problem, const EinsumOrder& order) {
    using Search = EinsumOrder::Search;
    const size_t n = problem.inputs.size();
    const double most = order.most_elements.value_or(kInfinity);
    if (order.search == Search::kGiven) return CheckPath(order.path, n);
    if (n <= 2 || order.search == Search::kLeftToRight) return {AllOf(n)};
    return order.search == Search::kGreedy ? FindGreedy(problem, most) : FindOptimal(problem, most);
}

}  // namespace internal

namespace {

std::string Number(double x) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.3e", x);
    return text;
}

}  // namespace

EinsumPlan PlanEinsum(const EinsumSubscripts& subscripts, const std::vector<Array>& operands,
                      const EinsumOrder& order) {
    using internal::LabelSet;
    const internal::EinsumProblem problem = internal::MakeEinsumProblem(subscripts, operands);
    EinsumPlan plan{internal::FindEinsumPath(problem, order), {}};
    std::vector<EinsumLabels> terms = problem.inputs;
    const LabelSet output = internal::SetOf(problem.output);
    const auto text_of = [&](const std::vector<EinsumLabels>& inputs, const EinsumLabels& to) {
        std::string text;
        for (const EinsumLabels& labels : inputs) {
            text += (text.empty() ? "" : ",") + problem.Text(labels);
        }
        return text + "->" + problem.Text(to);
    };
    LabelSet every = 0;
    for (const EinsumLabels& labels : terms) every |= internal::SetOf(labels);
    const double at_once = problem.Count(every) * static_cast<double>(terms.size());
    double work = 0;
    double largest = 0;
    std::string steps;
    for (const std::vector<int64_t>& step : plan.path) {
        std::vector<EinsumLabels> chosen;
        for (size_t i = step.size(); i-- > 0;) {
            const auto at = terms.begin() + step[i];
            chosen.insert(chosen.begin(), *at);
            terms.erase(at);
        }
        LabelSet later = output;
        for (const EinsumLabels& labels : terms) later |= internal::SetOf(labels);
        LabelSet all = 0;
        for (const EinsumLabels& labels : chosen) all |= internal::SetOf(labels);
        EinsumLabels kept;
        if (terms.empty()) {
            kept = problem.output;
        } else {
            for (int label = 0; label < 64; ++label) {
                if (internal::Has(all & later, label)) kept.push_back(label);
            }
        }
        work += problem.Count(all) * static_cast<double>(std::max<size_t>(1, chosen.size()));
        largest = std::max(largest, problem.Count(all & later));
        steps += "  " + text_of(chosen, kept) + "\n";
        terms.push_back(std::move(kept));
    }
    plan.report = StrCat(
        "contraction: ", text_of(problem.inputs, problem.output),
        "\nmultiplications and additions at once: ", Number(at_once), "\nin steps: ", Number(work),
        "\nlargest array in between: ", Number(largest), " elements\nsteps:\n", steps);
    return plan;
}

}  // namespace chainerx

// Reductions: the table of algorithms and the choice.
#include "chainerx/native/reduce/reduce_algorithms.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "chainerx/native/algorithm_table.h"
#include "chainerx/native/reduce/reduce.h"

namespace chainerx::native {

namespace {

// A row of the table.
struct ReduceAlgorithm {
    const char* name;
    bool (*can)(const ReducePlan& plan);
    // Whether it is chosen, unless one before it is; implies `can`. A function of shapes and
    // strides, since the bits of the result depend on it.
    bool (*prefers)(const ReducePlan& plan);
    ReduceFn* run;
};

constexpr auto kAlways = [](const ReducePlan&) { return true; };

constexpr ReduceAlgorithm kAlgorithms[] = {
    {"rows", [](const ReducePlan& plan) { return plan.kept.ndim != 0; },
     [](const ReducePlan& plan) { return plan.by_rows; }, ReduceRows},
    {"runs", kAlways, kAlways, ReduceRuns},
};

constexpr auto kNames = NamesOf(kAlgorithms);
const AlgorithmChoice g_choice{"reduce", "CHAINERX_REDUCE", kNames};

}  // namespace

void RunReduce(const ReducePlan& plan, const ReduceLoops& loops, const char* centers) {
    if (plan.n_out == 0) return;
    const auto run = [&](int row) {
        internal::NoteAlgorithm(kAlgorithms[row].name);
        kAlgorithms[row].run(plan, loops, centers);
    };
    const int forced = FindForcedRow(
        g_choice, [&](int row) { return kAlgorithms[row].can(plan); },
        [&](const char* name) {
            ThrowCannotCompute(name, "reduction of ", plan.n_reduced, " elements to a single one");
        });
    if (forced >= 0) return run(forced);
    WithFirst<std::size(kAlgorithms)>([&](auto row) { return kAlgorithms[row].prefers(plan); },
                                      run);
}

}  // namespace chainerx::native

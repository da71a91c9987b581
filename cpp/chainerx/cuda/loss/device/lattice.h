// The states of a row, checked, and the recursion over its steps: a block for each row and
// direction, a thread for each state.
#pragma once

#include <cstdint>
#include <limits>

#include "chainerx/cuda/device/errors.h"
#include "chainerx/cuda/loss/params.h"
#include "chainerx/cuda/norm/device/group.h"
#include "chainerx/native/loss/simd/log_sum_of_three.h"

namespace chainerx::cuda {

using CtcBlock = Group<kBlockThreads>;
using CtcWarp = Group<32>;

// All threads of a block come here together. Returns the number of steps, or -1 after an error.
inline int64_t CheckRow(const CtcParams& p, int64_t row, bool reports) {
    const bool is_first = reports && threadIdx.x == 0;
    const int64_t steps = p.input_length[row];
    if (steps < 0 || steps > p.steps) {
        if (is_first) ReportError(p.log, p.input_site, row, steps);
        return -1;
    }
    const int64_t n = p.label_length[row];
    if (n < 0 || n > p.labels) {
        if (is_first) ReportError(p.log, p.length_site, row, n);
        return -1;
    }
    int is_bad = 0;
    int64_t repeated = 0;  // equal adjacent labels need a blank between them
    for (int64_t i = threadIdx.x; i < n; i += kBlockThreads) {
        const int64_t at = row * p.labels + i;
        const int64_t label = p.t[at];
        if (label < 0 || label >= p.classes) {
            if (reports) ReportError(p.log, p.label_site, at, label);
            is_bad = 1;
        }
        repeated += i > 0 && label == p.t[at - 1] ? 1 : 0;
    }
    if (__syncthreads_or(is_bad) != 0) return -1;
    const int64_t needed = n + CtcBlock::Sum(repeated);
    if (needed > steps) {
        ErrorSite site = p.steps_site;
        site.bound = steps;
        if (is_first) ReportError(p.log, site, row, needed);
        return -1;
    }
    return steps;
}

// The states of a row that is valid.
struct CtcPath {
    const CtcParams& p;
    int64_t row;
    int64_t steps;
    int64_t size;

    CtcPath(const CtcParams& params, int64_t of_row, int64_t n_steps)
        : p{params}, row{of_row}, steps{n_steps}, size{2 * params.label_length[of_row] + 1} {}

    int64_t ClassOf(int64_t s) const {
        return (s & 1) != 0 ? p.t[row * p.labels + s / 2] : p.blank;
    }
    // Whether state s may follow s - 2: not across a repeated label, nor between blanks.
    bool MaySkip(int64_t s) const { return s >= 2 && s < size && ClassOf(s) != ClassOf(s - 2); }
    int64_t Step(int64_t t) const { return t * p.rows + row; }                 // in arrays of steps
    int64_t Place(int64_t t) const { return (row * p.steps + t) * p.states; }  // in those of states
};

// Scores as log probabilities.
template <typename T>
struct CtcScores {
    using C = Number<T>;
    static C None() { return -std::numeric_limits<C>::infinity(); }
    static C Of(const CtcPath& path, int64_t t, int64_t k) {
        const CtcParams& p = path.p;
        const C* const stats = At<const C>(p.stats, 2 * path.Step(t));
        const C x = static_cast<C>(*At<const T>(p.x, path.Step(t) * p.classes + k));
        return (x - stats[0]) - stats[1];
    }
};

// The weights of all paths to (or from, backward) the states of each step, both with the emission
// of the step; each row less the maximum of the row before, cumulatively. row_at(t) is where a row
// is stored. Returns the sum of what was taken off.
template <typename T, typename Rows>
inline double RunLattice(const CtcPath& path, bool is_forward, const Rows& row_at) {
    using Scores = CtcScores<T>;
    using C = Number<T>;
    const C none = Scores::None();
    double taken_off = 0;
    C highest = none;  // of this thread's states in the row before
    const int64_t last = path.size - 1;
    for (int64_t i = 0; i < path.steps; ++i) {
        const int64_t t = is_forward ? i : path.steps - 1 - i;
        const C* const before = i == 0 ? nullptr : row_at(is_forward ? t - 1 : t + 1);
        const C max = CtcBlock::Max(highest);
        const C less = i == 0 || max == none ? C(0) : max;
        taken_off += static_cast<double>(less);
        highest = none;
        C* const to = row_at(t);
        for (int64_t j = threadIdx.x; j <= last; j += kBlockThreads) {
            const int64_t s = is_forward ? j : last - j;
            const C emission = Scores::Of(path, t, path.ClassOf(s));
            C y;
            if (i == 0) {
                y = j < 2 ? emission : none;
            } else {
                const auto weight = [&](int64_t back) {
                    return (j < back ? none : before[is_forward ? s - back : s + back]) - less;
                };
                const C skip = path.MaySkip(is_forward ? s : s + 2) ? C(0) : none;
                using B = xsimd::batch<C>;
                y = native::CX_ISA::LogSumOfThree<C>(B(weight(0)), B(weight(1)),
                                                     B(weight(2) + skip))
                        .v +
                    emission;
            }
            to[s] = y;
            highest = y > highest ? y : highest;
        }
    }
    __syncthreads();
    return taken_off;
}

// The log probability of all paths, which end in one of the last two states.
template <typename C>
inline double LogProbability(const CtcPath& path, const C* last, double taken_off) {
    if (path.steps == 0) return 0;
    const double none = -std::numeric_limits<double>::infinity();
    const double end = static_cast<double>(last[path.size - 1]);
    const double before = path.size > 1 ? static_cast<double>(last[path.size - 2]) : none;
    const double max = std::max(end, before);
    if (std::abs(max) == -none) return max;
    return taken_off + max + std::log(std::exp(end - max) + std::exp(before - max));
}

// Links the states of the same class.
inline void LinkStates(const CtcPath& path) {
    for (int64_t s = threadIdx.x; s < path.size; s += kBlockThreads) {
        const int64_t k = path.ClassOf(s);
        int64_t next = s + 1;
        while (next < path.size && path.ClassOf(next) != k) ++next;
        int64_t first = 0;
        while (first < s && path.ClassOf(first) != k) ++first;
        path.p.links[path.row * path.p.states + s] =
            2 * (next < path.size ? next + 1 : 0) + (first == s ? 1 : 0);
    }
}

}  // namespace chainerx::cuda

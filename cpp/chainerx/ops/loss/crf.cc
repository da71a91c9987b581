#include "chainerx/ops/loss/crf.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "chainerx/kernels/norm/softmax.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

void CheckScores(const char* op, const Array& cost, const std::vector<Array>& xs) {
    if (cost.ndim() != 2 || cost.shape()[0] != cost.shape()[1]) {
        throw DimensionError{op, ": cost.shape is ", cost.shape(), ", expected (labels, labels)"};
    }
    if (xs.empty()) throw DimensionError{op, ": xs has length 0, expected at least 1"};
    CheckDtype(IsFloat(cost.dtype()), op, "cost", cost.dtype(), "a real float");
    for (size_t t = 0; t < xs.size(); ++t) {
        CheckSameDevice(op, cost.device(), xs[t].device());
        if (xs[t].dtype() != cost.dtype()) {
            throw DtypeError{op,
                             ": xs[",
                             t,
                             "] has dtype ",
                             GetDtypeName(xs[t].dtype()),
                             ", but cost has ",
                             GetDtypeName(cost.dtype())};
        }
        if (xs[t].ndim() != 2 || xs[t].shape()[1] != cost.shape()[0]) {
            throw DimensionError{op,
                                 ": xs[",
                                 t,
                                 "].shape is ",
                                 xs[t].shape(),
                                 " and cost.shape is ",
                                 cost.shape(),
                                 ", expected (sequences, labels) and (labels, labels)"};
        }
        if (t > 0 && xs[t].shape()[0] > xs[t - 1].shape()[0]) {
            throw DimensionError{
                op,          ": xs[", t,        "] has length ",      xs[t].shape()[0],
                ", but xs[", t - 1,   "] has ", xs[t - 1].shape()[0], "; lengths may not rise"};
        }
    }
}

int64_t Count(const Array& x) { return x.shape()[0]; }

Array Head(const Array& x, int64_t n) { return n == Count(x) ? x : x.At({Slice{0, n}}); }
Array Tail(const Array& x, int64_t n) { return x.At({Slice{n, Count(x)}}); }

// Updates the sums of sequences (sequences, labels) step by step: next(sums of sequences with step
// t, as (sequences, labels, 1), t) returns those of step t. Returns the final sums of all
// sequences.
Array RunSteps(const std::vector<Array>& xs, const auto& next) {
    std::vector<Array> ended;
    Array sums = xs[0];
    for (size_t t = 1; t < xs.size(); ++t) {
        const int64_t n = Count(xs[t]);
        if (n < Count(sums)) ended.push_back(Tail(sums, n));
        const Array going = Head(sums, n);
        sums = next(Reshape(going, Shape{n, going.shape()[1], 1}), t);
    }
    if (ended.empty()) return sums;
    ended.push_back(sums);
    std::ranges::reverse(ended);
    return Concatenate(ended, 0);
}

}  // namespace

Array Crf1d(const Array& cost, const std::vector<Array>& xs, const std::vector<Array>& ys) {
    constexpr const char* kOp = "crf1d";
    CheckScores(kOp, cost, xs);
    if (xs.size() != ys.size()) {
        throw DimensionError{kOp, ": xs has length ", xs.size(), ", but ys has ", ys.size()};
    }
    const int64_t labels = cost.shape()[0];
    for (size_t t = 0; t < ys.size(); ++t) {
        if (!IsInt(ys[t].dtype())) {
            throw DtypeError{kOp,
                             ": ys[",
                             t,
                             "] has dtype ",
                             GetDtypeName(ys[t].dtype()),
                             ", expected integers"};
        }
        if (ys[t].ndim() != 1 || Count(ys[t]) != Count(xs[t])) {
            throw DimensionError{kOp,           ": ys[",     t, "].shape is ",
                                 ys[t].shape(), ", but xs[", t, "].shape is ",
                                 xs[t].shape()};
        }
    }
    // For all steps together: the chosen labels, the sequence of each, and the transitions of all
    // steps but the first.
    const Array chosen = AsType(Concatenate(ys, 0), Dtype::kInt64, false);
    const Array checked = EmptyUnchecked(Shape{Count(chosen), labels}, cost.dtype(), cost.device());
    CallOn<kernels::OneHot>(cost.device(), kOp, AsContiguous(chosen), std::nullopt, checked);
    const Array numbers = Arange(Count(xs[0]), Dtype::kInt64, cost.device());
    std::vector<Array> sequences{numbers};
    std::vector<Array> moves;
    int64_t begin = 0;
    for (size_t t = 1; t < ys.size(); ++t) {
        const int64_t n = Count(ys[t]);
        const int64_t next = begin + Count(ys[t - 1]);
        sequences.push_back(Head(numbers, n));
        moves.push_back(Add(Multiply(chosen.At({Slice{begin, begin + n}}), labels),
                            chosen.At({Slice{next, next + n}})));
        begin = next;
    }
    const auto sum_by_sequence = [&](const Array& x, const std::vector<Array>& owners) {
        return internal::TakeGrad(x, Shape{Count(xs[0])}, 0, Concatenate(owners, 0),
                                  IndexBoundsMode::kDefault);
    };
    if (moves.empty()) return Subtract(LogSumExp(xs[0], Axes{1}), SelectItem(xs[0], ys[0]));
    Array score = sum_by_sequence(SelectItem(Concatenate(xs, 0), chosen), sequences);
    sequences.erase(sequences.begin());
    const Array moved =
        Take(Reshape(cost, Shape{labels * labels}), Concatenate(moves, 0), int8_t{0});
    score = Add(score, sum_by_sequence(moved, sequences));
    const Array sums = RunSteps(xs, [&](const Array& before, size_t t) {
        return Add(LogSumExp(Add(before, cost), Axes{1}), xs[t]);
    });
    return Subtract(LogSumExp(sums, Axes{1}), score);
}

CrfPath ArgMaxCrf1d(const Array& cost, const std::vector<Array>& xs) {
    CheckScores("argmax_crf1d", cost, xs);
    std::vector<Array> origins{Array{}};  // the best previous label for each label of a step
    const Array sums = RunSteps(xs, [&](const Array& before, size_t t) {
        const Array ways = Add(before, cost);
        origins.push_back(ArgMax(internal::Detached(ways), int8_t{1}));
        return Add(AMax(ways, Axes{1}), xs[t]);
    });
    CrfPath path{AMax(sums, Axes{1}), std::vector<Array>(xs.size())};
    const Array last = ArgMax(internal::Detached(sums), int8_t{1});
    Array label = Head(last, Count(xs.back()));
    for (size_t t = xs.size(); t-- > 0;) {
        path.labels[t] = AsType(label, Dtype::kInt32);
        if (t == 0) break;
        label = SelectItem(origins[t], label);
        const int64_t n = Count(label);
        const int64_t all = Count(xs[t - 1]);
        if (n < all) label = Concatenate({label, last.At({Slice{n, all}})}, 0);
    }
    return path;
}

}  // namespace chainerx

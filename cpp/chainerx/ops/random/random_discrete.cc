// Distributions of counts, bools and indices.
#include <limits>
#include <span>
#include <unordered_set>
#include <vector>

#include "chainerx/core/interrupt.h"
#include "chainerx/kernels/random/random.h"
#include "chainerx/ops/aliases.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/random/random.h"
#include "chainerx/ops/random/random_plan.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx::random {
namespace {

// The largest mean: the maximum of int64, less ten deviations of a Poisson variable.
constexpr double kMaxMean = 9.223372e18;
constexpr Domain kMean{0, kMaxMean, true, true, "0 to 9.223372e18"};
constexpr double kMaxInt64 = 9223372036854774784.0;  // the largest double within int64
constexpr Domain kCount{0, kMaxInt64, true, true, "0 to 2**63 - 1024"};

Array Counts(const Plan& plan) {
    return EmptyUnchecked(plan.shape(), Dtype::kInt64, plan.device());
}

Array PoissonOf(const Plan& plan, const Array& mean) {
    Array out = Counts(plan);
    CallOn<kernels::RandomPoisson>(plan.device(), plan.state(), Spread(mean, plan.shape()), out);
    return out;
}

Array BinomialOf(const Plan& plan, const Array& n, const Array& p) {
    Array out = EmptyUnchecked(BroadcastShapes(plan.op(), n.shape(), p.shape()), Dtype::kInt64,
                               plan.device());
    CallOn<kernels::RandomBinomial>(plan.device(), plan.state(), Spread(n, out.shape()),
                                    Spread(p, out.shape()), out);
    return out;
}

// Weights (..., k), broadcast to the axes `batch` in front, contiguous float64.
struct Weights {
    Array values;
    Shape batch;
};

Weights ToWeights(const char* op, const char* name, const Array& p,
                  const std::optional<Shape>& size) {
    const int8_t axis = p.ndim() - 1;
    if (axis < 0 || p.shape()[axis] == 0) {
        throw DimensionError{
            op, ": ", name, " has shape ", p.shape(), ", expected (..., k) with k of at least 1"};
    }
    CheckDomain(op, name, p, kZeroOrAbove);
    Shape rows = p.shape();
    rows.resize(axis);
    const Shape batch = size.value_or(rows);
    if (!IsBroadcastable(rows, batch)) {
        throw DimensionError{
            op,   ": size is ", batch,     ", which ",
            name, " of shape ", p.shape(), " without the last axis doesn't broadcast to"};
    }
    const Array wide = AsType(internal::Detached(p), Dtype::kFloat64, false);
    return {wide, batch};
}

// Returns the order of successive weighted draws without replacement: sorts by arrival times at
// rates equal to the weights (P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a
// reservoir", Information Processing Letters, 2006).
Array WeightedOrder(const Array& p, int64_t count, const Source& source) {
    constexpr const char* kOp = "choice";
    CheckDomain(kOp, "p", p, kZeroOrAbove);
    CheckDomain(kOp, "the number of p above 0", CountNonzero(p),
                {static_cast<double>(count), Domain::kInfinity, true, true,
                 "as many as are drawn without replacement"});
    const Parameter weights{p};
    const Plan plan{kOp, {{"p", weights, kNotNan}}, {.source = source}};
    const Array rates = internal::Detached(plan.Get(0));
    return ArgSort(Where(rates > 0, plan.Exponential() / rates, Domain::kInfinity));
}

}  // namespace

Array Poisson(const Parameter& mean, const Options& options) {
    const Plan plan{"poisson", {{"lam", mean, kMean}}, options, Kind::kCounts};
    return plan.Finish(PoissonOf(plan, plan.Get(0)));
}

Array Binomial(const Parameter& n, const Parameter& p, const Options& options) {
    const Plan plan{"binomial", {{"n", n, kCount}, {"p", p, kProbability}}, options, Kind::kCounts};
    Array out = Counts(plan);
    CallOn<kernels::RandomBinomial>(plan.device(), plan.state(), plan.GetSpread(0, Dtype::kInt64),
                                    plan.GetSpread(1), out);
    return plan.Finish(out);
}

Array NegativeBinomial(const Parameter& n, const Parameter& p, const Options& options) {
    const Plan plan{"negative_binomial",
                    {{"n", n, kAboveZero}, {"p", p, kPositiveProbability}},
                    options,
                    Kind::kCounts};
    // A Poisson variable whose mean is a gamma variable.
    Array mean = EmptyUnchecked(plan.shape(), Dtype::kFloat64, plan.device());
    CallOn<kernels::RandomGamma>(plan.device(), plan.state(), plan.GetSpread(0), false, mean);
    const Array success = internal::Detached(plan.Get(1));
    // Keeps the odds finite, since the gamma variable may be 0.
    const Array odds = Minimum((1 - success) / success, std::numeric_limits<double>::max());
    mean = Minimum(mean * odds, kMaxMean);
    return plan.Finish(PoissonOf(plan, mean));
}

Array Geometric(const Parameter& p, const Options& options) {
    const Plan plan{"geometric", {{"p", p, kPositiveProbability}}, options, Kind::kCounts};
    const Array rate = Negative(Log1p(Negative(internal::Detached(plan.Get(0)))));
    const Array k = Minimum(Floor(plan.Exponential() / rate) + 1, kMaxInt64);
    return plan.Finish(AsType(k, Dtype::kInt64, false));
}

Array Zipf(const Parameter& a, const Options& options) {
    static constexpr Domain kExponent{1, Domain::kInfinity, false, false, "a finite number > 1"};
    const Plan plan{"zipf", {{"a", a, kExponent}}, options, Kind::kCounts};
    Array out = Counts(plan);
    CallOn<kernels::RandomZipf>(plan.device(), plan.state(), plan.GetSpread(0), out);
    return plan.Finish(out);
}

// A. W. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables",
// Applied Statistics, 1981: a geometric variable whose parameter is random.
Array LogSeries(const Parameter& p, const Options& options) {
    static constexpr Domain kBelowOne{0, 1, true, false, "0 to below 1"};
    const Plan plan{"logseries", {{"p", p, kBelowOne}}, options, Kind::kCounts};
    const Array share = internal::Detached(plan.Get(0));
    const Array q = Negative(Expm1(Log1p(Negative(share)) * plan.OpenUniform()));
    const Array v = plan.OpenUniform();
    const Array rest = v >= share;  // the value is 1, also where q is 0
    const Array length = Floor(Log(v) / Log(Where(rest, 0.5, q))) + 1;
    const Array k = Where(rest, 1, Minimum(Maximum(length, 1), kMaxInt64));
    return plan.Finish(AsType(k, Dtype::kInt64, false));
}

namespace {

constexpr Domain kKind{0, 1e9, true, true, "0 to 1e9"};

Array HypergeometricOf(const Plan& plan, const Array& good, const Array& bad, const Array& sample) {
    Array out = Counts(plan);
    CallOn<kernels::RandomHypergeometric>(plan.device(), plan.state(), Spread(good, plan.shape()),
                                          Spread(bad, plan.shape()), Spread(sample, plan.shape()),
                                          out);
    return out;
}

}  // namespace

Array Hypergeometric(const Parameter& good, const Parameter& bad, const Parameter& sample,
                     const Options& options) {
    constexpr const char* kOp = "hypergeometric";
    const Plan plan{kOp,
                    {{"ngood", good, kKind}, {"nbad", bad, kKind}, {"nsample", sample, kCount}},
                    options,
                    Kind::kCounts};
    const Array g = plan.Get(0, Dtype::kInt64);
    const Array b = plan.Get(1, Dtype::kInt64);
    const Array n = plan.Get(2, Dtype::kInt64);
    CheckDomain(kOp, "ngood + nbad - nsample", g + b - n, kZeroOrAbove);
    return plan.Finish(HypergeometricOf(plan, g, b, n));
}

Array MultivariateHypergeometric(const Array& colors, int64_t sample, const Options& options) {
    constexpr const char* kOp = "multivariate_hypergeometric";
    if (colors.ndim() != 1) {
        throw DimensionError{kOp, ": colors has shape ", colors.shape(),
                             ", expected one dimension"};
    }
    CheckDtype(IsInt(colors.dtype()), kOp, "colors", colors.dtype(), "an integer one");
    if (sample < 0) throw ValueError{kOp, ": nsample is ", sample, ", expected at least 0"};
    Options inner = options;
    inner.device = &colors.device();
    const Plan plan{kOp, {}, inner, Kind::kCounts};
    const Array counts = AsType(internal::Detached(colors), Dtype::kInt64, false);
    CheckDomain(kOp, "colors", counts, kKind);
    const int64_t k = colors.shape()[0];
    const Array total = Sum(counts);
    CheckDomain(kOp, "the sum of colors", total, {0, 1e9, true, true, "0 to 1e9"});
    CheckDomain(kOp, "the sum of colors - nsample", total - sample, kZeroOrAbove);
    // Draws one color after the other: each from the rest of the sample, against the colors behind
    // it.
    Array left = Full(plan.shape(), sample, Dtype::kInt64, plan.device());
    Array behind = total;
    std::vector<Array> parts;
    for (int64_t i = 0; i + 1 < k; ++i) {
        const Array of_kind = counts.At({i});
        behind = behind - of_kind;
        parts.push_back(HypergeometricOf(plan, of_kind, behind, left));
        left = left - parts.back();
    }
    if (k > 0) parts.push_back(left);
    const int8_t axis = plan.shape().ndim();
    if (k > 0) return plan.Finish(Stack(parts, axis));
    Shape shape = plan.shape();
    shape.push_back(0);
    return plan.Finish(Empty(shape, Dtype::kInt64, plan.device()));
}

Array Bernoulli(const Parameter& p, const Options& options) {
    const Plan plan{"bernoulli", {{"p", p, kProbability}}, options, Kind::kTruths};
    return plan.Finish(plan.Uniform() < internal::Detached(plan.Get(0)));
}

namespace {

Array CategoricalFor(const char* op, const Array& p, const Options& options) {
    const Weights weights = ToWeights(op, "p", p, options.size);
    const Array sums = CumSum(weights.values, p.ndim() - 1);
    const int64_t k = p.shape()[p.ndim() - 1];
    CheckDomain(op, "sum of p", sums.At({ArrayIndex{Ellipsis{}}, k - 1}), kAboveZero);
    Options inner = options;
    inner.size = weights.batch;
    inner.device = &p.device();
    const Plan plan{op, {}, inner, Kind::kCounts};
    // A row for each element of the last axes of the result, as many axes as p has.
    const auto skipped = static_cast<int8_t>(weights.batch.ndim() - (p.ndim() - 1));
    Shape full;
    int64_t rows = 1;
    for (int8_t i = skipped; i < weights.batch.ndim(); ++i) {
        full.push_back(weights.batch[i]);
        rows *= weights.batch[i];
    }
    full.push_back(k);
    Array out = Counts(plan);
    if (out.GetTotalSize() > 0) {
        const Array table = Reshape(AsContiguous(BroadcastTo(sums, full)), Shape{rows, k});
        CallOn<kernels::RandomIndex>(plan.device(), plan.state(), table, out);
    }
    return plan.Finish(out);
}

}  // namespace

Array Categorical(const Array& p, const Options& options) {
    return CategoricalFor("categorical", p, options);
}

Array Multinomial(const Parameter& n, const Array& p, const Options& options) {
    constexpr const char* kOp = "multinomial";
    const Shape of_n = n.is_array() ? n.array().shape() : Shape{};
    Shape rows = p.shape();
    if (p.ndim() > 0) rows.resize(p.ndim() - 1);
    Options inner = options;
    if (!inner.size) inner.size = BroadcastShapes(kOp, of_n, rows);
    const Weights weights = ToWeights(kOp, "pvals", p, inner.size);
    if (inner.device == nullptr) inner.device = &p.device();
    CheckSameDevice(kOp, *inner.device, p.device());
    const Plan plan{kOp, {{"n", n, kCount}}, inner, Kind::kCounts};
    // Draws one category after the other: from the rest of n, by its share of the remaining weight.
    const int8_t axis = p.ndim() - 1;
    const Array tails = Flip(CumSum(Flip(weights.values, Axes{axis}), axis), Axes{axis});
    CheckDomain(kOp, "sum of pvals", tails.At({ArrayIndex{Ellipsis{}}, 0}), kAboveZero);
    const Array shares = Minimum(Where(tails > 0, weights.values / tails, 0), 1);
    Array left = AsContiguous(BroadcastTo(plan.Get(0, Dtype::kInt64), plan.shape()));
    std::vector<Array> counts;
    const int64_t k = p.shape()[axis];
    for (int64_t i = 0; i + 1 < k; ++i) {
        const Array share = shares.At({ArrayIndex{Ellipsis{}}, i});
        counts.push_back(BinomialOf(plan, left, BroadcastTo(share, plan.shape())));
        left = left - counts.back();
    }
    counts.push_back(left);
    return plan.Finish(Stack(counts, plan.shape().ndim()));
}

namespace {

// Returns distinct indices below n in the order of their draws; repeats are drawn again, so that no
// memory of size n is needed. Suits few of many indices, else it would take long.
Array DistinctPlaces(int64_t n, int64_t count, Device& device, const Source& source) {
    std::vector<int64_t> places;
    std::unordered_set<int64_t> known;
    while (static_cast<int64_t>(places.size()) < count) {
        const int64_t lacking = count - static_cast<int64_t>(places.size());
        const Array drawn = Integers(0, n, Options{Shape{lacking}, {}, &device, source});
        for (const int64_t place : drawn.ToHost<int64_t>()) {
            if (!known.insert(place).second) continue;
            places.push_back(place);
            if (places.size() % 1024 == 0) internal::CheckInterrupt();
        }
    }
    return Array::FromHost(std::span<const int64_t>{places}, {count}, device);
}

// Returns the chosen indices of n along an axis.
Array ChosenPlaces(int64_t n, int8_t at, Device& device, const std::optional<Shape>& size,
                   bool replace, const std::optional<Array>& p, const Source& source) {
    constexpr const char* kOp = "choice";
    const Shape shape = size.value_or(Shape{});
    CheckedNBytes(kOp, shape, sizeof(int64_t));
    const int64_t count = shape.GetTotalSize();
    if (n == 0 && count > 0) {
        throw ValueError{kOp,
                         ": a has no element along axis ",
                         static_cast<int>(at),
                         ", and ",
                         count,
                         " are asked for"};
    }
    if (p) {
        CheckSameDevice(kOp, device, p->device());
        if (p->ndim() != 1 || p->shape()[0] != n) {
            throw DimensionError{kOp, ": p has shape ", p->shape(), ", expected (",
                                 n,   ",) as a has"};
        }
    }
    if (!replace && count > n) {
        throw ValueError{kOp,
                         ": size is ",
                         shape,
                         " without replacement, and a has ",
                         n,
                         " elements along axis ",
                         static_cast<int>(at)};
    }
    if (count == 0) return Empty(shape, Dtype::kInt64, device);
    if (replace && p) {
        return CategoricalFor(kOp, *p, Options{shape, Dtype::kInt64, &device, source});
    }
    if (replace) return Integers(0, n, Options{shape, {}, &device, source});
    // A key would give the same numbers in each round.
    constexpr int64_t kMinFromSet = int64_t{1} << 24;
    if (!p && n >= kMinFromSet && count <= n / 64 && !source.is_key()) {
        return Reshape(DistinctPlaces(n, count, device, source), shape);
    }
    const Array order = p ? WeightedOrder(*p, count, source) : Permutation(n, device, source);
    return Reshape(order.At({ArrayIndex{Slice{0, count}}}), shape);
}

}  // namespace

Array Choice(int64_t n, const std::optional<Shape>& size, bool replace,
             const std::optional<Array>& p, Device& device, const Source& source) {
    if (n < 0) throw ValueError{"choice: a is ", n, ", expected at least 0"};
    return ChosenPlaces(n, 0, device, size, replace, p, source);
}

Array Choice(const Array& x, const std::optional<Shape>& size, bool replace,
             const std::optional<Array>& p, int8_t axis, const Source& source) {
    constexpr const char* kOp = "choice";
    if (x.ndim() == 0) throw DimensionError{kOp, ": a is 0-dimensional, expected an axis"};
    const int8_t at = NormalizeAxis(kOp, axis, x.ndim());
    return Take(x, ChosenPlaces(x.shape()[at], at, x.device(), size, replace, p, source), at);
}

Array Permuted(const Array& x, std::optional<int8_t> axis, const Source& source) {
    constexpr const char* kOp = "permuted";
    if (!axis) {
        const Array order = Permutation(x.GetTotalSize(), x.device(), source);
        return Reshape(Take(Ravel(x), order, int8_t{0}), x.shape());
    }
    const int8_t at = NormalizeAxis(kOp, *axis, x.ndim());
    const Plan plan{kOp, {}, {.size = x.shape(), .device = &x.device(), .source = source}};
    return TakeAlongAxis(x, ArgSort(plan.Uniform(), at), at);
}

void Shuffle(const Array& x, int8_t axis, const Source& source) {
    constexpr const char* kOp = "shuffle";
    if (x.ndim() == 0) throw DimensionError{kOp, ": x is 0-dimensional, expected an axis"};
    const int8_t at = NormalizeAxis(kOp, axis, x.ndim());
    const Array order = Permutation(x.shape()[at], x.device(), source);
    CopyTo(x, Take(internal::Detached(x), order, at));
}

}  // namespace chainerx::random

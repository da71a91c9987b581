#include "chainerx/ops/index/histogram.h"

#include <algorithm>
#include <cmath>

#include "chainerx/kernels/index/indexing.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx {
namespace {

using internal::Detached;

constexpr OpInfo kSumEach{"sum_each", &kernels::SumEach::kInfo};

Array Part(const Array& x, int64_t begin, int64_t end) {
    return internal::PartAlong(x, 0, begin, end);
}
Array ButLast(const Array& x) { return Part(x, 0, x.shape()[0] - 1); }
Array ButFirst(const Array& x) { return Part(x, 1, x.shape()[0]); }
Array Last(const Array& x) { return Part(x, x.shape()[0] - 1, x.shape()[0]); }

bool AreAll(const Array& x) { return All(x).Item<bool>(); }

void CheckVector(const char* op, const char* name, const Array& x) {
    if (x.ndim() == 1) return;
    throw DimensionError{op, ": ", name, " has shape ", x.shape(), ", expected one dimension"};
}

void CheckWeights(const char* op, const std::optional<Array>& weights, const Shape& shape,
                  const Device& device) {
    if (!weights) return;
    CheckSameDevice(op, device, weights->device());
    if (weights->shape() != shape) {
        throw DimensionError{op, ": weights.shape is ", weights->shape(), ", expected ", shape};
    }
}

// Counts the occurrences of 0 to length - 1 in `numbers`, integers of one dimension, or sums their
// weights, in float64 since many terms may be small.
Array CountNumbers(const char* op, const Array& numbers, const std::optional<Array>& weights,
                   int64_t length) {
    const Array places = AsContiguous(numbers);
    if (!weights) {
        const Array y = EmptyUnchecked({length}, Dtype::kInt64, places.device());
        CallOn<kernels::CountEach>(places.device(), op, places, y);
        return y;
    }
    const Dtype given = weights->dtype();
    const Array line = AsContiguous(Reshape(*weights, places.shape()));
    if (IsComplex(given)) {
        return internal::TakeGrad(line, {length}, 0, places, IndexBoundsMode::kRaise);
    }
    const Array sums = EmptyUnchecked({length}, Dtype::kFloat64, places.device());
    CallOn<kernels::SumEach>(places.device(), op, places, line, sums);
    if (Record rec{kSumEach, {line}, sums}) {
        rec.Grad(0, [numbers = KeptOperand{op, "x", places}](const Array& gy) {
            return Take(gy, numbers(), 0, IndexBoundsMode::kRaise);
        });
    }
    return IsFloat(given) ? AsType(sums, given, false) : sums;
}

Dtype UnsignedOf(Dtype dtype) {
    switch (GetItemSize(dtype)) {
        case 1:
            return Dtype::kUInt8;
        case 2:
            return Dtype::kUInt16;
        case 4:
            return Dtype::kUInt32;
        default:
            return Dtype::kUInt64;
    }
}

void CheckEdges(const char* op, const Array& x, const Array& edges) {
    CheckSameDevice(op, x.device(), edges.device());
    CheckVector(op, "edges", edges);
    internal::CheckReal(op, edges);
    if (edges.shape()[0] == 0) throw ValueError{op, ": edges are empty, expected one or more"};
    if (!AreAll(LessEqual(ButLast(edges), ButFirst(edges)))) {
        throw ValueError{op, ": edges must not descend"};
    }
}

// Returns the bin of each element, out of `count` bins; `count` for elements outside.
Array FindBins(const Array& x, const Array& edges, int64_t count) {
    const Array line = Reshape(Detached(x), {x.GetTotalSize()});
    const Array bounds = Detached(edges);
    const Array is_inside =
        LogicalAnd(GreaterEqual(line, Part(bounds, 0, 1)), LessEqual(line, Last(bounds)));
    if (count == 0) return Full(line.shape(), Scalar{0}, Dtype::kInt64, line.device());
    const Array bin = SearchSorted(Part(bounds, 1, count), line, true);
    return Where(is_inside, bin, Scalar{count});
}

// Divides by the widths and the total.
Array AsDensity(const Array& counts, const std::vector<Array>& edges) {
    const auto ndim = static_cast<int8_t>(edges.size());
    Array y =
        Divide(AsType(counts, PromoteTypes(counts.dtype(), FloatResult(edges[0].dtype())), false),
               Sum(counts));
    for (int8_t i = 0; i < ndim; ++i) {
        Shape shape = Shape::Filled(ndim, 1);
        shape[i] = counts.shape()[i];
        const Array at = Detached(edges[i]);
        y = Divide(y, Reshape(Subtract(ButFirst(at), ButLast(at)), shape));
    }
    return y;
}

// ---- rules for the width of bins; the arrays are not empty ----

struct Bounds {
    double low;
    double high;
};

Bounds FindBounds(const Array& x, const HistogramRange& range) {
    constexpr const char* kOp = "histogram_bin_edges";
    Bounds b{0, 1};
    if (range) {
        b = {range->first, range->second};
        if (b.low > b.high) {
            throw ValueError{kOp, ": range is from ", b.low, " to ", b.high, ", which is less"};
        }
    } else if (x.GetTotalSize() != 0) {
        b = {AMin(x).Item<double>(), AMax(x).Item<double>()};
    }
    if (!std::isfinite(b.low) || !std::isfinite(b.high)) {
        throw ValueError{kOp, ": the range from ", b.low, " to ", b.high, " is not finite"};
    }
    if (b.low == b.high) b = {b.low - 0.5, b.high + 0.5};
    return b;
}

Array EqualBins(const Array& x, const Bounds& bounds, int64_t bins) {
    constexpr const char* kOp = "histogram_bin_edges";
    if (bins < 1) throw ValueError{kOp, ": bins is ", bins, ", expected 1 or more"};
    if (bins == INT64_MAX) throw ValueError{kOp, ": bins is ", bins, ", too many"};
    const Dtype dtype = IsFloat(x.dtype()) ? x.dtype() : Dtype::kFloat64;
    const Array edges =
        AsType(Linspace(bounds.low, bounds.high, bins + 1, true, Dtype::kFloat64, x.device()),
               dtype, false);
    if (!AreAll(Less(ButLast(edges), ButFirst(edges)))) {
        throw ValueError{kOp,        ": ",   bins,        " bins from ",
                         bounds.low, " to ", bounds.high, " are too many for ",
                         dtype};
    }
    return edges;
}

double SquareRootWidth(double span, double n) { return span / std::sqrt(n); }
double SturgesWidth(double span, double n) { return span / (std::log2(n) + 1); }

double FreedmanDiaconisWidth(const Array& x, double n) {
    const int64_t size = x.GetTotalSize();
    const Array sorted = Sort(x, int8_t{0});
    const auto quartile = [&](double q) {
        const double place = static_cast<double>(size - 1) * q;
        const auto low = static_cast<int64_t>(place);
        const double a = Part(sorted, low, low + 1).Item<double>();
        const double b = low + 1 < size ? Part(sorted, low + 1, low + 2).Item<double>() : a;
        return a + (b - a) * (place - std::floor(place));
    };
    return 2 * (quartile(0.75) - quartile(0.25)) / std::cbrt(n);
}

double DoaneWidth(const Array& x, double span, double n) {
    if (n <= 2) return 0;
    const double spread = Std(x).Item<double>();
    if (!(spread > 0)) return 0;
    const Array score = Divide(Subtract(x, Mean(x)), Scalar{spread});
    const double skewness = Mean(Multiply(Multiply(score, score), score)).Item<double>();
    const double expected = std::sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
    return span / (1 + std::log2(n) + std::log2(1 + std::abs(skewness) / expected));
}

// Minimizes the estimated error of leave-one-out cross-validation.
double StoneWidth(const Array& x, double span, double n, const Bounds& bounds) {
    if (n <= 1 || span == 0) return 0;
    const auto most = std::max<int64_t>(100, static_cast<int64_t>(std::sqrt(n)));
    double least = INFINITY;
    int64_t best = 1;
    for (int64_t bins = 1; bins <= most; ++bins) {
        const Array share =
            Divide(AsType(Histogram(x, EqualBins(x, bounds, bins)), Dtype::kFloat64), Scalar{n});
        const double error =
            (2 - (n + 1) * Sum(Square(share)).Item<double>()) * static_cast<double>(bins) / span;
        if (error < least) {
            least = error;
            best = bins;
        }
    }
    return span / static_cast<double>(best);
}

double WidthByRule(const Array& x, std::string_view rule, const Bounds& bounds) {
    const auto n = static_cast<double>(x.GetTotalSize());
    const double span = AMax(x).Item<double>() - AMin(x).Item<double>();
    if (rule == "sqrt") return SquareRootWidth(span, n);
    if (rule == "sturges") return SturgesWidth(span, n);
    if (rule == "rice") return span / (2 * std::cbrt(n));
    if (rule == "scott") return std::cbrt(24 * std::sqrt(M_PI) / n) * Std(x).Item<double>();
    if (rule == "fd") return FreedmanDiaconisWidth(x, n);
    if (rule == "doane") return DoaneWidth(x, span, n);
    if (rule == "stone") return StoneWidth(x, span, n, bounds);
    if (rule == "auto") {
        return std::min(std::max(FreedmanDiaconisWidth(x, n), SquareRootWidth(span, n) / 2),
                        SturgesWidth(span, n));
    }
    throw ValueError{"histogram_bin_edges: bins is '", rule,
                     "', expected a number, edges, or one of auto, fd, doane, scott, stone, rice, "
                     "sturges, sqrt"};
}

}  // namespace

Array Digitize(const Array& x, const Array& bins, bool right) {
    constexpr const char* kOp = "digitize";
    CheckVector(kOp, "bins", bins);
    internal::CheckReal(kOp, x);
    internal::CheckReal(kOp, bins);
    const Array edges = Detached(bins);
    const int64_t n = edges.shape()[0];
    if (n < 2 || AreAll(LessEqual(ButLast(edges), ButFirst(edges)))) {
        return SearchSorted(edges, x, !right);
    }
    if (!AreAll(GreaterEqual(ButLast(edges), ButFirst(edges)))) {
        throw ValueError{kOp, ": bins must ascend or descend"};
    }
    return Subtract(Scalar{n}, SearchSorted(Flip(edges), x, !right));
}

Array BinCount(const Array& x, const std::optional<Array>& weights, int64_t minlength) {
    constexpr const char* kOp = "bincount";
    CheckVector(kOp, "x", x);
    if (!IsInt(x.dtype()) && !IsBool(x.dtype())) {
        throw DtypeError{kOp, ": x must be of an integer dtype, got ", x.dtype()};
    }
    if (minlength < 0) throw ValueError{kOp, ": minlength is ", minlength, ", expected 0 or more"};
    CheckWeights(kOp, weights, x.shape(), x.device());
    const Array numbers = IsBool(x.dtype()) ? AsType(x, Dtype::kUInt8) : AsContiguous(Detached(x));
    int64_t length = minlength;
    if (x.GetTotalSize() != 0) {
        // Viewed as unsigned, negative numbers are greater than all others.
        const auto most = AMax(ViewAs(numbers, UnsignedOf(numbers.dtype()))).Item<uint64_t>();
        const int64_t bits = 8 * numbers.GetItemSize();
        if (GetKind(numbers.dtype()) == DtypeKind::kInt && most >> (bits - 1) != 0) {
            const auto least = AMin(numbers).Item<int64_t>();
            throw ValueError{kOp, ": x has ", least, ", expected 0 or more"};
        }
        if (most >= uint64_t{INT64_MAX}) {
            throw ValueError{kOp, ": x has ", most, ", too much to count to"};
        }
        length = std::max(length, static_cast<int64_t>(most) + 1);
    }
    CheckedNBytes(kOp, {length}, sizeof(int64_t));
    return CountNumbers(kOp, numbers, weights, length);
}

Array HistogramBinEdges(const Array& x, int64_t bins, const HistogramRange& range) {
    internal::CheckReal("histogram_bin_edges", x);
    return EqualBins(x, FindBounds(Detached(x), range), bins);
}

Array HistogramBinEdges(const Array& x, std::string_view rule, const HistogramRange& range) {
    internal::CheckReal("histogram_bin_edges", x);
    const Array line = Reshape(Detached(x), {x.GetTotalSize()});
    const Bounds bounds = FindBounds(line, range);
    Array used = line;
    if (range) {
        const Array inside = LogicalAnd(GreaterEqual(line, Scalar{bounds.low}),
                                        LessEqual(line, Scalar{bounds.high}));
        used = internal::CompressValues("histogram_bin_edges", line, inside, 0);
    }
    // Spans of narrow integers and powers of narrow floats may overflow.
    used = AsType(used, Dtype::kFloat64, false);
    if (used.GetTotalSize() == 0) {
        WidthByRule(Zeros({1}, Dtype::kFloat64, x.device()), rule,
                    bounds);  // checks that the rule exists
        return EqualBins(x, bounds, 1);
    }
    double width = WidthByRule(used, rule, bounds);
    if (!IsFloat(x.dtype()) && width < 1 && width > 0) width = 1;
    const double count = width > 0 ? std::ceil((bounds.high - bounds.low) / width) : 1;
    if (!(count < 0x1p62)) throw ValueError{"histogram_bin_edges: ", count, " bins are too many"};
    return EqualBins(x, bounds, std::max<int64_t>(1, static_cast<int64_t>(count)));
}

Array HistogramBinEdges(const Array& x, const Array& edges) {
    constexpr const char* kOp = "histogram_bin_edges";
    internal::CheckReal(kOp, x);
    CheckEdges(kOp, x, edges);
    return edges;
}

void CheckHistogramWeights(const char* op, const Array& x, const std::optional<Array>& weights) {
    CheckWeights(op, weights, x.shape(), x.device());
}

Array Histogram(const Array& x, const Array& edges, const std::optional<Array>& weights,
                bool density) {
    constexpr const char* kOp = "histogram";
    internal::CheckReal(kOp, x);
    CheckEdges(kOp, x, edges);
    CheckWeights(kOp, weights, x.shape(), x.device());
    const int64_t count = edges.shape()[0] - 1;
    Array y;
    if (weights) {
        y = Part(CountNumbers(kOp, FindBins(x, edges, count), weights, count + 1), 0, count);
    } else {
        const Array sorted = Sort(Reshape(Detached(x), {x.GetTotalSize()}), int8_t{0});
        const Array bounds = Detached(edges);
        const Array below = Concatenate(
            {SearchSorted(sorted, ButLast(bounds)), SearchSorted(sorted, Last(bounds), true)});
        y = Subtract(ButFirst(below), ButLast(below));
    }
    return density ? AsDensity(y, {edges}) : y;
}

Array HistogramDD(const Array& sample, const std::vector<Array>& edges,
                  const std::optional<Array>& weights, bool density) {
    constexpr const char* kOp = "histogramdd";
    internal::CheckReal(kOp, sample);
    if (sample.ndim() != 2) {
        throw DimensionError{kOp, ": sample has shape ", sample.shape(),
                             ", expected (points, dimensions)"};
    }
    const int64_t n = sample.shape()[0];
    const auto ndim = static_cast<int64_t>(edges.size());
    if (sample.shape()[1] != ndim || ndim == 0) {
        throw DimensionError{
            kOp,  ": sample has shape ", sample.shape(), ", but there are edges of ",
            ndim, " dimensions"};
    }
    CheckWeights(kOp, weights, Shape{n}, sample.device());
    // Each axis gets one more bin, for points outside.
    Shape with_outside;
    Array number = Zeros({n}, Dtype::kInt64, sample.device());
    for (int64_t i = 0; i < ndim; ++i) {
        CheckEdges(kOp, sample, edges[i]);
        const int64_t count = edges[i].shape()[0] - 1;
        with_outside.push_back(count + 1);
        const Array column = sample.At({Slice{}, Slice{i, i + 1}});
        number = Add(Multiply(number, Scalar{count + 1}), FindBins(column, edges[i], count));
    }
    CheckedNBytes(kOp, with_outside, 8);
    const Array all =
        Reshape(CountNumbers(kOp, number, weights, with_outside.GetTotalSize()), with_outside);
    std::vector<ArrayIndex> inside;
    for (const int64_t length : with_outside) inside.emplace_back(Slice{0, length - 1});
    const Array y = AsContiguous(At(all, inside));
    return density ? AsDensity(y, edges) : y;
}

}  // namespace chainerx

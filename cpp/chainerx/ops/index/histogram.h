// Counting: how often integers are there, and how many numbers lie between edges.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// int64, the shape of x: between which of `bins`, of one dimension, ascending or descending,
// numbers lie: bins[i-1] <= x < bins[i], `right`: bins[i-1] < x <= bins[i], for ascending ones.
// ValueError for bins in no order; the host waits.
CX_API Array Digitize(const Array& x, const Array& bins, bool right = false);

// How often 0, 1, ... are there in x, of one dimension; int64. With weights, the sums of them: in
// their dtype if it is a float, else float64; differentiable in them. At least `minlength` numbers.
// ValueError for what is below 0; the host waits.
CX_API Array BinCount(const Array& x, const std::optional<Array>& weights = std::nullopt,
                      int64_t minlength = 0);

using HistogramRange = std::optional<std::pair<double, double>>;

// `bins` + 1 numbers of equal distance, from the smallest element to the largest, or over `range`;
// in the dtype of a float array, else float64. The host waits.
CX_API Array HistogramBinEdges(const Array& x, int64_t bins = 10, const HistogramRange& range = {});
// With as many bins as a rule takes for good: 'auto', 'fd', 'doane', 'scott', 'stone', 'rice',
// 'sturges', 'sqrt'.
CX_API Array HistogramBinEdges(const Array& x, std::string_view rule,
                               const HistogramRange& range = {});
// The edges that are given, which must ascend.
CX_API Array HistogramBinEdges(const Array& x, const Array& edges);
// DimensionError unless weights, if there are any, have the shape of x; DeviceError if they are on
// another device.
CX_API void CheckHistogramWeights(const char* op, const Array& x,
                                  const std::optional<Array>& weights);

// How many elements lie between `edges`, ascending, of one dimension; the last one counts to the
// bin before. int64; with weights, sums of them: in their dtype if it is a float, else float64,
// differentiable in them. `density`: divided by the widths and by the total, in the dtype of the
// edges.
CX_API Array Histogram(const Array& x, const Array& edges,
                       const std::optional<Array>& weights = std::nullopt, bool density = false);

// The same of points, (n, dimensions), with edges for each dimension.
CX_API Array HistogramDD(const Array& sample, const std::vector<Array>& edges,
                         const std::optional<Array>& weights = std::nullopt, bool density = false);

}  // namespace chainerx

// Histograms: occurrences of integers, and counts of numbers between edges.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns the bin of each number, int64, in the shape of x. `bins` has one dimension and ascends or
// descends. If it ascends, bins[i-1] <= x < bins[i], or with `right`: bins[i-1] < x <= bins[i].
// ValueError if bins are not monotonic, for which the host waits.
CX_API Array Digitize(const Array& x, const Array& bins, bool right = false);

// Counts the occurrences of 0, 1, ... in x, of one dimension; int64. With weights, sums them, in
// their dtype if it is a float, else float64; differentiable in them. The result has at least
// `minlength` elements. ValueError for negative numbers, for which the host waits.
CX_API Array BinCount(const Array& x, const std::optional<Array>& weights = std::nullopt,
                      int64_t minlength = 0);

using HistogramRange = std::optional<std::pair<double, double>>;

// Returns `bins` + 1 equidistant numbers from the smallest element to the largest, or over `range`;
// in the dtype of a float array, else float64. The host waits.
CX_API Array HistogramBinEdges(const Array& x, int64_t bins = 10, const HistogramRange& range = {});
// Chooses the number of bins by a rule: 'auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges'
// or 'sqrt'.
CX_API Array HistogramBinEdges(const Array& x, std::string_view rule,
                               const HistogramRange& range = {});
// Returns the given edges; they must ascend.
CX_API Array HistogramBinEdges(const Array& x, const Array& edges);
// DimensionError if weights are given and don't have the shape of x; DeviceError if they are on
// another device.
CX_API void CheckHistogramWeights(const char* op, const Array& x,
                                  const std::optional<Array>& weights);

// Counts the elements between `edges`, of one dimension, ascending; the last edge belongs to the
// last bin. int64; with weights, sums them, in their dtype if it is a float, else float64,
// differentiable in them. `density` divides by the widths and by the total, in the dtype of the
// edges.
CX_API Array Histogram(const Array& x, const Array& edges,
                       const std::optional<Array>& weights = std::nullopt, bool density = false);

// The same for points, (n, dimensions), with edges for each dimension.
CX_API Array HistogramDD(const Array& sample, const std::vector<Array>& edges,
                         const std::optional<Array>& weights = std::nullopt, bool density = false);

}  // namespace chainerx

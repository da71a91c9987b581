#include "chainerx/ops/shape/pad_values.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx {
namespace {

using internal::Join;
using internal::PartAlong;

Array Repeated(const Array& one, int8_t axis, int64_t n) {
    Shape shape = one.shape();
    shape[axis] = n;
    return BroadcastTo(one, shape);
}

// ---- kLinearRamp ----

// Returns `n` steps from `end`, included, to the edge, excluded.
Array Ramp(const Array& edge, int8_t axis, int64_t n, const Scalar& end) {
    const bool whole = !IsDifferentiable(edge.dtype());
    const Array to = whole ? AsType(edge, Dtype::kFloat64) : edge;
    Shape shape;
    shape.resize(edge.ndim(), 1);
    shape[axis] = n;
    const Array steps = Reshape(Arange(Scalar{n}, RealDtype(to.dtype()), to.device()), shape);
    const Array ramp = (to - end) / static_cast<double>(n) * steps + end;
    return AsType(whole ? Floor(ramp) : ramp, edge.dtype(), false);
}

// ---- statistics of the elements next to the pads ----

// NaN if any element is: the last in order.
Array Median(const Array& x, int8_t axis) {
    const int64_t n = x.shape()[axis];
    const Array sorted = Sort(x, axis);
    const Array last = PartAlong(sorted, axis, n - 1, n);
    const auto or_nan = [&last](const Array& y) { return Where(Isnan(last), last, y); };
    const Array upper = PartAlong(sorted, axis, n / 2, n / 2 + 1);
    if (n % 2 != 0) return or_nan(upper);
    return or_nan((PartAlong(sorted, axis, n / 2 - 1, n / 2) + upper) * 0.5);
}

// Has length 1 on the axis, and the dtype of x.
Array Statistic(const Array& x, int8_t axis, PadMode mode) {
    if (mode == PadMode::kMaximum) return AMax(x, Axes{axis}, true);
    if (mode == PadMode::kMinimum) return AMin(x, Axes{axis}, true);
    const bool whole = !IsDifferentiable(x.dtype());
    const Array values = whole ? AsType(x, Dtype::kFloat64) : x;
    const Array y = mode == PadMode::kMean ? Mean(values, Axes{axis}, true) : Median(values, axis);
    return AsType(IsInt(x.dtype()) ? Rint(y) : y, x.dtype(), false);
}

// ---- kReflect and kSymmetric, with odd symmetry ----

// Returns twice the edge minus the other elements, repeatedly: each time from the current edge.
// kReflect skips the edge itself.
std::vector<Array> OddParts(const Array& x, int8_t axis, int64_t width, bool skip_edge) {
    const int64_t n = x.shape()[axis];
    std::vector<Array> parts;
    Array window = x;
    while (width > 0) {
        const Array edge = PartAlong(window, axis, n - 1, n);
        window = edge * 2 - Flip(window, Axes{axis});
        const int64_t first = skip_edge ? 1 : 0;
        const int64_t count = std::min(n - first, width);
        parts.push_back(PartAlong(window, axis, first, first + count));
        width -= count;
    }
    return parts;
}

std::pair<Array, Array> OddPads(const Array& x, int8_t axis, int64_t before, int64_t after,
                                bool skip_edge) {
    std::pair<Array, Array> pads;
    if (before != 0) {
        const std::vector<Array> parts = OddParts(Flip(x, Axes{axis}), axis, before, skip_edge);
        pads.first = Flip(Join(parts, axis, "pad"), Axes{axis});
    }
    if (after != 0) pads.second = Join(OddParts(x, axis, after, skip_edge), axis, "pad");
    return pads;
}

// Repeats `head` and `tail`, of length 1 on the axis, to the width of the pads.
std::pair<Array, Array> RepeatedPads(const Array& head, const Array& tail, int8_t axis,
                                     int64_t before, int64_t after) {
    return {before == 0 ? Array{} : Repeated(head, axis, before),
            after == 0 ? Array{} : Repeated(tail, axis, after)};
}

}  // namespace

template <typename T>
void PadPairs<T>::Check(const char* name, const Array& x) const {
    if (pairs.size() != 1 && static_cast<int64_t>(pairs.size()) != x.ndim()) {
        throw DimensionError{"pad: ",  name, " has ", pairs.size(), " pairs for an array of shape ",
                             x.shape()};
    }
    for (const auto& [before, after] : pairs) {
        if constexpr (std::is_same_v<T, Scalar>) {
            internal::CheckScalarFits("pad", x.dtype(), before);
            internal::CheckScalarFits("pad", x.dtype(), after);
        } else if (before < 0 || after < 0) {
            throw ValueError{"pad: ", name, " (", before, ", ", after, ") is negative"};
        }
    }
}
template struct PadPairs<Scalar>;
template struct PadPairs<int64_t>;

std::pair<Array, Array> internal::PadsOf(const Array& x, int8_t axis, int64_t before, int64_t after,
                                         PadMode mode, const PadOptions& options) {
    const int64_t n = x.shape()[axis];
    if (mode == PadMode::kReflect || mode == PadMode::kSymmetric) {
        if (IsBool(x.dtype())) throw DtypeError{"pad: an array of bool has no odd reflection"};
        if (n > 1 || mode == PadMode::kSymmetric) {
            return OddPads(x, axis, before, after, mode == PadMode::kReflect);
        }
        return RepeatedPads(x, x, axis, before, after);
    }
    if (mode == PadMode::kLinearRamp) {
        if (IsBool(x.dtype())) throw DtypeError{"pad: an array of bool has no linear ramp"};
        options.end_values.Check("end_values", x);
        const auto& [first, last] = options.end_values.Of(axis);
        std::pair<Array, Array> pads;
        if (before != 0) pads.first = Ramp(PartAlong(x, axis, 0, 1), axis, before, first);
        if (after != 0) {
            pads.second = Flip(Ramp(PartAlong(x, axis, n - 1, n), axis, after, last), Axes{axis});
        }
        return pads;
    }
    options.stat_length.Check("stat_length", x);
    const auto& [first, last] = options.stat_length.Of(axis);
    if (first == 0 || last == 0) {
        throw ValueError{"pad: stat_length (", first,         ", ",   last,
                         ") of axis ",         int64_t{axis}, " is 0"};
    }
    const int64_t n_first = std::min(first, n);
    const int64_t n_last = std::min(last, n);
    const Array head = Statistic(PartAlong(x, axis, 0, n_first), axis, mode);
    const Array tail = n_first == n && n_last == n
                           ? head
                           : Statistic(PartAlong(x, axis, n - n_last, n), axis, mode);
    return RepeatedPads(head, tail, axis, before, after);
}

}  // namespace chainerx

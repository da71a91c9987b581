#include "chainerx/ops/sort/sorting.h"

#include <algorithm>

#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/ops/elementwise/comparison.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"

namespace chainerx {
namespace {

using internal::Detached;

constexpr OpInfo kSort{"sort", &kernels::Sort::kInfo};
constexpr OpInfo kSelectSorted{"select_sorted", &kernels::SelectSorted::kInfo};

// Returns the array and the axis; for nullopt the flattened array.
std::pair<Array, int8_t> Line(const char* op, const Array& x, std::optional<int8_t> axis) {
    if (!axis) return {Reshape(x, Shape{x.GetTotalSize()}), int8_t{0}};
    return {x, NormalizeAxis(op, *axis, x.ndim())};
}

// The same if NumPy accepts 0-d arrays, too.
std::pair<Array, int8_t> LineOfAny(const char* op, const Array& x, std::optional<int8_t> axis) {
    return Line(op, x, axis && internal::IsNumberAlong(x, *axis) ? std::nullopt : axis);
}

// Calls f(rows, out), a kernel from rows to rows of `length` elements of `dtype`.
Array ByRows(const Array& x, int8_t axis, int64_t length, Dtype dtype, const auto& f) {
    const Shape shape = internal::WithLength(x.shape(), axis, length);
    if (shape.GetTotalSize() == 0) return EmptyUnchecked(shape, dtype, x.device());
    if (axis == x.ndim() - 1 && x.IsContiguous()) {  // no transposition needed
        const int64_t n = x.shape()[axis];
        const int64_t count = x.GetTotalSize() / n;
        const auto matrix = [count](const Array& a, int64_t width) {
            const Shape two{count, width};
            return internal::MakeView(a, two, Strides{two, a.GetItemSize()}, a.raw_data());
        };
        Array y = EmptyUnchecked(shape, dtype, x.device());
        f(matrix(x, n), matrix(y, length));
        return y;
    }
    const Array rows = internal::ToRows(x, axis);
    const Array out = EmptyUnchecked({rows.shape()[0], length}, dtype, x.device());
    f(rows, out);
    return internal::FromRows(out, shape, axis);
}

Array SortAlong(const Array& x, int8_t axis, bool descending) {
    return ByRows(x, axis, x.shape()[axis], x.dtype(), [&](const Array& rows, const Array& out) {
        CallOn<kernels::Sort>(x.device(), rows, descending, out);
    });
}

Array ArgSortAlong(const Array& x, int8_t axis, bool descending) {
    return ByRows(x, axis, x.shape()[axis], Dtype::kInt64,
                  [&](const Array& rows, const Array& out) {
                      CallOn<kernels::ArgSort>(x.device(), rows, descending, out);
                  });
}

// Returns the given indices, counted from 0, without duplicates.
std::vector<int64_t> CheckPlaces(const char* op, const Array& x, int8_t axis,
                                 const std::vector<int64_t>& kth) {
    const int64_t n = x.shape()[axis];
    std::vector<int64_t> places;
    if (x.GetTotalSize() == 0) return places;  // an empty array accepts any index
    for (const int64_t k : kth) {
        if (k < -n || k >= n) {
            throw ValueError{
                op,           ": kth is ", k, ", out of range for axis ", int64_t{axis},
                " of shape ", x.shape()};
        }
        places.push_back(k < 0 ? k + n : k);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

// Puts the elements at several indices where sorting puts them.
Array ArgPartitionAlong(const Array& x, int8_t axis, const std::vector<int64_t>& places) {
    if (places.size() != 1 || IsComplex(x.dtype())) return ArgSortAlong(x, axis, false);
    return ByRows(x, axis, x.shape()[axis], Dtype::kInt64,
                  [&](const Array& rows, const Array& out) {
                      CallOn<kernels::ArgPartition>(x.device(), rows, places[0], out);
                  });
}

void CheckSorter(const Array& a, const Array& sorter) {
    if (!IsInt(sorter.dtype())) {
        throw DtypeError{"searchsorted: sorter must be of an integer dtype, got ", sorter.dtype()};
    }
    CheckSameDevice("searchsorted", a.device(), sorter.device());
    if (sorter.shape() != a.shape()) {
        throw DimensionError{"searchsorted: sorter.shape is ", sorter.shape(), ", expected ",
                             a.shape()};
    }
}

}  // namespace

void internal::CheckReal(const char* op, const Array& x) {
    if (IsComplex(x.dtype())) {
        throw DtypeError{op, ": needs real numbers, the dtype is ", x.dtype()};
    }
}

Array Sort(const Array& x, std::optional<int8_t> axis, bool descending) {
    const auto [line, at] = Line("sort", x, axis);
    Array y = SortAlong(line, at, descending);
    if (Record rec{kSort, {line}, y}) {
        rec.Grad(0, [at = at, descending, x = rec.Save(line)](const Array& gy) {
            const Array from = Detached(x());
            return internal::ScatterAlong(gy, ArgSortAlong(from, at, descending), from.shape()[at],
                                          at);
        });
    }
    return y;
}

Array ArgSort(const Array& x, std::optional<int8_t> axis, bool descending) {
    const auto [line, at] = LineOfAny("argsort", x, axis);
    return ArgSortAlong(line, at, descending);
}

Array Partition(const Array& x, const std::vector<int64_t>& kth, std::optional<int8_t> axis) {
    const auto [line, at] = Line("partition", x, axis);
    const std::vector<int64_t> places = CheckPlaces("partition", line, at, kth);
    if (line.GetTotalSize() == 0 || places.empty()) return Copy(line);
    if (!internal::IsBackpropRequiredAny(line)) {  // sorts elements without their indices
        if (places.size() != 1 || IsComplex(line.dtype())) return SortAlong(line, at, false);
        return ByRows(line, at, line.shape()[at], line.dtype(),
                      [&](const Array& rows, const Array& out) {
                          CallOn<kernels::PartitionRows>(line.device(), rows, places[0], out);
                      });
    }
    return TakeAlongAxis(line, ArgPartitionAlong(line, at, places), at);
}

Array ArgPartition(const Array& x, const std::vector<int64_t>& kth, std::optional<int8_t> axis) {
    const auto [line, at] = LineOfAny("argpartition", x, axis);
    return ArgPartitionAlong(line, at, CheckPlaces("argpartition", line, at, kth));
}

std::pair<Array, Array> TopK(const Array& x, int64_t k, int8_t axis, bool largest, bool sorted) {
    internal::CheckReal("topk", x);
    const int8_t at = NormalizeAxis("topk", axis, x.ndim());
    if (k < 0 || k > x.shape()[at]) {
        throw ValueError{"topk: k is ",           k,           ", expected 0 to ", x.shape()[at],
                         ", the length of axis ", int64_t{at}, " of shape ",       x.shape()};
    }
    Array places = ByRows(x, at, k, Dtype::kInt64, [&](const Array& rows, const Array& out) {
        CallOn<kernels::ArgTopK>(x.device(), rows, largest, sorted, out);
    });
    return {TakeAlongAxis(x, places, at), places};
}

Array LexSort(std::span<const ConstArrayRef> keys, int8_t axis) {
    if (keys.empty()) throw ValueError{"lexsort: keys are empty, expected one or more arrays"};
    const Array& first = keys[0];
    // 0-d arrays have only one order.
    const bool are_numbers = internal::IsNumberAlong(first, axis);
    const int8_t at = are_numbers ? int8_t{0} : NormalizeAxis("lexsort", axis, first.ndim());
    for (const Array& key : keys) {
        CheckSameDevice("lexsort", first.device(), key.device());
        if (key.shape() != first.shape()) {
            throw DimensionError{"lexsort: keys have shapes ", first.shape(), " and ", key.shape(),
                                 ", expected one"};
        }
    }
    if (are_numbers) return Zeros(Shape{}, Dtype::kInt64, first.device());
    Array order = ArgSortAlong(first, at, false);
    for (const Array& key : keys.subspan(1)) {
        const Array next = ArgSortAlong(TakeAlongAxis(Detached(key), order, at), at, false);
        order = TakeAlongAxis(order, next, at);
    }
    return order;
}

Array SearchSorted(const Array& a, const Array& v, bool right, const std::optional<Array>& sorter) {
    constexpr const char* kOp = "searchsorted";
    if (a.ndim() != 1) {
        throw DimensionError{kOp, ": a has shape ", a.shape(), ", expected one dimension"};
    }
    CheckSameDevice(kOp, a.device(), v.device());
    const Dtype dtype = internal::ComparisonDtype(a.dtype(), v.dtype());
    Array sorted = Detached(a);
    if (sorter) {
        CheckSorter(a, *sorter);
        if (a.GetTotalSize() != 0) sorted = Take(sorted, Detached(*sorter), 0);
    }
    if (a.GetTotalSize() == 0) return Zeros(v.shape(), Dtype::kInt64, v.device());
    const Array wanted = AsContiguous(AsType(Detached(v), dtype, false));
    const Array out = EmptyUnchecked(v.shape(), Dtype::kInt64, v.device());
    if (v.GetTotalSize() != 0) {
        CallOn<kernels::SearchSorted>(v.device(), AsContiguous(AsType(sorted, dtype, false)),
                                      wanted, right, out);
    }
    return out;
}

Array SortComplex(const Array& x) {
    NormalizeAxis("sort_complex", -1, x.ndim());
    return Sort(AsType(x, PromoteTypes(FloatResult(x.dtype()), Dtype::kComplex64), false));
}

void internal::SortInPlace(const Array& x, int8_t axis, bool descending) {
    CheckInPlaceOutput("sort", x);
    const int8_t at = NormalizeAxis("sort", axis, x.ndim());
    Assign(x, SortAlong(x, at, descending));
}

void internal::PartitionInPlace(const Array& x, const std::vector<int64_t>& kth, int8_t axis) {
    CheckInPlaceOutput("partition", x);
    Assign(x, Partition(Detached(x), kth, axis));
}

Array internal::SelectSorted(const char* op, const Array& x, int8_t axis,
                             const std::vector<int64_t>& places) {
    CheckReal(op, x);
    const auto count = static_cast<int64_t>(places.size());
    const Array positions = Array::FromHost(places, {count}, x.device());
    Array y = ByRows(x, axis, count, x.dtype(), [&](const Array& rows, const Array& out) {
        CallOn<kernels::SelectSorted>(x.device(), rows, positions, out);
    });
    if (Record rec{kSelectSorted, {x}, y}) {
        rec.Grad(0, [axis, positions, x = rec.Save(x)](const Array& gy) {
            const Array from = Detached(x());
            const Array order = Take(ArgSortAlong(from, axis, false), positions, axis);
            return ScatterAlong(gy, order, from.shape()[axis], axis);
        });
    }
    return y;
}

}  // namespace chainerx

#include "chainerx/ops/sort/sets.h"

#include <new>
#include <utility>
#include <vector>

#include "chainerx/core/interrupt.h"
#include "chainerx/kernels/sort/sorting.h"
#include "chainerx/ops/elementwise/comparison.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx {
namespace {

using internal::Detached;

// Returns elements [begin, end) of the first axis, a view.
Array Part(const Array& x, int64_t begin, int64_t end) {
    return internal::PartAlong(x, 0, begin, end);
}

int64_t Length(const Array& x) { return x.shape()[0]; }

// Returns the elements where `mask` is true.
Array ElementsWhere(const Array& x, const Array& mask) {
    return internal::CompressValues("compress", x, mask, 0);
}

bool HasNan(Dtype dtype) { return IsDifferentiable(dtype); }

// Marks which of n elements are new: the first one is, and set(rest) marks the others.
Array IsNew(int64_t n, Device& device, const auto& set) {
    const Array is_new = EmptyUnchecked({n}, Dtype::kBool, device);
    Assign(Part(is_new, 0, 1), Scalar{true});
    set(Part(is_new, 1, n));
    return is_new;
}

// Returns whether each element differs from its predecessor. `sorted` has NaN at its end.
Array DiffersFromLast(const Array& sorted, bool equal_nan) {
    const int64_t n = Length(sorted);
    return IsNew(n, sorted.device(), [&](const Array& differs) {
        const Array before = Part(sorted, 0, n - 1);
        const Array behind = Part(sorted, 1, n);
        NotEqualInto(differs, before, behind);
        if (!equal_nan || !HasNan(sorted.dtype())) return;
        if (!Isnan(Part(sorted, n - 1, n)).Item<bool>()) return;
        Assign(differs, LogicalAnd(differs, LogicalNot(LogicalAnd(Isnan(before), Isnan(behind)))));
    });
}

// Computes the options' results from the order of n elements, some of which, in this order, are
// new. `order` is null if only counts are wanted.
void Describe(const Array& order, const Array& is_new, const UniqueOptions& options,
              UniqueResult& result) {
    const int64_t n = Length(is_new);
    if (options.indices) result.indices = ElementsWhere(order, is_new);
    if (options.inverse) {
        const Array number = Subtract(CumSum(is_new, int8_t{0}), Scalar{1});
        result.inverse = EmptyUnchecked({n}, Dtype::kInt64, is_new.device());
        Assign(result.inverse, std::vector<IndexItem>{IndexItem{Slice{}, order}}, number);
    }
    if (options.counts) {
        const Array begins = Nonzero(is_new)[0];
        const Array ends = Concatenate({Part(begins, 1, Length(begins)),
                                        Full({1}, Scalar{n}, Dtype::kInt64, is_new.device())});
        result.counts = Subtract(ends, begins);
    }
}

UniqueResult DescribeNothing(const Array& values, const UniqueOptions& options) {
    UniqueResult result;
    result.values = values;
    const auto none = [&] { return Zeros({0}, Dtype::kInt64, values.device()); };
    if (options.indices) result.indices = none();
    if (options.inverse) result.inverse = none();
    if (options.counts) result.counts = none();
    return result;
}

UniqueResult UniqueElements(const Array& x, const UniqueOptions& options) {
    const Array line = Reshape(Detached(x), {x.GetTotalSize()});
    UniqueResult result;
    if (Length(line) == 0) {
        result = DescribeNothing(Copy(line), options);
    } else {
        Array order;
        Array sorted;
        if (options.indices || options.inverse) {
            order = ArgSort(line, int8_t{0});
            sorted = Take(line, order, int8_t{0});
        } else {
            sorted = Sort(line, int8_t{0});
        }
        const Array is_new = DiffersFromLast(sorted, options.equal_nan);
        result.values = ElementsWhere(sorted, is_new);
        Describe(order, is_new, options, result);
    }
    if (options.inverse) result.inverse = Reshape(result.inverse, x.shape());
    return result;
}

// Compares slices along an axis as rows; the last column is the least significant.
UniqueResult UniqueSlices(const Array& x, const UniqueOptions& options) {
    const int8_t axis = NormalizeAxis("unique", *options.axis, x.ndim());
    const Array first = Moveaxis(Detached(x), Axes{axis}, Axes{0});
    const int64_t n = Length(first);
    const int64_t width = n == 0 ? 0 : x.GetTotalSize() / n;
    const Array rows = Reshape(first, {n, width});
    UniqueResult result;
    if (n == 0) {
        result = DescribeNothing(rows, options);
    } else {
        std::vector<Array> columns;
        // Fails now instead of later, and not by the allocator, at which sanitizers stop.
        if (width >= int64_t{1} << 32) throw std::bad_alloc{};
        columns.reserve(static_cast<size_t>(width));
        for (int64_t i = width - 1; i >= 0; --i) {
            if (i % 1024 == 1023) internal::CheckInterrupt();
            columns.push_back(Reshape(rows.At({Slice{}, Slice{i, i + 1}}), {n}));
        }
        const Array order =
            width == 0 ? Arange(n, Dtype::kInt64, x.device())
                       : LexSort(std::vector<ConstArrayRef>{columns.begin(), columns.end()});
        const Array sorted = Take(rows, order, int8_t{0});
        const Array before = Part(sorted, 0, n - 1);
        const Array behind = Part(sorted, 1, n);
        Array differs = NotEqual(before, behind);
        // As in NumPy, slices that contain NaN all differ, but single NaN elements are equal.
        if (options.equal_nan && HasNan(x.dtype()) && x.ndim() == 1) {
            differs = LogicalAnd(differs, LogicalNot(LogicalAnd(Isnan(before), Isnan(behind))));
        }
        const Array is_new = IsNew(
            n, x.device(), [&](const Array& behind) { Assign(behind, Any(differs, Axes{1})); });
        const Array begins = Nonzero(is_new)[0];
        result.values = Take(sorted, begins, int8_t{0});
        Describe(order, is_new, options, result);
    }
    Shape shape = first.shape();
    shape[0] = Length(result.values);
    result.values = AsContiguous(Moveaxis(Reshape(result.values, shape), Axes{0}, Axes{axis}));
    return result;
}

Array Flat(const Array& x) { return Reshape(Detached(x), {x.GetTotalSize()}); }

// Flattens both, in their promoted dtype.
std::pair<Array, Array> Pair(const char* op, const Array& x1, const Array& x2) {
    CheckSameDevice(op, x1.device(), x2.device());
    const Dtype dtype = PromoteTypes(x1.dtype(), x2.dtype());
    return {AsType(Flat(x1), dtype, false), AsType(Flat(x2), dtype, false)};
}

// Sorted elements, and whether each equals its successor.
struct Neighbors {
    Array sorted;
    Array same;
};
Neighbors FindNeighbors(const Array& x) {
    const Array sorted = Sort(x, int8_t{0});
    const int64_t n = Length(sorted);
    return {sorted, Equal(Part(sorted, 0, n - 1), Part(sorted, 1, n))};
}

}  // namespace

UniqueResult Unique(const Array& x, const UniqueOptions& options) {
    return options.axis ? UniqueSlices(x, options) : UniqueElements(x, options);
}

Array Unique(const Array& x) { return Unique(x, UniqueOptions{}).values; }

UniqueResult UniqueAll(const Array& x) {
    return Unique(x, {.indices = true, .inverse = true, .counts = true, .equal_nan = false});
}
UniqueResult UniqueCounts(const Array& x) {
    return Unique(x, {.counts = true, .equal_nan = false});
}
UniqueResult UniqueInverse(const Array& x) {
    return Unique(x, {.inverse = true, .equal_nan = false});
}
Array UniqueValues(const Array& x) { return Unique(x, {.equal_nan = false}).values; }

Array Isin(const Array& x, const Array& test, bool invert) {
    constexpr const char* kOp = "isin";
    CheckSameDevice(kOp, x.device(), test.device());
    const int64_t n = test.GetTotalSize();
    if (n == 0) return Full(x.shape(), Scalar{invert}, Dtype::kBool, x.device());
    const Dtype dtype = internal::ComparisonDtype(x.dtype(), test.dtype());
    const Array out = EmptyUnchecked(x.shape(), Dtype::kBool, x.device());
    if (x.GetTotalSize() != 0) {
        CallOn<kernels::Isin>(x.device(), AsContiguous(AsType(Flat(test), dtype, false)),
                              AsContiguous(AsType(Detached(x), dtype, false)), invert, out);
    }
    return out;
}

Array Union1D(const Array& x1, const Array& x2) {
    const auto [a, b] = Pair("union1d", x1, x2);
    return Unique(Concatenate({a, b}));
}

Array Intersect1D(const Array& x1, const Array& x2, bool assume_unique) {
    auto [a, b] = Pair("intersect1d", x1, x2);
    if (!assume_unique) {
        a = Unique(a);
        b = Unique(b);
    }
    const Array both = Concatenate({a, b});
    if (Length(both) == 0) return both;
    const Neighbors all = FindNeighbors(both);
    return ElementsWhere(Part(all.sorted, 0, Length(both) - 1), all.same);
}

Intersection IntersectWithIndices(const Array& x1, const Array& x2, bool assume_unique) {
    auto [a, b] = Pair("intersect1d", x1, x2);
    Array first1;
    Array first2;
    if (!assume_unique) {
        UniqueOptions options;
        options.indices = true;
        const UniqueResult u1 = Unique(a, options);
        const UniqueResult u2 = Unique(b, options);
        a = u1.values;
        b = u2.values;
        first1 = u1.indices;
        first2 = u2.indices;
    }
    const Array both = Concatenate({a, b});
    const int64_t n = Length(both);
    if (n == 0) {
        const Array none = Zeros({0}, Dtype::kInt64, both.device());
        return {both, none, Copy(none)};
    }
    const Array order = ArgSort(both, int8_t{0});
    const Array sorted = Take(both, order, int8_t{0});
    const Array at = Nonzero(Equal(Part(sorted, 0, n - 1), Part(sorted, 1, n)))[0];
    Intersection y;
    y.values = Take(sorted, at, int8_t{0});
    // Among two equal elements, that of the first array comes first.
    y.indices1 = Take(order, at, int8_t{0});
    y.indices2 = Subtract(Take(Part(order, 1, n), at, int8_t{0}), Scalar{Length(a)});
    if (!assume_unique && Length(at) != 0) {
        y.indices1 = Take(first1, y.indices1, int8_t{0});
        y.indices2 = Take(first2, y.indices2, int8_t{0});
    }
    return y;
}

Array SetDiff1D(const Array& x1, const Array& x2, bool assume_unique) {
    const Array a = assume_unique ? Flat(x1) : Unique(x1);
    return ElementsWhere(a, Isin(a, x2, true));
}

Array SetXor1D(const Array& x1, const Array& x2, bool assume_unique) {
    auto [a, b] = Pair("setxor1d", x1, x2);
    if (!assume_unique) {
        a = Unique(a);
        b = Unique(b);
    }
    const Array both = Concatenate({a, b});
    const int64_t n = Length(both);
    if (n == 0) return both;
    const Neighbors all = FindNeighbors(both);
    // An element is single if it differs from both neighbours.
    const Array same = Zeros({n + 1}, Dtype::kBool, both.device());
    Assign(Part(same, 1, n), all.same);
    return ElementsWhere(all.sorted, LogicalNot(LogicalOr(Part(same, 0, n), Part(same, 1, n + 1))));
}

}  // namespace chainerx

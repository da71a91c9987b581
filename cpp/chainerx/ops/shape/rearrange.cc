#include "chainerx/ops/shape/rearrange.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/shape/padding.h"

namespace chainerx {
namespace {

using internal::Join;
using internal::PartAlong;
using internal::WithLeadingAxes;

using Refs = std::span<const ConstArrayRef>;

// Returns the array and the axis; for nullopt the flattened array.
std::pair<Array, int8_t> Line(const char* op, const Array& x, std::optional<int8_t> axis) {
    if (!axis) return {Ravel(x), int8_t{0}};
    return {x, NormalizeAxis(op, *axis, x.ndim())};
}

bool IsFortran(const Array& x) { return Transpose(internal::Detached(x)).IsContiguous(); }

}  // namespace

Array AsFortranArray(const Array& x) {
    return IsFortran(x) ? x : Transpose(AsContiguous(Transpose(x)));
}

Array AsOrder(const Array& x, ElementOrder order) {
    switch (order) {
        case ElementOrder::kK:
            return x;
        case ElementOrder::kA:
            return IsFortran(x) ? x : AsContiguous(x);
        case ElementOrder::kF:
            return AsFortranArray(x);
        default:
            return AsContiguous(x);
    }
}

Array ColumnStack(Refs arrays) {
    std::vector<Array> columns;
    for (const Array& x : arrays) columns.push_back(x.ndim() < 2 ? Transpose(AtLeast2D(x)) : x);
    return Join(columns, 1, "column_stack");
}

Array Append(const Array& x, const Array& values, std::optional<int8_t> axis) {
    const ConstArrayRef both[] = {x, values};
    return Concatenate(both, axis, "append");
}

namespace {

int64_t ResolveIndex(const char* op, int64_t i, int64_t n, int64_t most, int8_t axis,
                     const Shape& shape) {
    if (i < -n || i > most) {
        throw IndexError{
            op,           ": index ", i, " is out of range for axis ", static_cast<int>(axis),
            " of shape ", shape};
    }
    return i < 0 ? i + n : i;
}

// Converts the values to insert: to the dtype of x, and `count` of them on the axis unless that is
// nullopt.
Array ToInsert(const Array& x, const Array& values, int8_t axis, std::optional<int64_t> count) {
    CheckSameDevice("insert", x.device(), values.device());
    if (GetCategory(values.dtype()) > GetCategory(x.dtype())) {
        throw DtypeError{"insert: cannot write values of ", values.dtype(), " into an array of ",
                         x.dtype(), "; cast with astype()"};
    }
    Shape shape = x.shape();
    shape[axis] = count.value_or(values.shape()[axis]);
    if (!IsBroadcastable(values.shape(), shape)) {
        throw DimensionError{"insert: values of shape ", values.shape(),
                             " do not broadcast to shape ", shape};
    }
    return BroadcastTo(AsType(values, x.dtype(), false), shape);
}

Array InsertAt(const Array& x, int8_t axis, int64_t index, const Array& values) {
    const Array inserted = ToInsert(x, values, axis, std::nullopt);
    return Join(
        {PartAlong(x, axis, 0, index), inserted, PartAlong(x, axis, index, x.shape()[axis])}, axis,
        "insert");
}

Array ValuesFor(const Array& x, const Array& values) {
    if (values.ndim() > x.ndim()) {
        throw DimensionError{"insert: values of shape ", values.shape(),
                             " have more dimensions than the array, of shape ", x.shape()};
    }
    return WithLeadingAxes(values, x.ndim());
}

}  // namespace

Array Insert(const Array& x, int64_t index, const Array& values, std::optional<int8_t> axis) {
    const auto [line, a] = Line("insert", x, axis);
    const int64_t n = line.shape()[a];
    index = ResolveIndex("insert", index, n, n, a, line.shape());
    return InsertAt(line, a, index, Moveaxis(ValuesFor(line, values), Axes{0}, Axes{a}));
}

Array Insert(const Array& x, const std::vector<int64_t>& indices, const Array& values,
             std::optional<int8_t> axis) {
    const auto [line, a] = Line("insert", x, axis);
    const int64_t n = line.shape()[a];
    const Array given = ValuesFor(line, values);
    if (indices.size() == 1) {
        return InsertAt(line, a, ResolveIndex("insert", indices[0], n, n, a, line.shape()), given);
    }
    const auto count = static_cast<int64_t>(indices.size());
    // index to insert before, and index of the value
    std::vector<std::pair<int64_t, int64_t>> places;
    for (int64_t k = 0; k < count; ++k) {
        const int64_t i = indices[static_cast<size_t>(k)];
        places.emplace_back(ResolveIndex("insert", i, n, n, a, line.shape()), k);
    }
    std::ranges::sort(places);
    // The source index of each element of the result, among x followed by the values.
    std::vector<int64_t> source;
    source.reserve(static_cast<size_t>(n + count));
    size_t next = 0;
    for (int64_t i = 0; i <= n; ++i) {
        for (; next < places.size() && places[next].first == i; ++next) {
            source.push_back(n + places[next].second);
        }
        if (i < n) source.push_back(i);
    }
    const Array both = Join({line, ToInsert(line, given, a, count)}, a, "insert");
    const Array order = Array::FromHost(source, {n + count}, x.device());
    return internal::TakeBy("insert", both, a, [order] { return order; });
}

Array Delete(const Array& x, const std::vector<int64_t>& indices, std::optional<int8_t> axis) {
    const auto [line, a] = Line("delete", x, axis);
    const int64_t n = line.shape()[a];
    std::vector<int64_t> dropped;
    dropped.reserve(indices.size());
    for (const int64_t i : indices) {
        dropped.push_back(ResolveIndex("delete", i, n, n - 1, a, line.shape()));
    }
    std::ranges::sort(dropped);
    dropped.erase(std::ranges::unique(dropped).begin(), dropped.end());
    // The runs [begin, end) between deleted elements.
    std::vector<std::pair<int64_t, int64_t>> runs;
    int64_t begin = 0;
    for (const int64_t i : dropped) {
        if (i != begin) runs.emplace_back(begin, i);
        begin = i + 1;
    }
    if (begin != n) runs.emplace_back(begin, n);
    if (runs.empty()) return Copy(PartAlong(line, a, 0, 0));
    if (runs.size() == 1) return Copy(PartAlong(line, a, runs[0].first, runs[0].second));
    // Long runs are joined as views, many short ones are gathered element by element.
    constexpr int64_t kLongRun = 256;
    const int64_t most = std::clamp<int64_t>(n / kLongRun, 8, 4096);
    if (static_cast<int64_t>(runs.size()) <= most) {
        std::vector<Array> parts;
        for (const auto& [from, to] : runs) parts.push_back(PartAlong(line, a, from, to));
        return Join(parts, a, "delete");
    }
    std::vector<int64_t> kept(static_cast<size_t>(n) - dropped.size());
    auto next = kept.begin();
    for (const auto& [from, to] : runs) {
        std::iota(next, next + (to - from), from);
        next += to - from;
    }
    const Array order = Array::FromHost(kept, {static_cast<int64_t>(kept.size())}, x.device());
    return internal::TakeBy("delete", line, a, [order] { return order; });
}

std::vector<Array> Unstack(const Array& x, int8_t axis) {
    const int8_t a = NormalizeAxis("unstack", axis, x.ndim());
    if (x.shape()[a] == 0) return {};
    std::vector<Array> parts = Split(x, x.shape()[a], a, "unstack");
    for (Array& part : parts) part = Squeeze(part, Axes{a});
    return parts;
}

Array Resize(const Array& x, const Shape& shape) {
    CheckedNBytes("resize", shape, x.GetItemSize());
    const int64_t n = shape.GetTotalSize();
    const int64_t size = x.GetTotalSize();
    Array flat = Ravel(x);
    if (size == 0 && n != 0) {
        flat = Pad(flat, {{0, n}});
    } else if (size < n) {
        flat = Tile(flat, {(n - 1) / size + 1});
    }
    if (flat.GetTotalSize() != n) flat = PartAlong(flat, 0, 0, n);
    const Array y = Reshape(flat, shape);
    return y.buffer() == x.buffer() ? Copy(y) : y;
}

Array TrimZeros(const Array& x, bool front, bool back, const OptionalAxes& axes) {
    const Axes cut = NormalizeAxes("trim_zeros", axes, x.ndim());
    if (x.ndim() == 0) return MakeView(x);
    const std::vector<Array> found = Nonzero(internal::Detached(x));
    const bool none = found[0].GetTotalSize() == 0;
    std::vector<ArrayIndex> index(static_cast<size_t>(x.ndim()), Slice{});
    for (const int8_t a : cut) {
        const Array& along = found[static_cast<size_t>(a)];
        int64_t begin = 0;
        int64_t end = none ? 0 : x.shape()[a];
        if (!none && front) begin = AMin(along).Item<int64_t>();
        if (!none && back) end = AMax(along).Item<int64_t>() + 1;
        index[static_cast<size_t>(a)] = Slice{begin, end, 1};
    }
    return At(x, index);
}

Array Rot90(const Array& x, int64_t k, int8_t axis1, int8_t axis2) {
    const int8_t a1 = NormalizeAxis("rot90", axis1, x.ndim());
    const int8_t a2 = NormalizeAxis("rot90", axis2, x.ndim());
    if (a1 == a2) throw DimensionError{"rot90: axes are both ", static_cast<int>(a1)};
    switch ((k % 4 + 4) % 4) {
        case 1:
            return Swapaxes(Flip(x, Axes{a2}), a1, a2);
        case 2:
            return Flip(x, Axes{a1, a2});
        case 3:
            return Flip(Swapaxes(x, a1, a2), Axes{a2});
        default:
            return MakeView(x);
    }
}

}  // namespace chainerx

// Advanced indexing: indices that are arrays are reduced to Take and its transpose along one axis.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/core/overlap.h"
#include "chainerx/kernels/elementwise/where.h"
#include "chainerx/kernels/index/indexing.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// An index that picks elements along an axis: an array of integers, or a number; or a bool array
// along several axes. An index without dimensions adds an axis of length 1. Backward saves the
// caller's arrays, not those derived from them.
struct Pick {
    std::optional<KeptOperand> array;
    int64_t index{0};
};

// x[basic part], and the array indices for some axes of it.
struct Plan {
    Array view;
    std::vector<int8_t> axes;
    std::vector<Pick> picks;
    bool split{false};  // another item, be it '...' for no axis at all, separates two array indices
};

int Consumes(const IndexItem& item) {
    if (!item.array.is_null()) return IsBool(item.array.dtype()) ? item.array.ndim() : 1;
    const ArrayIndex::Tag tag = item.basic.tag();
    return tag == ArrayIndex::Tag::kSingle || tag == ArrayIndex::Tag::kSlice ? 1 : 0;
}

// Returns whether a bool index of shape `mask` selects among elements of shape `part`: their
// lengths are equal, or 0 if it selects none.
bool FitsMask(const Shape& mask, const Shape& part) {
    return std::equal(mask.begin(), mask.end(), part.begin(), part.end(),
                      [](int64_t m, int64_t n) { return m == n || m == 0; });
}

Plan MakePlan(const Array& x, const std::vector<IndexItem>& items) {
    int used = 0;
    for (const IndexItem& item : items) used += Consumes(item);
    if (used > x.ndim()) {
        throw IndexError{"getitem: too many indices, ", used, " for an array of shape ", x.shape()};
    }
    Plan plan;
    std::vector<ArrayIndex> basic;
    int axis = 0;     // of x
    int8_t kept = 0;  // of the view
    bool ellipsis = false;
    bool other = false;  // after the last pick
    const auto add = [&](Pick pick, int8_t n_axes) {
        plan.split |= other && !plan.picks.empty();
        other = false;
        plan.picks.push_back(std::move(pick));
        for (int8_t i = 0; i < n_axes; ++i) {
            plan.axes.push_back(kept++);
            basic.emplace_back(Slice{});
            ++axis;
        }
        if (n_axes == 0) {
            plan.axes.push_back(kept++);
            basic.emplace_back(NewAxis{});
        }
    };
    for (const IndexItem& item : items) {
        if (!item.array.is_null() && IsBool(item.array.dtype())) {
            Array mask = item.array;
            CheckSameDevice("getitem", x.device(), mask.device());
            const Shape part{x.shape().begin() + axis, x.shape().begin() + axis + mask.ndim()};
            if (!FitsMask(mask.shape(), part)) {
                throw IndexError{
                    "getitem: a bool index of shape ", mask.shape(), " does not match ", part,
                    " of an array of shape ",          x.shape()};
            }
            if (mask.shape() != part) mask = Zeros(part, Dtype::kBool, mask.device());
            add({KeptOperand{"getitem", "the bool index", mask}}, mask.ndim());
        } else if (!item.array.is_null()) {
            if (!IsInt(item.array.dtype())) {
                throw IndexError{"getitem: an index array must be of integers or bool, got ",
                                 item.array.dtype()};
            }
            CheckSameDevice("getitem", x.device(), item.array.device());
            add({KeptOperand{"getitem", "the index array", item.array}}, 1);
        } else if (item.basic.tag() == ArrayIndex::Tag::kSingle) {
            const int64_t i = item.basic.index();
            const int64_t n = x.shape()[axis];
            if (i < -n || i >= n) {
                throw IndexError{"getitem: index ", i,        " is out of range for axis ", axis,
                                 " of shape ",      x.shape()};
            }
            add({std::nullopt, i}, 1);
        } else if (item.basic.tag() == ArrayIndex::Tag::kEllipsis) {
            if (ellipsis) throw IndexError{"getitem: more than one '...' in an index"};
            ellipsis = true;
            other = true;
            basic.push_back(item.basic);
            axis += x.ndim() - used;
            kept = static_cast<int8_t>(kept + x.ndim() - used);
        } else {
            other = true;
            basic.push_back(item.basic);
            axis += Consumes(item);
            ++kept;
        }
    }
    plan.view = At(x, basic);
    return plan;
}

// The plan with all its axes merged into one, at `axis`.
struct Merged {
    Array permuted;
    Array view;  // of permuted, unless its layout forces a copy
    int8_t axis{0};
    Shape lengths;  // of the axes
};

Merged Merge(const Plan& plan) {
    const Array& x = plan.view;
    if (plan.axes.size() == 1) return {x, x, plan.axes[0], {x.shape()[plan.axes[0]]}};
    const int8_t axis = plan.split ? int8_t{0} : plan.axes[0];
    const auto is_indexed = [&](int8_t i) {
        return std::find(plan.axes.begin(), plan.axes.end(), i) != plan.axes.end();
    };
    Axes order;
    for (int8_t i = 0; i < axis; ++i) order.push_back(i);
    for (int8_t i : plan.axes) order.push_back(i);
    for (int8_t i = axis; i < x.ndim(); ++i) {
        if (!is_indexed(i)) order.push_back(i);
    }
    Merged m;
    m.axis = axis;
    m.permuted = Transpose(x, order);
    Shape shape{m.permuted.shape().begin(), m.permuted.shape().begin() + axis};
    int64_t length = 1;
    for (int8_t i : plan.axes) {
        m.lengths.push_back(x.shape()[i]);
        length *= x.shape()[i];
    }
    shape.push_back(length);
    const auto merged_end = axis + static_cast<int64_t>(plan.axes.size());
    for (int64_t i = merged_end; i < x.ndim(); ++i) shape.push_back(m.permuted.shape()[i]);
    m.view = Reshape(m.permuted, shape);
    return m;
}

// Returns the bool array if it is the only array index.
std::optional<Array> SoleMask(const std::vector<Pick>& picks) {
    if (picks.size() != 1 || !picks[0].array) return std::nullopt;
    Array array = (*picks[0].array)();
    if (!IsBool(array.dtype())) return std::nullopt;
    return array;
}

Array FlatMask(const Array& mask) {
    return AsContiguous(Reshape(internal::Detached(mask), {mask.GetTotalSize()}));
}

// Returns the indices along axes of `lengths` that are merged into one.
Array Positions(const char* op, const std::vector<Pick>& picks, const Shape& lengths,
                Device& device) {
    if (const std::optional<Array> mask = SoleMask(picks)) {
        return internal::TruePlaces(FlatMask(*mask));
    }
    std::vector<Array> indices;
    for (const Pick& pick : picks) {
        if (!pick.array) {
            indices.push_back(Full({}, pick.index, Dtype::kInt64, device));
            continue;
        }
        const Array& array = (*pick.array)();
        if (IsBool(array.dtype())) {
            const Array mask = array.ndim() == 0 ? Reshape(array, {1}) : array;
            for (Array& along : Nonzero(mask)) indices.push_back(std::move(along));
        } else {
            indices.push_back(array);
        }
    }
    if (indices.size() == 1) return AsContiguous(indices[0]);
    Shape common;
    for (const Array& i : indices) common = BroadcastShapes(op, common, i.shape());
    CheckedNBytes(op, common, 8);
    Array positions = Zeros(common, Dtype::kInt64, device);
    int64_t factor = 1;
    for (size_t k = indices.size(); k-- > 0;) {
        const int64_t n = lengths[static_cast<int8_t>(k)];
        if (n == 0 && indices[k].GetTotalSize() != 0) {
            throw IndexError{op, ": index into an axis of length 0"};
        }
        const Array along = AsContiguous(BroadcastTo(indices[k], common));
        CallOn<kernels::LinearIndex>(device, op, along, n, factor, positions);
        if (along.GetTotalSize() == 0 && indices[k].GetTotalSize() != 0) {  // only checks the index
            const Array unused = Zeros(indices[k].shape(), Dtype::kInt64, device);
            CallOn<kernels::LinearIndex>(device, op, AsContiguous(indices[k]), n, 1, unused);
        }
        factor *= n;
    }
    return positions;
}

// Returns the number of dimensions that replace those of the arrays.
int PickedNdim(const std::vector<Pick>& picks) {
    int ndim = 0;
    for (const Pick& pick : picks) {
        if (!pick.array) continue;
        const Array& array = (*pick.array)();
        ndim = std::max<int>(ndim, IsBool(array.dtype()) ? 1 : array.ndim());
    }
    return ndim;
}

}  // namespace

Array At(const Array& x, const std::vector<IndexItem>& items) {
    Plan plan = MakePlan(x, items);
    if (plan.picks.empty()) return plan.view;
    const Merged m = Merge(plan);
    const int ndim = m.view.ndim() - 1 + PickedNdim(plan.picks);
    if (ndim > kMaxNdim) internal::ThrowTooManyDims(ndim);
    if (SoleMask(plan.picks)) {
        return internal::CompressBy("getitem", m.view, m.axis, [picks = std::move(plan.picks)] {
            return FlatMask(*SoleMask(picks));
        });
    }
    return internal::TakeBy(
        "getitem", m.view, m.axis,
        [picks = std::move(plan.picks), lengths = m.lengths, device = &x.device()] {
            return Positions("getitem", picks, lengths, *device);
        });
}

namespace {

// Calls a kernel that writes to x, and marks the buffer as written even if it fails half way.
void Write(const Array& x, const auto& call) {
    try {
        call();
    } catch (const IndexError&) {  // thrown before anything is written
        throw;
    } catch (...) {
        x.buffer()->MarkWritten();
        throw;
    }
    x.buffer()->MarkWritten();
}

void CallScatter(const char* op, const Array& x, int8_t axis, const Array& indices,
                 ScatterRule rule, const Array& values) {
    constexpr IndexBoundsMode kMode = IndexBoundsMode::kRaise;
    switch (rule) {
        case ScatterRule::kSet:
            return CallOn<kernels::SetAt>(x.device(), op, x, axis, indices, kMode, values);
        case ScatterRule::kAdd:
            return CallOn<kernels::AddAt>(x.device(), op, x, axis, indices, kMode, values);
        default:
            return CallOn<kernels::CombineAt>(x.device(), op, x, axis, indices, kMode, rule,
                                              values);
    }
}

}  // namespace

namespace {

// Writes one value to all elements of a mask in one pass over x, without a list of indices.
void FillWhere(const Array& x, const Plan& plan, const Array& mask, const Array& value) {
    const Array one = EmptyUnchecked({}, x.dtype(), x.device());
    Assign(one, value);
    Shape shape;
    for (int8_t i = 0; i < plan.axes[0]; ++i) shape.push_back(1);
    for (int64_t d : mask.shape()) shape.push_back(d);
    while (shape.ndim() < plan.view.ndim()) shape.push_back(1);
    const Array condition = Reshape(internal::MayShareMemory(x, mask) ? Copy(mask) : mask, shape);
    Write(x, [&] { CallOn<kernels::Where>(x.device(), condition, one, plan.view, plan.view); });
}

}  // namespace

void internal::Scatter(const char* op, const Array& x, const std::vector<IndexItem>& items,
                       const Array& value, ScatterRule rule) {
    CheckInPlaceOutput(op, x);
    CheckInPlaceInput(op, value);
    const Plan plan = MakePlan(Detached(x), items);
    if (plan.picks.empty()) return ScatterToView(plan.view, value, rule);
    const Dtype wide = WideDtype(x.dtype());
    if (wide != x.dtype() && (rule == ScatterRule::kAdd || rule == ScatterRule::kMultiply)) {
        // A sum in 16 bits would lose many small terms.
        const Array sum = AsType(Detached(x), wide);
        Scatter(op, sum, items, value, rule);
        return Assign(x, AsType(sum, x.dtype()));
    }
    if (rule == ScatterRule::kSet && value.ndim() == 0) {
        if (const std::optional<Array> mask = SoleMask(plan.picks)) {
            return FillWhere(x, plan, *mask, value);
        }
    }
    const Merged m = Merge(plan);
    Array indices = Positions(op, plan.picks, m.lengths, x.device());
    if (MayShareMemory(x, indices)) indices = Copy(indices);
    Shape shape{m.view.shape().begin(), m.view.shape().begin() + m.axis};
    for (int64_t d : indices.shape()) shape.push_back(d);
    for (int8_t i = m.axis + 1; i < m.view.ndim(); ++i) shape.push_back(m.view.shape()[i]);
    CheckedNBytes(op, shape, x.GetItemSize());
    if (value.ndim() == 0) shape = Shape{};  // a kernel writes one element to all places
    const bool as_it_is = value.dtype() == x.dtype() && value.shape() == shape &&
                          value.IsContiguous() && !MayShareMemory(x, value) &&
                          &value.device() == &x.device();
    const Array values = as_it_is ? Detached(value) : EmptyUnchecked(shape, x.dtype(), x.device());
    if (!as_it_is) Assign(values, value);
    if (indices.GetTotalSize() == 0) return;
    if (m.view.shape()[m.axis] == 0) throw IndexError{op, ": index into an axis of length 0"};
    Write(x, [&] { CallScatter(op, m.view, m.axis, indices, rule, values); });
    if (m.view.buffer() != m.permuted.buffer()) {
        CallOn<kernels::AsType>(x.device(), Reshape(m.view, m.permuted.shape()), m.permuted);
    }
}

void internal::ScatterFlat(const char* op, const Array& x, const Array& indices,
                           IndexBoundsMode mode, const Array& values) {
    if (indices.GetTotalSize() == 0) return;
    if (x.GetTotalSize() == 0) {
        throw IndexError{op, ": index into an array of shape ", x.shape(), ", which is empty"};
    }
    const Array target = Detached(x);
    const Array flat = Reshape(target, {x.GetTotalSize()});  // a copy, if x is not contiguous
    const Array at = MayShareMemory(x, indices) ? Copy(indices) : AsContiguous(indices);
    Array from = AsContiguous(AsType(Detached(values), x.dtype(), false));
    if (from.GetTotalSize() == 1) from = Reshape(from, Shape{});
    if (MayShareMemory(x, from)) from = Copy(from);
    Write(x, [&] { CallOn<kernels::SetAt>(x.device(), op, flat, 0, at, mode, from); });
    if (flat.buffer() != x.buffer()) {
        CallOn<kernels::AsType>(x.device(), Reshape(flat, x.shape()), target);
    }
}

void Assign(const Array& x, const std::vector<IndexItem>& items, const Array& value) {
    internal::Scatter("setitem", x, items, value, ScatterRule::kSet);
}

}  // namespace chainerx

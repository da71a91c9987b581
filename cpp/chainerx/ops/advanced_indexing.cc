// Indices that are arrays: reduced to Take and its inverse along one axis.
#include <algorithm>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

// x[basic part], and one index array for each of some axes of it.
struct Plan {
    Array view;
    std::vector<int8_t> axes;
    std::vector<Array> indices;
};

Array IndexArray(int64_t i, Device& device) { return Full({}, i, Dtype::kInt64, device); }

int Consumes(const IndexItem& item) {
    if (item.array) return IsBool(item.array.dtype()) ? item.array.ndim() : 1;
    const ArrayIndex::Tag tag = item.basic.tag();
    return tag == ArrayIndex::Tag::kSingle || tag == ArrayIndex::Tag::kSlice ? 1 : 0;
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
    const auto add = [&](const Array& indices) {
        plan.axes.push_back(kept++);
        plan.indices.push_back(indices);
        basic.emplace_back(Slice{});
        ++axis;
    };
    for (const IndexItem& item : items) {
        if (item.array && IsBool(item.array.dtype())) {
            const Array& mask = item.array;
            CheckSameDevice("getitem", x.device(), mask.device());
            const Shape part{x.shape().begin() + axis, x.shape().begin() + axis + mask.ndim()};
            if (mask.ndim() == 0 || mask.shape() != part) {
                throw IndexError{
                    "getitem: a bool index of shape ", mask.shape(), " does not match ", part,
                    " of an array of shape ",          x.shape()};
            }
            for (const Array& indices : Nonzero(mask)) add(indices);
        } else if (item.array) {
            if (!IsInt(item.array.dtype())) {
                throw IndexError{"getitem: an index array must be of integers or bool, got ",
                                 item.array.dtype()};
            }
            CheckSameDevice("getitem", x.device(), item.array.device());
            add(item.array);
        } else if (item.basic.tag() == ArrayIndex::Tag::kSingle) {
            const int64_t i = item.basic.index();
            const int64_t n = x.shape()[axis];
            if (i < -n || i >= n) {
                throw IndexError{"getitem: index ", i,        " is out of range for axis ", axis,
                                 " of shape ",      x.shape()};
            }
            add(IndexArray(i, x.device()));
        } else if (item.basic.tag() == ArrayIndex::Tag::kEllipsis) {
            if (ellipsis) throw IndexError{"getitem: more than one '...' in an index"};
            ellipsis = true;
            basic.push_back(item.basic);
            axis += x.ndim() - used;
            kept = static_cast<int8_t>(kept + x.ndim() - used);
        } else {
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
    int8_t axis;
    Array indices;
};

Merged Merge(const Plan& plan) {
    const Array& x = plan.view;
    if (plan.axes.size() == 1) return {x, x, plan.axes[0], plan.indices[0]};
    const bool neighbours =
        plan.axes.back() - plan.axes.front() + 1 == static_cast<int>(plan.axes.size());
    const int8_t axis = neighbours ? plan.axes[0] : int8_t{0};
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
    Shape common;
    for (size_t k = 0; k < plan.axes.size(); ++k) {
        length *= x.shape()[plan.axes[k]];
        common = BroadcastShapes("getitem", common, plan.indices[k].shape());
    }
    shape.push_back(length);
    const auto merged_end = axis + static_cast<int64_t>(plan.axes.size());
    for (int64_t i = merged_end; i < x.ndim(); ++i) shape.push_back(m.permuted.shape()[i]);
    m.view = Reshape(m.permuted, shape);
    CheckedNBytes("getitem", common, 8);
    m.indices = Zeros(common, Dtype::kInt64, x.device());
    int64_t factor = 1;
    for (size_t k = plan.axes.size(); k-- > 0;) {
        const Array indices =
            AsContiguous(BroadcastTo(internal::Detached(plan.indices[k]), common));
        const int64_t n = x.shape()[plan.axes[k]];
        if (n == 0 && indices.GetTotalSize() != 0) {
            throw IndexError{"getitem: index into an axis of length 0"};
        }
        CallOn<kernels::LinearIndex>(x.device(), indices, n, factor, m.indices);
        factor *= n;
    }
    return m;
}

}  // namespace

Array At(const Array& x, const std::vector<IndexItem>& items) {
    const Merged m = Merge(MakePlan(x, items));
    if (m.view.ndim() - 1 + m.indices.ndim() > kMaxNdim) {
        internal::ThrowTooManyDims(m.view.ndim() - 1 + m.indices.ndim());
    }
    return Take(m.view, m.indices, m.axis, IndexBoundsMode::kRaise);
}

void Assign(const Array& x, const std::vector<IndexItem>& items, const Array& value) {
    internal::CheckInPlaceOutput("setitem", x);
    const Merged m = Merge(MakePlan(internal::Detached(x), items));
    Shape shape{m.view.shape().begin(), m.view.shape().begin() + m.axis};
    for (int64_t d : m.indices.shape()) shape.push_back(d);
    for (int8_t i = m.axis + 1; i < m.view.ndim(); ++i) shape.push_back(m.view.shape()[i]);
    CheckedNBytes("setitem", shape, x.GetItemSize());
    const Array values = EmptyUnchecked(shape, x.dtype(), x.device());
    Assign(values, value);
    if (values.GetTotalSize() == 0) return;
    const Array indices = internal::CheckIndices("setitem", m.view, m.indices);
    if (m.view.shape()[m.axis] == 0) {
        throw IndexError{"setitem: index into an axis of length 0"};
    }
    CallOn<kernels::SetAt>(x.device(), m.view, m.axis, indices, IndexBoundsMode::kRaise, values);
    if (m.view.buffer() != m.permuted.buffer()) {
        CallOn<kernels::AsType>(x.device(), Reshape(m.view, m.permuted.shape()), m.permuted);
    }
}

}  // namespace chainerx

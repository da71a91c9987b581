#include "chainerx/ops/linalg/contraction.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/vecdot.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

int8_t PlaceOf(const EinsumLabels& labels, int label) {
    return static_cast<int8_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

EinsumLabels Select(const EinsumLabels& labels, LabelSet set) {
    EinsumLabels selected;
    for (int label : labels) {
        if (Has(set, label)) selected.push_back(label);
    }
    return selected;
}

// Returns the labels of a set in the wanted order, then those that are not in `wanted`.
EinsumLabels SelectInOrder(const EinsumLabels& wanted, const EinsumLabels& labels, LabelSet set) {
    EinsumLabels selected = Select(wanted, set);
    for (int label : Select(labels, set & ~SetOf(wanted))) selected.push_back(label);
    return selected;
}

int64_t LengthOf(const EinsumTerm& term, int label) {
    return term.x.shape()[PlaceOf(term.labels, label)];
}

// Transposes the axes to this order; labels that the term lacks become axes of length 1.
Array Spread(const EinsumTerm& term, const EinsumLabels& order) {
    const Array y = ToOrder(term, Select(order, term.set()));
    if (y.ndim() == static_cast<int64_t>(order.size())) return y;
    Shape shape;
    int8_t axis = 0;
    for (int label : order) {
        shape.push_back(Has(term.set(), label) ? y.shape()[axis++] : 1);
    }
    return Reshape(y, shape);
}

// Reshapes to matrices: an axis for each label of the batch, one for all rows, one for all columns.
Array ToMatrices(const EinsumTerm& term, const EinsumLabels& batch, const EinsumLabels& rows,
                 const EinsumLabels& columns) {
    EinsumLabels order = batch;
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    const Array y = ToOrder(term, order);
    if (rows.size() == 1 && columns.size() == 1) return y;
    Shape shape;
    for (int label : batch) shape.push_back(LengthOf(term, label));
    for (const EinsumLabels* side : {&rows, &columns}) {
        int64_t length = 1;
        for (int label : *side) length *= LengthOf(term, label);
        shape.push_back(length);
    }
    return Reshape(y, shape);
}

// Merges all axes from the n-th on.
Array MergeFrom(const Array& x, int8_t n) {
    if (x.ndim() == n + 1) return x;
    Shape shape{x.shape().begin(), x.shape().begin() + n};
    int64_t length = 1;
    for (int8_t i = n; i < x.ndim(); ++i) length *= x.shape()[i];
    shape.push_back(length);
    return Reshape(x, shape);
}

// Returns whether products are batched short vectors, for which a matrix product costs mostly its
// call.
bool IsManyShortProducts(const EinsumTerm& term, const EinsumLabels& inner) {
    constexpr int64_t kLong = 512;
    const Dtype dtype = term.x.dtype();
    if (dtype != Dtype::kFloat32 && dtype != Dtype::kFloat64) return false;
    int64_t length = 1;
    for (int label : inner) length *= LengthOf(term, label);
    return length < kLong;
}

}  // namespace

Array ToOrder(const EinsumTerm& term, const EinsumLabels& order) {
    if (term.labels == order) return term.x;
    Axes axes;
    for (int label : order) axes.push_back(PlaceOf(term.labels, label));
    return Permute(term.x, axes);
}

EinsumTerm SumOut(const EinsumTerm& term, LabelSet kept) {
    if ((term.set() & ~kept) == 0) return term;
    Axes axes;
    for (int8_t i = 0; i < term.x.ndim(); ++i) {
        if (!Has(kept, term.labels[static_cast<size_t>(i)])) axes.push_back(i);
    }
    const Dtype dtype = term.x.dtype();
    const Array y = IsBool(dtype) ? Any(term.x, axes) : AsType(Sum(term.x, axes), dtype, false);
    return {y, Select(term.labels, kept)};
}

EinsumTerm Contract(EinsumTerm a, EinsumTerm b, LabelSet kept, const EinsumLabels& wanted) {
    a = SumOut(a, kept | b.set());
    b = SumOut(b, kept | a.set());
    const LabelSet shared = a.set() & b.set();
    const LabelSet summed = shared & ~kept;
    if (summed == 0) {
        EinsumLabels all = a.labels;
        for (int label : Select(b.labels, ~shared)) all.push_back(label);
        const EinsumLabels order = SelectInOrder(wanted, all, SetOf(all));
        return {Multiply(Spread(a, order), Spread(b, order)), order};
    }
    const EinsumLabels batch = SelectInOrder(wanted, a.labels, shared & kept);
    EinsumLabels left = Select(a.labels, ~shared);
    EinsumLabels right = Select(b.labels, ~shared);
    if (!left.empty() && !right.empty() && PlaceOf(wanted, right[0]) < PlaceOf(wanted, left[0])) {
        std::swap(a, b);
        std::swap(left, right);
    }
    // The larger operand should not be copied.
    const EinsumTerm& larger = a.x.GetTotalSize() >= b.x.GetTotalSize() ? a : b;
    const EinsumLabels inner = Select(larger.labels, summed);
    if (left.empty() && right.empty() && !batch.empty()) {
        EinsumLabels order = batch;
        order.insert(order.end(), inner.begin(), inner.end());
        const Array rows_a = ToOrder(a, order);
        const Array rows_b = ToOrder(b, order);
        if (inner.size() == 1 || (rows_a.IsContiguous() && rows_b.IsContiguous())) {
            const auto n = static_cast<int8_t>(batch.size());
            const std::optional<Array> y = TryVecdot(MergeFrom(rows_a, n), MergeFrom(rows_b, n));
            if (y) return {*y, batch};
        }
        if (IsManyShortProducts(larger, inner)) {
            return SumOut({Multiply(rows_a, rows_b), order}, kept);
        }
    }
    const Array y = Matmul(ToMatrices(a, batch, left, inner), ToMatrices(b, batch, inner, right));
    EinsumLabels labels = batch;
    labels.insert(labels.end(), left.begin(), left.end());
    labels.insert(labels.end(), right.begin(), right.end());
    if (left.size() == 1 && right.size() == 1) return {y, labels};
    Shape shape;
    for (int label : labels) shape.push_back(LengthOf(Has(a.set(), label) ? a : b, label));
    return {Reshape(y, shape), labels};
}

}  // namespace chainerx::internal

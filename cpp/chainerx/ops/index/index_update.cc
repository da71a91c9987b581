#include "chainerx/ops/index/index_update.h"

#include <optional>
#include <utility>

#include "chainerx/kernels/index/indexing.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx {
namespace {

// The rules in the order of ScatterRule.
constexpr OpInfo kOps[] = {{"index_set", &kernels::SetAt::kInfo},
                           {"index_add", &kernels::AddAt::kInfo},
                           {"index_multiply", &kernels::CombineAt::kInfo},
                           {"index_min", &kernels::CombineAt::kInfo},
                           {"index_max", &kernels::CombineAt::kInfo}};

// An index that is read again in backward.
class KeptIndex {
 public:
    KeptIndex(const char* op, const std::vector<IndexItem>& items) {
        for (const IndexItem& item : items) {
            std::optional<KeptOperand> array;
            if (!item.array.is_null()) {
                array.emplace(op, "the index array", item.array);
                may_repeat_ = may_repeat_ || IsInt(item.array.dtype());
            }
            items_.emplace_back(item.basic, std::move(array));
        }
    }

    std::vector<IndexItem> operator()() const {
        std::vector<IndexItem> items;
        for (const auto& [basic, array] : items_) {
            items.push_back({basic, array ? (*array)() : Array{}});
        }
        return items;
    }
    // Returns whether it may pick an element several times.
    bool may_repeat() const { return may_repeat_; }

 private:
    std::vector<std::pair<ArrayIndex, std::optional<KeptOperand>>> items_;
    bool may_repeat_{false};
};

// Adds leading axes of length 1, which values may have and the picked elements not.
Array WithAxesOf(const Array& g, const Shape& shape) {
    if (g.ndim() >= shape.ndim()) return g;
    Shape more;
    more.resize(shape.ndim() - g.ndim(), 1);
    for (const int64_t d : g.shape()) more.push_back(d);
    return Reshape(g, more);
}
// Drops such axes.
Array Beside(const Array& values, const Array& picked) {
    if (values.ndim() <= picked.ndim()) return values;
    return Reshape(values, Shape{values.shape().begin() + (values.ndim() - picked.ndim()),
                                 values.shape().end()});
}

// Returns where a value is the last one for its element, which kSet keeps.
Array IsLast(const Shape& shape, const std::vector<IndexItem>& items, const Array& picked) {
    const Array numbers = Reshape(
        Arange(Scalar{picked.GetTotalSize()}, Dtype::kInt64, picked.device()), picked.shape());
    const Array last = Full(shape, Scalar{-1}, Dtype::kInt64, picked.device());
    internal::Scatter(kOps[0].name, last, items, numbers, ScatterRule::kSet);
    return Equal(At(last, items), numbers);
}

// The product of the other values for the same element. It avoids division, so that zeros have
// derivatives of any order, too: values are sorted by element, and multiplied from both sides.
Array OtherFactors(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    const int64_t n = x.GetTotalSize();
    const Array picked =
        At(Reshape(Arange(Scalar{n}, Dtype::kInt64, x.device()), x.shape()), items);
    if (picked.GetTotalSize() == 0) return Zeros(picked.shape(), values.dtype(), x.device());
    const Array elements = Ravel(picked);
    const Array order = ArgSort(elements, 0);
    const Array sorted = Take(elements, order, 0);
    const Array starts = Concatenate({Ones({1}, Dtype::kBool, x.device()),
                                      NotEqual(sorted.At({ArrayIndex{Slice{1, std::nullopt}}}),
                                               sorted.At({ArrayIndex{Slice{0, -1}}}))},
                                     0);
    const Array v = Ravel(BroadcastTo(Beside(values, picked), picked.shape()));
    const Array others = internal::ProductOfOthersInRuns(Take(v, order, 0), starts);
    return Reshape(Take(others, ArgSort(order, 0), 0), picked.shape());
}

// Returns where x is the extreme y, which is NaN if any element is.
Array IsExtreme(const Array& x, const Array& y) {
    return LogicalOr(Equal(x, y), LogicalAnd(Isnan(x), Isnan(y)));
}

void RecordProduct(Record& rec, const KeptIndex& index, const Array& x, const Array& values) {
    rec.Grad(0, [index, x = rec.Save(x), values = rec.Save(values)](const Array& gy) {
        return gy * IndexUpdate(OnesLike(internal::Detached(x())), index(), values(),
                                ScatterRule::kMultiply);
    });
    rec.Grad(1, [index, x = rec.Save(x), values = rec.Save(values)](const Array& gy) {
        const std::vector<IndexItem> items = index();
        const Array v = values();
        Array gv = At(gy * x(), items);
        if (index.may_repeat()) gv = gv * OtherFactors(internal::Detached(x()), items, v);
        return WithAxesOf(gv, v.shape());
    });
}

// Equal extremes share the gradient.
void RecordExtreme(Record& rec, const KeptIndex& index, const Array& x, const Array& values,
                   const Array& y) {
    rec.GradAll([index, x = rec.Save(x), values = rec.Save(values),
                 y = rec.SaveOutput(y)](GradContext& context) {
        const Array& gy = context.output_grad();
        const std::vector<IndexItem> items = index();
        const Array top = internal::Detached(y());
        const Array picked = At(top, items);
        const Array v = internal::Detached(values());
        const Array x_is = AsType(IsExtreme(internal::Detached(x()), top), gy.dtype());
        const Array v_is = AsType(IsExtreme(Beside(v, picked), picked), gy.dtype());
        const Array share = gy / IndexUpdate(x_is, items, v_is, ScatterRule::kAdd);
        if (context.IsInputGradRequired(0)) context.SetInputGrad(0, share * x_is);
        if (context.IsInputGradRequired(1)) {
            context.SetInputGrad(1, WithAxesOf(At(share, items) * v_is, v.shape()));
        }
    });
}

}  // namespace

void internal::CheckWrittenDtype(const char* op, const Array& x, const Array& values) {
    if (GetCategory(values.dtype()) > GetCategory(x.dtype())) {
        throw DtypeError{op,        ": cannot write ",     values.dtype(), " into an array of ",
                         x.dtype(), "; cast with astype()"};
    }
}

void internal::ScatterToView(const Array& view, const Array& value, ScatterRule rule) {
    const bool is_bool = IsBool(view.dtype());
    switch (rule) {
        case ScatterRule::kSet:
            return Assign(view, value);
        case ScatterRule::kAdd:
            return Assign(view, is_bool ? LogicalOr(view, value) : view + value);
        case ScatterRule::kMultiply:
            return Assign(view, is_bool ? LogicalAnd(view, value) : view * value);
        case ScatterRule::kMinimum:
            return Assign(view, is_bool ? LogicalAnd(view, value) : Minimum(view, value));
        case ScatterRule::kMaximum:
            return Assign(view, is_bool ? LogicalOr(view, value) : Maximum(view, value));
    }
}

Array IndexUpdate(const Array& x, const std::vector<IndexItem>& items, const Array& values,
                  ScatterRule rule) {
    const OpInfo& op = kOps[static_cast<int>(rule)];
    CheckSameDevice(op.name, x.device(), values.device());
    internal::CheckWrittenDtype(op.name, x, values);
    const bool ordered = rule == ScatterRule::kMinimum || rule == ScatterRule::kMaximum;
    if (ordered && IsComplex(x.dtype())) {
        throw DtypeError{op.name, ": ", x.dtype(), " has no order"};
    }
    Array y = Copy(internal::Detached(x));
    internal::Scatter(op.name, y, items, internal::Detached(values), rule);
    if (Record rec{op, {x, values}, y}) {
        const KeptIndex index{op.name, items};
        if (rule == ScatterRule::kMultiply) {
            RecordProduct(rec, index, x, values);
        } else if (ordered) {
            RecordExtreme(rec, index, x, values, y);
        } else if (rule == ScatterRule::kAdd) {
            rec.Grad(0, [](const Array& gy) { return gy; });
            rec.Grad(1, [index, shape = values.shape()](const Array& gy) {
                return WithAxesOf(At(gy, index()), shape);
            });
        } else {
            rec.Grad(0, [index](const Array& gy) {
                return IndexUpdate(gy, index(), Zeros({}, gy.dtype(), gy.device()),
                                   ScatterRule::kSet);
            });
            rec.Grad(1, [index, from = x.shape(), shape = values.shape()](const Array& gy) {
                const std::vector<IndexItem> items = index();
                Array gv = At(gy, items);
                if (index.may_repeat()) gv = Where(IsLast(from, items, gv), gv, Scalar{0});
                return WithAxesOf(gv, shape);
            });
        }
    }
    return y;
}

namespace {

// Returns the product of the values for each element, 1 where there are none.
Array Product(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    return IndexUpdate(Ones(x.shape(), x.dtype(), x.device()), items, values,
                       ScatterRule::kMultiply);
}

}  // namespace

Array IndexDivide(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    return Divide(x, Product(x, items, values));
}

Array IndexPower(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    return Power(x, Product(x, items, values));
}

void AddAt(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    static constexpr const char* kOp = "add_at";
    CheckSameDevice(kOp, x.device(), values.device());
    internal::CheckWrittenDtype(kOp, x, values);
    internal::Scatter(kOp, x, items, values, ScatterRule::kAdd);
}

namespace {

// Returns an index of all coordinates, except that `indices` replace those of one axis.
std::vector<IndexItem> AlongAxis(const char* op, const Array& x, const Array& indices,
                                 int8_t axis) {
    if (!IsInt(indices.dtype())) {
        throw DtypeError{op, ": indices must be of an integer dtype, got ", indices.dtype()};
    }
    CheckSameDevice(op, x.device(), indices.device());
    if (indices.ndim() != x.ndim()) {
        throw DimensionError{op, ": indices have shape ", indices.shape(),
                             ", which has not as many dimensions as ", x.shape()};
    }
    std::vector<IndexItem> items;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (i == axis) {
            items.push_back({NewAxis{}, indices});
            continue;
        }
        const int64_t n = x.shape()[i];
        if (n != indices.shape()[i] && n != 1 && indices.shape()[i] != 1) {
            throw DimensionError{op, ": indices of shape ", indices.shape(),
                                 " do not broadcast to shape ", x.shape()};
        }
        Shape shape;
        shape.resize(x.ndim(), 1);
        shape[i] = n;
        items.push_back({NewAxis{}, Reshape(Arange(Scalar{n}, Dtype::kInt64, x.device()), shape)});
    }
    return items;
}

}  // namespace

namespace {

// Returns the flat indices of `indices` along an axis of an array of `shape`; the other axes have
// the same lengths.
Array PlacesAlong(const char* op, const Shape& shape, const Array& indices, int8_t axis) {
    const int64_t n = shape[axis];
    int64_t outer = 1;
    int64_t inner = 1;
    for (int8_t i = 0; i < shape.ndim(); ++i)
        (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
    const auto range = [&](int64_t count) {
        return Arange(Scalar{count}, Dtype::kInt64, indices.device());
    };
    Array first = Reshape(range(outer) * (n * inner), {outer, 1, 1});
    if (inner != 1) first = first + Reshape(range(inner), {1, 1, inner});
    const Array places = Copy(BroadcastTo(first, {outer, indices.shape()[axis], inner}));
    CallOn<kernels::LinearIndex>(places.device(), op, AsContiguous(indices), n, inner, places);
    return Reshape(places, indices.shape());
}

}  // namespace

Array TakeAlongAxis(const Array& x, const Array& indices, std::optional<int8_t> axis) {
    static constexpr const char* kOp = "take_along_axis";
    if (!axis) return At(Ravel(x), AlongAxis(kOp, Ravel(x), indices, 0));
    const int8_t a = NormalizeAxis(kOp, *axis, x.ndim());
    bool same = indices.ndim() == x.ndim() && x.GetTotalSize() != 0;
    for (int8_t i = 0; same && i < x.ndim(); ++i)
        same = i == a || indices.shape()[i] == x.shape()[i];
    if (!same) return At(x, AlongAxis(kOp, x, indices, a));
    return internal::TakeBy(
        kOp, Ravel(x), 0,
        [shape = x.shape(), a, kept = internal::CheckIndices(kOp, "indices", x, indices)] {
            return PlacesAlong(kOp, shape, kept(), a);
        });
}

void PutAlongAxis(const Array& x, const Array& indices, const Array& values,
                  std::optional<int8_t> axis) {
    static constexpr const char* kOp = "put_along_axis";
    internal::CheckInPlaceOutput(kOp, x);
    CheckSameDevice(kOp, x.device(), values.device());
    internal::CheckWrittenDtype(kOp, x, values);
    if (axis) {
        const int8_t a = NormalizeAxis(kOp, *axis, x.ndim());
        internal::Scatter(kOp, x, AlongAxis(kOp, x, indices, a), values, ScatterRule::kSet);
        return;
    }
    if (indices.ndim() != 1 || !IsInt(indices.dtype())) {
        AlongAxis(kOp, Ravel(internal::Detached(x)), indices, 0);  // for its errors
    }
    internal::CheckInPlaceInput(kOp, values);
    if (!IsBroadcastable(values.shape(), indices.shape())) {
        throw DimensionError{kOp, ": values of shape ", values.shape(),
                             " do not broadcast to shape ", indices.shape()};
    }
    internal::ScatterFlat(kOp, x, indices, IndexBoundsMode::kRaise,
                          BroadcastTo(internal::Detached(values), indices.shape()));
}

}  // namespace chainerx

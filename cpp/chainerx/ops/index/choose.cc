#include "chainerx/ops/index/choose.h"

#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/index/index_arrays.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"

namespace chainerx {
namespace {

Array WithinChoices(const Array& x, int64_t n, IndexBoundsMode mode) {
    if (mode == IndexBoundsMode::kWrap) return Remainder(x, Scalar{n});
    if (mode == IndexBoundsMode::kClip) return Clip(x, Scalar{0}, Scalar{n - 1});
    if (x.GetTotalSize() == 0) return x;
    for (const Array& extreme : {AMin(x), AMax(x)}) {
        const auto i = extreme.Item<int64_t>();
        if (i < 0 || i >= n) {
            throw ValueError{"choose: index ", i, " in a is out of range for ", n, " choices"};
        }
    }
    return x;
}

}  // namespace

Array Choose(const Array& x, const std::vector<Array>& choices, IndexBoundsMode mode) {
    static constexpr const char* kOp = "choose";
    if (!IsInt(x.dtype()) && !IsBool(x.dtype())) {
        throw DtypeError{kOp, ": a must be of an integer dtype, got ", x.dtype()};
    }
    if (choices.empty()) throw ValueError{kOp, ": there are no choices"};
    Shape shape = x.shape();
    Dtype dtype = choices[0].dtype();
    for (const Array& choice : choices) {
        CheckSameDevice(kOp, x.device(), choice.device());
        shape = BroadcastShapes(kOp, shape, choice.shape());
        dtype = PromoteTypes(dtype, choice.dtype());
    }
    const auto n = static_cast<int64_t>(choices.size());
    const Array at = WithinChoices(AsType(internal::Detached(x), Dtype::kInt64, false), n, mode);
    Array y = BroadcastTo(AsType(choices.back(), dtype, false), shape);
    for (int64_t k = n - 2; k >= 0; --k) {
        y = Where(Equal(at, Scalar{k}), choices[static_cast<size_t>(k)], y);
    }
    return n == 1 ? Copy(y) : y;
}

namespace {

// Converts all to their common dtype; numbers are weak scalars.
std::vector<Array> InOneDtype(const std::vector<ArrayOrScalar>& operands, Device& device) {
    std::optional<Dtype> dtype;
    for (const ArrayOrScalar& x : operands) {
        if (const Array* a = std::get_if<Array>(&x)) {
            dtype = dtype ? PromoteTypes(*dtype, a->dtype()) : a->dtype();
        }
    }
    const bool has_arrays = dtype.has_value();
    for (const ArrayOrScalar& x : operands) {
        if (const Scalar* s = std::get_if<Scalar>(&x)) {
            dtype = !dtype       ? s->dtype()
                    : has_arrays ? ResultType(*dtype, *s)
                                 : PromoteTypes(*dtype, s->dtype());
        }
    }
    std::vector<Array> arrays;
    for (const ArrayOrScalar& x : operands) {
        if (const Array* a = std::get_if<Array>(&x)) {
            arrays.push_back(AsType(*a, *dtype, false));
        } else {
            arrays.push_back(Full({}, std::get<Scalar>(x), *dtype, device));
        }
    }
    return arrays;
}

}  // namespace

Array Select(const std::vector<Array>& conditions, const std::vector<ArrayOrScalar>& choices,
             const ArrayOrScalar& fallback) {
    static constexpr const char* kOp = "select";
    if (conditions.size() != choices.size()) {
        throw ValueError{kOp, ": condlist has ", conditions.size(), " arrays, choicelist ",
                         choices.size()};
    }
    if (conditions.empty()) throw ValueError{kOp, ": condlist is empty"};
    Shape shape;
    for (const Array& condition : conditions) {
        if (!IsBool(condition.dtype())) {
            throw DtypeError{kOp, ": condlist holds an array of ", condition.dtype(),
                             ", expected bool"};
        }
        CheckSameDevice(kOp, conditions[0].device(), condition.device());
        shape = BroadcastShapes(kOp, shape, condition.shape());
    }
    std::vector<ArrayOrScalar> operands = choices;
    operands.push_back(fallback);
    const std::vector<Array> values = InOneDtype(operands, conditions[0].device());
    for (const Array& value : values) {
        CheckSameDevice(kOp, conditions[0].device(), value.device());
        shape = BroadcastShapes(kOp, shape, value.shape());
    }
    Array y = BroadcastTo(values.back(), shape);
    for (size_t k = choices.size(); k-- > 0;) y = Where(conditions[k], values[k], y);
    return y;
}

namespace {

// Returns the elements along an axis where the flattened condition is nonzero. It may be shorter
// than the axis, or longer if the rest is zero.
Array CompressAlong(const char* op, const Array& condition, const Array& x, int8_t axis) {
    const KeptOperand kept{op, "condition", condition};
    if (condition.GetTotalSize() != x.shape()[axis]) {
        return internal::TakeBy(op, x, axis, [kept] { return Flatnonzero(kept()); });
    }
    return internal::CompressBy(op, x, axis, [kept] {
        return AsContiguous(AsType(Ravel(internal::Detached(kept())), Dtype::kBool, false));
    });
}

}  // namespace

Array Compress(const Array& condition, const Array& x, std::optional<int8_t> axis) {
    static constexpr const char* kOp = "compress";
    CheckSameDevice(kOp, condition.device(), x.device());
    if (condition.ndim() != 1) {
        throw DimensionError{kOp, ": condition has shape ", condition.shape(),
                             ", expected one dimension"};
    }
    if (!axis || internal::IsNumberAlong(x, *axis)) return Compress(condition, Ravel(x), int8_t{0});
    return CompressAlong(kOp, condition, x, NormalizeAxis(kOp, *axis, x.ndim()));
}

Array Extract(const Array& condition, const Array& x) {
    static constexpr const char* kOp = "extract";
    CheckSameDevice(kOp, condition.device(), x.device());
    return CompressAlong(kOp, condition, Ravel(x), 0);
}

}  // namespace chainerx

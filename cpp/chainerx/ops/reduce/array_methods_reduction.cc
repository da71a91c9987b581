// Methods of Array that reduce.
#include "chainerx/core/array.h"
#include "chainerx/ops/reduce/reduction.h"

namespace chainerx {

Array Array::Sum(const OptionalAxes& axes, bool keepdims) const {
    return chainerx::Sum(*this, axes, keepdims);
}
Array Array::Max(const OptionalAxes& axes, bool keepdims) const {
    return AMax(*this, axes, keepdims);
}
Array Array::Min(const OptionalAxes& axes, bool keepdims) const {
    return AMin(*this, axes, keepdims);
}
Array Array::Mean(const OptionalAxes& axes, bool keepdims) const {
    return chainerx::Mean(*this, axes, keepdims);
}
Array Array::Var(const OptionalAxes& axes, bool keepdims) const {
    return chainerx::Var(*this, axes, keepdims);
}
Array Array::All(const OptionalAxes& axes, bool keepdims) const {
    return chainerx::All(*this, axes, keepdims);
}
Array Array::Any(const OptionalAxes& axes, bool keepdims) const {
    return chainerx::Any(*this, axes, keepdims);
}
Array Array::ArgMax(std::optional<int8_t> axis) const { return chainerx::ArgMax(*this, axis); }
Array Array::ArgMin(std::optional<int8_t> axis) const { return chainerx::ArgMin(*this, axis); }

}  // namespace chainerx

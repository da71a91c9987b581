#include "chainerx/autograd/engine_ops.h"

#include "chainerx/ops/routine.h"

namespace chainerx::internal::engine_ops {

Array Add(const Array& x1, const Array& x2) { return chainerx::Add(x1, x2); }
void AddInPlace(const Array& x1, const Array& x2) { IAdd(x1, x2); }
Array Multiply(const Array& x, double factor) { return chainerx::Multiply(x, factor); }
Array SumTo(const Array& x, const Shape& shape) { return internal::SumTo(x, shape); }
Array AsType(const Array& x, Dtype dtype) { return chainerx::AsType(x, dtype, false); }
Array Full(const Shape& shape, double value, Dtype dtype, Device& device) {
    return chainerx::Full(shape, value, dtype, device);
}
Array Copy(const Array& x) { return chainerx::Copy(x); }

}  // namespace chainerx::internal::engine_ops

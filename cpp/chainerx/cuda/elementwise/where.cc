// where: selects between two operands, element by element. It moves bits only, so there is one
// kernel per item size.
#include "chainerx/kernels/elementwise/where.h"

#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/runtime/cuda_backend.h"

namespace chainerx::cuda {
namespace {

constinit const ElementwiseKernel kWhere{
    "Where", "where", DtypeRule::kAny, ElementwiseKernel::kSame, 3, "", ""};
CX_CUDA_ELEMENT(Where, kWhere)

void Where(const Array& condition, const Operand& x, const Operand& y, const Array& out) {
    const Operand inputs[] = {condition, x, y};
    RunElementwise(kWhere, inputs, out.dtype(), out);
}
CX_CUDA_KERNEL(Where)

}  // namespace
}  // namespace chainerx::cuda

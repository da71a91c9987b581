// Fill and AsType: all that creates, copies, converts and rearranges arrays.
#include "chainerx/kernels/strided/memory.h"

#include <utility>

#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/runtime/cuda_backend.h"

namespace chainerx::cuda {
namespace {

constexpr ElementwiseKernel MakeCopy(const char* name, int out_dtype) {
    return {name, "memory", DtypeRule::kAny, out_dtype, 1, "const T& x", "x"};
}

constinit const ElementwiseKernel kFill = MakeCopy("Fill", ElementwiseKernel::kSame);

// By the dtype of the result.
#define CX_COPY(Enum, Type, name, code, kind) \
    MakeCopy("AsType_" name, static_cast<int>(Dtype::Enum)),
constinit const ElementwiseKernel kCopies[] = {CX_DTYPE_LIST(CX_COPY)};
#undef CX_COPY

void Fill(const Array& out, const Scalar& value) {
    const Operand inputs[] = {value};
    RunElementwise(kFill, inputs, out.dtype(), out);
}
CX_CUDA_KERNEL(Fill)
CX_CUDA_ELEMENT(Fill, kFill)

void AsType(const Array& x, const Array& out) {
    const Operand inputs[] = {x};
    RunElementwise(kCopies[static_cast<int>(out.dtype())], inputs, x.dtype(), out);
}
CX_CUDA_KERNEL(AsType)
CX_CUDA_ELEMENT(AsType, kCopies[static_cast<int>(out)])

}  // namespace
}  // namespace chainerx::cuda

// Absolute values and conjugates of complex numbers.
#include "chainerx/kernels/elementwise/complex.h"

#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/runtime/cuda_backend.h"

namespace chainerx::cuda {
namespace {

constexpr ElementwiseKernel MakeRow(const char* name, int out_dtype, const char* expression) {
    return {name, "complex", DtypeRule::kAny, out_dtype, 1, "const T& x", expression};
}
constexpr ElementwiseKernel MakeAbsolute(Dtype part) {
    return MakeRow("ComplexAbsolute", static_cast<int>(part), "math::Abs(x)");
}

// By the dtype of the parts.
constinit const ElementwiseKernel kAbsolute32 = MakeAbsolute(Dtype::kFloat32);
constinit const ElementwiseKernel kAbsolute64 = MakeAbsolute(Dtype::kFloat64);
constinit const ElementwiseKernel kConjugate =
    MakeRow("ComplexConjugate", ElementwiseKernel::kSame, "T(x.real, math::Negate(x.imag))");

void Run(const ElementwiseKernel& kernel, const Array& x, const Array& out) {
    const Operand inputs[] = {x};
    RunElementwise(kernel, inputs, x.dtype(), out);
}

const ElementwiseKernel& AbsoluteInto(Dtype out) {
    return out == Dtype::kFloat32 ? kAbsolute32 : kAbsolute64;
}

void ComplexAbsolute(const Array& x, const Array& out) { Run(AbsoluteInto(out.dtype()), x, out); }
CX_CUDA_KERNEL(ComplexAbsolute)
CX_CUDA_ELEMENT(ComplexAbsolute, AbsoluteInto(out))

void ComplexConjugate(const Array& x, const Array& out) { Run(kConjugate, x, out); }
CX_CUDA_KERNEL(ComplexConjugate)
CX_CUDA_ELEMENT(ComplexConjugate, kConjugate)

}  // namespace
}  // namespace chainerx::cuda

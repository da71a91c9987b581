// Expands a family's table into kernels. The sources that include this once are written by
// cmake/families.cmake: they define CX_FAMILY, its name, and CX_FAMILY_DEF, the table.
#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/runtime/cuda_backend.h"

#define CX_TEXT_OF(name) #name
#define CX_TEXT(name) CX_TEXT_OF(name)

namespace chainerx::cuda {
namespace {

#define CX_ROW(Name, rule, out_dtype, inputs, parameters, ...)                                    \
    constinit const ElementwiseKernel kKernel##Name{                                              \
        #Name, CX_TEXT(CX_FAMILY), DtypeRule::rule, out_dtype, inputs, parameters, #__VA_ARGS__}; \
    CX_CUDA_ELEMENT(Name, kKernel##Name)
#define CX_DEFINE_UNARY(Name)                                  \
    void Name(const Array& x, const Array& out) {              \
        const Operand inputs[] = {x};                          \
        RunElementwise(kKernel##Name, inputs, x.dtype(), out); \
    }                                                          \
    CX_CUDA_KERNEL(Name)
#define CX_DEFINE_BINARY(Name)                                             \
    void Name(const Operand& x1, const Operand& x2, const Array& out) {    \
        const Operand inputs[] = {x1, x2};                                 \
        RunElementwise(kKernel##Name, inputs, DtypeOfArrays(inputs), out); \
    }                                                                      \
    CX_CUDA_KERNEL(Name)
#define CX_UNARY(Name, rule, gx, ...)                                          \
    CX_ROW(Name, rule, ElementwiseKernel::kSame, 1, "const T& x", __VA_ARGS__) \
    CX_DEFINE_UNARY(Name)
#define CX_PREDICATE(Name, rule, ...)                                                \
    CX_ROW(Name, rule, static_cast<int>(Dtype::kBool), 1, "const T& x", __VA_ARGS__) \
    CX_DEFINE_UNARY(Name)
#define CX_BINARY(Name, rule, gx1, gx2, ...)                                                 \
    CX_ROW(Name, rule, ElementwiseKernel::kSame, 2, "const T& x1, const T& x2", __VA_ARGS__) \
    CX_DEFINE_BINARY(Name)
#define CX_COMPARE(Name, rule, ...)                                                                \
    CX_ROW(Name, rule, static_cast<int>(Dtype::kBool), 2, "const T& x1, const T& x2", __VA_ARGS__) \
    CX_DEFINE_BINARY(Name)
#define CX_UNARY_ATTR(Name, rule, attr, gx, ...)                                                \
    CX_ROW(Name, rule, ElementwiseKernel::kSame, 2, "const T& x, const T& " #attr, __VA_ARGS__) \
    void Name(const Array& x, double attr, const Array& out) {                                  \
        const Scalar scalar{attr};                                                              \
        const Operand inputs[] = {x, scalar};                                                   \
        RunElementwise(kKernel##Name, inputs, x.dtype(), out);                                  \
    }                                                                                           \
    CX_CUDA_KERNEL(Name)
#define CX_TERNARY(Name, rule, gx1, gx2, gx3, ...)                                           \
    CX_ROW(Name, rule, ElementwiseKernel::kSame, 3, "const T& x1, const T& x2, const T& x3", \
           __VA_ARGS__)                                                                      \
    void Name(const Operand& x1, const Operand& x2, const Operand& x3, const Array& out) {   \
        const Operand inputs[] = {x1, x2, x3};                                               \
        RunElementwise(kKernel##Name, inputs, DtypeOfArrays(inputs), out);                   \
    }                                                                                        \
    CX_CUDA_KERNEL(Name)
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"

}  // namespace
}  // namespace chainerx::cuda

// Declares the kernels of a family. The family's header defines CX_KERNEL_FAMILY, its name,
// CX_KERNEL_FAMILY_NUMBER, which must be unique, and CX_KERNEL_DEF, the table of its rows, and
// includes this.
//
// kernels::Matmul::Fn is the function type, kernels::Matmul::kInfo the descriptor. Ids belong to
// the family, so that a new row changes no other family.
#include "chainerx/kernels/operands.h"

// The columns of a row.
#define IN(name) ArrayOperand<OperandRole::kIn, #name>
#define IN_OR_SCALAR(name) ArrayOrScalarOperand<#name>
#define IN_LIST(name) ArraysOperand<OperandRole::kIn, #name>
#define INOUT_LIST(name) ArraysOperand<OperandRole::kInOut, #name>
#define OUT(name) ArrayOperand<OperandRole::kOut, #name>
#define OUT_OR_SAME(name) ArrayOperand<OperandRole::kOutSame, #name>
#define INOUT(name) ArrayOperand<OperandRole::kInOut, #name>
#define ATTR(Type, name) ValueOperand<Type, #Type, #name>

// The rows of elementwise operations (ops/elementwise/tables/*.def) are kernels, too.
#define CX_UNARY(Name, ...) CX_KERNEL(Name, IN(x), OUT_OR_SAME(out))
#define CX_UNARY_ATTR(Name, rule, attr, ...) \
    CX_KERNEL(Name, IN(x), ATTR(double, attr), OUT_OR_SAME(out))
#define CX_PREDICATE(Name, ...) CX_KERNEL(Name, IN(x), OUT_OR_SAME(out))
#define CX_BINARY(Name, ...) CX_KERNEL(Name, IN_OR_SCALAR(x1), IN_OR_SCALAR(x2), OUT_OR_SAME(out))
#define CX_COMPARE(Name, ...) CX_KERNEL(Name, IN_OR_SCALAR(x1), IN_OR_SCALAR(x2), OUT_OR_SAME(out))
#define CX_TERNARY(Name, ...) \
    CX_KERNEL(Name, IN_OR_SCALAR(x1), IN_OR_SCALAR(x2), IN_OR_SCALAR(x3), OUT_OR_SAME(out))

#define CX_TEXT_OF(name) #name
#define CX_TEXT(name) CX_TEXT_OF(name)
#define CX_JOIN_OF(a, b) a##b
#define CX_JOIN(a, b) CX_JOIN_OF(a, b)
#define CX_PLACES CX_JOIN(CX_KERNEL_FAMILY, _place)

// Each library that includes this has its own copies.
#pragma GCC visibility push(hidden)

namespace chainerx::kernels {

// The index of each row in the family.
namespace CX_PLACES {
#define CX_KERNEL(Name, ...) Name,
enum : int {
#include CX_KERNEL_DEF
    kEnd
};
#undef CX_KERNEL
}  // namespace CX_PLACES

static_assert(CX_PLACES::kEnd <= kKernelsPerFamily, "a family this large is two");
static_assert(CX_KERNEL_FAMILY_NUMBER >= 0 && CX_KERNEL_FAMILY_NUMBER < kMaxKernelFamilies);

#define CX_KERNEL(Name, ...)                                                                      \
    struct Name : Signature<__VA_ARGS__> {                                                        \
        static constexpr int kId = CX_KERNEL_FAMILY_NUMBER * kKernelsPerFamily + CX_PLACES::Name; \
        static constexpr KernelInfo kInfo = Info(#Name, CX_TEXT(CX_KERNEL_FAMILY), kId);          \
        static constexpr uint64_t kSignatureHash = kInfo.signature_hash;                          \
    };
#include CX_KERNEL_DEF
#undef CX_KERNEL

#define CX_KERNEL(Name, ...) &Name::kInfo,
template <>
struct FamilyAt<CX_KERNEL_FAMILY_NUMBER> {
    static constexpr const KernelInfo* kKernels[] = {
#include CX_KERNEL_DEF
    };
};
#undef CX_KERNEL

}  // namespace chainerx::kernels

#pragma GCC visibility pop

#undef IN
#undef IN_OR_SCALAR
#undef IN_LIST
#undef INOUT_LIST
#undef OUT
#undef OUT_OR_SAME
#undef INOUT
#undef ATTR
#undef CX_UNARY
#undef CX_UNARY_ATTR
#undef CX_PREDICATE
#undef CX_BINARY
#undef CX_COMPARE
#undef CX_TERNARY
#undef CX_TEXT_OF
#undef CX_TEXT
#undef CX_JOIN_OF
#undef CX_JOIN
#undef CX_PLACES
#undef CX_KERNEL_FAMILY
#undef CX_KERNEL_FAMILY_NUMBER
#undef CX_KERNEL_DEF

// Shared by the routines of all elementwise families: the dtype in which a row computes, the
// output, the call of the kernel. Not for users, who include the families' headers.
#pragma once

#include <span>

#include "chainerx/autograd/op_info.h"
#include "chainerx/core/array.h"
#include "chainerx/kernels/dtype_rule.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::internal {

// Describes a row at run time.
struct ElementwiseOp : OpInfo {
    DtypeRule rule;
    bool to_bool;  // predicates and comparisons
};

CX_API Array CallUnary(const ElementwiseOp& op, const Array& x);
CX_API Array CallUnary(const ElementwiseOp& op, const Array& x, double attr);
CX_API Array CallBinary(const ElementwiseOp& op, const Array& x1, const Array& x2);
CX_API Array CallBinary(const ElementwiseOp& op, const Array& x1, const Scalar& x2);
CX_API Array CallBinary(const ElementwiseOp& op, const Scalar& x1, const Array& x2);
// At least one operand must be an array.
CX_API Array CallTernary(const ElementwiseOp& op, const Operand& x1, const Operand& x2,
                         const Operand& x3);

// x1 = op(x1, x2). Checks that nothing in a graph is overwritten, that the result fits the shape of
// x1, and that its dtype is of no higher category than that of x1. Memory that both share is copied
// first.
CX_API void CallInPlace(const ElementwiseOp& op, const Array& x1, const Array& x2);
CX_API void CallInPlace(const ElementwiseOp& op, const Array& x1, const Scalar& x2);

// Checks the arguments of a forward derivative: `n_inputs` arrays that broadcast to y, tangents of
// their shapes, and `n_attributes` attributes.
CX_API void CheckForward(const ForwardInputs& f, size_t n_inputs, size_t n_attributes);

// Converts "FloorDivide" to "floor_divide" at compile time.
template <int kSize>
struct SnakeName {
    char text[2 * kSize]{};

    constexpr SnakeName(
        const char (&camel)[kSize]) {  // NOLINT: made from a literal as template argument
        int n = 0;
        for (int i = 0; i < kSize - 1; ++i) {
            const bool upper = camel[i] >= 'A' && camel[i] <= 'Z';
            if (upper && i > 0) text[n++] = '_';
            text[n++] = upper ? static_cast<char>(camel[i] - 'A' + 'a') : camel[i];
        }
    }
};

}  // namespace chainerx::internal

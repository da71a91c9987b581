// Declares the routines of a family. The family's header defines CX_DECLARED_DEF and includes this.
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/elementwise/compute_into.h"
#include "chainerx/ops/elementwise/ternary_forms.h"

namespace chainerx {

// Declares the operation of a row, and its form with an output.
#define CX_OPERATION(Name)                  \
    namespace internal {                    \
    CX_API const ElementwiseOp& Op##Name(); \
    }
#define CX_UNPACK(...) __VA_ARGS__
#define CX_INTO(Name, params, ...)                                                             \
    CX_OPERATION(Name)                                                                         \
    inline void Name##Into(const Array& out, CX_UNPACK params, const Array* where = nullptr) { \
        const Operand operands[] = {__VA_ARGS__};                                              \
        internal::ComputeInto(internal::Op##Name(), operands, out, where);                     \
    }

#define CX_UNARY(Name, ...)            \
    CX_API Array Name(const Array& x); \
    CX_INTO(Name, (const Array& x), x)
#define CX_UNARY_ATTR(Name, rule, attr, ...)        \
    CX_API Array Name(const Array& x, double attr); \
    CX_OPERATION(Name)
#define CX_PREDICATE(Name, ...)        \
    CX_API Array Name(const Array& x); \
    CX_INTO(Name, (const Array& x), x)
#define CX_BINARY_FORMS(Name)                             \
    CX_API Array Name(const Array& x1, const Array& x2);  \
    CX_API Array Name(const Array& x1, const Scalar& x2); \
    CX_API Array Name(const Scalar& x1, const Array& x2); \
    CX_INTO(Name, (const Operand& x1, const Operand& x2), x1, x2)
#define CX_BINARY(Name, ...)                                \
    CX_BINARY_FORMS(Name)                                   \
    namespace internal {                                    \
    CX_API void I##Name(const Array& x1, const Array& x2);  \
    CX_API void I##Name(const Array& x1, const Scalar& x2); \
    }
#define CX_COMPARE(Name, ...) CX_BINARY_FORMS(Name)
#define CX_TERNARY_FORM(Name, T1, T2, T3) \
    CX_API Array Name(const T1& x1, const T2& x2, const T3& x3);
#define CX_TERNARY(Name, ...)               \
    CX_TERNARY_FORMS(CX_TERNARY_FORM, Name) \
    CX_INTO(Name, (const Operand& x1, const Operand& x2, const Operand& x3), x1, x2, x3)
#include CX_DECLARED_DEF
#undef CX_OPERATION
#undef CX_UNPACK
#undef CX_INTO
#undef CX_UNARY
#undef CX_UNARY_ATTR
#undef CX_PREDICATE
#undef CX_BINARY_FORMS
#undef CX_BINARY
#undef CX_COMPARE
#undef CX_TERNARY
#undef CX_TERNARY_FORM
#undef CX_DECLARED_DEF

}  // namespace chainerx

// Declares the routines of a family. The family's header defines CX_DECLARED_DEF and includes this.
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/ternary_forms.h"

namespace chainerx {

#define CX_UNARY(Name, ...) CX_API Array Name(const Array& x);
#define CX_UNARY_ATTR(Name, rule, attr, ...) CX_API Array Name(const Array& x, double attr);
#define CX_PREDICATE(Name, ...) CX_API Array Name(const Array& x);
#define CX_BINARY(Name, ...)                                \
    CX_API Array Name(const Array& x1, const Array& x2);    \
    CX_API Array Name(const Array& x1, const Scalar& x2);   \
    CX_API Array Name(const Scalar& x1, const Array& x2);   \
    namespace internal {                                    \
    CX_API void I##Name(const Array& x1, const Array& x2);  \
    CX_API void I##Name(const Array& x1, const Scalar& x2); \
    }
#define CX_COMPARE(Name, ...)                             \
    CX_API Array Name(const Array& x1, const Array& x2);  \
    CX_API Array Name(const Array& x1, const Scalar& x2); \
    CX_API Array Name(const Scalar& x1, const Array& x2);
#define CX_TERNARY_FORM(Name, T1, T2, T3) \
    CX_API Array Name(const T1& x1, const T2& x2, const T3& x3);
#define CX_TERNARY(Name, ...) CX_TERNARY_FORMS(CX_TERNARY_FORM, Name)
#include CX_DECLARED_DEF
#undef CX_UNARY
#undef CX_UNARY_ATTR
#undef CX_PREDICATE
#undef CX_BINARY
#undef CX_COMPARE
#undef CX_TERNARY
#undef CX_TERNARY_FORM
#undef CX_DECLARED_DEF

}  // namespace chainerx

// Bitwise operators between arrays and scalars, in a header of their own since few files use them.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"

namespace chainerx {

#define CX_OPERATOR(symbol, Name)                                                            \
    inline Array operator symbol(const Array& x1, const Array& x2) { return Name(x1, x2); }  \
    inline Array operator symbol(const Array& x1, const Scalar& x2) { return Name(x1, x2); } \
    inline Array operator symbol(const Scalar& x1, const Array& x2) { return Name(x1, x2); }
#define CX_OPERATOR_ASSIGN(symbol, Name)                                     \
    inline const Array& operator symbol(const Array& x1, const Array& x2) {  \
        internal::I##Name(x1, x2);                                           \
        return x1;                                                           \
    }                                                                        \
    inline const Array& operator symbol(const Array& x1, const Scalar& x2) { \
        internal::I##Name(x1, x2);                                           \
        return x1;                                                           \
    }

CX_OPERATOR(&, BitwiseAnd)
CX_OPERATOR(|, BitwiseOr)
CX_OPERATOR(^, BitwiseXor)
CX_OPERATOR(<<, LeftShift)
CX_OPERATOR(>>, RightShift)

CX_OPERATOR_ASSIGN(&=, BitwiseAnd)
CX_OPERATOR_ASSIGN(|=, BitwiseOr)
CX_OPERATOR_ASSIGN(^=, BitwiseXor)
CX_OPERATOR_ASSIGN(<<=, LeftShift)
CX_OPERATOR_ASSIGN(>>=, RightShift)

#undef CX_OPERATOR
#undef CX_OPERATOR_ASSIGN

inline Array operator~(const Array& x) { return Invert(x); }

}  // namespace chainerx

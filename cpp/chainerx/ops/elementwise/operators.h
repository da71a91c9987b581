// Operators between arrays and scalars.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/elementwise/tables/logic.h"

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

CX_OPERATOR(+, Add)
CX_OPERATOR(-, Subtract)
CX_OPERATOR(*, Multiply)
CX_OPERATOR(/, Divide)
CX_OPERATOR(%, Remainder)
CX_OPERATOR(==, Equal)
CX_OPERATOR(!=, NotEqual)
CX_OPERATOR(<, Less)
CX_OPERATOR(<=, LessEqual)
CX_OPERATOR(>, Greater)
CX_OPERATOR(>=, GreaterEqual)

CX_OPERATOR_ASSIGN(+=, Add)
CX_OPERATOR_ASSIGN(-=, Subtract)
CX_OPERATOR_ASSIGN(*=, Multiply)
CX_OPERATOR_ASSIGN(/=, Divide)
CX_OPERATOR_ASSIGN(%=, Remainder)

#undef CX_OPERATOR
#undef CX_OPERATOR_ASSIGN

inline Array operator-(const Array& x) { return Negative(x); }
inline Array operator+(const Array& x) { return Positive(x); }

}  // namespace chainerx

// Elementwise routines that are rows of the tables in ops/elementwise/tables/*.def, or compositions
// of a few rows.
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/composed_math.h"
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/tables/logic.h"
#include "chainerx/ops/elementwise/tables/numeric.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/python/elementwise_rows.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

// ---- arithmetic
#define CX_DOC "any dtype but bool", CX_SAME CX_GRADIENT CX_RAISES_BOOL
CX_UNARY(negative, Negative, "Negative of each element.", CX_DOC)
CX_UNARY(positive, Positive, "A copy of each element.", CX_DOC)
CX_UNARY(square, Square, "Square of each element.", CX_DOC)
CX_UNARY(absolute, Absolute, "Absolute value of each element; the modulus of complex numbers.",
         "any dtype but bool",
         "Returns:\n"
         "    ndarray: Shape and dtype of ``x``; the real dtype for complex ones." CX_GRADIENT
             CX_RAISES_BOOL)
CX_ALIAS(abs, absolute)
CX_UNARY(reciprocal, Reciprocal, "Reciprocal of each element.", "any dtype but bool",
         CX_FLOAT CX_GRADIENT CX_RAISES_BOOL)
CX_UNARY(sign, Sign,
         "Sign of each element: -1, 0 or 1; nan for nan. For complex numbers ``x / abs(x)``, or 0.",
         "any dtype but bool",
         "Returns:\n"
         "    ndarray: Shape and dtype of ``x``. Differentiable, any order, for complex numbers\n"
         "    only; the gradient at 0 is 0." CX_RAISES_BOOL)
CX_COMPOSED(fabs, Fabs, "Absolute value of each element, in a float dtype.", "any real dtype",
            CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)
#undef CX_DOC
CX_BINARY(add, Add, "Sum of two operands.", CX_PROMOTED CX_GRADIENT CX_RAISES_BOOL)
CX_BINARY(subtract, Subtract, "Difference of two operands.", CX_PROMOTED CX_GRADIENT CX_RAISES_BOOL)
CX_BINARY(multiply, Multiply, "Product of two operands; bool is allowed.", CX_PROMOTED CX_GRADIENT)
CX_BINARY(divide, Divide, "True quotient of two operands.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_BOOL)
CX_ALIAS(true_divide, divide)
CX_BINARY(floor_divide, FloorDivide, "Floor of the quotient; an integer by 0 gives 0.",
          CX_PROMOTED CX_NO_GRADIENT CX_RAISES_BOOL)
CX_BINARY(remainder, Remainder, "Remainder with the sign of ``x2``; an integer by 0 gives 0.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_BOOL)
CX_ALIAS(mod, remainder)
CX_BINARY(fmod, Fmod, "Remainder with the sign of ``x1``; an integer by 0 gives 0.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_BOOL)
CX_BINARY(power, Power, "``x1`` to the power of ``x2``; a negative power of an integer is 0.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_BOOL)
CX_ALIAS(pow, power)
CX_BINARY(maximum, Maximum,
          "The larger of two operands; nan if one is nan. Equal elements share the gradient; one "
          "that equals a scalar operand gets all of it.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(minimum, Minimum,
          "The smaller of two operands; nan if one is nan. Equal elements share the gradient; one "
          "that equals a scalar operand gets all of it.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(copysign, Copysign, "``x1`` with the sign of ``x2``.",
          CX_PROMOTED_FLOAT CX_NO_GRADIENT CX_RAISES_COMPLEX)

// ---- exponentials, circular and hyperbolic functions
#define CX_DOC "any real or complex dtype", CX_FLOAT CX_GRADIENT
CX_UNARY(sqrt, Sqrt, "Square root of each element.", CX_DOC)
CX_UNARY(exp, Exp, "Exponential of each element.", CX_DOC)
CX_UNARY(log, Log, "Natural logarithm of each element.", CX_DOC)
CX_UNARY(sin, Sin, "Sine of each element.", CX_DOC)
CX_UNARY(cos, Cos, "Cosine of each element.", CX_DOC)
CX_UNARY(tan, Tan, "Tangent of each element.", CX_DOC)
CX_UNARY(sinh, Sinh, "Hyperbolic sine of each element.", CX_DOC)
CX_UNARY(cosh, Cosh, "Hyperbolic cosine of each element.", CX_DOC)
CX_UNARY(tanh, Tanh, "Hyperbolic tangent of each element.", CX_DOC)
CX_UNARY(expm1, Expm1, "``exp(x) - 1``, accurate near 0.", CX_DOC)
CX_UNARY(exp2, Exp2, "Two to the power of each element.", CX_DOC)
CX_UNARY(log1p, Log1p, "``log(1 + x)``, accurate near 0.", CX_DOC)
CX_UNARY(log2, Log2, "Base-2 logarithm.", CX_DOC)
CX_UNARY(log10, Log10, "Base-10 logarithm.", CX_DOC)
CX_UNARY(arcsin, Arcsin, "Inverse sine of each element.", CX_DOC)
CX_ALIAS(asin, arcsin)
CX_UNARY(arccos, Arccos, "Inverse cosine of each element.", CX_DOC)
CX_ALIAS(acos, arccos)
CX_UNARY(arctan, Arctan, "Inverse tangent of each element.", CX_DOC)
CX_ALIAS(atan, arctan)
CX_UNARY(arcsinh, Arcsinh, "Inverse hyperbolic sine of each element.", CX_DOC)
CX_ALIAS(asinh, arcsinh)
CX_UNARY(arccosh, Arccosh, "Inverse hyperbolic cosine of each element.", CX_DOC)
CX_ALIAS(acosh, arccosh)
CX_UNARY(arctanh, Arctanh, "Inverse hyperbolic tangent of each element.", CX_DOC)
CX_ALIAS(atanh, arctanh)
#undef CX_DOC
#define CX_DOC "any real dtype", CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX
CX_UNARY(cbrt, Cbrt, "Cube root of each element.", CX_DOC)
CX_UNARY(erf, Erf, "Error function of each element.", CX_DOC)
#undef CX_DOC
CX_BINARY(logaddexp, Logaddexp, "``log(exp(x1) + exp(x2))`` without overflow.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(arctan2, Arctan2, "Angle of the point with ordinate ``x1`` and abscissa ``x2``.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)
CX_ALIAS(atan2, arctan2)
CX_BINARY(hypot, Hypot, "Length of the hypotenuse, without overflow.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)

// ---- rounding
#define CX_DOC "any real dtype", CX_SAME CX_NO_GRADIENT CX_RAISES_COMPLEX
CX_UNARY(ceil, Ceil, "Ceiling: the smallest integer not below each element.", CX_DOC)
CX_UNARY(floor, Floor, "Floor: the largest integer not above each element.", CX_DOC)
CX_UNARY(trunc, Trunc, "Each element rounded toward zero.", CX_DOC)
CX_UNARY(fix, Trunc, "Each element rounded toward zero.", CX_DOC)
#undef CX_DOC
CX_ELEMENTWISE(
    kRoutine, rint, 1, "x: ndarray", CX_OPTIONS, &internal::OpRint,
    "The nearest integer, ties to even; complex numbers are rounded in both parts." CX_ARGS_X
    "any dtype.\n" CX_OPTION_ARGS CX_FLOAT CX_NO_GRADIENT) {
    const Array& x = ToArray("rint", "x", a[0]);
    return Wrap(IsComplex(x.dtype()) ? Round(x) : Rint(x));
}

// ---- bits
#define CX_DOC CX_PROMOTED CX_NO_GRADIENT "Raises:\n    DtypeError: If an operand is a float."
CX_BINARY(bitwise_and, BitwiseAnd, "Bitwise and.", CX_DOC)
CX_BINARY(bitwise_or, BitwiseOr, "Bitwise or.", CX_DOC)
CX_BINARY(bitwise_xor, BitwiseXor, "Bitwise exclusive or.", CX_DOC)
#undef CX_DOC
#define CX_DOC                                                                     \
    "Returns:\n    ndarray: Broadcast shape, dtype of ``x1``, int64 for a scalar " \
    "``x1``." CX_NO_GRADIENT                                                       \
    "Raises:\n"                                                                    \
    "    DtypeError: If an operand is not of an integer dtype."
CX_BINARY(left_shift, LeftShift, "Bits of ``x1``, shifted left by ``x2``.", CX_DOC)
CX_BINARY(right_shift, RightShift, "Bits of ``x1``, shifted right by ``x2``.", CX_DOC)
CX_ALIAS(bitwise_left_shift, left_shift)
CX_ALIAS(bitwise_right_shift, right_shift)
#undef CX_DOC
#define CX_DOC "bool or integers", CX_SAME CX_NO_GRADIENT "Raises:\n    DtypeError: For floats."
CX_UNARY(invert, Invert, "Bitwise complement; logical not for bool.", CX_DOC)
CX_ALIAS(bitwise_not, invert)
CX_ALIAS(bitwise_invert, invert)
#undef CX_DOC

// ---- comparisons and logic
#define CX_DOC             \
    CX_BOOL CX_NO_GRADIENT \
        "Raises:\n"        \
        "    DtypeError: If one operand is bool and the other is not."
CX_COMPARE(equal, Equal, "Whether elements are equal.", CX_DOC)
CX_COMPARE(not_equal, NotEqual, "Whether elements differ.", CX_DOC)
CX_COMPARE(greater, Greater, "Whether ``x1`` is greater.", CX_DOC)
CX_COMPARE(greater_equal, GreaterEqual, "Whether ``x1`` is greater or equal.", CX_DOC)
CX_COMPARE(less, Less, "Whether ``x1`` is less.", CX_DOC)
CX_COMPARE(less_equal, LessEqual, "Whether ``x1`` is less or equal.", CX_DOC)
#undef CX_DOC
#define CX_DOC CX_BOOL " Not differentiable."
CX_COMPARE(logical_and, LogicalAnd, "Logical and: whether both operands are not 0.", CX_DOC)
CX_COMPARE(logical_or, LogicalOr, "Logical or: whether at least one operand is not 0.", CX_DOC)
CX_COMPARE(logical_xor, LogicalXor, "Logical exclusive or: whether exactly one operand is not 0.",
           CX_DOC)
#undef CX_DOC
#define CX_DOC "any dtype", CX_BOOL CX_NO_GRADIENT
CX_PREDICATE(logical_not, LogicalNot, "Whether each element is 0.", CX_DOC)
CX_PREDICATE(isnan, Isnan, "Whether each element is nan.", CX_DOC)
CX_PREDICATE(isinf, Isinf, "Whether each element is infinite.", CX_DOC)
CX_PREDICATE(isfinite, Isfinite, "Whether each element is finite: neither infinite nor nan.",
             CX_DOC)
CX_PREDICATE(signbit, Signbit, "Whether the sign bit of each element is set.", CX_DOC)
#undef CX_DOC

CX_ROUTINE(
    where, "condition: ArrayLike, x: ndarray | Scalar = ..., y: ndarray | Scalar = ...) -> ndarray",
    "Elements of ``x`` where ``condition`` holds, of ``y`` elsewhere.\n\n"
    "Args:\n"
    "    condition (ndarray or list): Any dtype; not 0 means that it holds.\n"
    "    x (ndarray or scalar): Broadcast with the others.\n"
    "    y (ndarray or scalar): Broadcast with the others.\n"
    "Returns:\n"
    "    ndarray: Promoted dtype of ``x`` and ``y``. Differentiable in both, any order. Without\n"
    "    ``x`` and ``y``, the tuple that :func:`nonzero` returns.\n"
    "Raises:\n"
    "    DimensionError: If the shapes do not broadcast.\n"
    "    ValueError: If only one of ``x`` and ``y`` is given.") {
    const int known = a[1] != nullptr && IsNdArray(a[1]) ? 1 : 2;
    const bool is_known = a[known] != nullptr && IsNdArray(a[known]);
    std::optional<Array> list;
    if (!IsNdArray(a[0])) {
        Device& device = is_known ? Self(a[known]).device() : GetDefaultDevice();
        list = ToCondition("where", "condition", a[0], device);
    }
    const Array& condition = list ? *list : Self(a[0]);
    if (a[1] == nullptr || a[2] == nullptr) {
        if (a[1] != nullptr || a[2] != nullptr) {
            throw ValueError{"where: one of x and y is given, expected both or neither"};
        }
        return WrapTuple(Nonzero(condition));
    }
    if (IsNdArray(a[1])) {
        if (IsNdArray(a[2])) return Wrap(Where(condition, Self(a[1]), Self(a[2])));
        return Wrap(Where(condition, Self(a[1]), ToNumberBeside("where", "y", a[2])));
    }
    const Scalar x = ToNumberBeside("where", "x", a[1]);
    if (IsNdArray(a[2])) return Wrap(Where(condition, x, Self(a[2])));
    return Wrap(Where(condition, x, ToNumberBeside("where", "y", a[2])));
}

}  // namespace
}  // namespace chainerx::python

// Elementwise routines: one line per name. The dtypes are those of the row's rule in ops/*.def.
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/bitwise.h"
#include "chainerx/ops/composed.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/hyperbolic.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/logic.h"
#include "chainerx/ops/rounding.h"
#include "chainerx/ops/trigonometric.h"
#include "chainerx/ops/where.h"
#include "chainerx/python/binary.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

#define CX_ARGS_X "\n\nArgs:\n    x (ndarray): Any shape, "
#define CX_ARGS_X1_X2                                                 \
    "\n\nArgs:\n    x1 (ndarray or scalar): Broadcast with ``x2``.\n" \
    "    x2 (ndarray or scalar): At most one of the two is a scalar, whose dtype is weak.\n"
#define CX_GRADIENT " Differentiable, any order.\n"
#define CX_NO_GRADIENT " Not differentiable.\n"
#define CX_SAME "Returns:\n    ndarray: Shape and dtype of ``x``."
#define CX_FLOAT \
    "Returns:\n    ndarray: Shape of ``x``, its float dtype; float32 for integers and bool."
#define CX_PROMOTED "Returns:\n    ndarray: Broadcast shape, promoted dtype."
#define CX_PROMOTED_FLOAT \
    "Returns:\n    ndarray: Broadcast shape, promoted float dtype; float32 for integers."
#define CX_BOOL "Returns:\n    ndarray: bool."
#define CX_RAISES_BOOL "Raises:\n    DtypeError: If an operand is bool."
#define CX_RAISES_COMPLEX "Raises:\n    DtypeError: If an operand is complex."

// CX_DOC below is two arguments in one, so it is expanded first.
#define CX_UNARY(...) CX_UNARY_EXPANDED(__VA_ARGS__)
#define CX_UNARY_EXPANDED(py, Name, doc, dtypes, result)                          \
    CX_ROUTINE(py, "x: ndarray) -> ndarray", doc CX_ARGS_X dtypes ".\n" result) { \
        return Wrap(Name(ToArray(#py, "x", a[0])));                               \
    }
#define CX_BINARY(py, Name, doc, result)                                                        \
    CX_ROUTINE(py, "x1: ndarray | Scalar, x2: ndarray | Scalar) -> ndarray",                    \
               doc CX_ARGS_X1_X2 result) {                                                      \
        return CallBinary(#py, a, [](const auto& x1, const auto& x2) { return Name(x1, x2); }); \
    }

// ---- arithmetic
#define CX_DOC "any dtype but bool", CX_SAME CX_GRADIENT CX_RAISES_BOOL
CX_UNARY(negative, Negative, "Negative of each element.", CX_DOC)
CX_UNARY(positive, Positive, "A copy of each element.", CX_DOC)
CX_UNARY(square, Square, "Square of each element.", CX_DOC)
CX_UNARY(absolute, Absolute, "Absolute value of each element.", CX_DOC)
CX_ALIAS(abs, absolute)
CX_UNARY(reciprocal, Reciprocal, "One over each element.", "any dtype but bool",
         CX_FLOAT CX_GRADIENT CX_RAISES_BOOL)
CX_UNARY(sign, Sign, "-1, 0 or 1 by the sign of each element; nan stays.", "any real dtype",
         CX_SAME CX_NO_GRADIENT CX_RAISES_BOOL)
CX_UNARY(fabs, Fabs, "Absolute value of each element, in a float dtype.", "any real dtype",
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
CX_BINARY(maximum, Maximum,
          "The larger of two operands; nan wins. Equal arrays share the gradient, an array that "
          "equals a scalar takes it.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(minimum, Minimum,
          "The smaller of two operands; nan wins. Equal arrays share the gradient, an array that "
          "equals a scalar takes it.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(copysign, Copysign, "``x1`` with the sign of ``x2``.",
          CX_PROMOTED_FLOAT CX_NO_GRADIENT CX_RAISES_COMPLEX)

std::optional<Scalar> ToBound(const char* name, PyObject* o) {
    return Given(o) ? std::optional<Scalar>{ToOperand("clip", name, o)} : std::nullopt;
}

PyObject* ClipTo(const Array& a, PyObject* low, PyObject* high) {
    if (!IsNdArray(low) && !IsNdArray(high)) {
        return Wrap(Clip(a, ToBound("a_min", low), ToBound("a_max", high)));
    }
    if (!Given(low)) return Wrap(Minimum(a, Self(high)));
    if (!Given(high)) return Wrap(Maximum(a, Self(low)));
    if (!IsNdArray(low)) return Wrap(Clamp(a, ToOperand("clip", "a_min", low), Self(high)));
    if (!IsNdArray(high)) return Wrap(Clamp(a, Self(low), ToOperand("clip", "a_max", high)));
    return Wrap(Clamp(a, Self(low), Self(high)));
}

CX_ROUTINE(clip,
           "a: ndarray, a_min: ndarray | Scalar | None, a_max: ndarray | Scalar | None) -> ndarray",
           "Limits the values to a range.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, any real dtype.\n"
           "    a_min (ndarray or scalar): Lower bound, or None.\n"
           "    a_max (ndarray or scalar): Upper bound, or None. Wins where the bounds cross.\n"
           "Returns:\n    ndarray: Broadcast shape. Differentiable in all arrays, any order.\n"
           "Raises:\n    ValueError: If both bounds are None.") {
    return ClipTo(ToArray("clip", "a", a[0]), a[1], a[2]);
}
CX_METHOD(clip, "a_min: ndarray | Scalar | None, a_max: ndarray | Scalar | None) -> ndarray",
          "Limits the values to a range; see chainerx.clip.") {
    return ClipTo(Self(self), a[0], a[1]);
}

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
#undef CX_DOC
#define CX_DOC "any real dtype", CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX
CX_UNARY(cbrt, Cbrt, "Cube root of each element.", CX_DOC)
CX_UNARY(expm1, Expm1, "``exp(x) - 1``, exact near 0.", CX_DOC)
CX_UNARY(exp2, Exp2, "Two to the power of each element.", CX_DOC)
CX_UNARY(log1p, Log1p, "``log(1 + x)``, exact near 0.", CX_DOC)
CX_UNARY(log2, Log2, "Logarithm to the base 2.", CX_DOC)
CX_UNARY(log10, Log10, "Logarithm to the base 10.", CX_DOC)
CX_UNARY(erf, Erf, "Error function of each element.", CX_DOC)
CX_UNARY(arcsin, Arcsin, "Inverse sine of each element.", CX_DOC)
CX_UNARY(arccos, Arccos, "Inverse cosine of each element.", CX_DOC)
CX_UNARY(arctan, Arctan, "Inverse tangent of each element.", CX_DOC)
CX_UNARY(arcsinh, Arcsinh, "Inverse hyperbolic sine of each element.", CX_DOC)
CX_UNARY(arccosh, Arccosh, "Inverse hyperbolic cosine of each element.", CX_DOC)
CX_UNARY(arctanh, Arctanh, "Inverse hyperbolic tangent of each element.", CX_DOC)
#undef CX_DOC
CX_BINARY(logaddexp, Logaddexp, "``log(exp(x1) + exp(x2))`` without overflow.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(arctan2, Arctan2, "Angle of the point with ordinate ``x1`` and abscissa ``x2``.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(hypot, Hypot, "Length of the hypotenuse, without overflow.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)

// ---- rounding
#define CX_DOC "any real dtype", CX_FLOAT CX_NO_GRADIENT CX_RAISES_COMPLEX
CX_UNARY(ceil, Ceil, "The least whole number not below each element.", CX_DOC)
CX_UNARY(floor, Floor, "The greatest whole number not above each element.", CX_DOC)
CX_UNARY(trunc, Trunc, "Each element without its fraction.", CX_DOC)
CX_UNARY(fix, Trunc, "Each element without its fraction.", CX_DOC)
CX_UNARY(rint, Rint, "The nearest whole number, of two the even one.", CX_DOC)
#undef CX_DOC

// ---- bits
#define CX_DOC CX_PROMOTED CX_NO_GRADIENT "Raises:\n    DtypeError: If an operand is a float."
CX_BINARY(bitwise_and, BitwiseAnd, "Bits that are set in both operands.", CX_DOC)
CX_BINARY(bitwise_or, BitwiseOr, "Bits that are set in an operand.", CX_DOC)
CX_BINARY(bitwise_xor, BitwiseXor, "Bits that are set in one of the operands only.", CX_DOC)
#undef CX_DOC
#define CX_DOC                                                                     \
    "Returns:\n    ndarray: Broadcast shape, dtype of ``x1``, int64 for a scalar " \
    "``x1``." CX_NO_GRADIENT "Raises:\n    DtypeError: If an operand is no integer."
CX_BINARY(left_shift, LeftShift, "Bits of ``x1`` moved up by ``x2``.", CX_DOC)
CX_BINARY(right_shift, RightShift, "Bits of ``x1`` moved down by ``x2``.", CX_DOC)
#undef CX_DOC
#define CX_DOC "bool or integers", CX_SAME CX_NO_GRADIENT "Raises:\n    DtypeError: For floats."
CX_UNARY(invert, Invert, "All bits reversed; of bool, the opposite.", CX_DOC)
CX_ALIAS(bitwise_not, invert)
#undef CX_DOC

// ---- comparisons and logic
#define CX_DOC CX_BOOL CX_NO_GRADIENT "Raises:\n    DtypeError: If bool meets another dtype."
CX_BINARY(equal, Equal, "Whether elements are equal.", CX_DOC)
CX_BINARY(not_equal, NotEqual, "Whether elements differ.", CX_DOC)
CX_BINARY(greater, Greater, "Whether ``x1`` is greater.", CX_DOC)
CX_BINARY(greater_equal, GreaterEqual, "Whether ``x1`` is greater or equal.", CX_DOC)
CX_BINARY(less, Less, "Whether ``x1`` is less.", CX_DOC)
CX_BINARY(less_equal, LessEqual, "Whether ``x1`` is less or equal.", CX_DOC)
CX_BINARY(logical_and, LogicalAnd, "Whether both are not 0.", CX_DOC)
CX_BINARY(logical_or, LogicalOr, "Whether one is not 0.", CX_DOC)
CX_BINARY(logical_xor, LogicalXor, "Whether just one is not 0.", CX_DOC)
#undef CX_DOC
#define CX_DOC "any dtype", CX_BOOL CX_NO_GRADIENT
CX_UNARY(logical_not, LogicalNot, "Whether each element is 0.", CX_DOC)
CX_UNARY(isnan, Isnan, "Whether each element is nan.", CX_DOC)
CX_UNARY(isinf, Isinf, "Whether each element is infinite.", CX_DOC)
CX_UNARY(isfinite, Isfinite, "Whether each element is neither infinite nor nan.", CX_DOC)
CX_UNARY(signbit, Signbit, "Whether the sign of each element is negative.", CX_DOC)
#undef CX_DOC

CX_ROUTINE(where,
           "condition: ndarray, x: ndarray | Scalar = ..., y: ndarray | Scalar = ...) -> ndarray",
           "Elements of ``x`` where ``condition`` holds, of ``y`` elsewhere.\n\n"
           "Args:\n"
           "    condition (ndarray): Any dtype; not 0 means that it holds.\n"
           "    x (ndarray or scalar): Broadcast with the others.\n"
           "    y (ndarray or scalar): Broadcast with the others.\n"
           "Returns:\n"
           "    ndarray: Promoted dtype of ``x`` and ``y``. Differentiable in both, any order. "
           "Without\n"
           "    both, the tuple that :func:`nonzero` gives.\n"
           "Raises:\n    DimensionError: If the shapes do not broadcast.\n"
           "    ValueError: If only one of ``x`` and ``y`` is given.") {
    const Array& condition = ToArray("where", "condition", a[0]);
    if (a[1] == nullptr || a[2] == nullptr) {
        if (a[1] != nullptr || a[2] != nullptr) {
            throw ValueError{"where: one of x and y is given, expected both or neither"};
        }
        return WrapTuple(Nonzero(condition));
    }
    if (IsNdArray(a[1])) {
        if (IsNdArray(a[2])) return Wrap(Where(condition, Self(a[1]), Self(a[2])));
        return Wrap(Where(condition, Self(a[1]), ToOperand("where", "y", a[2])));
    }
    const Scalar x = ToOperand("where", "x", a[1]);
    if (IsNdArray(a[2])) return Wrap(Where(condition, x, Self(a[2])));
    return Wrap(Where(condition, x, ToOperand("where", "y", a[2])));
}

// ---- activations
#define CX_DOC "any real dtype", CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX
CX_UNARY(relu, Relu, "``max(x, 0)``. The derivative at 0 is 1.", CX_DOC)
CX_UNARY(_relu, Rectify, "``max(x, 0)``. The derivative at 0 is 0, as chainer has it.", CX_DOC)
CX_UNARY(sigmoid, Sigmoid, "``1 / (1 + exp(-x))``.", CX_DOC)
CX_UNARY(silu, Silu, "``x * sigmoid(x)`` (Elfwing et al., 2017; swish with beta 1).", CX_DOC)
CX_UNARY(mish, Mish, "``x * tanh(log(1 + exp(x)))`` (Misra, 2019).", CX_DOC)
#undef CX_DOC

#define CX_ACTIVATION(py, parameter, fallback, doc, expression)                                 \
    CX_ROUTINE(py, "x: ndarray, " parameter ": float = " #fallback ") -> ndarray",              \
               doc CX_ARGS_X "any real dtype.\n    " parameter                                  \
                             " (float): See above.\n" CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX) { \
        const Array& x = ToArray(#py, "x", a[0]);                                               \
        const double p = a[1] != nullptr ? ToDouble(#py, parameter, a[1]) : fallback;           \
        return Wrap(expression);                                                                \
    }
CX_ACTIVATION(elu, "alpha", 1.0, "``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere.",
              Elu(x, p))
CX_ACTIVATION(leaky_relu, "slope", 0.2, "``x`` where not negative, ``slope * x`` elsewhere.",
              LeakyRelu(x, p))
CX_ACTIVATION(clipped_relu, "z", 20.0, "``min(max(x, 0), z)``.", ClippedRelu(x, p))
CX_ACTIVATION(softplus, "beta", 1.0,
              "Smooth rectifier, ``log(1 + exp(beta * x)) / beta`` (Dugas et al., NIPS 2000).",
              Softplus(x, p))

CX_ROUTINE(gelu, "x: ndarray, approximate: str = 'none') -> ndarray",
           "``x * N(x)`` with the distribution function N of normal numbers.\n\n"
           "Args:\n"
           "    x (ndarray): Any shape, any real dtype.\n"
           "    approximate (str): 'none', or 'tanh' for "
           "``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2``.\n"
           "Returns:\n    ndarray: Shape and float dtype of ``x``. Differentiable, any order.\n"
           "Raises:\n    DtypeError: If ``x`` is complex.\n"
           "    ValueError: If there is no such approximation.\n"
           "Source: Hendrycks and Gimpel, 2016.") {
    GeluApproximation approximate = GeluApproximation::kNone;
    if (a[1] != nullptr) {
        const std::string_view name = ToString("gelu", "approximate", a[1]);
        if (name != "none" && name != "tanh") {
            throw ValueError{"gelu: approximate is '", name, "', expected 'none' or 'tanh'"};
        }
        if (name == "tanh") approximate = GeluApproximation::kTanh;
    }
    return Wrap(Gelu(ToArray("gelu", "x", a[0]), approximate));
}

CX_ROUTINE(prelu, "x: ndarray, slope: ndarray) -> ndarray",
           "``x`` where not negative, ``slope * x`` elsewhere (He et al., ICCV 2015).\n\n"
           "Args:\n"
           "    x (ndarray): Any shape, any real dtype.\n"
           "    slope (ndarray): Broadcast with ``x``.\n" CX_PROMOTED CX_GRADIENT) {
    return Wrap(Prelu(ToArray("prelu", "x", a[0]), ToArray("prelu", "slope", a[1])));
}

CX_ROUTINE(swish, "x: ndarray, beta: ndarray) -> ndarray",
           "``x * sigmoid(beta * x)`` (Ramachandran et al., 2017).\n\n"
           "Args:\n"
           "    x (ndarray): Any shape, any real dtype.\n"
           "    beta (ndarray): Broadcast with ``x``.\n" CX_PROMOTED CX_GRADIENT) {
    return Wrap(Swish(ToArray("swish", "x", a[0]), ToArray("swish", "beta", a[1])));
}

CX_ROUTINE(crelu, "x: ndarray, axis: int = 1) -> ndarray",
           "``relu(x)`` and ``relu(-x)``, joined along an axis (Shang et al., ICML 2016).\n\n"
           "Args:\n"
           "    x (ndarray): Any real dtype.\n"
           "    axis (int): The axis that becomes twice as long.\n"
           "Returns:\n    ndarray: The float dtype of ``x``. Differentiable, any order.\n"
           "Raises:\n    DimensionError: If there is no such axis.") {
    const int8_t axis = a[1] != nullptr ? ToAxis("crelu", "axis", a[1]) : int8_t{1};
    return Wrap(Crelu(ToArray("crelu", "x", a[0]), axis));
}

#define CX_ERROR(py, Name, doc)                                                \
    CX_ROUTINE(py, "x1: ndarray, x2: ndarray) -> ndarray",                     \
               doc CX_ARGS_X1_X2 CX_PROMOTED CX_GRADIENT CX_RAISES_BOOL) {     \
        return Wrap(Name(ToArray(#py, "x1", a[0]), ToArray(#py, "x2", a[1]))); \
    }
CX_ERROR(absolute_error, AbsoluteError, "``|x1 - x2|``.")
CX_ERROR(squared_error, SquaredError, "``(x1 - x2) ** 2``.")

}  // namespace
}  // namespace chainerx::python

// Elementwise routines outside of the large families: extremes, parts of numbers, rounding, angles.
#include "chainerx/ops/elementwise/tables/numeric.h"

#include "chainerx/ops/elementwise/composed_math.h"
#include "chainerx/ops/elementwise/float_parts.h"
#include "chainerx/ops/elementwise/out_argument.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/python/elementwise_rows.h"

namespace chainerx::python {
namespace {

// ---- two operands
CX_BINARY(fmax, Fmax,
          "The larger of two operands; nan is ignored unless both are nan. Equal elements share "
          "the gradient; one that equals a scalar operand gets all of it.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(fmin, Fmin,
          "The smaller of two operands; nan is ignored unless both are nan. Equal elements share "
          "the gradient; one that equals a scalar operand gets all of it.",
          CX_PROMOTED CX_GRADIENT CX_RAISES_COMPLEX)
CX_BINARY(
    heaviside, Heaviside,
    "Heaviside step function: 0 where ``x1`` is negative, 1 where positive, ``x2`` where it is 0.",
    CX_PROMOTED_FLOAT " Differentiable in ``x2``, any order.\n" CX_RAISES_COMPLEX)
CX_BINARY(logaddexp2, Logaddexp2, "``log2(2**x1 + 2**x2)`` without overflow.",
          CX_PROMOTED_FLOAT CX_GRADIENT CX_RAISES_COMPLEX)
CX_COMPOSED_BINARY(nextafter, Nextafter, "The next representable value after ``x1`` toward ``x2``.",
                   CX_PROMOTED_FLOAT CX_NO_GRADIENT CX_RAISES_COMPLEX)
CX_COMPOSED_BINARY(float_power, FloatPower,
                   "``x1`` to the power of ``x2``, computed in double precision.",
                   "Returns:\n    ndarray: Broadcast shape, float64 or complex128." CX_GRADIENT)
#define CX_DOC CX_PROMOTED CX_NO_GRADIENT "Raises:\n    DtypeError: If an operand is a float."
CX_BINARY(gcd, Gcd, "The greatest common divisor, not negative; logical or for bool.", CX_DOC)
CX_BINARY(lcm, Lcm, "The least common multiple, not negative; logical and for bool.", CX_DOC)
#undef CX_DOC

// ---- one operand
#define CX_DOC "any real dtype", CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX
CX_COMPOSED(degrees, Degrees, "Converts angles from radians to degrees.", CX_DOC)
CX_ALIAS(rad2deg, degrees)
CX_COMPOSED(radians, Radians, "Converts angles from degrees to radians.", CX_DOC)
CX_ALIAS(deg2rad, radians)
#undef CX_DOC
CX_COMPOSED(spacing, Spacing,
            "Distance to the next representable value away from 0, with the sign of each element; "
            "nan for infinities.",
            "any real dtype", CX_FLOAT CX_NO_GRADIENT CX_RAISES_COMPLEX)
// Without `dtype`: cast to it first, a negative number would have other bits.
CX_ELEMENTWISE(kRoutine, bitwise_count, 1, "x: ndarray", CX_OUT_OPTION, nullptr,
               "Population count: the number of bits set in the absolute value." CX_ARGS_X
               "bool or integers.\n" CX_OUT_ARGS
               "Returns:\n    ndarray: Shape of ``x``, uint8." CX_NO_GRADIENT
               "Raises:\n    DtypeError: For floats.") {
    return Wrap(BitwiseCount(ToArray("bitwise_count", "x", a[0])));
}
CX_ELEMENTWISE_ROUTINE(sinc, "x: ndarray) -> ndarray",
                       "``sin(pi * x) / (pi * x)``, and 1 at 0." CX_ARGS_X
                       "any dtype.\n" CX_FLOAT CX_GRADIENT) {
    return Wrap(Sinc(ToArray("sinc", "x", a[0])));
}

// ---- predicates
#define CX_QUESTION(py, Name, doc, dtypes, raises)                                         \
    CX_ELEMENTWISE(kRoutine, py, 1, "x: ndarray", CX_OUT_OPTION, nullptr,                  \
                   doc CX_ARGS_X dtypes ".\n" CX_OUT_ARGS CX_BOOL CX_NO_GRADIENT raises) { \
        return Wrap(Name(ToArray(#py, "x", a[0])));                                        \
    }
CX_QUESTION(isposinf, Isposinf, "Whether each element is positive infinity.", "any real dtype",
            CX_RAISES_COMPLEX)
CX_QUESTION(isneginf, Isneginf, "Whether each element is negative infinity.", "any real dtype",
            CX_RAISES_COMPLEX)
#define CX_PART_QUESTION(py, Name, doc)                                           \
    CX_ELEMENTWISE_ROUTINE(py, "x: ndarray) -> ndarray",                          \
                           doc CX_ARGS_X "any dtype.\n" CX_BOOL CX_NO_GRADIENT) { \
        return Wrap(Name(ToArray(#py, "x", a[0])));                               \
    }
CX_PART_QUESTION(isreal, Isreal, "Whether the imaginary part of each element is 0.")
CX_PART_QUESTION(iscomplex, Iscomplex, "Whether the imaginary part of each element is not 0.")

CX_ROUTINE(isrealobj, "x: ndarray) -> bool",
           "Whether the dtype of an array is not complex.\n\n"
           "Args:\n"
           "    x (ndarray): Any dtype.\n"
           "Returns:\n"
           "    bool: The values do not matter.") {
    return PyBool_FromLong(!IsComplex(ToArray("isrealobj", "x", a[0]).dtype()));
}
CX_ROUTINE(iscomplexobj, "x: ndarray) -> bool",
           "Whether the dtype of an array is complex.\n\n"
           "Args:\n"
           "    x (ndarray): Any dtype.\n"
           "Returns:\n"
           "    bool: The values do not matter.") {
    return PyBool_FromLong(IsComplex(ToArray("iscomplexobj", "x", a[0]).dtype()));
}

CX_ELEMENTWISE_ROUTINE(
    angle, "z: ndarray, deg: bool = False) -> ndarray",
    "The argument of complex numbers, from -pi to pi; 0 or pi for real ones.\n\n"
    "Args:\n"
    "    z (ndarray): Any shape and dtype.\n"
    "    deg (bool): Whether the result is in degrees.\n"
    "Returns:\n"
    "    ndarray: A real float dtype. Differentiable where ``z`` is complex, any order.") {
    return Wrap(Angle(ToArray("angle", "z", a[0]), ToBool(a[1], false)));
}

CX_ROUTINE(real_if_close, "a: ndarray, tol: float = 100) -> ndarray",
           "The real parts, if all imaginary parts are close to 0. Waits for the device.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    tol (float): Tolerance in units of the machine epsilon of the dtype; absolute, if "
           "at most 1.\n"
           "Returns:\n"
           "    ndarray: A view of the real parts, or ``a`` itself. Differentiable.") {
    return Wrap(RealIfClose(ToArray("real_if_close", "a", a[0]),
                            a[1] != nullptr ? ToDouble("real_if_close", "tol", a[1]) : 100.0));
}

// ---- rounding, and replacement of nan and infinities
PyObject* RoundTo(const Array& x, PyObject* decimals, PyObject* out) {
    return Finish("round", Round(x, decimals != nullptr ? ToInt("round", "decimals", decimals) : 0),
                  out);
}

CX_ELEMENTWISE_ROUTINE(
    round, "a: ndarray, decimals: int = 0, out: ndarray | None = None) -> ndarray",
    "Rounds to a number of decimals, ties to even.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    decimals (int): Number of decimals; -1 rounds to tens, -2 to hundreds.\n" CX_OUT_ARG
    "Returns:\n"
    "    ndarray: Shape and dtype of ``a``; float32 for bool. Not differentiable.") {
    return RoundTo(ToArray("round", "a", a[0]), a[1], a[2]);
}
CX_ALIAS(around, round)
CX_METHOD(round, "decimals: int = 0, out: ndarray | None = None) -> ndarray",
          "See chainerx.round().") {
    return RoundTo(Self(self), a[0], a[1]);
}

CX_ELEMENTWISE_ROUTINE(
    nan_to_num,
    "x: ndarray, copy: bool = True, nan: Scalar = 0.0, posinf: Scalar | None = None, "
    "neginf: Scalar | None = None) -> ndarray",
    "Replaces nan and infinities by numbers.\n\n"
    "Args:\n"
    "    x (ndarray): Any shape and dtype.\n"
    "    copy (bool): False writes to ``x`` and returns it.\n"
    "    nan (scalar): Replaces nan.\n"
    "    posinf (scalar): Replaces inf; None means the largest finite number of the dtype.\n"
    "    neginf (scalar): Replaces -inf; None means the smallest finite number of the dtype.\n"
    "Returns:\n"
    "    ndarray: Shape and dtype of ``x``. Differentiable, any order; replaced elements have the "
    "gradient 0.\n"
    "Raises:\n"
    "    ChainerxError: If ``copy`` is False and ``x`` is part of a graph.") {
    const Array& x = ToArray("nan_to_num", "x", a[0]);
    const auto number = [](const char* name, PyObject* o) {
        return Given(o) ? std::optional<Scalar>{ToScalar("nan_to_num", name, o)} : std::nullopt;
    };
    const Scalar nan = number("nan", a[2]).value_or(Scalar{0.0});
    Array y = NanToNum(x, nan, number("posinf", a[3]), number("neginf", a[4]));
    if (ToBool(a[1], true)) return Wrap(std::move(y));
    internal::StoreInto("nan_to_num", y, x);
    return Py_NewRef(a[0]);
}

// ---- two results
#define CX_PAIR_OPTIONS ", out: tuple | None = None, *, where: ArrayLike = True"
#define CX_PAIR_ARGS                                                            \
    "    out (tuple): Two arrays that the results are written to; each may be " \
    "None.\n" CX_WHERE_ARG

// Casts an operand to the parameter `dtype`, if it is given.
Array OperandIn(const char* op, const char* name, const Array& x, PyObject* dtype) {
    return Given(dtype) ? internal::OperandAs(op, name, x, ToDtype(dtype)) : x;
}
Scalar OperandIn(const char* op, const char* name, const Scalar& x, PyObject* dtype) {
    if (Given(dtype)) internal::CheckOperandAs(op, name, x, ToDtype(dtype));
    return x;
}

CX_ELEMENTWISE_ROUTINE(divmod,
                       "x1: ndarray | Scalar, x2: ndarray | Scalar" CX_PAIR_OPTIONS
                       ", dtype: DtypeLike | None = None) -> tuple[ndarray, ndarray]",
                       "Quotient and remainder: the results of :func:`floor_divide` and "
                       ":func:`remainder`." CX_ARGS_X1_X2 CX_PAIR_ARGS CX_DTYPE_ARG
                       "Returns:\n    tuple: Two arrays. The remainder is differentiable, any "
                       "order.\n" CX_RAISES_BOOL) {
    const auto pair = [&](const auto& x1, const auto& x2) {
        const auto [quotient, remainder] =
            Divmod(OperandIn("divmod", "x1", x1, a[4]), OperandIn("divmod", "x2", x2, a[4]));
        return FinishPair("divmod", quotient, remainder, a[2], a[3]);
    };
    if (!IsNdArray(a[0])) {
        return pair(ToNumberBeside("divmod", "x1", a[0]),
                    IsNdArray(a[1]) ? Self(a[1]) : NoArray("divmod", "x1", a[0], "x2", a[1]));
    }
    return IsNdArray(a[1]) ? pair(Self(a[0]), Self(a[1]))
                           : pair(Self(a[0]), ToNumberBeside("divmod", "x2", a[1]));
}

CX_ELEMENTWISE_ROUTINE(
    modf,
    "x: ndarray" CX_PAIR_OPTIONS ", dtype: DtypeLike | None = None) -> tuple[ndarray, ndarray]",
    "Fractional and integral parts, both with the sign of ``x``." CX_ARGS_X
    "any real dtype.\n" CX_PAIR_ARGS CX_DTYPE_ARG
    "Returns:\n"
    "    tuple: Two arrays of the float dtype of ``x``. The first is differentiable.\n"
    "Raises:\n"
    "    DtypeError: If ``x`` is complex, or ``dtype`` is not a real float dtype.") {
    const Array x = OperandIn("modf", "x", ToArray("modf", "x", a[0]), a[3]);
    const auto [rest, whole] = Modf(x);
    if (Given(a[3]) && rest.dtype() != ToDtype(a[3])) {
        throw DtypeError{"modf: dtype is ", x.dtype(), ", in which it is not computed"};
    }
    return FinishPair("modf", rest, whole, a[1], a[2]);
}

CX_ELEMENTWISE_ROUTINE(
    frexp, "x: ndarray" CX_PAIR_OPTIONS ") -> tuple[ndarray, ndarray]",
    "Mantissas, in [1/2, 1) up to the sign, and exponents: ``x = mantissa * "
    "2**exponent``." CX_ARGS_X
    "any real dtype; 0, infinities and nan have the exponent 0.\n" CX_PAIR_ARGS
    "Returns:\n    tuple: An array of the float dtype of ``x``, differentiable, and one of "
    "int32.\n" CX_RAISES_COMPLEX) {
    const auto [fraction, exponent] = Frexp(ToArray("frexp", "x", a[0]));
    return FinishPair("frexp", fraction, exponent, a[1], a[2]);
}

CX_ELEMENTWISE(
    kRoutine, ldexp, 2, CX_BINARY_OPERANDS, CX_OUT_OPTION, nullptr,
    "``x1 * 2**x2``, rounded once." CX_ARGS_X1_X2 CX_OUT_ARGS
    "Returns:\n"
    "    ndarray: Broadcast shape, float dtype of ``x1``. Differentiable in ``x1``, any order.\n"
    "Raises:\n"
    "    DtypeError: If ``x1`` is complex, or ``x2`` is not of an integer dtype.\n"
    "    DimensionError: If the shapes do not broadcast.") {
    CX_CALL_BINARY(ldexp, Ldexp)
}

}  // namespace
}  // namespace chainerx::python

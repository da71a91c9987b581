// Equality and closeness of arrays; clipping.
#include "chainerx/ops/elementwise/allclose.h"

#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/elementwise_rows.h"

namespace chainerx::python {
namespace {

#define CX_CLOSENESS "rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False"
#define CX_CLOSENESS_ARGS                                                             \
    "\n\n"                                                                            \
    "Args:\n"                                                                         \
    "    a (ndarray or scalar): Broadcast with ``b``.\n"                              \
    "    b (ndarray or scalar): The reference. At most one of the two is a scalar.\n" \
    "    rtol (float): Tolerance relative to ``b``.\n"                                \
    "    atol (float): Tolerance that is added.\n"                                    \
    "    equal_nan (bool): Whether nan equals nan.\n"

// Calls f(a, b, closeness) with two arrays, or with an array and a number.
auto CallClose(const char* op, PyObject* const* a, const auto& f) {
    Closeness c;
    if (a[2] != nullptr) c.rtol = ToDouble(op, "rtol", a[2]);
    if (a[3] != nullptr) c.atol = ToDouble(op, "atol", a[3]);
    c.equal_nan = ToBool(a[4], false);
    if (!IsNdArray(a[0])) {
        return f(ToNumberBeside(op, "a", a[0]),
                 IsNdArray(a[1]) ? Self(a[1]) : NoArray(op, "a", a[0], "b", a[1]), c);
    }
    return IsNdArray(a[1]) ? f(Self(a[0]), Self(a[1]), c)
                           : f(Self(a[0]), ToNumberBeside(op, "b", a[1]), c);
}

CX_ELEMENTWISE_ROUTINE(
    isclose, "a: ndarray | Scalar, b: ndarray | Scalar, " CX_CLOSENESS ") -> ndarray",
    "``abs(a - b) <= atol + rtol * abs(b)``; an infinity is close only to itself." CX_CLOSENESS_ARGS
        CX_BOOL CX_NO_GRADIENT "Raises:\n    DimensionError: If the shapes do not broadcast.") {
    return Wrap(CallClose("isclose", a, [](const auto& x, const auto& y, const Closeness& c) {
        return Isclose(x, y, c);
    }));
}

CX_ROUTINE(allclose, "a: ndarray | Scalar, b: ndarray | Scalar, " CX_CLOSENESS ") -> bool",
           "Whether :func:`isclose` holds for all elements. Waits for the device." CX_CLOSENESS_ARGS
           "Returns:\n"
           "    bool: True for empty arrays.\n"
           "Raises:\n"
           "    DimensionError: If the shapes do not broadcast.") {
    return PyBool_FromLong(CallClose(
        "allclose", a,
        [](const auto& x, const auto& y, const Closeness& c) { return Allclose(x, y, c); }));
}

CX_ROUTINE(array_equal, "a1: ndarray, a2: ndarray, equal_nan: bool = False) -> bool",
           "Whether two arrays have the same shape and equal elements. Waits for the device.\n\n"
           "Args:\n"
           "    a1 (ndarray): Any dtype.\n"
           "    a2 (ndarray): Any dtype.\n"
           "    equal_nan (bool): Whether nan equals nan.\n"
           "Returns:\n"
           "    bool: False if the shapes differ.") {
    return PyBool_FromLong(ArrayEqual(ToArray("array_equal", "a1", a[0]),
                                      ToArray("array_equal", "a2", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(array_equiv, "a1: ndarray, a2: ndarray) -> bool",
           "Whether two arrays, broadcast together, have equal elements. Waits for the device.\n\n"
           "Args:\n"
           "    a1 (ndarray): Any dtype.\n"
           "    a2 (ndarray): Any dtype.\n"
           "Returns:\n"
           "    bool: False if the shapes do not broadcast.") {
    return PyBool_FromLong(
        ArrayEquiv(ToArray("array_equiv", "a1", a[0]), ToArray("array_equiv", "a2", a[1])));
}

// ---- clip

struct Bound {
    const char* name;
    PyObject* value;

    bool is_given() const { return Given(value); }
    bool is_array() const { return value != nullptr && IsNdArray(value); }
    const Array& array() const { return Self(value); }
    Scalar number() const { return ToNumberBeside("clip", name, value); }
    std::optional<Scalar> maybe() const {
        return is_given() ? std::optional<Scalar>{number()} : std::nullopt;
    }
};

// The bound that was given under either of two names. TypeError if both were.
Bound BoundOf(const Bound& first, const Bound& second) {
    if (first.is_given() && second.is_given()) {
        throw TypeError{"clip: ", first.name, " and ", second.name,
                        " are the same bound, expected one of them"};
    }
    return first.is_given() ? first : second;
}

Array Clipped(const Array& a, const Bound& low, const Bound& high) {
    if (!low.is_given() && !high.is_given()) return Copy(a);
    if (!low.is_array() && !high.is_array()) return Clip(a, low.maybe(), high.maybe());
    if (!low.is_given()) return Minimum(a, high.array());
    if (!high.is_given()) return Maximum(a, low.array());
    if (!low.is_array()) return Clamp(a, low.number(), high.array());
    if (!high.is_array()) return Clamp(a, low.array(), high.number());
    return Clamp(a, low.array(), high.array());
}

// The routines that ClipTo() calls name other operands in their errors.
void CheckBound(const Array& a, const Bound& bound) {
    if (!bound.is_given()) return;
    const Dtype dtype = bound.is_array() ? bound.array().dtype() : bound.number().dtype();
    CheckDtype(!IsComplex(dtype), "clip", bound.name, dtype, "a real dtype");
    if (IsBool(dtype) != IsBool(a.dtype())) {
        throw DtypeError{
            "clip: a has dtype ",        a.dtype(), ", ", bound.name, " has dtype ", dtype,
            ": bool goes with bool only"};
    }
}

// Arguments in `a`: min, max, out, a_min, a_max.
PyObject* ClipTo(const Array& x, PyObject* const* a) {
    const Bound low = BoundOf({"a_min", a[3]}, {"min", a[0]});
    const Bound high = BoundOf({"a_max", a[4]}, {"max", a[1]});
    CheckDtype(!IsComplex(x.dtype()), "clip", "a", x.dtype(), "a real dtype (not complex)");
    CheckBound(x, low);
    CheckBound(x, high);
    return Finish("clip", Clipped(x, low, high), a[2]);
}

#define CX_BOUND "ndarray | Scalar | None = None"
#define CX_CLIP_PARAMETERS              \
    "min: " CX_BOUND ", max: " CX_BOUND \
    ", out: ndarray | None = None, "    \
    "*, a_min: " CX_BOUND ", a_max: " CX_BOUND ") -> ndarray"

CX_ELEMENTWISE_ROUTINE(clip, "a: ndarray, " CX_CLIP_PARAMETERS,
                       "Limits the values to a range.\n\n"
                       "Args:\n"
                       "    a (ndarray): Any shape, any real dtype.\n"
                       "    min (ndarray or scalar): Lower bound, or None.\n"
                       "    max (ndarray or scalar): Upper bound, or None. It wins where the lower "
                       "one is above it.\n" CX_OUT_ARG
                       "    a_min (ndarray or scalar): Alias of ``min``.\n"
                       "    a_max (ndarray or scalar): Alias of ``max``.\n"
                       "Returns:\n"
                       "    ndarray: Broadcast shape. Differentiable in all arrays, any order.") {
    return ClipTo(ToArray("clip", "a", a[0]), a + 1);
}
CX_METHOD(clip, CX_CLIP_PARAMETERS, "Limits the values to a range; see chainerx.clip().") {
    return ClipTo(Self(self), a);
}

}  // namespace
}  // namespace chainerx::python

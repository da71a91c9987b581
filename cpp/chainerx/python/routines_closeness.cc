// Whether arrays are equal, or nearly; limits.
#include "chainerx/ops/closeness.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/composed.h"
#include "chainerx/ops/creation.h"
#include "chainerx/python/elementwise_rows.h"

namespace chainerx::python {
namespace {

#define CX_CLOSENESS "rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False"
#define CX_CLOSENESS_ARGS                                                                \
    "\n\nArgs:\n"                                                                        \
    "    a (ndarray or scalar): Broadcast with ``b``.\n"                                 \
    "    b (ndarray or scalar): What ``a`` is compared with. At most one is a scalar.\n" \
    "    rtol (float): Tolerance relative to ``b``.\n"                                   \
    "    atol (float): Tolerance that is added.\n"                                       \
    "    equal_nan (bool): Whether nan equals nan.\n"

// f(a, b, closeness) of two arrays, or of an array and a number.
template <typename F>
auto CallClose(const char* op, PyObject* const* a, const F& f) {
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

CX_ROUTINE(isclose, "a: ndarray | Scalar, b: ndarray | Scalar, " CX_CLOSENESS ") -> ndarray",
           "``abs(a - b) <= atol + rtol * abs(b)``; infinities are close to themselves "
           "alone." CX_CLOSENESS_ARGS CX_BOOL CX_NO_GRADIENT
           "Raises:\n    DimensionError: If the shapes do not broadcast.") {
    return Wrap(CallClose("isclose", a, [](const auto& x, const auto& y, const Closeness& c) {
        return Isclose(x, y, c);
    }));
}

CX_ROUTINE(allclose, "a: ndarray | Scalar, b: ndarray | Scalar, " CX_CLOSENESS ") -> bool",
           "Whether isclose() holds for all elements. Waits for the device." CX_CLOSENESS_ARGS
           "Returns:\n    bool: True without elements.\n"
           "Raises:\n    DimensionError: If the shapes do not broadcast.") {
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
           "Returns:\n    bool: False for other shapes.") {
    return PyBool_FromLong(ArrayEqual(ToArray("array_equal", "a1", a[0]),
                                      ToArray("array_equal", "a2", a[1]), ToBool(a[2], false)));
}

CX_ROUTINE(array_equiv, "a1: ndarray, a2: ndarray) -> bool",
           "Whether two arrays, broadcast, have equal elements. Waits for the device.\n\n"
           "Args:\n"
           "    a1 (ndarray): Any dtype.\n"
           "    a2 (ndarray): Any dtype.\n"
           "Returns:\n    bool: False for shapes that do not broadcast.") {
    return PyBool_FromLong(
        ArrayEquiv(ToArray("array_equiv", "a1", a[0]), ToArray("array_equiv", "a2", a[1])));
}

// ---- clip

// The bound of two names, of which one is given at most.
PyObject* BoundOf(const char* name1, PyObject* bound1, const char* name2, PyObject* bound2) {
    if (Given(bound1) && Given(bound2)) {
        throw TypeError{"clip: ", name1, " and ", name2,
                        " are the same bound, expected one of them"};
    }
    return Given(bound1) ? bound1 : bound2;
}

std::optional<Scalar> ToBound(const char* name, PyObject* o) {
    return Given(o) ? std::optional<Scalar>{ToNumberBeside("clip", name, o)} : std::nullopt;
}

Array Clipped(const Array& a, PyObject* low, PyObject* high) {
    if (!Given(low) && !Given(high)) return Copy(a);
    const bool has_low = low != nullptr && IsNdArray(low);
    const bool has_high = high != nullptr && IsNdArray(high);
    if (!has_low && !has_high) return Clip(a, ToBound("a_min", low), ToBound("a_max", high));
    if (!Given(low)) return Minimum(a, Self(high));
    if (!Given(high)) return Maximum(a, Self(low));
    if (!has_low) return Clamp(a, ToNumberBeside("clip", "a_min", low), Self(high));
    if (!has_high) return Clamp(a, Self(low), ToNumberBeside("clip", "a_max", high));
    return Clamp(a, Self(low), Self(high));
}

// The routines below name other operands.
void CheckBound(const Array& a, const char* name, PyObject* o) {
    if (!Given(o)) return;
    const Dtype dtype = IsNdArray(o) ? Self(o).dtype() : ToNumberBeside("clip", name, o).dtype();
    if (IsComplex(dtype)) {
        throw DtypeError{"clip: ", name, " has dtype ", dtype, ", expected a real dtype"};
    }
    if (IsBool(dtype) != IsBool(a.dtype())) {
        throw DtypeError{"clip: a has dtype ",        a.dtype(), ", ", name, " has dtype ", dtype,
                         ": bool goes with bool only"};
    }
}

// a: a_min, a_max, out, min, max
PyObject* ClipTo(const Array& x, PyObject* const* a) {
    PyObject* low = BoundOf("a_min", a[0], "min", a[3]);
    PyObject* high = BoundOf("a_max", a[1], "max", a[4]);
    if (IsComplex(x.dtype())) {
        throw DtypeError{"clip: a has dtype ", x.dtype(), ", expected a real dtype (not complex)"};
    }
    CheckBound(x, "a_min", low);
    CheckBound(x, "a_max", high);
    return Finish("clip", Clipped(x, low, high), a[2]);
}

#define CX_BOUND "ndarray | Scalar | None = None"
#define CX_CLIP_PARAMETERS                  \
    "a_min: " CX_BOUND ", a_max: " CX_BOUND \
    ", out: ndarray | None = None, "        \
    "*, min: " CX_BOUND ", max: " CX_BOUND ") -> ndarray"

CX_ROUTINE(
    clip, "a: ndarray, " CX_CLIP_PARAMETERS,
    "Limits the values to a range.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape, any real dtype.\n"
    "    a_min (ndarray or scalar): Lower bound, or None.\n"
    "    a_max (ndarray or scalar): Upper bound, or None. Wins where the bounds cross.\n" CX_OUT_ARG
    "    min (ndarray or scalar): The lower bound by its other name.\n"
    "    max (ndarray or scalar): The upper bound by its other name.\n"
    "Returns:\n    ndarray: Broadcast shape. Differentiable in all arrays, any order.") {
    return ClipTo(ToArray("clip", "a", a[0]), a + 1);
}
CX_METHOD(clip, CX_CLIP_PARAMETERS, "Limits the values to a range; see chainerx.clip().") {
    return ClipTo(Self(self), a);
}

}  // namespace
}  // namespace chainerx::python

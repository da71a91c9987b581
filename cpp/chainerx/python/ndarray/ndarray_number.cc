// Operators. They check for the exact type first, then for scalars, and return NotImplemented
// otherwise.
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/elementwise/tables/logic.h"
#include "chainerx/python/batching.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray_slots.h"

namespace chainerx::python {
// A NumPy array would have to be copied to a device, which is left to the user.
CX_COLD void CheckNotNumpy(const char* op, PyObject* o) {
    if (PyObject_TypeCheck(o, Numpy().ndarray)) {
        throw TypeError{op,
                        ": one operand is a numpy.ndarray, the other a chainerx.ndarray; "
                        "convert with chainerx.array(x, device=...) or chainerx.to_numpy(x)"};
    }
}

namespace {

PyObject* Refuse(const char* op, PyObject* o) {
    CheckNotNumpy(op, o);
    Py_RETURN_NOTIMPLEMENTED;
}

// F computes for any mix of arrays and scalars.
PyObject* BinarySlot(const char* op, PyObject* l, PyObject* r, auto f) try {
    if (IsNdArray(l)) [[likely]] {
        if (IsNdArray(r)) return Wrap(f(Self(l), Self(r)));
        if (const auto s = TryScalar(r)) return Wrap(f(Self(l), *s));
        return Refuse(op, r);
    }
    if (const auto s = TryScalar(l)) return Wrap(f(*s, Self(r)));
    return Refuse(op, l);
} catch (...) {
    return Failed();
}

PyObject* InPlaceSlot(const char* op, PyObject* l, PyObject* r, auto f) try {
    if (IsNdArray(r)) {
        f(Self(l), Self(r));
    } else if (const auto s = TryScalar(r)) {
        f(Self(l), *s);
    } else {
        CheckNotBatch(op, r);
        return Refuse(op, r);
    }
    return Py_NewRef(l);
} catch (...) {
    return Failed();
}

PyObject* UnarySlot(PyObject* x, auto f) try { return Wrap(f(Self(x))); } catch (...) {
    return Failed();
}

#define CX_BINARY_SLOT(Name, op)                                                                  \
    PyObject* Slot##Name(PyObject* l, PyObject* r) {                                              \
        return BinarySlot(op, l, r, [](const auto& x1, const auto& x2) { return Name(x1, x2); }); \
    }
#define CX_IN_PLACE_SLOT(Name, op)                                                              \
    PyObject* SlotI##Name(PyObject* l, PyObject* r) {                                           \
        return InPlaceSlot(op, l, r,                                                            \
                           [](const Array& x1, const auto& x2) { internal::I##Name(x1, x2); }); \
    }
#define CX_UNARY_SLOT(Name)                                                  \
    PyObject* Slot##Name(PyObject* x) {                                      \
        return UnarySlot(x, [](const Array& array) { return Name(array); }); \
    }

CX_BINARY_SLOT(Add, "add")
CX_BINARY_SLOT(Subtract, "subtract")
CX_BINARY_SLOT(Multiply, "multiply")
CX_BINARY_SLOT(Divide, "divide")
CX_BINARY_SLOT(FloorDivide, "floor_divide")
CX_BINARY_SLOT(Remainder, "remainder")
CX_BINARY_SLOT(BitwiseAnd, "bitwise_and")
CX_BINARY_SLOT(BitwiseOr, "bitwise_or")
CX_BINARY_SLOT(BitwiseXor, "bitwise_xor")
CX_BINARY_SLOT(LeftShift, "left_shift")
CX_BINARY_SLOT(RightShift, "right_shift")

CX_IN_PLACE_SLOT(Add, "iadd")
CX_IN_PLACE_SLOT(Subtract, "isubtract")
CX_IN_PLACE_SLOT(Multiply, "imultiply")
CX_IN_PLACE_SLOT(Divide, "idivide")
CX_IN_PLACE_SLOT(FloorDivide, "ifloor_divide")
CX_IN_PLACE_SLOT(Remainder, "iremainder")
CX_IN_PLACE_SLOT(BitwiseAnd, "ibitwise_and")
CX_IN_PLACE_SLOT(BitwiseOr, "ibitwise_or")
CX_IN_PLACE_SLOT(BitwiseXor, "ibitwise_xor")
CX_IN_PLACE_SLOT(LeftShift, "ileft_shift")
CX_IN_PLACE_SLOT(RightShift, "iright_shift")

CX_UNARY_SLOT(Negative)
CX_UNARY_SLOT(Positive)
CX_UNARY_SLOT(Absolute)
CX_UNARY_SLOT(Invert)

PyObject* SlotPower(PyObject* l, PyObject* r, PyObject* modulus) {
    if (modulus != Py_None) {
        PyErr_SetString(PyExc_TypeError, "power: a modulus is not supported, expected None");
        return nullptr;
    }
    return BinarySlot("power", l, r, [](const auto& x1, const auto& x2) { return Power(x1, x2); });
}

PyObject* SlotDivmod(PyObject* l, PyObject* r) {
    PyObject* quotient = SlotFloorDivide(l, r);
    if (quotient == nullptr || quotient == Py_NotImplemented) return quotient;
    PyObject* remainder = SlotRemainder(l, r);
    if (remainder == nullptr) {
        Py_DECREF(quotient);
        return nullptr;
    }
    PyObject* pair = PyTuple_Pack(2, quotient, remainder);
    Py_DECREF(quotient);
    Py_DECREF(remainder);
    return pair;
}

// Python treats NotImplemented as "not equal", which is never the intention of x == [1, 2].
CX_COLD PyObject* RefuseList(const char* op) {
    PyErr_Format(PyExc_TypeError,
                 "%s: one operand is a list or a tuple, the other a chainerx.ndarray; convert with "
                 "chainerx.array(x)",
                 op);
    return nullptr;
}

PyObject* RichCompare(PyObject* l, PyObject* r, int op) {
    if (PyList_Check(r) || PyTuple_Check(r)) [[unlikely]] {
        if (op == Py_EQ) return RefuseList("equal");
        if (op == Py_NE) return RefuseList("not_equal");
    }
    switch (op) {
#define CX_CASE(OP, Name, name) \
    case OP:                    \
        return BinarySlot(name, l, r, [](const auto& x1, const auto& x2) { return Name(x1, x2); });
        CX_CASE(Py_EQ, Equal, "equal")
        CX_CASE(Py_NE, NotEqual, "not_equal")
        CX_CASE(Py_LT, Less, "less")
        CX_CASE(Py_LE, LessEqual, "less_equal")
        CX_CASE(Py_GT, Greater, "greater")
        default:
            CX_CASE(Py_GE, GreaterEqual, "greater_equal")
#undef CX_CASE
    }
}

}  // namespace

void AddNumberSlots(std::vector<PyType_Slot>& slots) {
    const auto add = [&slots](int slot, auto* function) {
        slots.push_back({slot, reinterpret_cast<void*>(function)});
    };
    add(Py_tp_richcompare, &RichCompare);
    add(Py_nb_negative, &SlotNegative);
    add(Py_nb_positive, &SlotPositive);
    add(Py_nb_absolute, &SlotAbsolute);
    add(Py_nb_invert, &SlotInvert);
    add(Py_nb_power, &SlotPower);
    add(Py_nb_divmod, &SlotDivmod);
    add(Py_nb_add, &SlotAdd);
    add(Py_nb_subtract, &SlotSubtract);
    add(Py_nb_multiply, &SlotMultiply);
    add(Py_nb_true_divide, &SlotDivide);
    add(Py_nb_floor_divide, &SlotFloorDivide);
    add(Py_nb_remainder, &SlotRemainder);
    add(Py_nb_and, &SlotBitwiseAnd);
    add(Py_nb_or, &SlotBitwiseOr);
    add(Py_nb_xor, &SlotBitwiseXor);
    add(Py_nb_lshift, &SlotLeftShift);
    add(Py_nb_rshift, &SlotRightShift);
    add(Py_nb_inplace_add, &SlotIAdd);
    add(Py_nb_inplace_subtract, &SlotISubtract);
    add(Py_nb_inplace_multiply, &SlotIMultiply);
    add(Py_nb_inplace_true_divide, &SlotIDivide);
    add(Py_nb_inplace_floor_divide, &SlotIFloorDivide);
    add(Py_nb_inplace_remainder, &SlotIRemainder);
    add(Py_nb_inplace_and, &SlotIBitwiseAnd);
    add(Py_nb_inplace_or, &SlotIBitwiseOr);
    add(Py_nb_inplace_xor, &SlotIBitwiseXor);
    add(Py_nb_inplace_lshift, &SlotILeftShift);
    add(Py_nb_inplace_rshift, &SlotIRightShift);
}

}  // namespace chainerx::python

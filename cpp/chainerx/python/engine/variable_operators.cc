// Operators of Variable: each is a function of chainer, chosen by the type of the other operand.
#include <iterator>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python::engine {
namespace {

// The functions of one operator: of two variables; of a variable and a constant on either side,
// which are Python callables unless an entry suffices.
struct Functions {
    EntryObject* variables;
    PyObject* constant;       // (variable, number)
    PyObject* from_constant;  // (variable, number), for number op variable
};

#define CX_OPERATORS(X)   \
    X(Add, add)           \
    X(Subtract, subtract) \
    X(Multiply, multiply) X(Divide, divide) X(FloorDivide, floor_divide) X(Power, power)

#define CX_DECLARE(Name, name) Functions g_##name{};
CX_OPERATORS(CX_DECLARE)
#undef CX_DECLARE
EntryObject* g_negative = nullptr;
EntryObject* g_absolute = nullptr;
EntryObject* g_getitem = nullptr;  // with a tuple of basic indices

bool IsNumber(PyObject* o) {
    return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) ||
           PyObject_TypeCheck(o, Numpy().generic);
}

bool IsBool(PyObject* o) {
    return PyBool_Check(o) || std::string_view{Py_TYPE(o)->tp_name}.starts_with("numpy.bool");
}

// Fraction, Decimal and the like as a float; null for other objects.
Ref OtherNumber(PyObject* o) {
    const Ref numbers = Check(PyImport_ImportModule("numbers"));
    const Ref number = Check(PyObject_GetAttrString(numbers.get(), "Number"));
    const int is_number = PyObject_IsInstance(o, number.get());
    if (is_number < 0) throw PythonError{};
    return is_number == 0 ? Ref{} : Check(PyNumber_Float(o));
}

PyObject* CallWithNumber(const Functions& f, bool left, PyObject* v, PyObject* number) {
    PyObject* args[] = {v, number};
    PyObject* function = left ? f.constant : f.from_constant;
    if (IsEntry(function)) return CallEntry(ToEntry(function), args, 2);
    return PyObject_Vectorcall(function, args, 2, nullptr);
}

// An array is a constant of the variable's dtype.
Ref CastConstant(VariableObject* v, PyObject* array) {
    const Kind kind = KindOf(array);
    if (kind != v->storage->kind) return Ref{Py_NewRef(array)};
    const Dtype dtype = RecordOf("operator", v).dtype();
    if (kind == Kind::kChainerx) {
        const Array& a = Self(array);
        return a.dtype() == dtype ? Ref{Py_NewRef(array)} : Ref{Wrap(a.AsType(dtype))};
    }
    const Ref wanted{FromDtype(dtype)};
    const Ref found = Check(PyObject_GetAttrString(array, "dtype"));
    const int same = PyObject_RichCompareBool(found.get(), wanted.get(), Py_EQ);
    if (same != 0) return Ref{Py_NewRef(array)};
    return Check(PyObject_CallMethod(array, "astype", "O", wanted.get()));
}

PyObject* Binary(const Functions& f, PyObject* l, PyObject* r) try {
    if (f.variables == nullptr) Py_RETURN_NOTIMPLEMENTED;
    const bool left = IsVariable(l);
    if (left && IsVariable(r)) [[likely]] {
        PyObject* args[] = {l, r};
        return CallEntry(f.variables, args, 2);
    }
    PyObject* v = left ? l : r;
    PyObject* other = left ? r : l;
    if (IsNumber(other)) {
        // chainerx multiplies numbers by a bool, but has no other operation of both.
        const Ref number = IsBool(other) && &f != &g_multiply ? Check(PyNumber_Long(other))
                                                              : Ref{Py_NewRef(other)};
        return CallWithNumber(f, left, v, number.get());
    }
    if (KindOf(other) == Kind::kNone) {
        const Ref number = OtherNumber(other);
        if (!number) Py_RETURN_NOTIMPLEMENTED;
        return CallWithNumber(f, left, v, number.get());
    }
    const Ref constant = CastConstant(AsVariable(v), other);
    PyObject* args[] = {left ? v : constant.get(), left ? constant.get() : v};
    return CallEntry(f.variables, args, 2);
} catch (...) {
    return Failed();
}

PyObject* Unary(EntryObject* entry, PyObject* x) try {
    if (entry == nullptr) throw TypeError{"Variable: chainer.functions was not imported"};
    return CallEntry(entry, &x, 1);
} catch (...) {
    return Failed();
}

#define CX_SLOT(Name, name) \
    PyObject* Slot##Name(PyObject* l, PyObject* r) { return Binary(g_##name, l, r); }
CX_SLOT(Add, add)
CX_SLOT(Subtract, subtract)
CX_SLOT(Multiply, multiply)
CX_SLOT(Divide, divide)
CX_SLOT(FloorDivide, floor_divide)
#undef CX_SLOT

PyObject* SlotPower(PyObject* l, PyObject* r, PyObject* modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return Binary(g_power, l, r);
}
PyObject* SlotNegative(PyObject* x) { return Unary(g_negative, x); }
PyObject* SlotAbsolute(PyObject* x) { return Unary(g_absolute, x); }

PyObject* SlotMatmul(PyObject* l, PyObject* r) try {
    if (g_callbacks.matmul == nullptr) Py_RETURN_NOTIMPLEMENTED;
    for (PyObject* o : {l, r}) {
        if (!IsVariable(o) && KindOf(o) == Kind::kNone) Py_RETURN_NOTIMPLEMENTED;
    }
    const Ref left = IsVariable(l) ? Ref{Py_NewRef(l)} : CastConstant(AsVariable(r), l);
    const Ref right = IsVariable(r) ? Ref{Py_NewRef(r)} : CastConstant(AsVariable(l), r);
    PyObject* args[] = {left.get(), right.get()};
    return PyObject_Vectorcall(g_callbacks.matmul, args, 2, nullptr);
} catch (...) {
    return Failed("matmul");
}

bool IsBasicIndex(PyObject* o) {
    return PyLong_CheckExact(o) || PySlice_Check(o) || o == Py_None || o == Py_Ellipsis;
}

// Other objects than arrays are passed to the function unchanged.
bool IsBasicTuple(PyObject* o) {
    if (!PyTuple_CheckExact(o)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i) {
        if (!IsBasicIndex(PyTuple_GET_ITEM(o, i))) return false;
    }
    return true;
}

// The parameters of x[i], which the function keeps: those of the first integers are shared by all
// calls. Borrowed; null for others.
PyObject* SharedParams(PyObject* index, int64_t i) {
    static PyObject* shared[64];
    if (i < 0 || i >= static_cast<int64_t>(std::size(shared))) return nullptr;
    if (shared[i] == nullptr) {
        const Ref tuple = Check(PyTuple_Pack(1, index));
        shared[i] = Check(PyTuple_Pack(1, tuple.get())).Release();
    }
    return shared[i];
}

// Indexes by one integer; null without an error if that does not fit in 64 bits.
PyObject* Element(PyObject* x, PyObject* index) {
    int overflow = 0;
    const int64_t i = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (overflow != 0) return nullptr;
    PyObject* shared = SharedParams(index, i);
    const Ref tuple = shared != nullptr ? Ref{Py_NewRef(PyTuple_GET_ITEM(shared, 0))}
                                        : Check(PyTuple_Pack(1, index));
    PyObject* params[] = {tuple.get()};
    return CallUnary(
        g_getitem, AsVariable(x), params,
        {[](const Array& a, const void* data) { return At(a, *static_cast<const int64_t*>(data)); },
         &i},
        shared);
}

PyObject* Subscript(PyObject* x, PyObject* slices) {
    if (g_getitem != nullptr && (IsBasicIndex(slices) || IsBasicTuple(slices))) [[likely]] {
        try {
            if (PyLong_CheckExact(slices)) {
                if (PyObject* y = Element(x, slices)) return y;
            }
            const Ref tuple = PyTuple_CheckExact(slices) ? Ref{Py_NewRef(slices)}
                                                         : Check(PyTuple_Pack(1, slices));
            PyObject* args[] = {x, tuple.get()};
            return CallEntry(g_getitem, args, 2);
        } catch (...) {
            return Failed("get_item");
        }
    }
    if (g_callbacks.getitem == nullptr) {
        PyErr_SetString(PyExc_TypeError, "Variable: chainer was not imported");
        return nullptr;
    }
    PyObject* args[] = {x, slices};
    return PyObject_Vectorcall(g_callbacks.getitem, args, 2, nullptr);
}

// Makes it a sequence, as NumPy and `reversed` require.
PyObject* Item(PyObject* x, Py_ssize_t i) {
    const Ref index{PyLong_FromSsize_t(i)};
    return index ? Subscript(x, index.get()) : nullptr;
}

Py_ssize_t Length(PyObject* x) try {
    const Array& record = RecordOf("len", AsVariable(x));
    if (record.ndim() == 0) throw TypeError{"len: the variable has no dimensions"};
    return record.shape()[0];
} catch (...) {
    TranslateException();
    return -1;
}

int Truth(PyObject*) {
    PyErr_SetString(PyExc_TypeError,
                    "Variables cannot be evaluated as Python bool; use `array` instead");
    return -1;
}

PyObject* Compare(PyObject*, PyObject*, int op) {
    static constexpr const char* kNames[] = {"<", "<=", "==", "!=", ">", ">="};
    PyErr_Format(PyExc_TypeError,
                 "Variables do not support %s operator; you could use `array` instead", kNames[op]);
    return nullptr;
}

// set_operator(name, variables, constant, from_constant)
PyObject* SetOperator(PyObject*, PyObject* args) {
    const char* name;
    PyObject* variables;
    PyObject* constant = nullptr;
    PyObject* from_constant = nullptr;
    if (!PyArg_ParseTuple(args, "sO|OO", &name, &variables, &constant, &from_constant)) {
        return nullptr;
    }
    try {
        EntryObject* entry = ToEntry(variables);
        const std::string_view wanted{name};
        Py_INCREF(variables);
        if (wanted == "negative") {
            g_negative = entry;
        } else if (wanted == "absolute") {
            g_absolute = entry;
        } else if (wanted == "getitem") {
            g_getitem = entry;
#define CX_SET(Name, name)      \
    }                           \
    else if (wanted == #name) { \
        g_##name = {entry, Py_XNewRef(constant), Py_XNewRef(from_constant)};
            CX_OPERATORS(CX_SET)
#undef CX_SET
        } else {
            throw ValueError{"set_operator: there is no operator ", name};
        }
        Py_RETURN_NONE;
    } catch (...) {
        return Failed();
    }
}

PyMethodDef g_functions[] = {
    {"set_operator", &SetOperator, METH_VARARGS, "Sets the functions that an operator calls."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddOperatorSlots(PyType_Slot*& slot) {
    const auto add = [&slot](int id, auto* function) {
        *slot++ = {id, reinterpret_cast<void*>(function)};
    };
    add(Py_nb_add, &SlotAdd);
    add(Py_nb_subtract, &SlotSubtract);
    add(Py_nb_multiply, &SlotMultiply);
    add(Py_nb_true_divide, &SlotDivide);
    add(Py_nb_floor_divide, &SlotFloorDivide);
    add(Py_nb_power, &SlotPower);
    add(Py_nb_matrix_multiply, &SlotMatmul);
    add(Py_nb_negative, &SlotNegative);
    add(Py_nb_absolute, &SlotAbsolute);
    add(Py_nb_bool, &Truth);
    add(Py_mp_subscript, &Subscript);
    add(Py_mp_length, &Length);
    add(Py_sq_item, &Item);
    add(Py_sq_length, &Length);
    add(Py_tp_richcompare, &Compare);
}

void AddOperatorFunctions(PyObject* module) {
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine

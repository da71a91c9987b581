// Methods of Variable that are functions of chainer: reshape, transpose, T, sum, mean.
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"

namespace chainerx::python::engine {
namespace {

// The function behind a method.
struct Method {
    EntryObject* entry;  // called with the default parameters
    PyObject* function;  // (variable, ...) for all other calls; null if the entry accepts them, too
    // The reduction of all elements, without parameters.
    Array (*total)(const Array& x, const void*){nullptr};
    PyObject* unasked{nullptr};  // the tuple of the default parameters
};

Method g_reshape{};
Method g_transpose{};
Method g_sum{nullptr, nullptr, [](const Array& x, const void*) { return chainerx::Sum(x); }};
Method g_mean{};

EntryObject* EntryOf(const char* name, const Method& method) {
    if (method.entry == nullptr) throw TypeError{name, ": chainer.functions was not imported"};
    return method.entry;
}

// The integers as a tuple, or the one sequence of them.
Ref TupleOf(PyObject* const* args, Py_ssize_t n) {
    if (n == 1 && !PyLong_Check(args[0]) && !PyObject_TypeCheck(args[0], Numpy().generic)) {
        return PyTuple_CheckExact(args[0]) ? Ref{Py_NewRef(args[0])}
                                           : Check(PySequence_Tuple(args[0]));
    }
    Ref tuple = Check(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args[i]));
    return tuple;
}

// The shape by a tuple of integers for `total` elements; nullopt if only the function can tell.
std::optional<Shape> FittingShape(PyObject* tuple, int64_t total) {
    const Py_ssize_t ndim = PyTuple_GET_SIZE(tuple);
    if (ndim > kMaxNdim) return std::nullopt;
    Shape shape;
    int64_t size = 1;
    for (Py_ssize_t i = 0; i < ndim; ++i) {
        const int64_t n = PyNumber_AsSsize_t(PyTuple_GET_ITEM(tuple, i), nullptr);
        if (n < 0 || __builtin_mul_overflow(size, n, &size)) {
            PyErr_Clear();
            return std::nullopt;
        }
        shape.push_back(n);
    }
    if (size != total) return std::nullopt;
    return shape;
}

PyObject* Reshape(PyObject* self, PyObject* const* args, Py_ssize_t n) try {
    EntryObject* entry = EntryOf("reshape", g_reshape);
    const Ref tuple = TupleOf(args, n);
    VariableObject* v = AsVariable(self);
    const int64_t total = RecordOf("reshape", v).GetTotalSize();
    PyObject* all[] = {self, tuple.get()};
    const std::optional<Shape> shape = FittingShape(tuple.get(), total);
    if (!shape) return CallEntry(entry, all, 2);
    // The conversion of the integers may have assigned another array to the variable.
    if (*shape == RecordOf("reshape", v).shape()) return Py_NewRef(self);
    return CallUnary(entry, v, std::span{all}.subspan(1),
                     {[](const Array& a, const void* data) {
                          return chainerx::Reshape(a, *static_cast<const Shape*>(data));
                      },
                      &*shape});
} catch (...) {
    return Failed("reshape");
}

PyObject* Transpose(PyObject* self, PyObject* const* args, Py_ssize_t n) try {
    EntryObject* entry = EntryOf("transpose", g_transpose);
    const bool reverse = n == 0 || (n == 1 && args[0] == Py_None);
    const Ref axes = reverse ? Ref{Py_NewRef(Py_None)} : TupleOf(args, n);
    PyObject* all[] = {self, axes.get()};
    if (!reverse) return CallEntry(entry, all, 2);
    return CallUnary(entry, AsVariable(self), std::span{all}.subspan(1),
                     {[](const Array& a, const void*) { return chainerx::Transpose(a); }, nullptr},
                     g_transpose.unasked);
} catch (...) {
    return Failed("transpose");
}

PyObject* GetT(PyObject* self, void*) {
    // A subclass by the user may override transpose.
    if (!Py_IS_TYPE(self, reinterpret_cast<PyTypeObject*>(g_callbacks.variable_class))) {
        return PyObject_CallMethod(self, "transpose", nullptr);
    }
    return Transpose(self, nullptr, 0);
}

// The entry reduces along all axes, the function along others. `keywords` as in a vectorcall.
PyObject* Reduce(const char* name, const Method& method, PyObject* self, PyObject* const* args,
                 Py_ssize_t n, PyObject* keywords) try {
    EntryObject* entry = EntryOf(name, method);
    const Py_ssize_t n_keywords = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
    if (n + n_keywords == 0) {
        PyObject* all[] = {self, Py_None, Py_False};
        if (method.total == nullptr || !IsFloat(RecordOf(name, AsVariable(self)).dtype())) {
            return CallEntry(entry, all, 3);
        }
        return CallUnary(entry, AsVariable(self), std::span{all}.subspan(1),
                         {method.total, nullptr}, method.unasked);
    }
    constexpr Py_ssize_t kMax = 3;  // axis, weights, keepdims
    if (n + n_keywords > kMax) {
        throw TypeError{name, ": takes at most ", kMax, " arguments, got ", n + n_keywords};
    }
    PyObject* all[kMax + 1] = {self};
    std::copy_n(args, n + n_keywords, all + 1);
    return PyObject_Vectorcall(method.function, all, static_cast<size_t>(n) + 1, keywords);
} catch (...) {
    return Failed(name);
}

PyObject* Sum(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return Reduce("sum", g_sum, self, args, n, keywords);
}

PyObject* Mean(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    if (n > 1) {
        PyErr_SetString(PyExc_TypeError, "mean: only axis is taken by position");
        return nullptr;
    }
    return Reduce("mean", g_mean, self, args, n, keywords);
}

// set_method(name, entry, function=None)
PyObject* SetMethod(PyObject*, PyObject* args) try {
    const char* name;
    PyObject* entry;
    PyObject* function = nullptr;
    if (!PyArg_ParseTuple(args, "sO|O:set_method", &name, &entry, &function)) return nullptr;
    struct Row {
        std::string_view name;
        Method* method;
    };
    static constexpr Row kRows[] = {
        {"reshape", &g_reshape}, {"transpose", &g_transpose}, {"sum", &g_sum}, {"mean", &g_mean}};
    const auto* row = std::ranges::find(kRows, std::string_view{name}, &Row::name);
    if (row == std::end(kRows)) throw ValueError{"set_method: there is no method ", name};
    row->method->entry = ToEntry(entry);
    row->method->function = Py_XNewRef(function);
    if (row->name == "transpose") row->method->unasked = PyTuple_Pack(1, Py_None);
    if (row->name == "sum") row->method->unasked = PyTuple_Pack(2, Py_None, Py_False);
    Py_INCREF(entry);
    Py_RETURN_NONE;
} catch (...) {
    return Failed("set_method");
}

template <typename F>
PyCFunction AsFunction(F* f) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMethodDef g_methods[] = {
    {"reshape", AsFunction(&Reshape), METH_FASTCALL,
     "reshape($self, *shape)\n"
     "--\n\n"
     "Gives the elements another shape; see `chainer.functions.reshape`.\n\n"
     "Args:\n"
     "    shape (int or tuple of int): Integers, or a tuple of them; one may be -1.\n\n"
     "Returns:\n"
     "    Variable: Itself if it has the shape. Differentiable, any order.\n\n"
     "Raises:\n"
     "    InvalidType: If the number of elements does not fit."},
    {"transpose", AsFunction(&Transpose), METH_FASTCALL,
     "transpose($self, *axes)\n"
     "--\n\n"
     "Permutes the axes; see `chainer.functions.transpose`.\n\n"
     "Args:\n"
     "    axes (int or tuple of int): Integers, one tuple of them, or None; without any, the axes "
     "are reversed.\n\n"
     "Returns:\n"
     "    Variable: A view. Differentiable, any order.\n\n"
     "Raises:\n"
     "    ValueError: If they are not a permutation of the axes."},
    {"sum", AsFunction(&Sum), METH_FASTCALL | METH_KEYWORDS,
     "sum($self, axis=None, keepdims=False)\n"
     "--\n\n"
     "The sum along axes; see `chainer.functions.sum`.\n\n"
     "Args:\n"
     "    axis (int or tuple of int): The axes to sum along; None stands for all.\n"
     "    keepdims (bool): Whether these are kept, with length 1.\n\n"
     "Returns:\n"
     "    Variable: The sum, of the same dtype. Differentiable, any order.\n\n"
     "Raises:\n"
     "    InvalidType: If the dtype is not a float, or an axis does not exist."},
    {"mean", AsFunction(&Mean), METH_FASTCALL | METH_KEYWORDS,
     "mean($self, axis=None, *, weights=None, keepdims=False)\n"
     "--\n\n"
     "The mean along axes, weighted or not; see `chainer.functions.average`.\n\n"
     "Args:\n"
     "    axis (int or tuple of int): The axes to average along; None stands for all.\n"
     "    weights (Variable or array): Of the length of the axis, or of the shape of the "
     "variable.\n"
     "    keepdims (bool): Whether the axes are kept, with length 1.\n\n"
     "Returns:\n"
     "    Variable: Differentiable in the variable and the weights, any order.\n\n"
     "Raises:\n"
     "    InvalidType: If the dtype is not a float, or an axis does not exist.\n"
     "    ZeroDivisionError: If there is nothing to average."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef g_transposed = {"T", &GetT, nullptr, "The transposed variable.", nullptr};

PyMethodDef g_functions[] = {
    {"set_method", &SetMethod, METH_VARARGS,
     "set_method(name, entry, function=None): sets the function that a method of Variable calls."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddFunctionMethods(PyObject* module) {
    const auto add = [](const char* name, PyObject* descriptor) {
        const Ref d = Check(descriptor);
        if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(g_variable_type), name, d.get()) <
            0) {
            throw PythonError{};
        }
    };
    for (PyMethodDef* m = g_methods; m->ml_name != nullptr; ++m) {
        add(m->ml_name, PyDescr_NewMethod(g_variable_type, m));
    }
    add("T", PyDescr_NewGetSet(g_variable_type, &g_transposed));
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine

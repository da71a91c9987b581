#include "chainerx/python/batching.h"
#include "chainerx/python/array_likes.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace nb = nanobind;

namespace chainerx::python {

int g_live_vmaps = 0;

namespace {

PyObject* g_batched = nullptr;  // the class Batched
PyObject* g_call = nullptr;     // (kind, name, self, args, kwargs) -> result
PyObject* g_draw = nullptr;     // (kind, name, self, args, kwargs) -> result, or NotImplemented
PyObject* g_at = nullptr;       // (x, index) -> x.at[index]
PyObject* g_write = nullptr;    // (op, value): raises the error of a write to an array

// Whether the object is a batch, or a list or tuple that holds one.
bool HasBatch(PyObject* o, int depth = 0) {
    if (IsBatch(o)) return true;
    constexpr int kDeepest = 3;
    if (depth == kDeepest || !(PyList_Check(o) || PyTuple_Check(o))) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
        if (HasBatch(PySequence_Fast_GET_ITEM(o, i), depth + 1)) return true;
    }
    return false;
}

Ref ToTuple(PyObject* const* args, Py_ssize_t n) {
    Ref tuple = Check(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args[i]));
    return tuple;
}

Ref ToDict(PyObject* const* values, PyObject* keywords) {
    Ref dict = Check(PyDict_New());
    const Py_ssize_t n = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(keywords, i), values[i]) < 0) {
            throw PythonError{};
        }
    }
    return dict;
}

// Whether the current exception may be due to the arguments.
bool IsOfArguments() {
    return PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0 &&
           PyErr_ExceptionMatches(PyExc_MemoryError) == 0;
}

}  // namespace

bool IsBatch(PyObject* o) { return reinterpret_cast<PyObject*>(Py_TYPE(o)) == g_batched; }

PyObject* FailOrConvert(const ArgSpec& spec, PyObject* self, PyObject* const* args, Py_ssize_t n,
                        PyObject* keywords) noexcept {
    TranslateException(spec.name());
    if (!IsOfArguments()) return nullptr;
    const Py_ssize_t n_all = n + (keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords));
    bool has_batch = false;
    for (Py_ssize_t i = 0; i < n_all && g_batched != nullptr && !has_batch; ++i) {
        has_batch = HasBatch(args[i]);
    }
    const bool is_of_type = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
    if (!has_batch && !is_of_type) return nullptr;
    SavedError error;
    try {
        ArrayLikes likes{spec, self, args, n, keywords};
        if (!likes.Convert() && !has_batch) {
            error.Restore();
            return nullptr;
        }
        if (!has_batch) return spec.entry()(self, likes.args(), n, keywords);
        const Ref positional = ToTuple(likes.args(), n);
        const Ref named = ToDict(likes.args() + n, keywords);
        return PyObject_CallFunction(g_call, "isOOO", spec.kind(), spec.name(),
                                     self == nullptr ? Py_None : self, positional.get(),
                                     named.get());
    } catch (...) {
        TranslateException(spec.name());
        return nullptr;
    }
}

PyObject* FailOrBatchItem(PyObject* self, PyObject* index) noexcept {
    TranslateException("getitem");
    if (g_batched == nullptr || !HasBatch(index) || !IsOfArguments()) return nullptr;
    PyErr_Clear();
    const Ref none{PyDict_New()};
    return PyObject_CallFunction(g_call, "isO(O)O", static_cast<int>(Binding::kMethod),
                                 "__getitem__", self, index, none.get());
}

Ref FailOrBatchAt(const char* op, const Array& x, PyObject* index, PyObject* given) {
    TranslateException(op);
    if (g_batched == nullptr || !HasBatch(given) || !IsOfArguments()) throw PythonError{};
    PyErr_Clear();
    const Ref array = Check(Wrap(x));
    return Check(PyObject_CallFunctionObjArgs(g_at, array.get(), index, nullptr));
}

void CheckNotBatch(const char* op, PyObject* value) {
    if (g_batched == nullptr || !HasBatch(value)) return;
    Check(PyObject_CallFunction(g_write, "sO", op, value));
}

void FailOrBatchWrite(const char* op, PyObject* index, PyObject* value) noexcept {
    TranslateException(op);
    if (g_batched == nullptr || !IsOfArguments()) return;
    PyObject* batch = HasBatch(index) ? index : value;
    if (batch == nullptr || !HasBatch(batch)) return;
    PyErr_Clear();
    try {
        CheckNotBatch(op, batch);
    } catch (...) {
        TranslateException(op);
    }
}

PyObject* DrawBatch(const ArgSpec& spec, PyObject* self, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords) noexcept try {
    const Ref positional = ToTuple(args, n);
    const Ref named = ToDict(args + n, keywords);
    Ref result = Check(PyObject_CallFunction(g_draw, "isOOO", spec.kind(), spec.name(),
                                             self == nullptr ? Py_None : self, positional.get(),
                                             named.get()));
    return result.get() == Py_NotImplemented ? nullptr : result.Release();
} catch (...) {
    return Failed(spec.name());
}

void InitBatching(PyObject* module) {
    auto m = nb::borrow<nb::module_>(module);
    m.def(
        "_elementwise_bindings",
        [] {
            std::vector<std::pair<int, std::string>> found;
            for (const Binding* b = Binding::first; b != nullptr; b = b->next) {
                if (b->is_elementwise) found.emplace_back(b->kind, b->spec.name());
            }
            return found;
        },
        "The functions that compute element by element; for chainerx.func.\n\n"
        "Returns:\n"
        "    list of tuple: The kind that calls report, and the name.");
    m.def(
        "_set_batching",
        [](nb::handle batched, nb::handle call, nb::handle draw, nb::handle at, nb::handle write) {
            g_batched = Py_NewRef(batched.ptr());  // never released
            g_call = Py_NewRef(call.ptr());
            g_draw = Py_NewRef(draw.ptr());
            g_at = Py_NewRef(at.ptr());
            g_write = Py_NewRef(write.ptr());
        },
        nb::arg("batched"), nb::arg("call"), nb::arg("draw"), nb::arg("at"), nb::arg("write"),
        "Sets the class of batches, and the functions that are called with them; for "
        "chainerx.func.");
    m.def(
        "_count_vmaps", [](int change) { g_live_vmaps += change; }, nb::arg("change"),
        "Says that a vmap has begun, or ended; for chainerx.func.");
}

}  // namespace chainerx::python

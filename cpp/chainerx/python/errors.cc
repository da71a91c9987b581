// Class by class as in CX_ERROR_LIST. Each has a builtin beside it, so that ordinary `except`
// clauses work: DimensionError is a ValueError too, DtypeError a TypeError, and so on.
#include "chainerx/python/errors.h"

#include <nanobind/nanobind.h>

#include <new>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"

namespace chainerx::python {
namespace {

PyObject* g_base = nullptr;
#define CX_CLASS(Name) PyObject* g_##Name = nullptr;
CX_ERROR_LIST(CX_CLASS)
#undef CX_CLASS

// `also`: a second builtin.
PyObject* MakeClass(PyObject* module, const char* name, PyObject* builtin,
                    PyObject* also = nullptr) {
    const std::string full = StrCat("chainerx.", name);
    PyObject* bases = builtin == nullptr ? Py_NewRef(g_base)
                      : also == nullptr  ? PyTuple_Pack(2, g_base, builtin)
                                         : PyTuple_Pack(3, g_base, builtin, also);
    PyObject* cls = PyErr_NewException(full.c_str(), bases, nullptr);
    Py_DECREF(bases);
    if (cls == nullptr || PyModule_AddObjectRef(module, name, cls) < 0) throw PythonError{};
    return cls;
}

void SetError(PyObject* cls, const char* message, const char* op) {
    if (op == nullptr || std::string_view{message}.find(op) != std::string_view::npos) {
        PyErr_SetString(cls, message);
    } else {
        PyErr_Format(cls, "%s: %s", op, message);
    }
}

}  // namespace

void InitErrors(PyObject* module) {
    g_base = PyErr_NewException("chainerx.ChainerxError", PyExc_Exception, nullptr);
    if (g_base == nullptr || PyModule_AddObjectRef(module, "ChainerxError", g_base) < 0) {
        throw PythonError{};
    }
    g_ContextError = MakeClass(module, "ContextError", nullptr);
    g_BackendError = MakeClass(module, "BackendError", nullptr);
    g_DeviceError = MakeClass(module, "DeviceError", nullptr);
    g_DimensionError = MakeClass(module, "DimensionError", PyExc_ValueError);
    g_DtypeError = MakeClass(module, "DtypeError", PyExc_TypeError);
    g_OverflowError = MakeClass(module, "OverflowError", PyExc_OverflowError, PyExc_ValueError);
    g_NotFoundError = MakeClass(module, "NotFoundError", nullptr);
    g_NotImplementedError = MakeClass(module, "NotImplementedError", PyExc_NotImplementedError);
    g_GradientError = MakeClass(module, "GradientError", nullptr);
    g_GradientCheckError = MakeClass(module, "GradientCheckError", PyExc_AssertionError);
    // These surface as the builtins alone, as documented.
    g_IndexError = PyExc_IndexError;
    g_ValueError = PyExc_ValueError;
    g_TypeError = PyExc_TypeError;
    g_OutOfMemoryError = PyExc_MemoryError;
}

void TranslateException(const char* op) noexcept {
    if (op != nullptr && op[0] == '_' && op[1] != '_') ++op;  // a routine behind a public function
    try {
        throw;
    } catch (const PythonError&) {
    } catch (nanobind::python_error& e) {
        e.restore();
    } catch (const InterruptedError&) {  // Python's handler of the signal has set its error
        if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const KernelCheckError& e) {
        // It may be of an earlier operation, which it names, and not of the one that waited.
        SetError(g_IndexError, e.what(), nullptr);
    }
#define CX_CATCH(Name)                    \
    catch (const Name& e) {               \
        SetError(g_##Name, e.what(), op); \
    }
    CX_ERROR_LIST(CX_CATCH)
#undef CX_CATCH
    catch (const ChainerxError& e) {
        SetError(g_base, e.what(), op);
    }
    catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
    catch (const std::exception& e) {
        SetError(PyExc_RuntimeError, e.what(), op);
    }
    catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "chainerx: unknown C++ exception");
    }
}

}  // namespace chainerx::python

// One class per row of CX_ERROR_LIST. Each is also derived from a builtin, so that ordinary
// `except` clauses work: DimensionError is a ValueError too, DtypeError a TypeError, and so on.
#include "chainerx/python/errors.h"

#include <nanobind/nanobind.h>

#include <new>
#include <string_view>

#include "chainerx/core/axis_error.h"
#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"

namespace chainerx::python {
namespace {

PyObject* g_base = nullptr;
PyObject* g_AxisError = nullptr;
PyObject* g_LinAlgError = nullptr;  // raised for KernelErrors of matrices
#define CX_CLASS(Name) PyObject* g_##Name = nullptr;
CX_ERROR_LIST(CX_CLASS)
#undef CX_CLASS

// Makes a class whose docstring begins with a signature, where inspect finds it.
PyObject* NewClass(PyObject* module, const char* name, PyObject* bases, const char* doc) {
    const std::string described = StrCat(name, "(*args)\n--\n\n", doc);
    PyObject* cls = PyErr_NewExceptionWithDoc(StrCat("chainerx.", name).c_str(), described.c_str(),
                                              bases, nullptr);
    if (cls == nullptr || PyModule_AddObjectRef(module, name, cls) < 0) throw PythonError{};
    nanobind::setattr(cls, "__doc__", nanobind::str(doc));
    return cls;
}

// `builtins`: additional bases.
template <typename... Builtins>
PyObject* MakeClass(PyObject* module, const char* name, const char* doc, Builtins... builtins) {
    const nanobind::tuple bases =
        nanobind::make_tuple(nanobind::handle{g_base}, nanobind::handle{builtins}...);
    return NewClass(module, name, bases.ptr(), doc);
}

PyObject* ClassOf(const KernelError& error) {
    if (error.is_of_matrix()) return g_LinAlgError;
    return error.kind == KernelError::Kind::kDomain ? g_ValueError : g_IndexError;
}

// Whether a message names its operation. Errors of a private routine may name the public one, whose
// name is a prefix, as max_pool of _max_pool_kept.
bool NamesOperation(std::string_view message, std::string_view op) {
    // Errors of __complex__ name complex().
    if (op.starts_with("__") && op.ends_with("__")) op = op.substr(2, op.size() - 4);
    if (message.find(op) != std::string_view::npos) return true;
    const size_t colon = message.find(": ");
    return colon != std::string_view::npos && colon < op.size() && op[colon] == '_' &&
           op.starts_with(message.substr(0, colon));
}

void SetError(PyObject* cls, const char* message, const char* op) {
    if (op == nullptr || NamesOperation(message, op)) {
        PyErr_Format(cls, "%s", message);  // unlike SetString, takes what is not UTF-8
    } else {
        PyErr_Format(cls, "%s: %s", op, message);
    }
}

}  // namespace

void InitErrors(PyObject* module) {
    g_base =
        NewClass(module, "ChainerxError", PyExc_Exception, "Base class of chainerx's own errors.");
    g_ContextError = MakeClass(module, "ContextError", "Objects of different contexts are mixed.");
    g_BackendError =
        MakeClass(module, "BackendError", "There is no such backend, or it can't be loaded.");
    g_DeviceError = MakeClass(module, "DeviceError",
                              "Arrays are on devices that don't go together, or a device has an "
                              "invalid name.");
    g_DimensionError =
        MakeClass(module, "DimensionError", "Shapes, axes or sizes don't fit.", PyExc_ValueError);
    g_AxisError = NewClass(
        module, "AxisError",
        nanobind::make_tuple(nanobind::handle{g_DimensionError}, nanobind::handle{PyExc_IndexError})
            .ptr(),
        "An axis does not exist.");
    g_DtypeError = MakeClass(module, "DtypeError", "An operation is not defined for a dtype.",
                             PyExc_TypeError);
    g_OverflowError = MakeClass(module, "OverflowError", "A number is beyond the range of a dtype.",
                                PyExc_OverflowError, PyExc_ValueError);
    g_NotFoundError = MakeClass(module, "NotFoundError", "The requested name does not exist.");
    g_NotImplementedError = MakeClass(module, "NotImplementedError",
                                      "A device or a routine does not implement the request.",
                                      PyExc_NotImplementedError);
    g_GradientError = MakeClass(module, "GradientError",
                                "A gradient does not fit its array, or can't be computed.");
    g_GradientCheckError =
        MakeClass(module, "GradientCheckError", "Numerical and computed gradients differ.",
                  PyExc_AssertionError);
    g_CaptureError = MakeClass(module, "CaptureError",
                               "A step can't be captured, since a replay would do something else.");
    g_LinAlgError =
        MakeClass(module, "LinAlgError", "A matrix is singular, or not positive definite.",
                  nanobind::module_::import_("numpy.linalg").attr("LinAlgError").ptr());
    // Python sees the builtins themselves, as documented.
    g_IndexError = PyExc_IndexError;
    g_ValueError = PyExc_ValueError;
    g_TypeError = PyExc_TypeError;
    g_OutOfMemoryError = PyExc_MemoryError;
}

void TranslateException(const char* op) noexcept {
    // A private routine behind a public function.
    if (op != nullptr && op[0] == '_' && op[1] != '_') ++op;
    try {
        throw;
    } catch (const PythonError&) {
    } catch (nanobind::python_error& e) {
        e.restore();
    } catch (const InterruptedError&) {  // Python's signal handler has set its error
        if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const KernelCheckError& e) {
        // The error may belong to an earlier operation, which it names, and not to the one that
        // synchronized.
        SetError(ClassOf(e.error()), e.what(), nullptr);
    } catch (const AxisError& e) {
        SetError(g_AxisError, e.what(), op);
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

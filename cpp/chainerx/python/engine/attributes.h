// Reads attributes of Python objects without running Python code.
#pragma once

#include <cstdint>

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

// Whether all keys have exactly the class str. Then a lookup runs no code; a subclass of str may
// have its own __eq__.
inline bool HasPlainKeys(PyObject* dict) {
    PyObject* key;
    PyObject* value;
    for (Py_ssize_t i = 0; PyDict_Next(dict, &i, &key, &value) != 0;) {
        if (!PyUnicode_CheckExact(key)) return false;
    }
    return true;
}

// Borrowed; null without an error if absent. Keys are strings; the caller holds the dict, unless
// its keys are plain.
inline PyObject* Find(PyObject* dict, PyObject* key) {
    PyObject* value = PyDict_GetItemWithError(dict, key);
    if (value == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    return value;
}

// Borrowed: the dict of an object that has one.
inline PyObject* DictOf(PyObject* o) { return Check(PyObject_GenericGetDict(o, nullptr)).get(); }

// Detects changes of a class and its bases. Once the check is false, it never becomes true again.
struct ClassVersion {
    PyTypeObject* type{nullptr};
    unsigned int version{0};

    // The version of the class of an object whose attribute was looked up.
    static ClassVersion Of(PyObject* o) { return {Py_TYPE(o), Py_TYPE(o)->tp_version_tag}; }
    // Version 0: the class has none.
    bool IsOf(PyObject* o) const {
        return Py_TYPE(o) == type && version != 0 && type->tp_version_tag == version;
    }
};

// Detects writes to a dict, at a tenth of the cost of looking up its items. On versions of Python
// that don't count writes, the check always fails.
class DictVersion {
 public:
    DictVersion() = default;
    explicit DictVersion(PyObject* dict) : version_{Read(dict)} {}
    bool IsOf(PyObject* dict) const { return version_ != 0 && version_ == Read(dict); }

 private:
    // Python 3.11 and 3.12 give a dict a new, globally unique number at each change.
    static uint64_t Read([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030D0000
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#pragma GCC diagnostic pop
#else
        return 0;
#endif
    }

    uint64_t version_{0};
};

}  // namespace chainerx::python::engine

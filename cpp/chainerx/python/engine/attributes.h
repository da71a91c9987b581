// Attributes of Python objects, read without running code of Python's.
#pragma once

#include <cstdint>

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

// Whether all keys are of the class str itself. Then looking something up runs no code: a class
// that users derive from it may have an __eq__ of its own.
inline bool HasPlainKeys(PyObject* dict) {
    PyObject* key;
    PyObject* value;
    for (Py_ssize_t i = 0; PyDict_Next(dict, &i, &key, &value) != 0;) {
        if (!PyUnicode_CheckExact(key)) return false;
    }
    return true;
}

// Borrowed; null without an error if there is none. Keys are strings; the dict is held by the
// caller, unless its keys are plain.
inline PyObject* Find(PyObject* dict, PyObject* key) {
    PyObject* value = PyDict_GetItemWithError(dict, key);
    if (value == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    return value;
}

// The dict of an object that has one, which owns it.
inline PyObject* DictOf(PyObject* o) { return Check(PyObject_GenericGetDict(o, nullptr)).get(); }

// That a class and all above it are what they were. Never true again once it was false.
struct ClassVersion {
    PyTypeObject* type{nullptr};
    unsigned int version{0};

    // Of a class that an attribute was looked up in.
    static ClassVersion Of(PyObject* o) { return {Py_TYPE(o), Py_TYPE(o)->tp_version_tag}; }
    // 0: the class has none.
    bool IsOf(PyObject* o) const {
        return Py_TYPE(o) == type && version != 0 && type->tp_version_tag == version;
    }
};

// That nothing was written to a dict since: a tenth of the cost of looking up what is in it. Where
// Python does not count, that is never known.
class DictVersion {
 public:
    DictVersion() = default;
    explicit DictVersion(PyObject* dict) : version_{Read(dict)} {}
    bool IsOf(PyObject* dict) const { return version_ != 0 && version_ == Read(dict); }

 private:
    // Python 3.11 and 3.12 give each dict a number that no dict had before, whenever it changes.
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

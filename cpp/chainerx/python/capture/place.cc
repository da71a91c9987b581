#include "chainerx/python/capture/place.h"

#include "chainerx/core/error.h"

namespace chainerx::python {
namespace {

PyObject* NamesOf(PyObject* owner) {
    return PyType_Check(owner) ? reinterpret_cast<PyTypeObject*>(owner)->tp_dict : owner;
}

}  // namespace

Place::Place(PyObject* owner, PyObject* key) : owner_{Py_NewRef(owner)}, key_{Py_XNewRef(key)} {
    if (key == nullptr || !PyList_Check(owner) || !PyLong_CheckExact(key)) return;
    index_ = PyLong_AsSsize_t(key);
    if (index_ == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
}

Place::Place(const Place& o)
    : owner_{Py_NewRef(o.owner())}, key_{Py_XNewRef(o.key())}, index_{o.index_} {}

Ref Place::Get() const {
    PyObject* owner = owner_.get();
    if (PyCell_Check(owner)) return Ref{PyCell_Get(owner)};
    if (index_ >= 0) {
        return Ref{index_ < PyList_GET_SIZE(owner) ? Py_NewRef(PyList_GET_ITEM(owner, index_))
                                                   : nullptr};
    }
    PyObject* names = NamesOf(owner);
    if (!PyDict_Check(names)) {  // a slot
        Ref content{PyObject_GenericGetAttr(owner, key_.get())};
        if (!content) PyErr_Clear();
        return content;
    }
    PyObject* now = PyDict_GetItemWithError(names, key_.get());
    if (now == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    return Ref{Py_XNewRef(now)};
}

void Place::Set(PyObject* value) const {
    PyObject* owner = owner_.get();
    int failed;
    if (PyCell_Check(owner)) {
        failed = PyCell_Set(owner, value);
    } else if (index_ >= 0) {
        if (value == nullptr || index_ >= PyList_GET_SIZE(owner)) {
            throw ChainerxError{"capture: a list has lost item ", index_};
        }
        failed = PyList_SetItem(owner, index_, Py_NewRef(value));
    } else if (PyType_Check(owner)) {
        failed = PyType_Type.tp_setattro(owner, key_.get(), value);  // attributes are cached
    } else if (!PyDict_Check(owner)) {
        failed = PyObject_GenericSetAttr(owner, key_.get(), value);
    } else if (value != nullptr) {
        failed = PyDict_SetItem(owner, key_.get(), value);
    } else {
        const int is_there = PyDict_Contains(owner, key_.get());
        failed = is_there > 0 ? PyDict_DelItem(owner, key_.get()) : is_there;
    }
    if (failed < 0) throw PythonError{};
}

bool Place::operator==(const Place& o) const {
    if (owner_.get() != o.owner_.get() || index_ != o.index_) return false;
    PyObject* a = key_.get();
    PyObject* b = o.key_.get();
    if (a == b) return true;
    if (a == nullptr || b == nullptr || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (!PyUnicode_CheckExact(a) && !PyLong_CheckExact(a)) return false;
    const int same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same < 0) throw PythonError{};
    return same != 0;
}

int Place::Traverse(visitproc visit, void* arg) const {
    Py_VISIT(owner_.get());
    Py_VISIT(key_.get());
    return 0;
}

}  // namespace chainerx::python

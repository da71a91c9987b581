#include "chainerx/python/capture/dependencies.h"

#include <cstring>
#include <utility>

#include "chainerx/core/error.h"

namespace chainerx::python {
namespace {

// Returns whether a program can't tell one object from another.
bool IsSameValue(PyObject* a, PyObject* b) {
    if (a == b) return true;
    if (a == nullptr || b == nullptr || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyFloat_CheckExact(a)) {  // by bits: 0.0 and -0.0 differ
        const double x = PyFloat_AS_DOUBLE(a);
        const double y = PyFloat_AS_DOUBLE(b);
        return std::memcmp(&x, &y, sizeof(x)) == 0;
    }
    if (!PyLong_CheckExact(a) && !PyUnicode_CheckExact(a)) return false;
    const int same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same < 0) throw PythonError{};
    return same != 0;
}

PyObject* NamesOf(PyObject* owner) {
    return PyType_Check(owner) ? reinterpret_cast<PyTypeObject*>(owner)->tp_dict : owner;
}

Py_ssize_t SizeOf(PyObject* owner) {
    return PyDict_Check(owner) ? PyDict_GET_SIZE(owner) : PyList_GET_SIZE(owner);
}

}  // namespace

Dependencies::Dependencies(PyObject* found) {
    if (!PyList_CheckExact(found)) throw TypeError{"dependencies: expected a list"};
    const Items items{found};
    entries_.reserve(static_cast<size_t>(items.size()));
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        if (!PyTuple_CheckExact(items[i])) throw TypeError{"dependencies: expected tuples"};
        PyObject* owner = PyTuple_GetItem(items[i], 0);
        PyObject* key = PyTuple_GetItem(items[i], 1);
        if (owner == nullptr || key == nullptr) throw PythonError{};
        PyObject* value = PyTuple_GET_SIZE(items[i]) > 2 ? PyTuple_GET_ITEM(items[i], 2) : nullptr;
        Entry entry{Ref{Py_NewRef(owner)}, Ref{}, Ref{Py_XNewRef(value)}};
        if (key != Py_None) {
            entry.key = Ref{Py_NewRef(key)};
        } else if (PyDict_Check(owner) || PyList_Check(owner)) {
            entry.size = PyLong_AsSsize_t(value);
            if (entry.size < 0) throw PythonError{};
            entry.value = Ref{};
        }
        if (PyList_Check(owner) && PyLong_CheckExact(key)) entry.size = PyLong_AsSsize_t(key);
        entries_.push_back(std::move(entry));
    }
}

bool Dependencies::Holds(const Entry& entry) {
    PyObject* owner = entry.owner.get();
    if (PyCell_Check(owner)) return IsSameValue(PyCell_GET(owner), entry.value.get());
    if (!entry.key) return SizeOf(owner) == entry.size;
    if (PyList_Check(owner) && entry.size >= 0) {
        return entry.size < PyList_GET_SIZE(owner) &&
               IsSameValue(PyList_GET_ITEM(owner, entry.size), entry.value.get());
    }
    PyObject* names = NamesOf(owner);
    if (!PyDict_Check(names)) {  // a slot
        const Ref content{PyObject_GenericGetAttr(owner, entry.key.get())};
        if (!content) PyErr_Clear();
        return IsSameValue(content.get(), entry.value.get());
    }
    PyObject* now = PyDict_GetItemWithError(names, entry.key.get());
    if (now == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    return IsSameValue(now, entry.value.get());
}

bool Dependencies::Hold() const {
    for (const Entry& entry : entries_) {
        if (!Holds(entry)) return false;
    }
    return true;
}

void Dependencies::KeepCommon(const Dependencies& o) {
    // Both are found in the same order, but for what differs.
    std::vector<Entry> common;
    size_t next = 0;
    for (Entry& entry : entries_) {
        for (size_t k = next; k < o.entries_.size(); ++k) {
            const Entry& other = o.entries_[k];
            if (other.owner.get() != entry.owner.get() || other.size != entry.size) continue;
            if (!IsSameValue(other.key.get(), entry.key.get())) continue;
            next = k + 1;
            if (IsSameValue(other.value.get(), entry.value.get())) {
                common.push_back(std::move(entry));
            }
            break;
        }
    }
    entries_.swap(common);
}

int Dependencies::Traverse(visitproc visit, void* arg) const {
    for (const Entry& entry : entries_) {
        Py_VISIT(entry.owner.get());
        Py_VISIT(entry.key.get());
        Py_VISIT(entry.value.get());
    }
    return 0;
}

bool DependencyPart::IsSame(const ReplayPart& o) const {
    const auto* other = dynamic_cast<const DependencyPart*>(&o);
    if (other == nullptr) return false;
    other->all_->KeepCommon(*all_);  // what has changed without any other kernel does not matter
    return true;
}

}  // namespace chainerx::python

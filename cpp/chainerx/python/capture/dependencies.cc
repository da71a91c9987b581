#include "chainerx/python/capture/dependencies.h"

#include <algorithm>
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
    if (!PyLong_CheckExact(a) && !PyUnicode_CheckExact(a) && !PyBytes_CheckExact(a)) return false;
    const int same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same < 0) throw PythonError{};
    return same != 0;
}

Py_ssize_t SizeOf(PyObject* owner) {
    return PyDict_Check(owner) ? PyDict_GET_SIZE(owner) : PyList_GET_SIZE(owner);
}

bool IsLeaf(PyObject* o) {
    return o == Py_None || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
           PyComplex_CheckExact(o) || PyUnicode_CheckExact(o) || PyBytes_CheckExact(o);
}

PyTypeObject* DequeType() {
    static PyTypeObject* type = nullptr;  // set once, under the GIL
    if (type == nullptr) {
        const Ref module = Check(PyImport_ImportModule("collections"));
        PyObject* deque = Check(PyObject_GetAttrString(module.get(), "deque")).Release();
        type = reinterpret_cast<PyTypeObject*>(deque);
    }
    return type;
}

// Calls f with the items of a container, or with its keys and values, until it returns false; by
// the methods of the base, since those of a subclass may do anything. Returns whether f has always
// returned true.
template <typename F>
bool ForEachItem(PyObject* owner, F&& f) {
    if (PyList_Check(owner)) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(owner); ++i) {
            if (!f(PyList_GET_ITEM(owner, i))) return false;
        }
        return true;
    }
    if (PyDict_Check(owner)) {
        PyObject* key;
        PyObject* value;
        for (Py_ssize_t i = 0; PyDict_Next(owner, &i, &key, &value) != 0;) {
            if (!f(key) || !f(value)) return false;
        }
        return true;
    }
    PyTypeObject* base = DequeType();
    if (PyAnySet_Check(owner)) base = &PySet_Type;
    if (PyObject_TypeCheck(owner, base) == 0 && !PyAnySet_Check(owner)) {
        throw TypeError{"dependencies: ", Py_TYPE(owner)->tp_name, " is no container"};
    }
    const Ref iterator = Check(base->tp_iter(owner));
    while (const Ref item{PyIter_Next(iterator.get())}) {
        if (!f(item.get())) return false;
    }
    if (PyErr_Occurred() != nullptr) throw PythonError{};
    return true;
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
        const bool is_keyed = key != Py_None && key != Py_Ellipsis;
        Entry entry{Place{owner, is_keyed ? key : nullptr}, Ref{}};
        if (key == Py_Ellipsis) {
            entry.is_whole = true;
            ForEachItem(owner, [&entry](PyObject* item) {
                entry.items.push_back({item, IsLeaf(item) ? Ref{Py_NewRef(item)} : Ref{}});
                return true;
            });
        } else if (!is_keyed && (PyDict_Check(owner) || PyList_Check(owner))) {
            entry.size = PyLong_AsSsize_t(value);
            if (entry.size < 0) throw PythonError{};
        } else {
            entry.value = Ref{Py_XNewRef(value)};
        }
        entries_.push_back(std::move(entry));
    }
}

bool Dependencies::Item::Is(PyObject* now) const {
    return address == now || (held && IsSameValue(held.get(), now));
}

// Takes half the time that iteration does.
bool Dependencies::HasAll(PyObject* set, const std::vector<Item>& items) {
    if (PySet_GET_SIZE(set) != static_cast<Py_ssize_t>(items.size())) return false;
    for (const Item& item : items) {
        const int is_there = PySet_Contains(set, item.address);
        if (is_there < 0) throw PythonError{};
        if (is_there == 0) return false;
    }
    return true;
}

bool Dependencies::Holds(const Entry& entry) {
    PyObject* owner = entry.place.owner();
    if (entry.is_whole) {
        if (PyAnySet_Check(owner) && std::ranges::all_of(entry.items, &Item::is_leaf)) {
            return HasAll(owner, entry.items);
        }
        size_t i = 0;
        const bool all = ForEachItem(owner, [&](PyObject* item) {
            return i < entry.items.size() && entry.items[i++].Is(item);
        });
        return all && i == entry.items.size();
    }
    if (entry.size >= 0) return SizeOf(owner) == entry.size;
    return IsSameValue(entry.place.Get().get(), entry.value.get());
}

bool Dependencies::Hold() const {
    for (const Entry& entry : entries_) {
        if (!Holds(entry)) return false;
    }
    return true;
}

bool Dependencies::IsSame(const Entry& a, const Entry& b) {
    const auto is_same = [](const Item& x, const Item& y) {
        return y.held ? x.Is(y.held.get()) : x.address == y.address;
    };
    return IsSameValue(a.value.get(), b.value.get()) &&
           std::ranges::equal(a.items, b.items, is_same);
}

void Dependencies::KeepCommon(const Dependencies& o) {
    // Both are found in the same order, but for what differs.
    std::vector<Entry> common;
    size_t next = 0;
    for (Entry& entry : entries_) {
        for (size_t k = next; k < o.entries_.size(); ++k) {
            const Entry& other = o.entries_[k];
            if (!(other.place == entry.place) || other.size != entry.size ||
                other.is_whole != entry.is_whole) {
                continue;
            }
            next = k + 1;
            if (IsSame(other, entry)) common.push_back(std::move(entry));
            break;
        }
    }
    entries_.swap(common);
}

int Dependencies::Traverse(visitproc visit, void* arg) const {
    for (const Entry& entry : entries_) {
        if (const int r = entry.place.Traverse(visit, arg); r != 0) return r;
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

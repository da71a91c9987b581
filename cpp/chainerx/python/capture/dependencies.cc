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

// The code of a function, and the defaults of its arguments.
bool IsSameFunction(PyObject* function, PyObject* parts) {
    const auto is = [&](PyObject* now, Py_ssize_t i) {
        PyObject* then = PyTuple_GetItem(parts, i);
        if (then == nullptr) throw PythonError{};
        return now == then || (now == nullptr && then == Py_None);
    };
    return is(PyFunction_GetCode(function), 0) && is(PyFunction_GetDefaults(function), 1) &&
           is(PyFunction_GetKwDefaults(function), 2);
}

// Returns whether memory, such as that of a NumPy array, holds these bytes.
bool HoldsBytes(PyObject* owner, PyObject* bytes) {
    Py_buffer view;
    if (PyObject_GetBuffer(owner, &view, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        return false;
    }
    const bool same =
        view.len == PyBytes_GET_SIZE(bytes) &&
        std::memcmp(view.buf, PyBytes_AS_STRING(bytes), static_cast<size_t>(view.len)) == 0;
    PyBuffer_Release(&view);
    return same;
}

bool HoldsContext(PyObject* variable, PyObject* then) {
    PyObject* now = nullptr;
    if (PyContextVar_Get(variable, nullptr, &now) < 0) throw PythonError{};
    const Ref owned{now};
    return IsSameValue(now, then);
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
        } else if (!is_keyed && PyFunction_Check(owner) &&
                   (value == nullptr || !PyTuple_Check(value))) {
            throw TypeError{"dependencies: expected a tuple of parts of a function"};
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

bool Dependencies::HoldsItself(const Entry& entry) {
    PyObject* owner = entry.place.owner();
    PyObject* value = entry.value.get();
    if (PyCell_Check(owner)) return IsSameValue(PyCell_GET(owner), value);
    if (PyFunction_Check(owner)) return IsSameFunction(owner, value);
    if (entry.size >= 0) return SizeOf(owner) == entry.size;
    if (PyContextVar_CheckExact(owner)) return HoldsContext(owner, value);
    if (value != nullptr && PyBytes_CheckExact(value)) return HoldsBytes(owner, value);
    // A weak reference, to something that is there; or a cache, with what it has computed.
    if (PyWeakref_Check(owner)) return Check(PyObject_CallNoArgs(owner)).get() != Py_None;
    const Ref now = Check(PyObject_CallMethod(owner, "cache_info", nullptr));
    const Ref misses = Check(PySequence_GetItem(now.get(), 1));
    return IsSameValue(misses.get(), value);
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
    if (entry.place.key() == nullptr) return HoldsItself(entry);
    PyObject* key = entry.place.key();
    PyObject* value = entry.value.get();
    if (PyWeakref_Check(owner)) {  // a property of chainer, or the class
        const Ref object = Check(PyObject_CallNoArgs(owner));
        if (object.get() == Py_None) return true;  // the step can't look at it, either
        const Ref content{PyObject_GenericGetAttr(object.get(), key)};
        if (!content) PyErr_Clear();
        return IsSameValue(content.get(), value);
    }
    if (std::strcmp(Py_TYPE(owner)->tp_name, "_thread._local") == 0) {
        const Ref content{PyObject_GetAttr(owner, key)};
        if (!content) PyErr_Clear();
        return IsSameValue(content.get(), value);
    }
    return IsSameValue(entry.place.Get().get(), value);
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
    PyObject* value = a.value.get();
    if (a.place.key() == nullptr && PyFunction_Check(a.place.owner())) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
            if (PyTuple_GET_ITEM(value, i) != PyTuple_GetItem(b.value.get(), i)) return false;
        }
        return true;
    }
    return IsSameValue(value, b.value.get()) && std::ranges::equal(a.items, b.items, is_same);
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

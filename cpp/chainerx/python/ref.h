// References that are released at the end of a block.
#pragma once

#include <memory>
#include <utility>

#include "chainerx/python/bind.h"

namespace chainerx::python {

// An owned reference.
class Ref {
 public:
    Ref() = default;
    explicit Ref(PyObject* o) : o_{o} {}
    Ref(Ref&& r) noexcept : o_{r.Release()} {}
    Ref& operator=(Ref r) noexcept {
        PyObject* o = o_;
        o_ = r.o_;
        r.o_ = o;
        return *this;
    }
    ~Ref() { Py_XDECREF(o_); }
    PyObject* get() const { return o_; }
    PyObject* Release() {
        PyObject* o = o_;
        o_ = nullptr;
        return o;
    }
    explicit operator bool() const { return o_ != nullptr; }

 private:
    PyObject* o_{nullptr};
};

// A snapshot of the items of a list or tuple. Other code may change a list during calls into
// Python, allocations of Python objects and waits for the GIL.
class Items {
 public:
    explicit Items(PyObject* o) : size_{PySequence_Fast_GET_SIZE(o)} {
        PyObject** items = PySequence_Fast_ITEMS(o);
        if (PyTuple_Check(o)) {
            owner_ = Ref{Py_NewRef(o)};
            items_ = items;
            return;
        }
        list_ = std::make_unique<Ref[]>(static_cast<size_t>(size_));
        for (Py_ssize_t i = 0; i < size_; ++i) list_[i] = Ref{Py_NewRef(items[i])};
    }
    Py_ssize_t size() const { return size_; }
    PyObject* operator[](Py_ssize_t i) const {
        return items_ != nullptr ? items_[i] : list_[i].get();
    }

 private:
    Py_ssize_t size_;
    PyObject* const* items_{nullptr};  // items of a tuple, which never changes
    Ref owner_;
    std::unique_ptr<Ref[]> list_;
};

// The new reference that a call of the C API returned; throws if it failed.
inline Ref Check(PyObject* o) {
    if (o == nullptr) throw PythonError{};
    return Ref{o};
}

// Saves the current Python error; it is dropped unless restored.
class SavedError {
 public:
    SavedError() { PyErr_Fetch(&type_, &value_, &traceback_); }
    ~SavedError() {
        Py_XDECREF(type_);
        Py_XDECREF(value_);
        Py_XDECREF(traceback_);
    }
    SavedError(const SavedError&) = delete;
    SavedError& operator=(const SavedError&) = delete;
    void Restore() {
        PyErr_Restore(std::exchange(type_, nullptr), std::exchange(value_, nullptr),
                      std::exchange(traceback_, nullptr));
    }

 private:
    PyObject* type_{nullptr};
    PyObject* value_{nullptr};
    PyObject* traceback_{nullptr};
};

}  // namespace chainerx::python

// References that are released at the end of a block.
#pragma once

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

// The result of a call of the C API, new; throws if it failed.
inline Ref Check(PyObject* o) {
    if (o == nullptr) throw PythonError{};
    return Ref{o};
}

}  // namespace chainerx::python

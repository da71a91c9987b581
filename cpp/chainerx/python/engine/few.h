// An array of a size given at run time, usually on the stack: a recurrent layer has 22 inputs.
#pragma once

#include <cstddef>
#include <memory>

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

template <typename T>
class Few {
 public:
    explicit Few(size_t n) : n_{n} {
        if (n > kFew) more_ = std::make_unique<T[]>(n);
        p_ = n > kFew ? more_.get() : reinterpret_cast<T*>(few_);
        if (n <= kFew) std::uninitialized_value_construct_n(p_, n);
    }
    ~Few() {
        if (n_ <= kFew) std::destroy_n(p_, n_);
    }
    Few(const Few&) = delete;
    Few& operator=(const Few&) = delete;

    T& operator[](size_t i) { return p_[i]; }
    const T& operator[](size_t i) const { return p_[i]; }
    T* data() { return p_; }
    const T* data() const { return p_; }
    size_t size() const { return n_; }
    T* begin() { return p_; }
    T* end() { return p_ + n_; }
    const T* begin() const { return p_; }
    const T* end() const { return p_ + n_; }

 private:
    static constexpr size_t kFew = 24;
    size_t n_;
    T* p_;
    std::unique_ptr<T[]> more_;
    alignas(T) unsigned char few_[kFew * sizeof(T)];
};

// Borrowed references.
using Pointers = Few<PyObject*>;

// Owned references.
class Objects : public Few<PyObject*> {
 public:
    using Few::Few;
    ~Objects() {
        for (PyObject* o : *this) Py_XDECREF(o);
    }
};

}  // namespace chainerx::python::engine

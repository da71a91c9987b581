// An array of a size given at run time, usually on the stack: a recurrent layer has 22 inputs.
#pragma once

#include <cstddef>
#include <memory>

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

template <typename T>
class SmallArray {
 public:
    explicit SmallArray(size_t n) : n_{n} {
        if (n > kInlineSize) heap_ = std::make_unique<T[]>(n);
        p_ = n > kInlineSize ? heap_.get() : reinterpret_cast<T*>(inline_);
        if (n <= kInlineSize) std::uninitialized_value_construct_n(p_, n);
    }
    ~SmallArray() {
        if (n_ <= kInlineSize) std::destroy_n(p_, n_);
    }
    SmallArray(const SmallArray&) = delete;
    SmallArray& operator=(const SmallArray&) = delete;

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
    static constexpr size_t kInlineSize = 24;
    size_t n_;
    T* p_;
    std::unique_ptr<T[]> heap_;
    alignas(T) unsigned char inline_[kInlineSize * sizeof(T)];
};

// Borrowed references.
using Pointers = SmallArray<PyObject*>;

// Owned references.
class Objects : public SmallArray<PyObject*> {
 public:
    using SmallArray::SmallArray;
    ~Objects() {
        for (PyObject* o : *this) Py_XDECREF(o);
    }
};

}  // namespace chainerx::python::engine

// Remembers for which dtypes and shapes a function's type check has passed, so that the check
// itself, which is Python, runs once for each.
#pragma once

#include <cstdint>
#include <cstring>

#include "chainerx/core/array.h"
#include "chainerx/python/engine/state.h"

namespace chainerx::python::engine {

class CheckKey {
 public:
    void Add(const Array& x) {
        const int n = x.ndim();
        if (size_ + n + 1 > kMaxWords) {
            fits_ = false;
            return;
        }
        words_[size_++] =
            static_cast<int64_t>(x.dtype()) | (static_cast<int64_t>(n) << 8) | (1 << 16);
        for (int i = 0; i < n; ++i) words_[size_++] = x.shape()[i];
    }
    void AddAbsent() {
        if (size_ < kMaxWords) words_[size_++] = 0;
    }
    bool fits() const { return fits_; }
    uint64_t Hash() const {
        uint64_t h = 0xcbf29ce484222325;
        for (int i = 0; i < size_; ++i)
            h = (h ^ static_cast<uint64_t>(words_[i])) * 0x9e3779b97f4a7c15;
        return h ^ (h >> 29);
    }
    friend bool operator==(const CheckKey& a, const CheckKey& b) {
        return a.size_ == b.size_ &&
               std::memcmp(a.words_, b.words_, sizeof(int64_t) * static_cast<size_t>(a.size_)) == 0;
    }

 private:
    static constexpr int kMaxWords = 24;
    int size_{0};
    bool fits_{true};
    int64_t words_[kMaxWords];
};

// Direct-mapped: what is pushed out is checked again. Guarded by the GIL.
struct CheckCache {
    static constexpr uint64_t kSize = 64;

    // `params` null if the check does not look at them.
    bool Contains(const CheckKey& key, PyObject* params) const {
        const Place& p = places_[key.Hash() % kSize];
        if (!p.used || !(p.key == key)) return false;
        if (params == nullptr) return true;
        const Ref known{Py_NewRef(p.params)};  // comparing may run code that comes here again
        const int same = PyObject_RichCompareBool(known.get(), params, Py_EQ);
        if (same < 0 && PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};
        if (same < 0) PyErr_Clear();  // arrays don't compare to a bool: check again
        return same > 0;
    }
    void Insert(const CheckKey& key, PyObject* params) {
        Place& p = places_[key.Hash() % kSize];
        p.used = true;
        p.key = key;
        Py_XSETREF(p.params, Py_XNewRef(params));
    }

 private:
    struct Place {
        bool used{false};
        CheckKey key;
        PyObject* params{nullptr};
    };
    Place places_[kSize];
};

}  // namespace chainerx::python::engine

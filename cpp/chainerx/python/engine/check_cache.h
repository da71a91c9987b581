// Remembers the dtypes and shapes that passed a function's type check. The check is Python code,
// and so it runs only once for each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/engine/state.h"

namespace chainerx::python::engine {

class CheckKey {
 public:
    // One word suffices for at most two dimensions, unless they are huge: keys of recurrent
    // networks are long.
    void Add(const Array& x) {
        const int n = x.ndim();
        const int64_t head = static_cast<int64_t>(x.dtype()) | (static_cast<int64_t>(n) << 8);
        const int64_t rows = n > 0 ? x.shape()[0] : 0;
        const int64_t columns = n > 1 ? x.shape()[1] : 0;
        if (n <= 2 && rows < kSmall && columns < kSmall) {
            Push(head | kInOneWord | (rows << 16) | (columns << 39));
            return;
        }
        Push(head | kInSome);
        for (int i = 0; i < n; ++i) Push(x.shape()[i]);
    }
    void AddAbsent() { Push(0); }
    bool fits() const { return size_ <= kMax; }
    // The highest bits are the best mixed: a multiplication propagates differences upwards only.
    uint64_t Hash() const {
        uint64_t h = 0xcbf29ce484222325;
        const auto add = [&h](int64_t word) {
            h = (h ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15;
        };
        for (size_t i = 0; i < n_inline(); ++i) add(inline_[i]);
        for (int64_t word : heap_) add(word);
        return h;
    }
    friend bool operator==(const CheckKey& a, const CheckKey& b) {
        if (a.size_ != b.size_) return false;
        // A loop, not memcmp, since there are usually one or two words.
        for (size_t i = 0; i < a.n_inline(); ++i) {
            if (a.inline_[i] != b.inline_[i]) return false;
        }
        return a.size_ <= kInlineSize || a.heap_ == b.heap_;
    }

 private:
    // Most functions have at most this many inputs; those of sequences have hundreds.
    static constexpr size_t kInlineSize = 32;
    static constexpr size_t kMax = 4096;

    // Bits of the first word of an array, above its dtype and its number of dimensions.
    static constexpr int64_t kSmall = 1 << 23;
    static constexpr int64_t kInOneWord = 1 << 12;
    static constexpr int64_t kInSome = 1 << 13;

    size_t n_inline() const { return std::min(size_, kInlineSize); }
    void Push(int64_t word) {
        if (size_ < kInlineSize) {
            inline_[size_] = word;
        } else if (size_ < kMax) {
            heap_.push_back(word);
        }
        ++size_;
    }

    size_t size_{0};
    int64_t inline_[kInlineSize];
    std::vector<int64_t> heap_;
};

// Direct-mapped: evicted keys are checked again. Guarded by the GIL.
struct CheckCache {
    static constexpr int kBits = 6;

    // `params` is null if the check does not depend on them.
    bool Contains(const CheckKey& key, PyObject* params) const {
        const Place& p = places_[PlaceOf(key)];
        if (!p.used || !(p.key == key)) return false;
        if (params == nullptr) return true;
        // A comparison may run code that re-enters this function.
        const Ref known{Py_NewRef(p.params)};
        const int same = PyObject_RichCompareBool(known.get(), params, Py_EQ);
        if (same < 0 && PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};
        if (same < 0) PyErr_Clear();  // arrays don't compare to a bool: check again
        return same > 0;
    }
    void Insert(const CheckKey& key, PyObject* params) {
        Place& p = places_[PlaceOf(key)];
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
    static size_t PlaceOf(const CheckKey& key) { return key.Hash() >> (64 - kBits); }

    Place places_[size_t{1} << kBits];
};

}  // namespace chainerx::python::engine

// Results of several arrays that have names, as NumPy's have: tuples with attributes.
#pragma once

#include <initializer_list>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// A kind of them; a constant of a file. `names` ends with a null.
class NamedTuple {
 public:
    constexpr NamedTuple(const char* name, const char* doc, const char* const* names)
        : name_{name}, doc_{doc}, names_{names} {}

    // As many as there are names. The type is made at the first call, under the GIL.
    PyObject* Make(std::initializer_list<PyObject*> items);
    PyObject* Make(std::initializer_list<Array> arrays);

 private:
    const char* name_;
    const char* doc_;
    const char* const* names_;
    PyTypeObject* type_{nullptr};
};

}  // namespace chainerx::python

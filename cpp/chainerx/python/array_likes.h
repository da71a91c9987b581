// Numbers and lists where a routine takes arrays, as in NumPy.
//
// A routine that gets one fails to parse its arguments, and only then does anybody look for them
// (FailOrConvert, in bind.h), so what is called with arrays takes no instruction more. What is made
// an array of follows from the annotations of the signature.
//
// A list becomes what chainerx.array() makes of it, with the graphs of the arrays that it holds. A
// number beside arrays is as weak as one beside an operator; alone it has the default dtype of its
// kind, and one of NumPy its own.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/core/scalar.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// What numbers and lists are beside: the arrays of one call.
class ArraysBeside {
 public:
    // Takes note of what is an array, or a batch of them.
    void See(PyObject* o);
    bool has_any() const { return dtype_.has_value(); }
    Device& device() const;
    // What chainerx.array() makes of it; null if it is no array of numbers.
    Ref TryArray(PyObject* o) const;
    Ref OfNumber(const char* op, const Scalar& number) const;
    // Either. TypeError for what is neither.
    CX_COLD Array Make(const char* op, const char* name, PyObject* o) const;

 private:
    std::optional<Dtype> dtype_;  // of all together
    Device* device_{nullptr};     // of the first one
};

// The arguments of one call, positional ones before those by keyword.
class ArrayLikes {
 public:
    ArrayLikes(const ArgSpec& spec, PyObject* self, PyObject* const* args, Py_ssize_t n,
               PyObject* keywords);

    // Makes arrays where arrays are taken. False if there is nothing to make one of. Throws
    // what goes wrong in a list of numbers, as that its rows differ in length.
    bool Convert();

    PyObject* const* args() const { return args_.data(); }

 private:
    // What an argument may be, or each item of a list of arrays.
    enum class Kind {
        kOther,
        kArray,      // ndarray
        kOperand,    // ndarray | Scalar: one of a call may be a number, but not all
        kParameter,  // float | ndarray
    };
    struct Place {
        Kind kind;
        PyObject* list;  // null for an argument
        Py_ssize_t index;
    };

    void AddPlaces(std::string_view annotation, size_t argument);
    static Kind KindOf(std::string_view annotation);
    PyObject* At(const Place& place) const;
    void Put(const Place& place, Ref array);
    void ConvertLists();
    void ConvertNumbers();

    const ArgSpec& spec_;
    std::vector<PyObject*> args_;
    std::vector<Ref> held_;
    std::vector<Place> places_;
    ArraysBeside beside_;
    bool is_changed_{false};
};

}  // namespace chainerx::python

// Accepts numbers and lists as array arguments, as in NumPy.
//
// A routine that gets one fails to parse its arguments, and only then are the arguments searched
// for them (FailOrConvert, in bind.h), so calls with arrays execute no additional instruction. The
// annotations of the signature tell which arguments become arrays.
//
// A list is converted by chainerx.array(), with the graphs of the arrays that it holds. A number
// beside arrays is a weak scalar, as beside an operator; alone it has the dtype that the call is to
// compute in, if it is given and of no lower kind, else the default dtype of its kind, and a NumPy
// scalar its own dtype.
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

// The arrays of one call, which determine the dtype and the device of the numbers and lists beside
// them.
class ArraysBeside {
 public:
    // Notes an array, or a batch of arrays; ignores other objects.
    void See(PyObject* o);
    // Notes the argument `dtype`, which may be None.
    void SeeDtype(PyObject* o) { given_dtype_ = o; }
    bool has_any() const { return dtype_.has_value(); }
    Device& device() const;
    // The result of chainerx.array(); null if it is not an array of numbers.
    Ref TryArray(PyObject* o) const;
    Ref OfNumber(const char* op, const Scalar& number) const;
    // The array of a number or a list. TypeError for other objects.
    CX_COLD Array Make(const char* op, const char* name, PyObject* o) const;

 private:
    Dtype DtypeAlone(const Scalar& number) const;

    PyObject* given_dtype_{nullptr};
    std::optional<Dtype> dtype_;  // the promoted dtype of all arrays
    Device* device_{nullptr};     // of the first array
};

// The arguments of one call: positional ones, followed by keyword arguments.
class ArrayLikes {
 public:
    ArrayLikes(const ArgSpec& spec, PyObject* self, PyObject* const* args, Py_ssize_t n,
               PyObject* keywords);

    // Converts numbers and lists to arrays. False if there are none. Throws errors of a list of
    // numbers, for example that its rows differ in length.
    bool Convert();

    PyObject* const* args() const { return args_.data(); }

 private:
    // The annotation of an argument, or of the items of a list of arrays.
    enum class Kind {
        kOther,
        kArray,      // ndarray
        kOperand,    // ndarray | Scalar: some operands of a call may be numbers, but not all
        kParameter,  // float | ndarray
    };
    struct Place {
        Kind kind;
        PyObject* list;  // null for an argument that is no item of a list
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

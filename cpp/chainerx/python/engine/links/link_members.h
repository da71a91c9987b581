// The weights and biases of a child of a link, found in its dict by their names.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "chainerx/python/bind.h"
#include "chainerx/python/engine/attributes.h"

namespace chainerx::python::engine {

// Remembers what it found, for dicts that nobody has written to since.
class LinkMembers {
 public:
    // New references to what `dict` has by the names of two tuples. False if it has not all of
    // them.
    bool Find(PyObject* dict, PyObject* weights, PyObject* biases, PyObject** w, PyObject** b) {
        Known& known = known_[(reinterpret_cast<uintptr_t>(dict) >> 4) % std::size(known_)];
        const auto n_weights = static_cast<size_t>(PyTuple_GET_SIZE(weights));
        const auto n = n_weights + static_cast<size_t>(PyTuple_GET_SIZE(biases));
        const auto place = [=](size_t i) { return i < n_weights ? w + i : b + (i - n_weights); };
        if (known.dict == dict && known.version.IsOf(dict)) {
            for (size_t i = 0; i < n; ++i) *place(i) = Py_NewRef(known.values[i]);
            return true;
        }
        // Before the look-ups: a key of the dict may run code of the user's, which comes here, too.
        const DictVersion version{dict};
        for (size_t i = 0; i < n; ++i) {
            PyObject* name = i < n_weights
                                 ? PyTuple_GET_ITEM(weights, static_cast<Py_ssize_t>(i))
                                 : PyTuple_GET_ITEM(biases, static_cast<Py_ssize_t>(i - n_weights));
            PyObject* value = engine::Find(dict, name);
            if (value == nullptr) return false;
            *place(i) = Py_NewRef(value);
        }
        known.dict = dict;
        known.version = version;
        known.values.clear();
        for (size_t i = 0; i < n; ++i) known.values.push_back(*place(i));
        return true;
    }

 private:
    struct Known {
        PyObject* dict{nullptr};
        DictVersion version;
        std::vector<PyObject*> values;  // borrowed: the dict that has the version still has them
    };
    Known known_[16];
};

}  // namespace chainerx::python::engine

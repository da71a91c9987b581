// The arguments of a captured function as arrays, and what else about them a recording depends on.
#pragma once

#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

class Arguments {
 public:
    // `interned` is a dict of the values that calls have had, so that equal ones are one object.
    explicit Arguments(PyObject* interned) : interned_{interned} {}

    // Adds an argument, down to the leaves of tuples, lists and dicts. `path` is for messages.
    // TypeError for values that can't be compared.
    void Add(PyObject* o, const std::string& path, int depth = 0);
    // What follows is the argument of that name.
    void AddName(const char* name) { (key_ += '=') += name; }
    // Adds what routines depend on besides their arguments: the default device, modes of
    // backpropagation, chainer.config.
    void AddSettings();

    const std::string& key() const { return key_; }
    const std::vector<Array>& arrays() const { return arrays_; }

 private:
    void AddPointer(char kind, const void* p);
    void AddValue(PyObject* o, const std::string& path);
    void AddNumpy(PyObject* o, const std::string& path);

    PyObject* interned_;
    std::string key_;
    std::vector<Array> arrays_;
};

}  // namespace chainerx::python

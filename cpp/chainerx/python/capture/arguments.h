// The arguments of a captured function as arrays, and what else about them a recording depends on.
#pragma once

#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Of containers, in arguments and results.
inline constexpr int kMaxNesting = 64;

// Where an argument is, for messages: made a text only where it is needed.
struct Path {
    const Path* outer;  // null for an argument itself
    const char* name;   // of a keyword; null for a position
    Py_ssize_t index;
    int depth;

    std::string ToString() const;
};

class Arguments {
 public:
    // `interned` is a dict of the values that calls have had, so that equal ones are one object.
    explicit Arguments(PyObject* interned) : interned_{interned} {
        key_.reserve(256);
        arrays_.reserve(8);
    }

    // Adds an argument, down to the leaves of tuples, lists and dicts. `path` is for messages.
    // TypeError for values that can't be compared.
    void Add(PyObject* o, const Path& path);
    // What follows is the argument of that name.
    void AddName(PyObject* name) { AddValue(name, {nullptr, nullptr, 0, 0}); }
    // Adds what was left in a place that is called so, null if nothing was. Objects are told apart
    // by their identity.
    void AddState(PyObject* o, const char* name);
    void AddMark(bool mark) { key_ += mark ? '+' : '-'; }
    // Adds what routines depend on besides their arguments: the default device, modes of
    // backpropagation, chainer.config.
    void AddSettings();

    const std::string& key() const { return key_; }
    const std::vector<Array>& arrays() const { return arrays_; }

 private:
    void AddPointer(char kind, const void* p);
    void AddNumber(uint64_t n);
    void AddBytes(const void* data, size_t n);
    void AddIdentity(PyObject* o);
    void AddScalar(PyObject* o, const Path& path);
    void AddValue(PyObject* o, const Path& path);
    void AddNumpy(PyObject* o, const Path& path);

    PyObject* interned_;
    bool is_state_{false};
    std::string key_;
    std::vector<Array> arrays_;
};

}  // namespace chainerx::python

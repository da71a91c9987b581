// A place where a program keeps an object.
#pragma once

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// What holds references of Python in a recording, which the garbage collector does not see.
class Traversable {
 public:
    virtual ~Traversable() = default;
    virtual int Traverse(visitproc visit, void* arg) const = 0;
};

class Place {
 public:
    // An item of a dict or list; an attribute of a type, or of an object with slots. Without a key,
    // the content of a cell.
    Place(PyObject* owner, PyObject* key);

    Place(const Place& o);
    Place(Place&&) = default;

    // What is there; null if nothing is.
    Ref Get() const;
    // Null takes away what is there. Calls no code of the program but destructors.
    void Set(PyObject* value) const;

    PyObject* owner() const { return owner_.get(); }
    PyObject* key() const { return key_.get(); }  // null for none
    bool operator==(const Place& o) const;
    int Traverse(visitproc visit, void* arg) const;

 private:
    Ref owner_;
    Ref key_;
    Py_ssize_t index_{-1};  // of a list
};

}  // namespace chainerx::python

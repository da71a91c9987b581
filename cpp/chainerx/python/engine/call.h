// Calls a function whose body is chainerx routines: unwrap, check, open a region, compose, wrap.
#pragma once

#include <span>

#include "chainerx/autograd/region.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

// A built-in function: its class, and its composition of chainerx routines. Python calls it with
// the inputs, and with attributes by name.
struct EntryObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* cls;         // a subclass of FunctionNode: attributes, type check
    PyObject* compose;     // (arrays, attributes) -> an array or a tuple of them
    PyObject* attributes;  // tuple of interned str
    PyObject* defaults;    // tuple of their values; Ellipsis for a required one
    const OpInfo* op;
    int n_params;    // the number of attributes
    bool by_name;    // compose takes attributes by name, else after the arrays
    bool saves;      // compose returns (outputs, *values of attributes)
    bool has_check;  // the class checks types
    bool check_uses_params;
    bool has_graph;   // else the outputs have no creator
    bool promotes;    // accepts chainerx arrays of mixed dtypes
    bool is_patched;  // the program has replaced methods of the class: objects of it are applied
    struct CheckCache* cache;
};

// Makes the FunctionNode of a region without one. New reference.
PyObject* MaterializeFunction(internal::Region* region);

// Calls `entry` with the inputs and then a value for each attribute.
PyObject* CallEntry(EntryObject* entry, PyObject* const* args, size_t n_args,
                    PyObject* function = nullptr);

// Computes the single output of a function of one array.
struct Composition {
    static constexpr int kMaxParams = 2;
    Array (*f)(const Array& x, const void* data);
    const void* data;
};
// Like CallEntry, for inputs and parameters that would pass the type check, with a composition that
// is equivalent to that of `entry`. The entry has a graph and saves nothing. `packed` is null, or a
// tuple of the parameters.
PyObject* CallUnary(EntryObject* entry, VariableObject* x, std::span<PyObject* const> params,
                    const Composition& compose, PyObject* packed = nullptr);

// The number of rows of a variable or an array of any kind; -1 if it is not a matrix, or has no
// array.
int64_t RowsOfMatrix(const char* op, PyObject* o);

bool IsEntry(PyObject* o);
EntryObject* ToEntry(PyObject* o);  // TypeError if it is none

void InitCall(PyObject* module);
void InitRun(PyObject* module);

}  // namespace chainerx::python::engine

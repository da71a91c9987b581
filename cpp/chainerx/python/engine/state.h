// Thread-local state of chainer: the mirror of the configuration, and the function hooks.
#pragma once

#include <cstdint>

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

struct State {
    bool enable_backprop{true};
    bool type_check{true};
    bool debug{false};
    uint64_t generation{~uint64_t{0}};  // of the global configuration, when last mirrored
    PyObject* hooks{nullptr};           // the dict of chainer.get_function_hooks(); owned
};

// It is refreshed if the configuration has changed.
State& GetState();
// Makes the next GetState() of this thread read the configuration again.
void InvalidateState();

// With hooks for all functions, or in debug mode, functions take the observed path. Hooks of single
// functions belong to their regions (`observed`).
bool IsObserved(const State& state);

// Python functions that the engine calls. They are set once, when chainer is imported.
struct Callbacks {
    PyObject* check_types;     // (cls, params, arrays) -> None; raises InvalidType
    PyObject* apply_object;    // (cls, inputs, params) -> a variable or a tuple of them
    PyObject* materialize;     // (cls or None, values, kind or name, function or None) -> function
    PyObject* forward_begin;   // (function, in_data)
    PyObject* forward_end;     // (function, in_data, out_data)
    PyObject* backward_begin;  // (function, in_data, out_grad)
    PyObject* backward_end;    // (function, in_data, out_grad)
    PyObject* backward_gradient;  // (function, input index, array)
    PyObject* variable_class;
    PyObject* node_class;
    PyObject* adapter_class;  // of FunctionNodes that represent an object of another class
    PyObject* getitem;        // (variable, slices)
    PyObject* matmul;         // (left, right)
    PyObject* fallback;       // chainer.Fallback
    PyObject* parameter_class;
    PyObject* parameter_cleargrad;
    PyObject* hyperparameter_class;
    PyObject* cpu_device_class;
    PyObject* chainerx_device_class;
    PyObject* link_class;
    PyObject* link_params;         // Link.params, and the methods that it calls:
    PyObject* collect_params;      // Link._collect_params
    PyObject* collect_chain;       // the method of Chain
    PyObject* collect_chain_list;  // the method of ChainList
};
extern Callbacks g_callbacks;

// Releases an object on any thread: immediately if the GIL is held, else soon.
void ReleaseObject(PyObject* o) noexcept;

void InitState(PyObject* module);

}  // namespace chainerx::python::engine

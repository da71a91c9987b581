// What is thread-local in chainer: the mirror of the configuration, and the function hooks.
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

// Refreshed when the configuration has changed.
State& GetState();
// Of this thread: has it read anew.
void InvalidateState();

// Hooks for all, debug mode: functions take the way on which somebody looks. Hooks of single
// functions are the business of their regions (`observed`).
bool IsObserved(const State& state);

// What Python does for the engine. Set once, when chainer is imported.
struct Callbacks {
    PyObject* check_types;     // (cls, params, arrays) -> None; raises InvalidType
    PyObject* materialize;     // (cls or None, values, kind or name, function or None) -> function
    PyObject* forward_begin;   // (function, in_data)
    PyObject* forward_end;     // (function, in_data, out_data)
    PyObject* backward_begin;  // (function, in_data, out_grad)
    PyObject* backward_end;    // (function, in_data, out_grad)
    PyObject* backward_gradient;  // (function, input index, array)
    PyObject* variable_class;
    PyObject* node_class;
    PyObject* adapter_class;  // of FunctionNodes that stand for an object of another class
    PyObject* getitem;        // (variable, slices)
    PyObject* matmul;         // (left, right)
    PyObject* fallback;       // chainer.Fallback
    PyObject* parameter_class;
    PyObject* parameter_cleargrad;
    PyObject* hyperparameter_class;
    PyObject* cpu_device_class;
    PyObject* chainerx_device_class;
    PyObject* link_class;
    PyObject* link_params;         // Link.params, and what it calls:
    PyObject* collect_params;      // Link._collect_params
    PyObject* collect_chain;       // that of Chain
    PyObject* collect_chain_list;  // that of ChainList
};
extern Callbacks g_callbacks;

// Releases an object on whichever thread, now if the GIL is held, else soon.
void ReleaseObject(PyObject* o) noexcept;

void InitState(PyObject* module);

}  // namespace chainerx::python::engine

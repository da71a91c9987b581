#include "chainerx/python/engine/state.h"

#include <atomic>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/interop/deferred.h"

namespace chainerx::python::engine {

Callbacks g_callbacks{};

namespace {

constinit thread_local State t_engine;
std::atomic<uint64_t> g_generation{0};

void Refresh(State& state) {
    state.generation = g_generation.load(std::memory_order_relaxed);
    ReadConfig(state);
}

// config_changed(global_config, name, value=deleted)
PyObject* ConfigChanged(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n < 2 || n > 3) throw TypeError{"config_changed: expected a configuration and a name"};
    g_generation.fetch_add(1);
    MirrorGlobal(args[0], args[1], n == 3 ? args[2] : nullptr);
    Py_RETURN_NONE;
} catch (...) {
    TranslateException();
    return nullptr;
}

// Python destroys the thread's state while the GIL is held.
void ForgetHooks(PyObject* capsule) {
    if (PyCapsule_GetPointer(capsule, nullptr) == t_engine.hooks) Py_CLEAR(t_engine.hooks);
}

PyObject* SetHooks(PyObject*, PyObject* dict) {
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "set_hooks: expected a dict");
        return nullptr;
    }
    PyObject* capsule = PyCapsule_New(dict, nullptr, &ForgetHooks);
    if (capsule != nullptr) Py_XSETREF(t_engine.hooks, Py_NewRef(dict));
    return capsule;
}

PyObject* SetCallbacks(PyObject*, PyObject* args, PyObject* keywords) {
    struct Name {
        const char* name;
        PyObject** callback;
    };
#define CX_NAME(name)            \
    {                            \
        #name, &g_callbacks.name \
    }
    const Name names[] = {
        CX_NAME(adapter_class),
        CX_NAME(apply_object),
        CX_NAME(check_types),
        CX_NAME(materialize),
        CX_NAME(forward_begin),
        CX_NAME(forward_end),
        CX_NAME(backward_begin),
        CX_NAME(backward_end),
        CX_NAME(backward_gradient),
        CX_NAME(variable_class),
        CX_NAME(node_class),
        CX_NAME(getitem),
        CX_NAME(matmul),
        CX_NAME(fallback),
        CX_NAME(parameter_class),
        CX_NAME(parameter_cleargrad),
        CX_NAME(cpu_device_class),
        CX_NAME(chainerx_device_class),
        CX_NAME(link_class),
        CX_NAME(hyperparameter_class),
        CX_NAME(link_params),
        CX_NAME(collect_params),
        CX_NAME(collect_chain),
        CX_NAME(collect_chain_list),
    };
#undef CX_NAME
    if (PyTuple_GET_SIZE(args) != 0 || keywords == nullptr) {
        PyErr_SetString(PyExc_TypeError, "set_callbacks: keyword arguments only");
        return nullptr;
    }
    for (const Name& n : names) {
        if (PyObject* o = PyDict_GetItemString(keywords, n.name)) {
            Py_XSETREF(*n.callback, Py_NewRef(o));
        }
    }
    Py_RETURN_NONE;
}

PyMethodDef g_methods[] = {
    {"config_changed", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&ConfigChanged)),
     METH_FASTCALL, "Makes all threads reload the configuration before the next function."},
    {"set_hooks", &SetHooks, METH_O,
     "Sets the dict of this thread's function hooks. They are dropped with the returned object, "
     "which the thread must keep."},
    {"set_callbacks", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&SetCallbacks)),
     METH_VARARGS | METH_KEYWORDS, "Sets the Python functions that the engine calls."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

State& GetState() {
    State& state = t_engine;
    if (state.generation != g_generation.load(std::memory_order_relaxed)) [[unlikely]]
        Refresh(state);
    return state;
}

void InvalidateState() { t_engine.generation = ~uint64_t{0}; }

bool IsObserved(const State& state) {
    return state.debug || (state.hooks != nullptr && PyDict_GET_SIZE(state.hooks) != 0);
}

void ReleaseObject(PyObject* o) noexcept {
    if (o == nullptr) return;
    ReleaseWithGil(o, [](void* owner) { Py_DECREF(static_cast<PyObject*>(owner)); });
}

void InitState(PyObject* module) {
    if (PyModule_AddFunctions(module, g_methods) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine

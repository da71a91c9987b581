// The calls of recurrent links: what they do besides computing takes longer than that in Python.
#include "chainerx/python/engine/recurrent_links.h"

#include "chainerx/core/error.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/few.h"

namespace chainerx::python::engine {
namespace {

// Interned, made by InitRecurrentLinks.
PyObject* g_forward;
PyObject* g_call;
PyObject* g_hooks;
PyObject* g_w;
PyObject* g_b;
PyObject* g_upward;
PyObject* g_lateral;
PyObject* g_rnn;
PyObject* g_init_hx;
PyObject* g_children;
PyObject* g_n_layers;
PyObject* g_dropout;
PyObject* g_no_dropout;  // what the function takes instead
PyObject* g_no_key;

bool IsList(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

// What the call of a link needs.
struct Found {
    Ref n_layers;
    Ref dicts;  // a tuple: of each child its attributes
};

// False where only Python can tell what the call is.
bool Find(PyObject* link, Found& found) {
    const Ref dict = Check(PyObject_GenericGetDict(link, nullptr));
    if (engine::Find(dict.get(), g_rnn) != nullptr) return false;
    const Ref dropout = Check(PyObject_GetAttr(link, g_dropout));
    const bool has_plain_dropout =
        PyFloat_CheckExact(dropout.get()) || PyLong_CheckExact(dropout.get());
    if (!has_plain_dropout || PyObject_IsTrue(dropout.get()) != 0) return false;
    found.n_layers = Check(PyObject_GetAttr(link, g_n_layers));
    if (!PyLong_CheckExact(found.n_layers.get())) return false;
    PyObject* list = engine::Find(dict.get(), g_children);
    if (list == nullptr || !PyList_CheckExact(list)) return false;
    const Ref children = Check(PyList_AsTuple(list));
    const Py_ssize_t n = PyTuple_GET_SIZE(children.get());
    found.dicts = Check(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* child = PyTuple_GET_ITEM(children.get(), i);
        PyTuple_SET_ITEM(found.dicts.get(), i,
                         Check(PyObject_GenericGetDict(child, nullptr)).Release());
    }
    return true;
}

// Adds what so many dicts have by each name. Each may be found by code of the user's, which a key
// of the dict runs. False if one has not.
bool AddMembers(PyObject* dicts, PyObject* names, PyObject**& at) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dicts); ++i) {
        for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(names); ++j) {
            PyObject* value = engine::Find(PyTuple_GET_ITEM(dicts, i), PyTuple_GET_ITEM(names, j));
            if (value == nullptr) return false;
            *at++ = Py_NewRef(value);
        }
    }
    return true;
}

// (hy, cy, *ys) as (hy, cy, [*ys]).
PyObject* WithList(PyObject* results, Py_ssize_t n_states) {
    const Py_ssize_t n = PyTuple_GET_SIZE(results) - n_states;
    Ref list = Check(PyList_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyList_SET_ITEM(list.get(), i, Py_NewRef(PyTuple_GET_ITEM(results, n_states + i)));
    }
    Ref tuple = Check(PyTuple_New(n_states + 1));
    for (Py_ssize_t i = 0; i < n_states; ++i) {
        PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(PyTuple_GET_ITEM(results, i)));
    }
    PyTuple_SET_ITEM(tuple.get(), n_states, list.Release());
    return tuple.Release();
}

// n_step_link(entry, link, names of weights, names of biases, states, xs)
PyObject* CallLink(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
    try {
        if (n_args != 6 || !PyTuple_CheckExact(args[2]) || !PyTuple_CheckExact(args[3]) ||
            !PyTuple_CheckExact(args[4])) {
            throw TypeError{"n_step_link: expected an entry, a link, and tuples"};
        }
        EntryObject* entry = ToEntry(args[0]);
        const Ref given{Py_NewRef(args[5])};
        if (!IsList(given.get())) Py_RETURN_NONE;
        PyObject* states = args[4];
        const Py_ssize_t n_states = PyTuple_GET_SIZE(states);
        Found found;
        if (!Find(args[1], found)) Py_RETURN_NONE;
        const Py_ssize_t n_names = PyTuple_GET_SIZE(args[2]) + PyTuple_GET_SIZE(args[3]);
        const Py_ssize_t n_members = n_names * PyTuple_GET_SIZE(found.dicts.get());
        const Py_ssize_t n_xs = PySequence_Fast_GET_SIZE(given.get());
        constexpr Py_ssize_t kParams = 3;
        if (n_xs == 0 || entry->n_params != kParams) Py_RETURN_NONE;
        Objects all{static_cast<size_t>(n_states + n_members + n_xs + kParams)};
        // First the sequences: what follows may run code of the user's, which changes their list.
        PyObject** at = all.data();
        PyObject** after = at + n_states + n_members;
        for (Py_ssize_t i = 0; i < n_xs; ++i) {
            *after++ = Py_NewRef(PySequence_Fast_GET_ITEM(given.get(), i));
        }
        for (Py_ssize_t i = 0; i < n_states; ++i) {
            PyObject* state = PyTuple_GET_ITEM(states, i);
            *at++ =
                state != Py_None
                    ? Py_NewRef(state)
                    : Check(PyObject_CallMethodOneArg(args[1], g_init_hx, given.get())).Release();
        }
        *after++ = Py_NewRef(found.n_layers.get());
        *after++ = Py_NewRef(g_no_dropout);
        *after++ = Py_NewRef(g_no_key);
        if (!AddMembers(found.dicts.get(), args[2], at) ||
            !AddMembers(found.dicts.get(), args[3], at)) {
            Py_RETURN_NONE;
        }
        const Ref results{CallEntry(entry, all.data(), all.size())};
        return WithList(results.get(), n_states);
    } catch (...) {
        TranslateException();
        return nullptr;
    }
}

// What the layers of an LSTM are, unless a user has other ones: of the class `linear`, in which
// nobody has replaced these two methods.
struct UsualLayer {
    PyTypeObject* linear;
    PyObject* forward;
    PyObject* call;
    PyObject* entered;  // a list, empty while no hook for all links is on
    EntryObject* entry;
};

struct Layer {
    Ref w;
    Ref b;
};

// False where a call of the layer, in the dict of its link, may do anything else than to call the
// entry with its parameters.
bool Find(const UsualLayer& usual, PyObject* dict, PyObject* name, Layer& layer) {
    const Ref link{Py_XNewRef(engine::Find(dict, name))};
    if (!link || Py_TYPE(link.get()) != usual.linear) return false;
    const Ref attributes = Check(PyObject_GenericGetDict(link.get(), nullptr));
    PyObject* hooks = engine::Find(attributes.get(), g_hooks);
    if (hooks != Py_None || engine::Find(attributes.get(), g_forward) != nullptr) return false;
    layer.w = Ref{Py_XNewRef(engine::Find(attributes.get(), g_w))};
    layer.b = Ref{Py_XNewRef(engine::Find(attributes.get(), g_b))};
    return layer.w && layer.b;
}

// lstm_link(usual, lstm entry, link, c, h, x)
PyObject* CallLstmLink(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
    const char* op = "lstm_link";
    try {
        if (n_args != 6 || !PyTuple_CheckExact(args[0]) || PyTuple_GET_SIZE(args[0]) != 5) {
            throw TypeError{op, ": expected a tuple of 5, and 5 more arguments"};
        }
        const auto item = [args](Py_ssize_t i) { return PyTuple_GET_ITEM(args[0], i); };
        if (!PyType_Check(item(0)) || !PyList_CheckExact(item(3))) {
            throw TypeError{op, ": expected a class, and a list of hooks"};
        }
        const UsualLayer usual{reinterpret_cast<PyTypeObject*>(item(0)), item(1), item(2), item(3),
                               ToEntry(item(4))};
        EntryObject* lstm = ToEntry(args[1]);
        PyObject* c = args[3];
        PyObject* h = args[4];
        PyObject* x = args[5];
        if (c == Py_None || h == Py_None || PyList_GET_SIZE(usual.entered) != 0 ||
            IsObserved(GetState()) || _PyType_Lookup(usual.linear, g_forward) != usual.forward ||
            _PyType_Lookup(usual.linear, g_call) != usual.call) {
            Py_RETURN_NONE;
        }
        const Ref dict = Check(PyObject_GenericGetDict(args[2], nullptr));
        Layer upward;
        Layer lateral;
        if (!Find(usual, dict.get(), g_upward, upward) ||
            !Find(usual, dict.get(), g_lateral, lateral)) {
            Py_RETURN_NONE;
        }
        const int64_t rows = RowsOfMatrix(op, x);
        if (rows < 0 || RowsOfMatrix(op, h) != rows || RowsOfMatrix(op, upward.w.get()) < 0) {
            Py_RETURN_NONE;
        }
        PyObject* up[] = {x, upward.w.get(), upward.b.get()};
        const Ref of_x{CallEntry(usual.entry, up, 3)};
        PyObject* across[] = {h, lateral.w.get(), lateral.b.get()};
        const Ref of_h{CallEntry(usual.entry, across, 3)};
        const Ref gates = Check(PyNumber_Add(of_x.get(), of_h.get()));
        PyObject* inputs[] = {c, gates.get()};
        return CallEntry(lstm, inputs, 2);
    } catch (...) {
        TranslateException();
        return nullptr;
    }
}

PyMethodDef g_functions[] = {
    {"lstm_link", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CallLstmLink)),
     METH_FASTCALL,
     "lstm_link(usual, entry, link, c, h, x): the next c and h of a link; None where its layers "
     "are not the usual ones, or its inputs not matrices of as many rows. `usual` is the class of "
     "the layers, its forward and __call__, the list of hooks for all links, and the entry."},
    {"n_step_link", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CallLink)),
     METH_FASTCALL,
     "n_step_link(entry, link, weights, biases, states, xs): the call of a link over sequences; "
     "None where it is not the usual one."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitRecurrentLinks(PyObject* module) {
    const auto intern = [](const char* name) { return Check(PyUnicode_InternFromString(name)); };
    g_forward = intern("forward").Release();
    g_call = intern("__call__").Release();
    g_hooks = intern("_local_link_hooks").Release();
    g_w = intern("W").Release();
    g_b = intern("b").Release();
    g_upward = intern("upward").Release();
    g_lateral = intern("lateral").Release();
    g_rnn = intern("rnn").Release();
    g_init_hx = intern("init_hx").Release();
    g_children = intern("_children").Release();
    g_n_layers = intern("n_layers").Release();
    g_dropout = intern("dropout").Release();
    g_no_dropout = Check(PyFloat_FromDouble(0)).Release();
    g_no_key = Check(PyLong_FromLong(0)).Release();
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine

#include "chainerx/python/engine/call.h"

#include <structmember.h>

#include <algorithm>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/thread_state.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/application.h"
#include "chainerx/python/engine/check_cache.h"
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/native.h"
#include "chainerx/python/engine/scopes.h"
#include "chainerx/python/engine/small_array.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

using internal::Region;
using internal::Slot;
using internal::t_state;

namespace {

PyTypeObject* g_entry_type = nullptr;

bool IsChecked(EntryObject* entry, const CheckKey& key, PyObject* params) {
    if (params == nullptr) return entry->cache->Contains(key, nullptr);
    const internal::Unobserved by_ourselves;  // there may be arrays among them
    return entry->cache->Contains(key, params);
}

CX_COLD void CheckTypes(EntryObject* entry, Application& application, PyObject* params,
                        CheckKey& key) {
    const internal::Unobserved by_ourselves;  // types are no values
    const Ref arrays = application.InputTuple();
    Check(PyObject_CallFunctionObjArgs(g_callbacks.check_types, entry->cls, params, arrays.get(),
                                       nullptr));
    if (key.fits()) entry->cache->Insert(key, entry->check_uses_params ? params : nullptr);
}

Ref MakeTuple(PyObject* const* items, size_t n) {
    Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(n)));
    for (size_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(items[i]));
    return tuple;
}

[[noreturn]] CX_COLD void ThrowNotComposed(const char* name, PyObject* o) {
    throw TypeError{name, ": the function returned a ", Py_TYPE(o)->tp_name,
                    ", expected a chainerx.ndarray or a tuple of them"};
}

const Array& Composed(const char* name, PyObject* o) {
    if (!IsNdArray(o)) ThrowNotComposed(name, o);
    return Self(o);
}

// Adds the return value of a composition in Python.
inline void AddTo(Results& results, const char* name, PyObject* result) {
    if (!PyTuple_Check(result)) {
        results.Add(Composed(name, result));
        return;
    }
    results.SetTuple(static_cast<size_t>(PyTuple_GET_SIZE(result)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result); ++i) {
        results.Add(Composed(name, PyTuple_GET_ITEM(result, i)));
    }
}

Ref ArraysOf(PyObject* variables) {
    if (IsVariable(variables)) {
        const Ref array{ArrayOf(AsVariable(variables))};
        return Check(PyTuple_Pack(1, array.get()));
    }
    Ref tuple = Check(PyTuple_New(PyTuple_GET_SIZE(variables)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(variables); ++i) {
        PyTuple_SET_ITEM(tuple.get(), i, ArrayOf(AsVariable(PyTuple_GET_ITEM(variables, i))));
    }
    return tuple;
}

// The attribute values of the function: parameters, followed by those that compose has saved.
Ref AttributeValues(EntryObject* entry, PyObject* const* params, PyObject* result) {
    const auto n = static_cast<size_t>(entry->n_params);
    const size_t n_saved = entry->saves ? static_cast<size_t>(PyTuple_GET_SIZE(result)) - 1 : 0;
    Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(n + n_saved)));
    for (size_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(params[i]));
    for (size_t i = 0; i < n_saved; ++i) {
        PyTuple_SET_ITEM(tuple.get(), n + i, Py_NewRef(PyTuple_GET_ITEM(result, i + 1)));
    }
    return tuple;
}

Ref KindName(Kind kind) { return Check(PyUnicode_FromString(NameOf(kind))); }

Ref Materialize(EntryObject* entry, PyObject* values, Kind kind, PyObject* function) {
    const Ref name = KindName(kind);
    Ref f = Check(PyObject_CallFunctionObjArgs(g_callbacks.materialize, entry->cls,
                                               values != nullptr ? values : Py_None, name.get(),
                                               function != nullptr ? function : Py_None, nullptr));
    if (!IsFunction(f.get())) {
        throw TypeError{entry->op->name, ": its class makes a ", Py_TYPE(f.get())->tp_name,
                        ", expected a FunctionNode"};
    }
    return f;
}

// Makes an object of the class, and applies it as a program would.
CX_COLD PyObject* ApplyObject(EntryObject* entry, PyObject* const* args, size_t n_inputs) {
    const Ref inputs = MakeTuple(args, n_inputs);
    const Ref params = MakeTuple(args + n_inputs, static_cast<size_t>(entry->n_params));
    return Check(PyObject_CallFunctionObjArgs(g_callbacks.apply_object, entry->cls, inputs.get(),
                                              params.get(), nullptr))
        .Release();
}

// Whether a call names all attributes in the order of their declaration, as most calls do: then no
// sorting is needed.
bool AreAllInOrder(const EntryObject* entry, PyObject* keywords) {
    const Py_ssize_t n = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
    if (n != entry->n_params) return false;
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (PyTuple_GET_ITEM(keywords, i) != PyTuple_GET_ITEM(entry->attributes, i)) return false;
    }
    return true;
}

// The index of an attribute among those of the entry.
Py_ssize_t FindAttribute(const EntryObject* entry, PyObject* name) {
    for (Py_ssize_t i = 0; i < entry->n_params; ++i) {
        const int equal =
            PyObject_RichCompareBool(PyTuple_GET_ITEM(entry->attributes, i), name, Py_EQ);
        if (equal < 0) throw PythonError{};
        if (equal != 0) return i;
    }
    throw TypeError{entry->op->name, ": there is no attribute ", ToString("call", "keyword", name)};
}

PyObject* CallByName(EntryObject* entry, PyObject* const* args, size_t n_inputs, PyObject* keywords,
                     PyObject* function = nullptr) {
    const auto n = static_cast<size_t>(entry->n_params);
    if (AreAllInOrder(entry, keywords)) return CallEntry(entry, args, n_inputs + n, function);
    Pointers all{n_inputs + n};
    std::copy_n(args, n_inputs, all.data());
    PyObject** values = all.data() + n_inputs;
    for (size_t i = 0; i < n; ++i) values[i] = PyTuple_GET_ITEM(entry->defaults, i);
    const Py_ssize_t n_given = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
    for (Py_ssize_t i = 0; i < n_given; ++i) {
        values[FindAttribute(entry, PyTuple_GET_ITEM(keywords, i))] = args[n_inputs + i];
    }
    for (size_t i = 0; i < n; ++i) {
        if (values[i] != Py_Ellipsis) continue;
        throw TypeError{entry->op->name, ": the attribute ",
                        ToString("call", "keyword", PyTuple_GET_ITEM(entry->attributes, i)),
                        " is missing"};
    }
    return CallEntry(entry, all.data(), all.size(), function);
}

PyObject* Vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    auto* entry = reinterpret_cast<EntryObject*>(self);
    try {
        return CallByName(entry, args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), keywords);
    } catch (...) {
        return Failed(entry->op->name);
    }
}

void Dealloc(PyObject* self) {
    auto* entry = reinterpret_cast<EntryObject*>(self);
    Py_XDECREF(entry->cls);
    Py_XDECREF(entry->compose);
    Py_XDECREF(entry->attributes);
    Py_XDECREF(entry->defaults);
    delete entry->cache;
    FreeInstance(self);
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    static const char* names[] = {"cls",      "compose", "name",  "attributes",        "defaults",
                                  "by_name",  "saves",   "check", "check_uses_params", "graph",
                                  "promotes", nullptr};
    PyObject* cls;
    PyObject* compose;
    const char* name;
    PyObject* attributes;
    PyObject* defaults;
    int by_name = 0;
    int saves = 0;
    int check = 1;
    int check_uses_params = 0;
    int graph = 1;
    int promotes = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOsO!O!|pppppp:Entry",
                                     const_cast<char**>(names), &cls, &compose, &name,
                                     &PyTuple_Type, &attributes, &PyTuple_Type, &defaults, &by_name,
                                     &saves, &check, &check_uses_params, &graph, &promotes)) {
        return nullptr;
    }
    const Py_ssize_t n_params = PyTuple_GET_SIZE(attributes);
    if (PyTuple_GET_SIZE(defaults) != n_params) {
        PyErr_SetString(PyExc_ValueError, "Entry: expected a default for each attribute");
        return nullptr;
    }
    PyObject* o = type->tp_alloc(type, 0);
    if (o == nullptr) return nullptr;
    auto* entry = reinterpret_cast<EntryObject*>(o);
    entry->vectorcall = &Vectorcall;
    entry->cls = Py_NewRef(cls);
    entry->compose = Py_NewRef(compose);
    entry->op = &UserOp(name);
    entry->attributes = Py_NewRef(attributes);
    entry->defaults = Py_NewRef(defaults);
    entry->n_params = static_cast<int>(n_params);
    entry->by_name = by_name != 0 && n_params != 0;
    entry->saves = saves != 0;
    entry->has_check = check != 0;
    entry->check_uses_params = check_uses_params != 0;
    entry->has_graph = graph != 0;
    entry->promotes = promotes != 0;
    entry->cache = new CheckCache;
    Py_INCREF(o);  // referenced by regions, too
    return o;
}

// entry.apply(function, *inputs, **attributes): applies a function object of the user.
PyObject* Apply(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    auto* entry = reinterpret_cast<EntryObject*>(self);
    try {
        if (n < 1 || !IsFunction(args[0])) throw TypeError{"apply: expected a FunctionNode"};
        return CallByName(entry, args + 1, static_cast<size_t>(n) - 1, keywords, args[0]);
    } catch (...) {
        return Failed(entry->op->name);
    }
}

PyMethodDef g_entry_methods[] = {
    {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Apply)),
     METH_FASTCALL | METH_KEYWORDS,
     "Calls the function with a FunctionNode given by the caller as creator."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef g_entry_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(EntryObject, vectorcall), READONLY, nullptr},
    {"cls", T_OBJECT, offsetof(EntryObject, cls), READONLY, "The class of the function."},
    {"compose", T_OBJECT, offsetof(EntryObject, compose), READONLY, "The chainerx composition."},
    {"attributes", T_OBJECT, offsetof(EntryObject, attributes), READONLY,
     "The names of its attributes."},
    {"has_graph", T_BOOL, offsetof(EntryObject, has_graph), 0,
     "Whether outputs have a creator; onnx_chainer sees all functions by setting it."},
    {"is_patched", T_BOOL, offsetof(EntryObject, is_patched), 0,
     "Whether the program has replaced methods of the class, so that objects of it are applied."},
    {nullptr, 0, 0, 0, nullptr}};

// run_native(function, inputs, method): calls the user's forward_chainerx(arrays) with arrays in
// the graph. Returns chainer.Fallback unchanged, else a tuple of variables.
PyObject* RunNative(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n != 3 || !IsFunction(args[0]) || !PyTuple_Check(args[1])) {
        throw TypeError{"run_native: expected a FunctionNode, a tuple of Variables and a method"};
    }
    const OpInfo& op = ClassOp(args[0]);
    const bool enabled = Records(GetState());
    Application application{op.name,
                            static_cast<size_t>(PyTuple_GET_SIZE(args[1])),
                            {.records = enabled, .has_variables = true}};
    application.SetInputs(&PyTuple_GET_ITEM(args[1], 0), true);
    Objects arrays{application.size()};
    application.UnwrapTo(arrays.data());
    const Ref tuple = MakeTuple(arrays.data(), arrays.size());
    RegionHold hold;
    Region* region = nullptr;
    if (enabled) {
        region = BindRegion(args[0], application.kind());
        region->Ref();
        hold.Reset(region);
        application.AddInputsTo(region);
    }
    const NoRecordScope no_record{!enabled};
    Ref result;
    {
        const internal::RegionScope scope{region};
        result = Check(PyObject_CallOneArg(args[2], tuple.get()));
    }
    if (result.get() == g_callbacks.fallback) return result.Release();
    if (!PyTuple_Check(result.get())) {
        throw TypeError{op.name,
                        ".forward_chainerx: output must be a tuple of chainerx arrays or "
                        "chainer.Fallback, actual: ",
                        Py_TYPE(result.get())->tp_name};
    }
    Results outputs;
    AddTo(outputs, op.name, result.get());
    return application.WrapOutputs(op, outputs, region);
} catch (...) {
    return Failed("apply");
}

PyMethodDef g_functions[] = {
    {"run_native", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&RunNative)),
     METH_FASTCALL, "Calls forward_chainerx of a function and records it."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* MaterializeFunction(Region* region) {
    auto* entry = static_cast<EntryObject*>(region->type);
    if (entry == nullptr) {
        const char* name = "chainerx";
        for (Slot* slot : region->outputs) {
            if (slot != nullptr && slot->node != nullptr) name = slot->node->op->name;
        }
        return Check(PyObject_CallFunction(g_callbacks.materialize, "OOsO", Py_None, Py_None, name,
                                           Py_None))
            .Release();
    }
    const Ref values{Py_XNewRef(static_cast<PyObject*>(region->payload))};
    return Materialize(entry, values.get(), static_cast<Kind>(region->kind), nullptr).Release();
}

PyObject* CallEntry(EntryObject* entry, PyObject* const* args, size_t n_args, PyObject* function) {
    const auto n_params = static_cast<size_t>(entry->n_params);
    const char* name = entry->op->name;
    if (n_args < n_params) throw TypeError{name, ": too few arguments, ", n_args};
    if (entry->is_patched && function == nullptr) [[unlikely]] {
        return ApplyObject(entry, args, n_args - n_params);
    }
    const State& state = GetState();
    const bool record = entry->has_graph && Records(state);
    const bool observed = entry->has_graph && (IsObserved(state) || function != nullptr);
    Application application{
        name, n_args - n_params, {.records = record || observed, .has_variables = observed}};
    application.SetInputs(args, false);
    PyObject* const* params = args + application.size();

    if (entry->has_check && state.type_check &&
        !(entry->promotes && application.kind() == Kind::kChainerx)) {
        CheckKey key;
        application.AddTo(key);
        Ref tuple;
        if (entry->check_uses_params) tuple = MakeTuple(params, n_params);
        if (!key.fits() || !IsChecked(entry, key, tuple.get())) {
            if (!tuple) tuple = MakeTuple(params, n_params);
            CheckTypes(entry, application, tuple.get(), key);
        }
    }

    RegionHold region;
    if (record || observed) {
        region.Reset(new Region);
        region.get()->type = entry;
        application.AddInputsTo(region.get());
    } else if (!entry->has_graph) {
        application.DropRequiresGrad();
    }
    Ref in_data;
    Ref f;  // the region may release its reference meanwhile
    if (observed) [[unlikely]] {
        if (function == nullptr) {
            f = Materialize(entry, MakeTuple(params, n_params).get(), application.kind(), nullptr);
            function = f.get();
        }
        PinFunction(region.get(), function);
        in_data = application.InputTuple();
        Check(PyObject_CallFunctionObjArgs(g_callbacks.forward_begin, function, in_data.get(),
                                           nullptr));
    }

    Results outputs;
    Ref result;  // the result of a composition in Python
    {
        const internal::RegionScope scope{record ? region.get() : nullptr};
        const NoRecordScope no_record{!record};
        if (IsNative(entry->compose)) {
            SmallArray<Array> arrays{application.size()};
            application.CopyTo(arrays);
            CallNative(entry->compose, arrays, params, outputs);
        } else {
            Objects arrays{n_args};
            application.UnwrapTo(arrays.data());
            for (size_t i = 0; i < n_params; ++i) {
                arrays[application.size() + i] = Py_NewRef(params[i]);
            }
            result =
                Check(entry->by_name
                          ? PyObject_Vectorcall(entry->compose, arrays.data(), application.size(),
                                                entry->attributes)
                          : PyObject_Vectorcall(entry->compose, arrays.data(), n_args, nullptr));
        }
    }
    if (result) {
        PyObject* composed = result.get();
        if (entry->saves) {
            if (!PyTuple_CheckExact(composed) || PyTuple_GET_SIZE(composed) == 0) {
                ThrowNotComposed(name, composed);
            }
            composed = PyTuple_GET_ITEM(composed, 0);
        }
        AddTo(outputs, name, composed);
    }
    if (region.get() != nullptr && (n_params != 0 || entry->saves)) {
        Ref values = AttributeValues(entry, params, result.get());
        if (observed) {
            if (entry->saves) Materialize(entry, values.get(), application.kind(), function);
        } else {
            region.get()->payload = values.Release();
            region.get()->release = &ReleasePayload;
        }
    }
    // Then no one else has a handle of an output that is not an input.
    result = Ref{};
    Ref wrapped{application.WrapOutputs(*entry->op, outputs, record ? region.get() : nullptr)};
    if (observed) [[unlikely]] {
        const Ref out_data = ArraysOf(wrapped.get());
        Check(PyObject_CallFunctionObjArgs(g_callbacks.forward_end, function, in_data.get(),
                                           out_data.get(), nullptr));
    }
    return wrapped.Release();
}

int64_t RowsOfMatrix(const char* op, PyObject* o) {
    if (IsVariable(o)) {
        VariableObject* v = AsVariable(o);
        if (v->storage->object == Py_None) return -1;
        const Array& record = RecordOf(op, v);
        return record.ndim() == 2 ? record.shape()[0] : -1;
    }
    if (IsNdArray(o)) return Self(o).ndim() == 2 ? Self(o).shape()[0] : -1;
    if (KindOf(o) == Kind::kNone) return -1;
    const Ref shape = Check(PyObject_GetAttrString(o, "shape"));
    if (!PyTuple_CheckExact(shape.get()) || PyTuple_GET_SIZE(shape.get()) != 2) return -1;
    return PyLong_AsLongLong(PyTuple_GET_ITEM(shape.get(), 0));
}

bool IsEntry(PyObject* o) { return Py_IS_TYPE(o, g_entry_type); }

EntryObject* ToEntry(PyObject* o) {
    if (!IsEntry(o)) {
        throw TypeError{"expected an Entry, got ", Py_TYPE(o)->tp_name};
    }
    return reinterpret_cast<EntryObject*>(o);
}

void InitCall(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
        {Py_tp_members, g_entry_members},
        {Py_tp_methods, g_entry_methods},
        {Py_tp_doc, const_cast<char*>("A built-in function: its class and its composition.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.Entry", sizeof(EntryObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    g_entry_type = AddType(module, spec, g_functions);
}

}  // namespace chainerx::python::engine

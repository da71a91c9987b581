#include "chainerx/python/engine/function.h"

#include <structmember.h>

#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/node.h"
#include "chainerx/python/engine/traverse.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

PyTypeObject* g_function_type = nullptr;

using internal::Region;
using internal::Slot;

namespace {

// ---- the type -----------------------------------------------------------------------------------

bool IsView(const FunctionObject* f) { return f->region != nullptr && f->region->view == f; }

// Unlinks the function from its region, together with the views that only it reports to the
// collector.
Ref TakeFromView(FunctionObject* f) {
    if (!IsView(f)) return Ref{};
    f->region->view = nullptr;
    return Ref{static_cast<PyObject*>(std::exchange(f->region->input_views, nullptr))};
}

// Releases the region.
void Unbind(FunctionObject* f) {
    const Ref views = TakeFromView(f);
    if (Region* region = std::exchange(f->region, nullptr)) region->Unref();
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(AsFunction(self)->dict);
    if (IsView(AsFunction(self))) {
        Py_VISIT(static_cast<PyObject*>(AsFunction(self)->region->input_views));
    }
    return VisitRegion(self, AsFunction(self)->region, visit, arg);
}

int Clear(PyObject* self) {
    FunctionObject* f = AsFunction(self);
    Py_CLEAR(f->dict);
    if (IsView(f)) {
        const Ref views{static_cast<PyObject*>(std::exchange(f->region->input_views, nullptr))};
    }
    if (f->region != nullptr && f->region->refs.load() == 1) Unbind(f);
    return 0;
}

void Dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    FunctionObject* f = AsFunction(self);
    const Ref views = TakeFromView(f);  // first, so that no one finds it there any more
    if (f->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
    Py_CLEAR(f->dict);
    Unbind(f);
    FreeInstance(self);
}

PyMemberDef g_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// ---- hooks of one function ----------------------------------------------------------------------

bool HasHooks(const FunctionObject* f) {
    static PyObject* name = PyUnicode_InternFromString("_local_function_hooks");
    PyObject* hooks = f->dict != nullptr ? PyDict_GetItem(f->dict, name) : nullptr;
    return hooks != nullptr && PyDict_Check(hooks) && PyDict_GET_SIZE(hooks) != 0;
}

// version(array): the number of in-place writes of chainerx to the memory; 0 for other arrays.
PyObject* Version(PyObject*, PyObject* array) {
    return PyLong_FromUnsignedLong(IsNdArray(array) ? Self(array).buffer()->version() : 0);
}

// forget_writes(array, version): ignores the writes of chainerx since that version.
PyObject* ForgetWrites(PyObject*, PyObject* const* args, Py_ssize_t n_args) try {
    if (n_args != 2) throw TypeError{"forget_writes: expected an array and a version"};
    const int64_t version = ToInt("forget_writes", "version", args[1]);
    if (IsNdArray(args[0])) {
        Self(args[0]).buffer()->ForgetWrites(static_cast<uint32_t>(version));
    }
    Py_RETURN_NONE;
} catch (...) {
    return Failed("forget_writes");
}

// retained(function, index, array, is_output): the variable at an input or output, over `array`.
PyObject* Retained(PyObject*, PyObject* const* args, Py_ssize_t n_args) try {
    if (n_args != 4 || !IsFunction(args[0])) throw TypeError{"retained: expected a FunctionNode"};
    const auto index = static_cast<uint32_t>(ToInt("retained", "index", args[1]));
    Region* region = AsFunction(args[0])->region;
    const bool is_output = args[3] == Py_True;
    Slot* slot = nullptr;
    if (region != nullptr) {
        internal::SlotList& list = is_output ? region->outputs : region->inputs;
        if (index < list.size()) slot = list[index];
    }
    const Kind kind = KindOf(args[2]);
    if (kind == Kind::kNone) throw TypeError{"retained: expected an array"};
    const Hold<Slot> hold{slot};
    if (slot != nullptr) return VariableAt(slot, kind, args[2]);
    try {
        return NewVariable(ChainerxArrayOf("retained", args[2]), kind, false, args[2]);
    } catch (const TypeError&) {
        return NewUnrecordedVariable(args[2], kind, false);
    }
} catch (...) {
    return Failed("retained");
}

// observe(function, whether): tells that a function in the graph has hooks, so that the graph keeps
// this very object, or that it has none any more.
PyObject* Observe(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
    if (n_args != 2 || !IsFunction(args[0])) {
        PyErr_SetString(PyExc_TypeError, "observe: expected a FunctionNode and a bool");
        return nullptr;
    }
    Region* region = AsFunction(args[0])->region;
    if (region == nullptr) Py_RETURN_NONE;
    region->observed = args[1] == Py_True;
    if (region->observed && region->nodes.load() != 0) PinFunction(region, args[0]);
    Py_RETURN_NONE;
}

// pin(function): makes the graph keep this very object, with all changes by the user.
PyObject* PinObject(PyObject*, PyObject* f) {
    if (!IsFunction(f)) {
        PyErr_SetString(PyExc_TypeError, "pin: expected a FunctionNode");
        return nullptr;
    }
    Region* region = AsFunction(f)->region;
    if (region != nullptr && region->nodes.load() != 0) PinFunction(region, f);
    Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {
    {"forget_writes", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&ForgetWrites)),
     METH_FASTCALL, "Resets the number of in-place writes of chainerx to an array's memory."},
    {"observe", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Observe)),
     METH_FASTCALL,
     "Says whether a function has hooks of its own; if so, the graph keeps the function object."},
    {"pin", &PinObject, METH_O, "Makes the graph keep this very function object."},
    {"retained", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Retained)),
     METH_FASTCALL, "The variable of an input or output that a function retained."},
    {"version", &Version, METH_O,
     "The number of in-place writes of chainerx to an array's memory; 0 for other libraries' "
     "arrays."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void ReleasePayload(Region& region) noexcept {
    auto* o = static_cast<PyObject*>(region.payload);
    region.payload = nullptr;
    ForgetForeign(&region);
    ReleaseObject(o);
}

const OpInfo& ClassOp(PyObject* f) {
    auto* adapter = reinterpret_cast<PyTypeObject*>(g_callbacks.adapter_class);
    if (adapter == nullptr || !PyObject_TypeCheck(f, adapter)) return UserOp(Py_TYPE(f)->tp_name);
    const Ref name = Check(PyObject_GetAttrString(f, "_impl_name"));
    const char* text = PyUnicode_AsUTF8(name.get());
    if (text == nullptr) throw PythonError{};
    return UserOp(text);
}

Region* BindRegion(PyObject* function, Kind kind, bool again) {
    FunctionObject* f = AsFunction(function);
    if (f->region != nullptr) {
        f->region->stale |= again;
        Unbind(f);
    }
    auto* region = new Region;
    region->foreign = true;
    region->observed = HasHooks(f);
    region->kind = static_cast<uint8_t>(kind);
    region->payload = Py_NewRef(function);
    region->release = &ReleasePayload;
    region->view = function;
    f->region = region;
    return region;
}

void PinFunction(Region* region, PyObject* function) {
    FunctionObject* f = AsFunction(function);
    if (f->region != region) {
        Unbind(f);
        f->region = region;
        region->Ref();
        region->view = function;
        region->observed = HasHooks(f);
    }
    if (region->payload == function) return;
    const Ref old{static_cast<PyObject*>(region->payload)};
    region->payload = Py_NewRef(function);
    region->release = &ReleasePayload;
    BecomeForeign(region);
}

PyObject* FunctionOf(Region* region) {
    if (region->view != nullptr) return Py_NewRef(static_cast<PyObject*>(region->view));
    // The function was applied again: its attributes describe the last application, but it is still
    // the creator.
    if (region->foreign && region->payload != nullptr) {
        return Py_NewRef(static_cast<PyObject*>(region->payload));
    }
    const Hold<Region> hold{region};
    PyObject* f = MaterializeFunction(region);
    Unbind(AsFunction(f));
    if (region->view != nullptr) {  // materializing it has run code of the user
        Py_DECREF(f);
        return Py_NewRef(static_cast<PyObject*>(region->view));
    }
    AsFunction(f)->region = region;
    region->Ref();
    region->view = f;
    return f;
}

PyObject* CreatorOf(Slot* slot) {
    if (slot->node == nullptr || slot->cut.load()) Py_RETURN_NONE;
    const Hold<Region> region{internal::RegionOf(slot->node)};
    PyObject* f = FunctionOf(region.get());
    if (AsFunction(f)->region == region.get()) {
        AsFunction(f)->seen = true;
        if (region.get()->nodes.load() != 0) PinFunction(region.get(), f);
    }
    return f;
}

Ref InputArrays(Region& region) {
    const uint32_t n = region.inputs.size();
    Ref tuple = Check(PyTuple_New(n));
    for (uint32_t i = 0; i < n; ++i) {
        Slot* slot = i < region.inputs.size() ? region.inputs[i] : nullptr;
        const Hold<Slot> hold{slot};
        const Ref v{slot != nullptr ? VariableAt(slot, static_cast<Kind>(region.kind), nullptr)
                                    : nullptr};
        PyTuple_SET_ITEM(tuple.get(), i, v ? ArrayOf(AsVariable(v.get())) : Py_NewRef(Py_None));
    }
    return tuple;
}

Ref GradientArrays(std::span<const Array> grads, Kind kind) {
    Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(grads.size())));
    for (size_t i = 0; i < grads.size(); ++i) {
        PyTuple_SET_ITEM(
            tuple.get(), i,
            grads[i].is_null() ? Py_NewRef(Py_None) : Check(ToKind(grads[i], kind)).Release());
    }
    return tuple;
}

void InitFunction(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&PyType_GenericNew)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
        {Py_tp_members, g_members},
        {Py_tp_getset, FunctionAttributes()},
        {Py_tp_methods, FunctionMethods()},
        {Py_tp_doc,
         const_cast<char*>(
             "FunctionNode()\n--\n\nThe part of chainer.FunctionNode that is written in C++.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.FunctionNode", sizeof(FunctionObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                               slots};
    g_function_type = AddType(module, spec, g_functions);
}

}  // namespace chainerx::python::engine

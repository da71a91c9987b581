#include "chainerx/python/engine/function.h"

#include <structmember.h>

#include <string>
#include <vector>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/core/thread_state.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/node.h"
#include "chainerx/python/engine/scopes.h"
#include "chainerx/python/engine/traverse.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python::engine {

PyTypeObject* g_function_type = nullptr;

using internal::Region;
using internal::Slot;

namespace {

// ---- the type -----------------------------------------------------------------------------------

// Lets go of the region.
void Unbind(FunctionObject* f) {
    Region* region = f->region;
    if (region == nullptr) return;
    f->region = nullptr;
    if (region->view == f) region->view = nullptr;
    region->Unref();
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(AsFunction(self)->dict);
    return VisitRegion(self, AsFunction(self)->region, visit, arg);
}

int Clear(PyObject* self) {
    Py_CLEAR(AsFunction(self)->dict);
    Region* region = AsFunction(self)->region;
    if (region != nullptr && region->refs.load() == 1) Unbind(AsFunction(self));
    return 0;
}

void Dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    FunctionObject* f = AsFunction(self);
    // First: nobody may find it there any more.
    if (f->region != nullptr && f->region->view == f) f->region->view = nullptr;
    if (f->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
    Py_CLEAR(f->dict);
    Unbind(f);
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

// ---- outputs ------------------------------------------------------------------------------------

// A weak reference to the node of an output: callable, as weakref.ref is.
struct OutputRef {
    PyObject_HEAD Region* region;  // owned
    uint32_t index;
};
PyTypeObject* g_output_ref_type = nullptr;

void DeallocOutputRef(PyObject* self) {
    reinterpret_cast<OutputRef*>(self)->region->Unref();
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* CallOutputRef(PyObject* self, PyObject*, PyObject*) {
    auto* ref = reinterpret_cast<OutputRef*>(self);
    internal::SlotList& outputs = ref->region->outputs;
    Slot* slot = ref->index < outputs.size() ? outputs[ref->index] : nullptr;
    if (slot == nullptr) Py_RETURN_NONE;
    try {
        return NodeOf(slot);
    } catch (...) {
        TranslateException();
        return nullptr;
    }
}

PyObject* Inputs(PyObject* self, void*) {
    Region* region = AsFunction(self)->region;
    if (region == nullptr || region->inputs.empty()) Py_RETURN_NONE;
    try {
        const Hold<Region> hold{region};  // the collector may run code of the user's
        const uint32_t n = region->inputs.size();
        Ref tuple = Check(PyTuple_New(n));
        for (uint32_t i = 0; i < n; ++i) {
            Slot* slot = i < region->inputs.size() ? region->inputs[i] : nullptr;
            PyTuple_SET_ITEM(tuple.get(), i, slot != nullptr ? NodeOf(slot) : Py_NewRef(Py_None));
        }
        return tuple.Release();
    } catch (...) {
        TranslateException();
        return nullptr;
    }
}

PyObject* Outputs(PyObject* self, void*) {
    Region* region = AsFunction(self)->region;
    // Neither before it is applied nor after it is unchained.
    if (region == nullptr || region->inputs.empty()) Py_RETURN_NONE;
    const Hold<Region> hold{region};  // the collector may run code of the user's
    const uint32_t n = region->outputs.size();
    Ref tuple{PyTuple_New(n)};
    if (!tuple) return nullptr;
    for (uint32_t i = 0; i < n; ++i) {
        auto* ref = PyObject_New(OutputRef, g_output_ref_type);
        if (ref == nullptr) return nullptr;
        region->Ref();
        ref->region = region;
        ref->index = i;
        PyTuple_SET_ITEM(tuple.get(), i, reinterpret_cast<PyObject*>(ref));
    }
    return tuple.Release();
}

PyObject* Rank(PyObject* self, void*) {
    const Region* region = AsFunction(self)->region;
    return PyLong_FromLongLong(region != nullptr ? region->rank : 0);
}

PyObject* UnchainFunction(PyObject* self, PyObject*) {
    if (Region* region = AsFunction(self)->region) {
        const Hold<Region> hold{region};  // what dies below may run code of the user's
        for (Slot* slot : region->outputs) {
            if (slot != nullptr) Cut(slot);
        }
        // The nodes are in a chain that ends at the outputs: what they refer to goes with them.
        for (Slot* slot : region->outputs) {
            if (slot != nullptr && slot->node != nullptr) slot->node->Unchain();
        }
        region->DropInputs();
    }
    Py_RETURN_NONE;
}

PyGetSetDef g_getset[] = {
    {"inputs", &Inputs, nullptr, "A tuple of VariableNodes; None before the function is applied.",
     nullptr},
    {"outputs", &Outputs, nullptr,
     "A tuple of weak references to VariableNodes; None before the function is applied.", nullptr},
    {"rank", &Rank, nullptr, "The number of functions on the longest path from here to a leaf.",
     nullptr},
    {"__dict__", &PyObject_GenericGetDict, &PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef g_methods[] = {{"unchain", &UnchainFunction, METH_NOARGS,
                            "unchain($self)\n--\n\nCuts the function from its inputs and outputs."},
                           {nullptr, nullptr, 0, nullptr}};

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

// ---- functions of the user ----------------------------------------------------------------------

const char* ClassName(PyObject* f) { return ClassOp(f).name; }

// Leaves it to `enable_backprop` alone whether functions are recorded: backward() may switch it on
// for a graph of its own, also in a run that records nothing.
class RecordScope {
 public:
    RecordScope()
        : context_{internal::t_state.record_context}, mask_{internal::t_state.record_mask} {
        Context& context = GetDefaultContext();
        const uint64_t mask = internal::RecordMask(&context);
        internal::t_state.record_context = &context;
        internal::t_state.record_mask = mask | GraphBit();
    }
    ~RecordScope() {
        internal::t_state.record_context = context_;
        internal::t_state.record_mask = mask_;
    }
    RecordScope(const RecordScope&) = delete;
    RecordScope& operator=(const RecordScope&) = delete;

 private:
    Context* context_;
    uint64_t mask_;
};

[[noreturn]] CX_COLD void ThrowBadGradient(PyObject* f, const char* what, int input, Slot* slot,
                                           const Array* gx) {
    const std::string place = StrCat(ClassName(f), ".backward: the gradient of input ", input, " ");
    if (gx == nullptr) throw TypeError{place, what};
    if (gx->shape() != slot->shape) {
        throw ValueError{place, "has shape ", gx->shape(), ", the input ", slot->shape};
    }
    throw TypeError{place, "has dtype ", gx->dtype(), ", the input ", slot->dtype};
}

// Which inputs and outputs of the function are those of its node: all that chainerx can hold.
struct Places {
    std::vector<int> inputs;
    std::vector<int> outputs;
    Py_ssize_t n_outputs;
};

// The input at a place; null after backward() has unchained the function, too.
Slot* InputAt(Region* region, int place) {
    return static_cast<uint32_t>(place) < region->inputs.size() ? region->inputs[place] : nullptr;
}

// The inputs of the node whose gradients are asked for. Those of integers lead nowhere; v7 asks for
// them, but not where arrays are chainerx's.
std::vector<int> Targets(Region* region, const GradContext& context, const Places& places) {
    const bool of_all = static_cast<Kind>(region->kind) != Kind::kChainerx;
    std::vector<int> targets;
    for (int i = 0; i < context.input_count(); ++i) {
        if (!context.IsInputGradRequired(i)) continue;
        const Slot* slot = InputAt(region, places.inputs[i]);
        if (of_all || slot == nullptr || IsDifferentiable(slot->dtype)) targets.push_back(i);
    }
    return targets;
}

// backward() returns one gradient per target, or one per input.
[[noreturn]] CX_COLD void ThrowWrongCount(PyObject* f, Py_ssize_t n, size_t n_inputs,
                                          size_t n_targets) {
    std::string expected = StrCat(n_inputs);
    if (n_targets != n_inputs) expected += StrCat(" or ", n_targets);
    throw ValueError{ClassName(f),
                     ".backward: number of gradients returned from backward is incorrect: ", n,
                     " != expected ", expected};
}

[[noreturn]] CX_COLD void ThrowStale(PyObject* f) {
    PyErr_Format(PyExc_RuntimeError,
                 "%s.backward: the function object was applied again after this output was "
                 "computed, and what it kept is of the last time; make a new %s for each call",
                 ClassName(f), ClassName(f));
    throw PythonError{};
}

// The gradients that the user's backward() computes.
void CallBackward(Region* region, GradContext& context, const Places& places) {
    const GilScope gil;
    const Ref f{Py_NewRef(static_cast<PyObject*>(region->payload))};
    const auto kind = static_cast<Kind>(region->kind);
    const std::vector<int> targets = Targets(region, context, places);
    if (targets.empty()) return;
    if (region->stale) ThrowStale(f.get());
    const size_t n_inputs = region->inputs.size();
    const Ref indexes = Check(PyTuple_New(static_cast<Py_ssize_t>(targets.size())));
    const Ref no_grads = Check(PyTuple_New(static_cast<Py_ssize_t>(targets.size())));
    for (size_t i = 0; i < targets.size(); ++i) {
        PyTuple_SET_ITEM(indexes.get(), i, PyLong_FromLong(places.inputs[targets[i]]));
        PyTuple_SET_ITEM(no_grads.get(), i, Py_NewRef(Py_None));
    }
    const Ref grads = Check(PyTuple_New(places.n_outputs));
    for (Py_ssize_t i = 0; i < places.n_outputs; ++i) {
        PyTuple_SET_ITEM(grads.get(), i, Py_NewRef(Py_None));
    }
    for (int i = 0; i < context.output_count(); ++i) {
        if (!context.HasOutputGrad(i)) continue;
        const Array& gy = context.output_grad(i);
        PyObject* g = NewVariable(gy, kind, gy.body()->slot != nullptr);
        Py_DECREF(Py_None);
        PyTuple_SET_ITEM(grads.get(), places.outputs[i], g);
    }
    const bool record = (internal::RecordMask(&GetDefaultContext()) & GraphBit()) != 0;
    const BackpropConfig config{record};
    const RecordScope recorded;
    static PyObject* method = PyUnicode_InternFromString("backward_accumulate");
    const Ref result = Check(PyObject_CallMethodObjArgs(f.get(), method, indexes.get(), grads.get(),
                                                        no_grads.get(), nullptr));
    if (!PyTuple_Check(result.get()) && !PyList_Check(result.get())) {
        throw TypeError{ClassName(f.get()), ".backward: returned ", Py_TYPE(result.get())->tp_name,
                        ", expected a tuple of Variables or None"};
    }
    const Items gxs{result.get()};
    const auto n = static_cast<size_t>(gxs.size());
    if (n != n_inputs && n != targets.size()) {
        ThrowWrongCount(f.get(), gxs.size(), n_inputs, targets.size());
    }
    for (size_t i = 0; i < targets.size(); ++i) {
        const int place = places.inputs[targets[i]];
        PyObject* g = gxs[n == n_inputs ? place : static_cast<Py_ssize_t>(i)];
        if (g == Py_None) continue;
        Slot* slot = InputAt(region, place);
        if (slot == nullptr) continue;
        const Hold<Slot> hold{slot};
        if (!IsVariable(g)) {
            ThrowBadGradient(
                f.get(),
                StrCat("is a ", Py_TYPE(g)->tp_name, ", expected a Variable or None").c_str(),
                place, slot, nullptr);
        }
        VariableObject* v = AsVariable(g);
        if (v->cell->kind != kind) {
            ThrowBadGradient(f.get(),
                             StrCat("is a ", NameOf(v->cell->kind), " array, the input a ",
                                    NameOf(kind), " array")
                                 .c_str(),
                             place, slot, nullptr);
        }
        const Array gx = RecordOf("backward", v);
        if (gx.shape() != slot->shape || gx.dtype() != slot->dtype) {
            ThrowBadGradient(f.get(), "", place, slot, &gx);
        }
        context.SetInputGrad(targets[i],
                             record || gx.body()->slot == nullptr ? gx : gx.AsGradStopped());
    }
}

// connect(function, inputs, outputs, again=True): makes the arrays that the user's forward()
// returned variables whose creator the function is. Unless `again`, the function was applied before
// and still knows what it computed then.
PyObject* Connect(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
    try {
        if (n_args < 3 || n_args > 4 || !IsFunction(args[0]) || !PyTuple_Check(args[1]) ||
            !PyTuple_Check(args[2])) {
            throw TypeError{
                "connect: expected a FunctionNode, a tuple of Variables and a tuple of arrays"};
        }
        PyObject* f = args[0];
        const OpInfo& op = ClassOp(f);
        const char* name = op.name;
        const Py_ssize_t n_inputs = PyTuple_GET_SIZE(args[1]);
        const Py_ssize_t n_outputs = PyTuple_GET_SIZE(args[2]);
        bool requires_grad = false;
        // What the Python code of arrays does meanwhile takes nothing away.
        std::vector<Hold<Slot>> slots;
        std::vector<Array> inputs;
        Places places{{}, {}, n_outputs};
        const bool enabled = Records(GetState());
        for (Py_ssize_t i = 0; i < n_inputs; ++i) {
            if (!IsVariable(PyTuple_GET_ITEM(args[1], i))) {
                throw TypeError{"connect: input ", i, " is no Variable"};
            }
            VariableObject* v = AsVariable(PyTuple_GET_ITEM(args[1], i));
            requires_grad |= v->requires_grad;
            if (!enabled) continue;
            Slot* slot = nullptr;
            try {
                slot = SlotOf(name, v);
                inputs.push_back(RecordOf(name, v));
                places.inputs.push_back(static_cast<int>(i));
            } catch (const TypeError&) {  // object arrays and the like
            }
            slots.emplace_back(slot);
        }
        std::vector<Array> arrays;
        std::vector<Array> records;
        Kind kind = Kind::kNumpy;
        for (Py_ssize_t i = 0; i < n_outputs; ++i) {
            PyObject* o = PyTuple_GET_ITEM(args[2], i);
            arrays.emplace_back();
            if (o == Py_None) continue;
            kind = KindOf(o);
            if (kind == Kind::kNone) throw TypeError{"connect: output ", i, " is no array"};
            if (!enabled) continue;
            try {
                arrays.back() = SideOf(name, o);
                records.push_back(arrays.back());
                places.outputs.push_back(static_cast<int>(i));
            } catch (const TypeError&) {
            }
        }
        if (!records.empty()) {
            Region* region = BindRegion(f, kind, n_args < 4 || args[3] != Py_False);
            region->Ref();
            RegionHold hold;
            hold.Reset(region);
            for (const auto& held : slots) {
                Slot* slot = held.get();
                region->AddInput(slot);
                if (slot != nullptr)
                    region->rank = std::max(region->rank, internal::VisibleRank(slot));
            }
            const internal::RegionScope scope{region};
            if (Record rec{op, Refs(inputs), records}) {
                rec.GradAll([region, places](GradContext& context) {
                    CallBackward(region, context, places);
                });
            } else {
                internal::AddOpaqueNode(op, region, records);
            }
            for (const Array& y : arrays) region->AddOutput(y.is_null() ? nullptr : y.body()->slot);
        }
        Ref result = Check(PyTuple_New(n_outputs));
        for (Py_ssize_t i = 0; i < n_outputs; ++i) {
            PyObject* o = PyTuple_GET_ITEM(args[2], i);
            // What chainerx can't hold, object arrays and the like, is never differentiated.
            const bool is_none = o == Py_None;
            PyTuple_SET_ITEM(result.get(), i,
                             arrays[i].is_null()
                                 ? NewUnrecordedVariable(o, is_none ? Kind::kNumpy : kind,
                                                         requires_grad && (is_none || !enabled))
                                 : NewVariable(arrays[i], kind, requires_grad, o));
        }
        return result.Release();
    } catch (...) {
        TranslateException("connect");
        return nullptr;
    }
}

// version(array): how often chainerx has written in place to the memory; 0 for arrays of others.
PyObject* Version(PyObject*, PyObject* array) {
    return PyLong_FromUnsignedLong(IsNdArray(array) ? Self(array).buffer()->version() : 0);
}

// retained(function, index, array, is_output): the variable at an input or output, over `array`.
PyObject* Retained(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
    try {
        if (n_args != 4 || !IsFunction(args[0]))
            throw TypeError{"retained: expected a FunctionNode"};
        Region* region = AsFunction(args[0])->region;
        const auto index = static_cast<uint32_t>(ToInt("retained", "index", args[1]));
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
            return NewVariable(SideOf("retained", args[2]), kind, false, args[2]);
        } catch (const TypeError&) {
            return NewUnrecordedVariable(args[2], kind, false);
        }
    } catch (...) {
        TranslateException("retained");
        return nullptr;
    }
}

// observe(function, whether): a function in the graph has hooks of its own, so that the graph keeps
// this very object; or it has none any more.
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

// pin(function): the graph keeps this very object, with what the user has done to it.
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
    {"observe", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Observe)),
     METH_FASTCALL, "Says whether a function has hooks of its own; if so, the graph keeps it."},
    {"pin", &PinObject, METH_O, "Makes the graph keep this very function object."},
    {"connect", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Connect)),
     METH_FASTCALL,
     "Makes the arrays that a function computed variables of which it is the creator."},
    {"retained", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Retained)),
     METH_FASTCALL, "The variable of an input or output that a function retained."},
    {"version", &Version, METH_O,
     "How often chainerx has written in place to an array's memory; 0 for arrays of others."},
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
    // Applied again meanwhile: its attributes are about the last time, but it is the creator.
    if (region->foreign && region->payload != nullptr) {
        return Py_NewRef(static_cast<PyObject*>(region->payload));
    }
    const Hold<Region> hold{region};
    PyObject* f = MaterializeFunction(region);
    Unbind(AsFunction(f));
    if (region->view != nullptr) {  // materializing it has run code of the user's
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
    return FunctionOf(internal::RegionOf(slot->node));
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
        PyTuple_SET_ITEM(tuple.get(), i,
                         grads[i].is_null() ? Py_NewRef(Py_None) : ToKind(grads[i], kind));
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
        {Py_tp_getset, g_getset},
        {Py_tp_methods, g_methods},
        {Py_tp_doc,
         const_cast<char*>(
             "FunctionNode()\n--\n\nThe part of chainer.FunctionNode that is written in C++.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.FunctionNode", sizeof(FunctionObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                               slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (type == nullptr || PyModule_AddObjectRef(module, "FunctionNode", type) < 0) {
        throw PythonError{};
    }
    g_function_type = reinterpret_cast<PyTypeObject*>(type);
    static PyType_Slot ref_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&DeallocOutputRef)},
                                      {Py_tp_call, reinterpret_cast<void*>(&CallOutputRef)},
                                      {0, nullptr}};
    static PyType_Spec ref_spec = {"chainerx._core.engine.OutputRef", sizeof(OutputRef), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   ref_slots};
    g_output_ref_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&ref_spec));
    if (g_output_ref_type == nullptr || PyModule_AddFunctions(module, g_functions) < 0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python::engine

// Makes a node of the graph of a function of the user, and calls its backward().
#include "chainerx/python/engine/function.h"

#include <optional>
#include <string>
#include <vector>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/core/thread_state.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/cupy.h"
#include "chainerx/python/engine/node.h"
#include "chainerx/python/engine/scopes.h"
#include "chainerx/python/engine/traverse.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python::engine {

using internal::Region;
using internal::Slot;

namespace {

const char* ClassName(PyObject* f) { return ClassOp(f).name; }

// Makes recording depend on `enable_backprop` alone: backward() may enable it for its own graph,
// also in a run that records nothing.
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

// In debug mode, the line on which the function was applied; else empty.
CX_COLD std::string WhereApplied(PyObject* f) {
    const Ref text = Check(PyObject_CallMethod(f, "_where_applied", nullptr));
    const char* utf8 = PyUnicode_AsUTF8(text.get());
    if (utf8 == nullptr) throw PythonError{};
    return utf8;
}

[[noreturn]] CX_COLD void ThrowBadGradient(PyObject* f, const char* what, int input, Slot* slot,
                                           const Array* gx) {
    const std::string place = StrCat(ClassName(f), ".backward: the gradient of input ", input, " ");
    const std::string where = WhereApplied(f);
    if (gx == nullptr) throw TypeError{place, what, where};
    if (gx->shape() != slot->shape) {
        throw ValueError{place, "has shape ", gx->shape(), ", the input ", slot->shape, where};
    }
    throw TypeError{place, "has dtype ", gx->dtype(), ", the input ", slot->dtype, where};
}

// Maps inputs and outputs of the function to those of its node: all that chainerx can hold.
struct Places {
    std::vector<int> inputs;
    std::vector<int> outputs;
    Py_ssize_t n_outputs;
};

// The slot of an input by its index; null also after backward() has unchained the function.
Slot* InputAt(Region* region, int place) {
    return static_cast<uint32_t>(place) < region->inputs.size() ? region->inputs[place] : nullptr;
}

// The inputs of the node whose gradients are needed. Integers have no gradients; v7 requests them
// nevertheless, but not for chainerx arrays.
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
                     ".backward: number of gradients returned from backward is incorrect: ",
                     n,
                     " != expected ",
                     expected,
                     WhereApplied(f)};
}

[[noreturn]] CX_COLD void ThrowStale(PyObject* f) {
    PyErr_Format(PyExc_RuntimeError,
                 "%s.backward: the function object was applied again after this output was "
                 "computed, and what it kept is of the last time; make a new %s for each call",
                 ClassName(f), ClassName(f));
    throw PythonError{};
}

// Computes the gradients by the user's backward().
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
    std::optional<CupyDeviceScope> device;
    for (int i = 0; i < context.output_count() && !device; ++i) {
        if (context.HasOutputGrad(i)) device.emplace(context.output_grad(i).device());
    }
    static PyObject* method = PyUnicode_InternFromString("backward_accumulate");
    const Ref result = Check(PyObject_CallMethodObjArgs(f.get(), method, indexes.get(), grads.get(),
                                                        no_grads.get(), nullptr));
    if (!PyTuple_Check(result.get()) && !PyList_Check(result.get())) {
        throw TypeError{ClassName(f.get()), ".backward: returned ", Py_TYPE(result.get())->tp_name,
                        ", expected a tuple of Variables or None", WhereApplied(f.get())};
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
        if (v->storage->kind != kind) {
            ThrowBadGradient(f.get(),
                             StrCat("is a ", NameOf(v->storage->kind), " array, the input a ",
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

// Saves in the node the inputs or outputs that a function has retained under a name in its dict, so
// that they are found in the graph after the variables have been deallocated. `places` are those of
// `arrays`; each retained tuple begins with an index, unless code of the user wrote it.
template <typename Save>
void SaveRetained(PyObject* f, PyObject* name, const std::vector<int>& places,
                  const std::vector<Array>& arrays, std::vector<Saved>& saved, Save&& save) {
    PyObject* dict = AsFunction(f)->dict;
    PyObject* entries = dict != nullptr ? PyDict_GetItemWithError(dict, name) : nullptr;
    if (entries == nullptr || !PyTuple_CheckExact(entries) || PyTuple_GET_SIZE(entries) == 0)
        return;
    const Items items{entries};
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        PyObject* entry = items[i];
        if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) == 0) {
            throw TypeError{ClassName(f),
                            ": ",
                            PyUnicode_AsUTF8(name),
                            " holds ",
                            Py_TYPE(entry)->tp_name,
                            ", expected what retain_inputs() and "
                            "retain_outputs() put there"};
        }
        const int64_t place = ToInt("connect", "retained", PyTuple_GET_ITEM(entry, 0));
        const auto found = std::ranges::find(places, place);
        if (found != places.end()) saved.push_back(save(arrays[found - places.begin()]));
    }
}

// What connect() is called with, and what the graph gets of it.
struct Connected {
    PyObject* function;
    PyObject* inputs;
    PyObject* outputs;
    bool is_recording;
    bool requires_grad{false};
    // Holds the slots, since the Python code of arrays may release them meanwhile.
    std::vector<Hold<Slot>> slots{};  // by input; null for what chainerx can't hold
    std::vector<Array> operands{};    // inputs that it can
    std::vector<Array> arrays{};      // by output; null for what it can't hold, and None
    std::vector<Array> results{};     // outputs that it can
    Places places;
    Kind kind{Kind::kNumpy};  // of the outputs
};

void TakeInputs(const char* name, Connected& c) {
    const Py_ssize_t n = PyTuple_GET_SIZE(c.inputs);
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* o = PyTuple_GET_ITEM(c.inputs, i);
        if (!IsVariable(o)) throw TypeError{"connect: input ", i, " is no Variable"};
        VariableObject* v = AsVariable(o);
        c.requires_grad |= v->requires_grad;
        if (!c.is_recording) continue;
        Slot* slot = nullptr;
        try {
            slot = SlotOf(name, v);
            c.operands.push_back(RecordOf(name, v));
            c.places.inputs.push_back(static_cast<int>(i));
        } catch (const TypeError&) {  // object arrays and the like
        }
        c.slots.emplace_back(slot);
    }
}

void TakeOutputs(const char* name, Connected& c) {
    const Py_ssize_t n = PyTuple_GET_SIZE(c.outputs);
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* o = PyTuple_GET_ITEM(c.outputs, i);
        c.arrays.emplace_back();
        if (o == Py_None) continue;
        c.kind = KindOf(o);
        if (c.kind == Kind::kNone) throw TypeError{"connect: output ", i, " is no array"};
        if (!c.is_recording) continue;
        try {
            c.arrays.back() = ChainerxArrayOf(name, o);
            c.results.push_back(c.arrays.back());
            c.places.outputs.push_back(static_cast<int>(i));
        } catch (const TypeError&) {
        }
    }
}

// Records the call as one node, whose backward is the user's, in a region bound to the function.
void RecordCall(const OpInfo& op, const Connected& c, bool again) {
    Region* region = BindRegion(c.function, c.kind, again);
    region->Ref();
    RegionHold hold;
    hold.Reset(region);
    for (const auto& held : c.slots) {
        Slot* slot = held.get();
        region->AddInput(slot);
        if (slot != nullptr) region->rank = std::max(region->rank, internal::VisibleRank(slot));
    }
    const internal::RegionScope scope{region};
    static PyObject* inputs_name = PyUnicode_InternFromString("_retained_inputs");
    static PyObject* outputs_name = PyUnicode_InternFromString("_retained_outputs");
    if (Record rec{op, Refs(c.operands), c.results}) {
        std::vector<Saved> kept;
        SaveRetained(c.function, inputs_name, c.places.inputs, c.operands, kept,
                     [&](const Array& x) { return rec.Save(x); });
        SaveRetained(c.function, outputs_name, c.places.outputs, c.results, kept,
                     [&](const Array& y) { return rec.SaveOutput(y); });
        rec.GradAll([region, places = c.places, kept = std::move(kept)](GradContext& context) {
            CallBackward(region, context, places);
        });
    } else {
        internal::AddOpaqueNode(op, region, c.results);
    }
    for (const Array& y : c.arrays) region->AddOutput(y.is_null() ? nullptr : y.body()->slot);
}

Ref WrapOutputs(const Connected& c) {
    const Py_ssize_t n = PyTuple_GET_SIZE(c.outputs);
    Ref result = Check(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* o = PyTuple_GET_ITEM(c.outputs, i);
        const Array& y = c.arrays[static_cast<size_t>(i)];
        // Objects that chainerx can't hold, such as object arrays, are never differentiated.
        const bool is_none = o == Py_None;
        PyTuple_SET_ITEM(
            result.get(), i,
            y.is_null() ? NewUnrecordedVariable(o, is_none ? Kind::kNumpy : c.kind,
                                                c.requires_grad && (is_none || !c.is_recording))
                        : NewVariable(y, c.kind, c.requires_grad, o));
    }
    return result;
}

// connect(function, inputs, outputs, again=True): makes variables of the arrays that the user's
// forward() returned, with the function as their creator. Unless `again`, the function was applied
// before and still knows its results.
PyObject* Connect(PyObject*, PyObject* const* args, Py_ssize_t n_args) try {
    if (n_args < 3 || n_args > 4 || !IsFunction(args[0]) || !PyTuple_Check(args[1]) ||
        !PyTuple_Check(args[2])) {
        throw TypeError{
            "connect: expected a FunctionNode, a tuple of Variables and a tuple of arrays"};
    }
    const OpInfo& op = ClassOp(args[0]);
    Connected c{.function = args[0],
                .inputs = args[1],
                .outputs = args[2],
                .is_recording = Records(GetState()),
                .places = {{}, {}, PyTuple_GET_SIZE(args[2])}};
    TakeInputs(op.name, c);
    TakeOutputs(op.name, c);
    if (!c.results.empty()) RecordCall(op, c, n_args < 4 || args[3] != Py_False);
    return WrapOutputs(c).Release();
} catch (...) {
    return Failed("connect");
}

PyMethodDef g_functions[] = {
    {"connect", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Connect)),
     METH_FASTCALL,
     "Wraps the arrays that a function computed in variables, with the function as creator."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitUserFunction(PyObject* module) {
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine

// Backward and grad over variables, and their observers.
#include <optional>
#include <vector>

#include "chainerx/autograd/backward_run.h"
#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/region.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"

namespace chainerx::python::engine {

using internal::BackwardRun;
using internal::Node;
using internal::Region;
using internal::Slot;

namespace {

// Calls hooks and checks for NaN at the boundaries of functions.
class Observer : public internal::RunObserver {
 public:
    explicit Observer(const State& state)
        : RunObserver{IsObserved(state)}, debug_{state.debug}, saved_{current()} {
        set_current(this);
    }
    ~Observer() override { set_current(saved_); }
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    void Begin(Region& region, std::span<const Array> grads) override {
        open_.push_back({&region, Ref{FunctionOf(&region)}, InputArrays(region),
                         GradientArrays(grads, static_cast<Kind>(region.kind))});
        Call(g_callbacks.backward_begin, open_.back());
    }

    void InputGrad(Node& node, int input, const Array& grad) override {
        if (!debug_ || node.region == nullptr) return;
        const Ref f{FunctionOf(node.region)};
        const Ref index = Check(PyLong_FromLong(input));
        const Ref array = Check(ToKind(grad, static_cast<Kind>(node.region->kind)));
        Check(PyObject_CallFunctionObjArgs(g_callbacks.backward_gradient, f.get(), index.get(),
                                           array.get(), nullptr));
    }

    void End(Region& region) override {
        // Entries above it may belong to runs that have failed.
        size_t n = open_.size();
        while (n != 0 && open_[n - 1].region != &region) --n;
        if (n == 0) return;
        std::vector<Open> ended;  // the deallocations may run code that re-enters this function
        for (; open_.size() >= n; open_.pop_back()) ended.push_back(std::move(open_.back()));
        const Open& last = ended.back();
        Call(g_callbacks.backward_end, last);
    }

 private:
    struct Open {
        Region* region;
        Ref function;
        Ref in_data;
        Ref out_grad;
    };

    static void Call(PyObject* callback, const Open& open) {
        // Keeps the function alive, whatever the hooks do.
        const Ref function{Py_NewRef(open.function.get())};
        const Ref in_data{Py_NewRef(open.in_data.get())};
        const Ref out_grad{Py_NewRef(open.out_grad.get())};
        Check(PyObject_CallFunctionObjArgs(callback, function.get(), in_data.get(), out_grad.get(),
                                           nullptr));
    }

    const bool debug_;  // of the run, even if functions change the configuration
    RunObserver* saved_;
    // There are several if the backward of a function starts a run of chainerx.
    std::vector<Open> open_;
};

// With double backprop, gradients are recorded even if chainer.config disables recording.
class GradientRecordScope {
 public:
    GradientRecordScope(const State& state, bool twice) {
        if (!twice || state.enable_backprop) return;
        config_.emplace(true);
        mode_.emplace(GetDefaultContext(), GraphBit(), true);
    }

 private:
    std::optional<BackpropConfig> config_;
    std::optional<BackpropModeScope> mode_;
};

// Gradients of chainerx arrays are unscaled, as those of chainerx.backward; others keep the scale.
std::optional<double> ScaleOf(PyObject* outputs, const std::optional<double>& scale) {
    if (PyTuple_GET_SIZE(outputs) == 0) return std::nullopt;
    PyObject* first = PyTuple_GET_ITEM(outputs, 0);
    const bool chainerx = IsVariable(first) && AsVariable(first)->storage->kind == Kind::kChainerx;
    return chainerx ? scale : std::nullopt;
}

std::optional<double> ToScale(const char* op, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToDouble(op, "loss_scale", o);
}

// The initial gradient of backpropagation: that of the output if it has one, else ones.
Array Seed(const char* op, VariableObject* v, Slot* slot, const std::optional<double>& scale) {
    if (Array g = slot->GetGrad(GraphBit()); !g.is_null()) return g;
    const Array y = RecordOf(op, v);
    if (y.GetTotalSize() != 1 && v->storage->kind != Kind::kChainerx) {
        throw ValueError{
            op, ": the output has shape ", y.shape(),
            " and no gradient to start from; set its grad, or reduce it to one element"};
    }
    return internal::engine_ops::Full(y.shape(), scale.value_or(1.0), y.dtype(), y.device());
}

VariableObject* ToVariable(const char* op, const char* name, PyObject* o) {
    if (!IsVariable(o)) {
        throw TypeError{op, ": ", name, " has a ", Py_TYPE(o)->tp_name, ", expected a Variable"};
    }
    return AsVariable(o);
}

// The user's gradient for a variable; another float dtype is cast to that of the variable.
Array GivenGrad(const char* op, const char* name, Py_ssize_t i, PyObject* given,
                VariableObject* v) {
    VariableObject* gradient = ToVariable(op, name, given);
    if (gradient->storage->kind != v->storage->kind) {
        throw TypeError{op,
                        ": ",
                        name,
                        "[",
                        i,
                        "] is a ",
                        NameOf(gradient->storage->kind),
                        " array, the variable a ",
                        NameOf(v->storage->kind),
                        " array"};
    }
    const Array g = RecordOf(op, gradient);
    const Array x = RecordOf(op, v);
    if (g.shape() != x.shape()) {
        throw ValueError{op,       ": ", name, "[", i, "] has shape ", g.shape(), ", the variable ",
                         x.shape()};
    }
    if (g.dtype() != x.dtype() && !(IsFloat(g.dtype()) && IsFloat(x.dtype()))) {
        throw TypeError{op,       ": ", name, "[", i, "] has dtype ", g.dtype(), ", the variable ",
                        x.dtype()};
    }
    CheckSameDevice(op, x.device(), g.device());
    return g.AsType(x.dtype(), false);
}

// A tuple with one gradient per variable; null for None, which stands for no gradients.
PyObject* ToGrads(const char* op, const char* name, PyObject* grads, PyObject* variables) {
    if (grads == Py_None) return nullptr;
    if (!PyTuple_Check(grads)) throw TypeError{op, ": ", name, ": expected a tuple or None"};
    if (PyTuple_GET_SIZE(grads) != PyTuple_GET_SIZE(variables)) {
        throw ValueError{op,   ": ",    PyTuple_GET_SIZE(grads),     " ",
                         name, " for ", PyTuple_GET_SIZE(variables), " variables"};
    }
    return grads;
}

// backward(outputs, grad_outputs, retain_grad, enable_double_backprop, loss_scale, keep_scale):
// without `grad_outputs` it starts from the gradients that the outputs have.
PyObject* RunBackward(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n != 6 || !PyTuple_Check(args[0])) {
        throw TypeError{"backward: expected 6 arguments, the first a tuple of Variables"};
    }
    PyObject* outputs = args[0];
    PyObject* given = ToGrads("backward", "grad_outputs", args[1], outputs);
    const bool retain = ToBool(args[2], false);
    const bool twice = ToBool(args[3], false);
    const std::optional<double> scale = ToScale("backward", args[4]);
    const bool keep_scale = ToBool(args[5], false);
    CupyScope cupy;
    cupy.EnterBoth();  // functions go from one kind of array to another
    const State& state = GetState();
    Observer observer{state};
    const GradientRecordScope recorded{state, twice};
    const BackpropId id = GetDefaultContext().default_backprop_id();
    BackwardRun run{id, twice, keep_scale ? std::nullopt : ScaleOf(outputs, scale)};
    run.set_keep_graph(true);
    run.set_retain_grad(retain);
    run.set_use_given_grads(true);
    std::vector<Hold<Slot>> slots;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outputs); ++i) {
        VariableObject* v = ToVariable("backward", "outputs", PyTuple_GET_ITEM(outputs, i));
        Hold<Slot> held{SlotOf("backward", v)};
        Slot* slot = held.get();
        // Outputs that no gradient flows to have no initial gradient, nor have leaves.
        if ((slot->live.load() & GraphBit()) == 0) continue;
        const Array y = RecordOf("backward", v);
        if (given != nullptr) {
            PyObject* g = PyTuple_GET_ITEM(given, i);
            run.AddOutput(y, GivenGrad("backward", "grad_outputs", i, g, v), false);
            continue;
        }
        const bool leaf = slot->node == nullptr || slot->cut.load();
        if (leaf && v->storage->kind != Kind::kChainerx && slot->GetGrad(GraphBit()).is_null() &&
            y.GetTotalSize() != 1) {
            continue;
        }
        Array seed = Seed("backward", v, slot, scale);
        if (!leaf) {
            if (retain) slot->SetGrad(GraphBit(), seed);
            slots.push_back(std::move(held));
        }
        run.AddOutput(y, std::move(seed));
    }
    run.Run(true);
    if (!retain) {
        for (const auto& held : slots) held.get()->SetGrad(GraphBit(), Array{});
    }
    Py_RETURN_NONE;
} catch (...) {
    return Failed("backward");
}

// grad(outputs, inputs, grad_outputs, grad_inputs, retain_grad, enable_double_backprop,
// loss_scale): a list of Variables or None.
PyObject* RunGrad(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n != 7 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1])) {
        throw TypeError{"grad: expected 7 arguments, the first two tuples of Variables"};
    }
    PyObject* outputs = args[0];
    PyObject* inputs = args[1];
    PyObject* given = ToGrads("grad", "grad_outputs", args[2], outputs);
    PyObject* from_elsewhere = ToGrads("grad", "grad_inputs", args[3], inputs);
    const bool twice = ToBool(args[5], false);
    const std::optional<double> scale = ToScale("grad", args[6]);
    CupyScope cupy;
    cupy.EnterBoth();  // functions go from one kind of array to another
    const State& state = GetState();
    Observer observer{state};
    const GradientRecordScope recorded{state, twice};
    const BackpropId id = GetDefaultContext().default_backprop_id();
    BackwardRun run{id, twice, ScaleOf(outputs, scale)};
    run.set_keep_graph(true);
    run.set_retain_grad(ToBool(args[4], false));
    const Py_ssize_t n_inputs = PyTuple_GET_SIZE(inputs);
    const auto grad_input = [&](Py_ssize_t i) {
        return from_elsewhere != nullptr ? PyTuple_GET_ITEM(from_elsewhere, i) : Py_None;
    };
    std::vector<Slot*> targets;
    for (Py_ssize_t i = 0; i < n_inputs; ++i) {
        VariableObject* v = ToVariable("grad", "inputs", PyTuple_GET_ITEM(inputs, i));
        const Hold<Slot> held{SlotOf("grad", v)};
        const bool live = (held.get()->live.load() & GraphBit()) != 0;
        if (live) run.AddTarget(held.get());
        targets.push_back(live ? held.get() : nullptr);
        PyObject* g = grad_input(i);
        if (g == Py_None) continue;
        Array grad = GivenGrad("grad", "grad_inputs", i, g, v);
        if (live) run.AddTargetGrad(held.get(), std::move(grad));
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outputs); ++i) {
        VariableObject* v = ToVariable("grad", "outputs", PyTuple_GET_ITEM(outputs, i));
        SlotOf("grad", v);
        const Array y = RecordOf("grad", v);
        PyObject* g = given != nullptr ? PyTuple_GET_ITEM(given, i) : Py_None;
        run.AddOutput(y, g != Py_None ? GivenGrad("grad", "grad_outputs", i, g, v)
                                      : internal::engine_ops::Full(y.shape(), scale.value_or(1.0),
                                                                   y.dtype(), y.device()));
    }
    run.Run(false);
    Ref list = Check(PyList_New(n_inputs));
    for (Py_ssize_t i = 0; i < n_inputs; ++i) {
        VariableObject* v = AsVariable(PyTuple_GET_ITEM(inputs, i));
        Array g = targets[i] != nullptr ? run.TakeTargetGrad(targets[i]) : Array{};
        PyObject* item = targets[i] == nullptr ? Py_NewRef(grad_input(i))
                         : g.is_null()         ? Py_NewRef(Py_None)
                                               : NewVariable(std::move(g), v->storage->kind, true);
        PyList_SET_ITEM(list.get(), i, item);
    }
    return list.Release();
} catch (...) {
    return Failed("grad");
}

PyMethodDef g_functions[] = {
    {"backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&RunBackward)),
     METH_FASTCALL, "Backpropagates from variables; the graph stays."},
    {"grad", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&RunGrad)), METH_FASTCALL,
     "Gradients of outputs with respect to inputs; the graph stays."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitRun(PyObject* module) {
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine

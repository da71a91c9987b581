// Backward and grad over variables, and who looks on.
#include <optional>
#include <vector>

#include "chainerx/autograd/backward_run.h"
#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/region.h"
#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

using internal::BackwardRun;
using internal::Node;
using internal::Region;
using internal::Slot;

namespace {

// Calls hooks and looks for NaN, at the borders of functions.
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
        const Ref array{ToKind(grad, static_cast<Kind>(node.region->kind))};
        Check(PyObject_CallFunctionObjArgs(g_callbacks.backward_gradient, f.get(), index.get(),
                                           array.get(), nullptr));
    }

    void End(Region& region) override {
        // Above it may be those of runs that have failed.
        size_t n = open_.size();
        while (n != 0 && open_[n - 1].region != &region) --n;
        if (n == 0) return;
        const Open last = std::move(open_[n - 1]);
        open_.resize(n - 1);
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
        // What it refers to lives on, whatever the hooks do.
        const Ref function{Py_NewRef(open.function.get())};
        const Ref in_data{Py_NewRef(open.in_data.get())};
        const Ref out_grad{Py_NewRef(open.out_grad.get())};
        Check(PyObject_CallFunctionObjArgs(callback, function.get(), in_data.get(), out_grad.get(),
                                           nullptr));
    }

    const bool debug_;  // of the run, whatever functions set for themselves
    RunObserver* saved_;
    // Several where a function's backward starts a run of chainerx's.
    std::vector<Open> open_;
};

std::optional<double> ToScale(const char* op, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToDouble(op, "loss_scale", o);
}

// Where backpropagation starts: the gradient that the output has, else ones.
Array Seed(const char* op, VariableObject* v, Slot* slot, const std::optional<double>& scale) {
    if (Array g = slot->GetGrad(GraphBit()); !g.is_null()) return g;
    const Array y = RecordOf(op, v);
    if (y.GetTotalSize() != 1 && v->cell->kind != Kind::kChainerx) {
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

// backward(outputs, retain_grad, enable_double_backprop, loss_scale)
PyObject* RunBackward(PyObject*, PyObject* const* args, Py_ssize_t n) {
    try {
        if (n != 4 || !PyTuple_Check(args[0]))
            throw TypeError{"backward: expected a tuple of Variables"};
        const bool retain = ToBool(args[1], false);
        const bool twice = ToBool(args[2], false);
        const std::optional<double> scale = ToScale("backward", args[3]);
        const State& state = GetState();
        Observer observer{state};
        const BackpropId id = GetDefaultContext().default_backprop_id();
        BackwardRun run{id, twice, std::nullopt};
        run.set_keep_graph(true);
        run.set_retain_grad(retain);
        run.set_use_given_grads(true);
        std::vector<Hold<Slot>> slots;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[0]); ++i) {
            VariableObject* v = ToVariable("backward", "outputs", PyTuple_GET_ITEM(args[0], i));
            Hold<Slot> held{SlotOf("backward", v)};
            Slot* slot = held.get();
            // Outputs that no gradient flows to have nothing to start, nor have leaves.
            if ((slot->live.load() & GraphBit()) == 0) continue;
            const bool leaf = slot->node == nullptr || slot->cut.load();
            if (leaf && v->cell->kind != Kind::kChainerx && slot->GetGrad(GraphBit()).is_null() &&
                RecordOf("backward", v).GetTotalSize() != 1) {
                continue;
            }
            Array seed = Seed("backward", v, slot, scale);
            if (slot->node != nullptr) {
                if (retain) slot->SetGrad(GraphBit(), seed);
                slots.push_back(std::move(held));
            }
            const Array y = RecordOf("backward", v);
            run.AddOutput(y, std::move(seed));
        }
        run.Run(true);
        if (!retain) {
            for (const auto& held : slots) held.get()->SetGrad(GraphBit(), Array{});
        }
        Py_RETURN_NONE;
    } catch (...) {
        TranslateException("backward");
        return nullptr;
    }
}

// grad(outputs, inputs, grad_outputs, retain_grad, enable_double_backprop, loss_scale): a list of
// Variables or None
PyObject* RunGrad(PyObject*, PyObject* const* args, Py_ssize_t n) {
    try {
        if (n != 6) throw TypeError{"grad: expected 6 arguments"};
        if (!PyTuple_Check(args[0]) || !PyTuple_Check(args[1])) {
            throw TypeError{"grad: expected tuples of Variables"};
        }
        const bool seeded = PyTuple_Check(args[2]);
        if (seeded && PyTuple_GET_SIZE(args[2]) != PyTuple_GET_SIZE(args[0])) {
            throw ValueError{"grad: ", PyTuple_GET_SIZE(args[2]), " grad_outputs for ",
                             PyTuple_GET_SIZE(args[0]), " outputs"};
        }
        const std::optional<double> scale = ToScale("grad", args[5]);
        const bool twice = ToBool(args[4], false);
        const State& state = GetState();
        Observer observer{state};
        const BackpropId id = GetDefaultContext().default_backprop_id();
        BackwardRun run{id, twice, std::nullopt};
        run.set_keep_graph(true);
        run.set_retain_grad(ToBool(args[3], false));
        const Py_ssize_t n_inputs = PyTuple_GET_SIZE(args[1]);
        std::vector<Slot*> targets;
        for (Py_ssize_t i = 0; i < n_inputs; ++i) {
            VariableObject* v = ToVariable("grad", "inputs", PyTuple_GET_ITEM(args[1], i));
            Slot* slot = SlotOf("grad", v);
            const bool live = (slot->live.load() & GraphBit()) != 0;
            if (live) run.AddTarget(slot);
            targets.push_back(live ? slot : nullptr);
        }
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[0]); ++i) {
            VariableObject* v = ToVariable("grad", "outputs", PyTuple_GET_ITEM(args[0], i));
            SlotOf("grad", v);
            const Array y = RecordOf("grad", v);
            PyObject* given = seeded ? PyTuple_GET_ITEM(args[2], i) : Py_None;
            Array seed;
            if (given != Py_None) {
                seed = RecordOf("grad", ToVariable("grad", "grad_outputs", given));
                if (seed.shape() != y.shape()) {
                    throw ValueError{"grad: grad_outputs[", i,        "] has shape ", seed.shape(),
                                     ", the output ",       y.shape()};
                }
                if (seed.dtype() != y.dtype()) {
                    throw TypeError{"grad: grad_outputs[", i,        "] has dtype ", seed.dtype(),
                                    ", the output ",       y.dtype()};
                }
            } else {
                seed = internal::engine_ops::Full(y.shape(), scale.value_or(1.0), y.dtype(),
                                                  y.device());
            }
            run.AddOutput(y, std::move(seed));
        }
        run.Run(false);
        Ref list = Check(PyList_New(n_inputs));
        for (Py_ssize_t i = 0; i < n_inputs; ++i) {
            Array g = targets[i] != nullptr ? run.TakeTargetGrad(targets[i]) : Array{};
            VariableObject* v = AsVariable(PyTuple_GET_ITEM(args[1], i));
            PyList_SET_ITEM(
                list.get(), i,
                g.is_null() ? Py_NewRef(Py_None) : NewVariable(std::move(g), v->cell->kind, true));
        }
        return list.Release();
    } catch (...) {
        TranslateException("grad");
        return nullptr;
    }
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

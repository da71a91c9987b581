// One application of a function: its inputs as arrays, its outputs as variables.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/autograd/op_info.h"
#include "chainerx/autograd/region.h"
#include "chainerx/core/array.h"
#include "chainerx/core/error.h"
#include "chainerx/python/engine/check_cache.h"
#include "chainerx/python/engine/cupy.h"
#include "chainerx/python/engine/small_array.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

// The result of a composition: an array, or a tuple of arrays.
class Results {
 public:
    // Makes this a tuple; `n` is the maximum number of arrays.
    void SetTuple(size_t n) {
        is_tuple_ = true;
        if (n > 1) others_.reserve(n - 1);
    }
    void Add(Array y) {
        if (n_++ == 0) {
            first_ = std::move(y);
        } else {
            others_.push_back(std::move(y));
        }
    }
    bool is_tuple() const { return is_tuple_; }
    size_t size() const { return n_; }
    Array& operator[](size_t i) { return i == 0 ? first_ : others_[i - 1]; }
    const Array& operator[](size_t i) const { return i == 0 ? first_ : others_[i - 1]; }

 private:
    bool is_tuple_{false};
    size_t n_{0};
    Array first_;
    std::vector<Array> others_;
};

class Application {
 public:
    struct Needs {
        bool records;        // of all inputs in the graph
        bool has_variables;  // an array has its own variable: the user can observe the call
    };
    Application(const char* name, size_t n_inputs, Needs needs)
        : name_{name}, needs_{needs}, inputs_{n_inputs} {}

    // Takes inputs; None stands for an omitted input, which only functions of the user may have as
    // their first.
    void SetInputs(PyObject* const* args, bool any);

    Kind kind() const { return kind_; }
    void DropRequiresGrad() { requires_grad_ = false; }
    size_t size() const { return inputs_.size(); }

    void AddTo(CheckKey& key) const;
    void AddInputsTo(internal::Region* region);
    // The arrays, for a composition; null if omitted. Hooks may have assigned the array of a
    // variable.
    void CopyTo(SmallArray<Array>& arrays) const;
    // The same as new references to Python objects; None if omitted. `args` has size() elements.
    void UnwrapTo(PyObject** args) const;
    // The arrays as the user sees them. New tuple.
    Ref InputTuple() const;

    // A variable, or a tuple of them; outputs of the region, if it is not null. New reference.
    // Moves from results.
    PyObject* WrapOutputs(const OpInfo& op, Results& results, internal::Region* region);

 private:
    // A variable, or an array of the user; null if omitted.
    struct Input {
        PyObject* object{nullptr};
        bool is_variable{false};
        Array array{};  // of an input that is no variable

        Input() = default;
        Input(const Input&) = delete;
        Input& operator=(const Input&) = delete;
        ~Input() { Py_XDECREF(object); }
        VariableObject* variable() const { return AsVariable(object); }
    };

    void SetArray(Input& input, PyObject* array, Kind kind);
    PyObject* MakeVariable(PyObject* array, Kind kind);
    const Array& RecordOf(const Input& input) const {
        return input.is_variable ? engine::RecordOf(name_, input.variable()) : input.array;
    }
    const Input* InputOf(const Array& y) const;         // null if it is none
    PyObject* InputAgain(const Input& input, Array y);  // as an output
    PyObject* WrapOutput(Array& y);
    static void AddOutput(internal::Region* region, PyObject* variable);
    // Adds results that no gradient function was recorded for.
    CX_COLD void AddOpaque(const OpInfo& op, Results& results, internal::Region* region);
    [[noreturn]] CX_COLD void ThrowNotArray(size_t i, PyObject* o) const;
    [[noreturn]] CX_COLD void ThrowMixed(size_t i) const;
    CX_COLD void EnterCupy();
    CX_COLD static bool IsParameter(const Input& input);
    CX_COLD std::string DescribeBoth(size_t first, size_t i, size_t target) const;
    CX_COLD std::string DeviceOf(const Input& input) const;
    CX_COLD std::string Describe(size_t i) const;  // for errors

    const char* name_;
    Needs needs_;
    Kind kind_{Kind::kNone};
    bool requires_grad_{false};
    SmallArray<Input> inputs_;
    CupyScope cupy_;
};

// Inline, since it is called once per operation.

inline void Application::SetInputs(PyObject* const* args, bool any) {
    for (size_t i = 0; i < size(); ++i) {
        PyObject* o = args[i];
        if (o == Py_None && (any || i != 0)) continue;
        Input& input = inputs_[i];
        Kind kind;
        if (IsVariable(o)) {
            input.object = Py_NewRef(o);
            input.is_variable = true;
            requires_grad_ |= input.variable()->requires_grad;
            kind = input.variable()->storage->kind;
        } else {
            kind = KindOf(o);
            if (kind == Kind::kNone) ThrowNotArray(i, o);
            SetArray(input, o, kind);
        }
        if (kind_ == Kind::kNone) kind_ = kind;
        if (kind != kind_) ThrowMixed(i);
        if (input.is_variable) RecordOf(input);
    }
    if (kind_ == Kind::kNone) throw TypeError{name_, ": no input is an array"};
    if (kind_ == Kind::kCupy) [[unlikely]] {
        EnterCupy();
    }
}

inline void Application::AddTo(CheckKey& key) const {
    for (size_t i = 0; i < size(); ++i) {
        if (inputs_[i].object != nullptr) {
            key.Add(RecordOf(inputs_[i]));
        } else {
            key.AddAbsent();
        }
    }
}

inline void Application::AddInputsTo(internal::Region* region) {
    region->kind = static_cast<uint8_t>(kind_);
    for (const Input& input : inputs_) {
        if (input.object == nullptr) continue;
        internal::Slot* slot =
            input.is_variable ? SlotOf(name_, input.variable()) : SlotOf(input.array);
        region->AddInput(slot);
        region->rank = std::max(region->rank, internal::VisibleRank(slot));
    }
}

inline void Application::CopyTo(SmallArray<Array>& arrays) const {
    for (size_t i = 0; i < size(); ++i) {
        if (inputs_[i].object != nullptr) arrays[i] = RecordOf(inputs_[i]);
    }
}

inline void Application::UnwrapTo(PyObject** args) const {
    for (size_t i = 0; i < size(); ++i) {
        args[i] = inputs_[i].object != nullptr ? Wrap(RecordOf(inputs_[i])) : Py_NewRef(Py_None);
    }
}

inline void Application::AddOutput(internal::Region* region, PyObject* variable) {
    VariableObject* v = AsVariable(variable);
    internal::Slot* slot = CurrentSlot(v);
    if (slot == nullptr) return;
    if (slot->variable == nullptr) slot->variable = v;
    if (slot->node != nullptr && slot->node->region == region) region->AddOutput(slot);
}

inline PyObject* Application::WrapOutput(Array& y) {
    // If the count is above 1, an input has other handles.
    if (y.body()->StrongCount() != 1) {
        if (const Input* input = InputOf(y)) return InputAgain(*input, y);
    }
    return NewVariable(std::move(y), kind_, requires_grad_);
}

inline PyObject* Application::WrapOutputs(const OpInfo& op, Results& results,
                                          internal::Region* region) {
    if (region != nullptr) {
        bool is_opaque = false;
        for (size_t i = 0; i < results.size(); ++i) {
            is_opaque |= results[i].body()->slot == nullptr;
        }
        if (is_opaque) AddOpaque(op, results, region);
    }
    if (!results.is_tuple()) {
        Ref wrapped{WrapOutput(results[0])};
        if (region != nullptr) AddOutput(region, wrapped.get());
        return wrapped.Release();
    }
    Ref wrapped = Check(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
    for (size_t i = 0; i < results.size(); ++i) {
        PyTuple_SET_ITEM(wrapped.get(), static_cast<Py_ssize_t>(i), WrapOutput(results[i]));
    }
    if (region == nullptr) return wrapped.Release();
    for (size_t i = 0; i < results.size(); ++i) {
        AddOutput(region, PyTuple_GET_ITEM(wrapped.get(), static_cast<Py_ssize_t>(i)));
    }
    return wrapped.Release();
}

}  // namespace chainerx::python::engine

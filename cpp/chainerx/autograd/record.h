// How a routine records its gradient:
//
//     if (Record rec{"matmul", {x1, x2}, y}) {  // false when nothing needs a graph
//         rec.Grad(0, [x2 = rec.Save(x2)](const Array& gy) { return Matmul(gy, Transpose(x2()));
//         }); rec.Grad(1, [x1 = rec.Save(x1)](const Array& gy) { return Matmul(Transpose(x1()),
//         gy); });
//     }
//
// One Grad per input that can have one; it runs only if that input asked for it. The engine undoes
// broadcasting and casts to the dtype of the input, so a gradient may have the shape and dtype of
// y.
#pragma once

#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// An array saved for backward: its data, and how to put it back into the graph. Move-only, small.
class CX_API Saved {
 public:
    Saved() = default;
    Saved(Saved&& o) noexcept
        : body_{std::exchange(o.body_, nullptr)}, edge_{o.edge_}, slot_{o.slot_} {}
    Saved(const Saved& o) : body_{o.body_}, edge_{o.edge_}, slot_{o.slot_} {
        if (body_ != nullptr) body_->RefMemory();
    }
    Saved& operator=(Saved o) noexcept {
        std::swap(body_, o.body_);
        edge_ = o.edge_;
        slot_ = o.slot_;
        return *this;
    }
    ~Saved() {
        if (body_ != nullptr) body_->UnrefMemory();
    }

    // The array as it was when recorded. It is in the graphs of the ids that the edge was recorded
    // for.
    Array operator()() const;

 private:
    friend class Record;

    internal::ArrayBody* body_{nullptr};
    internal::Edge* edge_{nullptr};  // of a saved input; part of the node that holds this
    internal::Slot* slot_{nullptr};  // of a saved output
};

// What a gradient function of several inputs or outputs sees.
class CX_API GradContext {
 public:
    // False if no gradient reached that output.
    bool HasOutputGrad(int i) const { return !output_grads_[i].is_null(); }
    // Zeros if no gradient reached that output.
    const Array& output_grad(int i = 0);
    bool IsInputGradRequired(int i) const {
        const internal::Edge& e = node_->edges()[i];
        return e.slot != nullptr && (e.mask & id_) != 0 && (!has_targets_ || IsOnTheWay(e.slot));
    }
    // Adds; an input may be given several times.
    void SetInputGrad(int i, Array gx);
    int input_count() const { return static_cast<int>(node_->n_inputs); }
    int output_count() const { return static_cast<int>(node_->n_outputs); }

 private:
    friend class internal::BackwardRun;
    GradContext(internal::BackwardRun& run, uint64_t id, internal::Node* node, Array* output_grads,
                bool has_targets)
        : run_{run}, id_{id}, node_{node}, output_grads_{output_grads}, has_targets_{has_targets} {}
    // Of a run with targets: whether one of them can be reached by way of an input.
    bool IsOnTheWay(internal::Slot* slot) const;

    internal::BackwardRun& run_;
    uint64_t id_;
    internal::Node* node_;
    Array* output_grads_;
    bool has_targets_;
};

class CX_API Record {
 public:
    Record(const char* op, std::initializer_list<ConstArrayRef> inputs, const Array& output)
        : Record{op, std::span<const ConstArrayRef>{inputs.begin(), inputs.size()},
                 std::span<const Array>{&output, 1}} {}
    Record(const char* op, std::span<const ConstArrayRef> inputs, std::span<const Array> outputs,
           uint64_t allowed_ids = ~uint64_t{0}) {
        for (const ConstArrayRef& x : inputs) {
            if (x.get().body()->slot != nullptr) {
                Begin(op, inputs, outputs, allowed_ids);
                return;
            }
        }
    }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    explicit operator bool() const { return node_ != nullptr; }

    bool IsInputGradRequired(int i) const { return node_->edges()[i].mask != 0; }

    // f: Array(const Array& gy), for an operation with one output.
    template <typename F>
        requires std::is_invocable_r_v<Array, F&, const Array&>
    void Grad(int input, F&& f) {
        if (!IsInputGradRequired(input)) return;
        using Fn = internal::GradFnOf<std::decay_t<F>>;
        node_->AddGradFn(
            input,
            [](internal::GradFn* self, GradContext& context) {
                if (!context.IsInputGradRequired(self->input)) return;
                context.SetInputGrad(self->input, static_cast<Fn*>(self)->f(context.output_grad()));
            },
            std::forward<F>(f));
    }

    // f: void(GradContext&), for several outputs, or gradients that share their computation.
    template <typename F>
        requires std::is_invocable_r_v<void, F&, GradContext&>
    void GradAll(F&& f) {
        using Fn = internal::GradFnOf<std::decay_t<F>>;
        node_->AddGradFn(
            -1,
            [](internal::GradFn* self, GradContext& context) {
                static_cast<Fn*>(self)->f(context);
            },
            std::forward<F>(f));
    }

    // An input, or any other array of the operation.
    Saved Save(const Array& x);
    // An output. Capturing it by value instead would make the node own the array that owns it.
    Saved SaveOutput(const Array& y);

 private:
    void Begin(const char* op, std::span<const ConstArrayRef> inputs,
               std::span<const Array> outputs, uint64_t allowed_ids);

    internal::Node* node_{nullptr};
};

namespace internal {

// Throws ChainerxError if `x` is in any graph, for then its data may be needed unchanged.
CX_API CX_COLD void ThrowInPlace(const char* op, const Array& x);
CX_API CX_COLD void ThrowReadOnly(const char* op, const Array& x);
CX_API bool IsBackpropRequiredAny(const Array& x);

// For in-place operations: `out` must be in no graph and not read-only, and `x` in none that is
// recorded now.
inline void CheckInPlaceOutput(const char* op, const Array& out) {
    if (out.body()->slot != nullptr) [[unlikely]]
        ThrowInPlace(op, out);
    if (!out.buffer()->writable()) [[unlikely]]
        ThrowReadOnly(op, out);
}
CX_API CX_COLD void CheckInPlaceInputSlow(const char* op, const Array& x);
inline void CheckInPlaceInput(const char* op, const Array& x) {
    if (x.body()->slot != nullptr) [[unlikely]]
        CheckInPlaceInputSlow(op, x);
}

}  // namespace internal
}  // namespace chainerx

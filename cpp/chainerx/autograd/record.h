// How a routine records its gradient:
//
//     constexpr OpInfo kMatmul{"matmul", &kernels::Matmul::kInfo};
//
//     if (Record rec{kMatmul, {x1, x2}, y}) {  // false when nothing needs a graph
//         rec.Grad(0, [x2 = rec.Save(x2)](const Array& gy) {
//             return Matmul(gy, Transpose(x2()));
//         });
//         rec.Grad(1, [x1 = rec.Save(x1)](const Array& gy) {
//             return Matmul(Transpose(x1()), gy);
//         });
//     }
//
// One Grad per input that can have one; it runs only if that input asked for it. The engine undoes
// broadcasting and casts to the dtype of the input, so a gradient may have the shape and dtype of
// y.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "chainerx/autograd/graph.h"
#include "chainerx/autograd/op_info.h"
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// An array saved for backward: its data, and its slot in the graph. Small. It is a member of a
// gradient function of the node that saved it.
class CX_API Saved {
 public:
    Saved() = default;
    Saved(Saved&& o) noexcept
        : body_{std::exchange(o.body_, nullptr)},
          node_{o.node_},
          version_{o.version_},
          place_{o.place_} {}
    Saved(const Saved& o) : body_{o.body_}, node_{o.node_}, version_{o.version_}, place_{o.place_} {
        if (body_ != nullptr) body_->RefMemory();
    }
    Saved& operator=(Saved o) noexcept {
        std::swap(body_, o.body_);
        node_ = o.node_;
        version_ = o.version_;
        place_ = o.place_;
        return *this;
    }
    ~Saved() {
        if (body_ != nullptr) body_->UnrefMemory();
    }

    // Returns the array as it was when recorded, in the graphs of the ids for which the edge was
    // recorded; GradientError if it has been written in place since.
    Array operator()() const;

 private:
    friend class Record;

    // Nonnegative values are indices of inputs. Output k is kOutput - k.
    static constexpr int32_t kNeither = -1;
    static constexpr int32_t kOutput = -2;

    [[noreturn]] CX_COLD void ThrowWritten() const;

    internal::ArrayBody* body_{nullptr};
    internal::Node* node_{nullptr};
    uint32_t version_{0};  // of the buffer
    int32_t place_{kNeither};
};
static_assert(sizeof(Saved) == 24, "two gradient functions with two each fit into a node's arena");

// An operand without a gradient that backward reads: labels, indices. Outside all graphs. Each use
// throws GradientError if it has been written in place since.
class CX_API KeptOperand {
 public:
    // The names must live as long as the process.
    KeptOperand(const char* op, const char* name, const Array& x)
        : op_{op}, name_{name}, array_{internal::Detached(x)}, version_{x.buffer()->version()} {}

    const Array& operator()() const {
        if (array_.buffer()->version() != version_) [[unlikely]]
            ThrowWritten();
        return array_;
    }

 private:
    [[noreturn]] CX_COLD void ThrowWritten() const;

    const char* op_;
    const char* name_;
    Array array_;
    uint32_t version_;
};

// The arguments of a gradient function of several inputs or outputs.
class CX_API GradContext {
 public:
    // Returns false if no gradient reached that output.
    bool HasOutputGrad(int i) const { return !output_grads_[i].is_null(); }
    // Returns zeros if no gradient reached that output.
    const Array& output_grad(int i = 0);
    bool IsInputGradRequired(int i) const {
        const internal::Edge& e = node_->edges()[i];
        return e.slot != nullptr && (e.mask & id_) != 0 && (!has_targets_ || IsOnTheWay(e.slot));
    }
    // Adds to the gradient; an input may be set several times.
    void SetInputGrad(int i, Array gx);
    int input_count() const { return static_cast<int>(node_->n_inputs); }
    int output_count() const { return static_cast<int>(node_->n_outputs); }

 private:
    friend class internal::BackwardRun;
    friend class Record;
    // Runs the gradient function of one input. Not a template: there are a thousand such functions.
    void SetGradOf(internal::GradFn* fn, Array (*compute)(internal::GradFn* fn, const Array& gy));
    GradContext(internal::BackwardRun& run, uint64_t id, internal::Node* node, Array* output_grads,
                bool has_targets)
        : run_{run}, id_{id}, node_{node}, output_grads_{output_grads}, has_targets_{has_targets} {}
    // For a run with targets: returns whether one of them can be reached through an input.
    bool IsOnTheWay(internal::Slot* slot) const;

    internal::BackwardRun& run_;
    uint64_t id_;
    internal::Node* node_;
    Array* output_grads_;
    bool has_targets_;
};

class CX_API Record {
 public:
    // Nodes keep the address of `op`, which must be a constant.
    Record(const OpInfo& op, std::initializer_list<ConstArrayRef> inputs, const Array& output)
        : Record{op, std::span<const ConstArrayRef>{inputs.begin(), inputs.size()},
                 std::span<const Array>{&output, 1}} {}
    Record(const OpInfo& op, std::span<const ConstArrayRef> inputs, std::span<const Array> outputs,
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
                context.SetGradOf(self, [](internal::GradFn* self, const Array& gy) -> Array {
                    return static_cast<Fn*>(self)->f(gy);
                });
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

    // Sets the attributes of the kernel for graph views and forward derivatives, in the order of
    // the kernel's operands.
    void SetAttributes(std::initializer_list<double> values) {
        internal::Attributes attributes{static_cast<uint32_t>(values.size()), {}};
        std::copy_n(values.begin(), values.size(), attributes.values);
        node_->AddGradFn(
            internal::Attributes::kInput, [](internal::GradFn*, GradContext&) {}, attributes);
    }

    // Saves an input, or any other array of the operation.
    Saved Save(const Array& x);
    // Saves an output. Capturing it by value instead would make the node own the array that owns
    // it.
    Saved SaveOutput(const Array& y);

 private:
    void Begin(const OpInfo& op, std::span<const ConstArrayRef> inputs,
               std::span<const Array> outputs, uint64_t allowed_ids);

    // Returns the index of the input; kNeither if it is none.
    int32_t PlaceOf(const Array& x) const;

    // The number of first inputs that Save() recognizes.
    static constexpr uint32_t kKnownInputs = 3;

    internal::Node* node_{nullptr};
    const internal::ArrayBody* inputs_[kKnownInputs];
};

namespace internal {

// Throws ChainerxError if `x` is in any graph, where its data may be needed unchanged.
CX_API CX_COLD void ThrowInPlace(const char* op, const Array& x);
CX_API CX_COLD void ThrowReadOnly(const char* op, const Array& x);
CX_API bool IsBackpropRequiredAny(const Array& x);

// For in-place operations: `out` must be in no graph and not read-only, and `x` in none that is
// recorded now. After all checks, the operation calls out.buffer()->MarkWritten(), and then a
// kernel.
inline void CheckInPlaceOutput(const char* op, const Array& out) {
    if (out.body()->slot != nullptr) [[unlikely]]
        ThrowInPlace(op, out);
    if (!out.IsWritable()) [[unlikely]]
        ThrowReadOnly(op, out);
}
CX_API CX_COLD void CheckInPlaceInputSlow(const char* op, const Array& x);
inline void CheckInPlaceInput(const char* op, const Array& x) {
    if (x.body()->slot != nullptr) [[unlikely]]
        CheckInPlaceInputSlow(op, x);
}

}  // namespace internal
}  // namespace chainerx

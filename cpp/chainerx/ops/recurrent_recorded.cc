#include "chainerx/ops/recurrent_recorded.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/record.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/recurrent.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/hyperbolic.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/view.h"

namespace chainerx::internal {
namespace {

constexpr OpInfo kRecurrence{"recurrence", &kernels::Recurrence::kInfo};

// ---- made of other operations ------------------------------------------------------------------

struct State {
    Array h;
    Array c;
};

State StepOf(RecurrentCell cell, const Array& z, const Array& u, const Array& b, const State& s) {
    const Array product = Linear(s.h, u);
    if (cell == RecurrentCell::kLstm) {
        const std::vector<Array> g = Split(z + product, 4, 1);
        const Array c = Sigmoid(g[1]) * s.c + Sigmoid(g[0]) * Tanh(g[2]);
        return {Sigmoid(g[3]) * Tanh(c), c};
    }
    if (cell == RecurrentCell::kGru) {
        const std::vector<Array> x = Split(z, 3, 1);
        const std::vector<Array> p = Split(product, 3, 1);
        const Array keep = Sigmoid(x[1] + p[1]);
        const Array n = Tanh(x[2] + Sigmoid(x[0] + p[0]) * (p[2] + b));
        return {(1 - keep) * n + keep * s.h, Array{}};
    }
    const Array x = z + product;
    return {cell == RecurrentCell::kTanh ? Tanh(x) : Rectify(x), Array{}};
}

// The first n rows, and the others.
std::vector<Array> Cut(const Array& x, int64_t n) { return Split(x, std::vector<int64_t>{n}, 0); }

Array WithRest(const Array& first, const Array& rest) {
    return rest.is_null() ? first : Concatenate(std::vector<Array>{first, rest}, 0);
}

RecurrentResult Composed(const RecurrentLayer& layer, const Array& z, const Array& u,
                         const Array& b, const Array& h, const Array& c) {
    const std::vector<int64_t> sizes = layer.sizes.ToHost<int64_t>();
    const auto n = static_cast<int64_t>(sizes.size());
    if (n == 0) return {EmptyUnchecked({0, h.shape()[1]}, z.dtype(), z.device()), h, c};
    std::vector<int64_t> begins;
    int64_t end = 0;
    for (int64_t size : sizes) {
        begins.push_back(end);
        end += size;
    }
    const std::vector<Array> zs = Split(z, {begins.begin() + 1, begins.end()}, 0);
    State state{h, c};
    std::vector<Array> ys(sizes.size());
    for (int64_t k = 0; k < n; ++k) {
        const auto t = static_cast<size_t>(layer.reverse ? n - 1 - k : k);
        const bool is_all = sizes[t] == h.shape()[0];
        State rest;
        State active = state;
        if (!is_all) {
            std::vector<Array> parts = Cut(state.h, sizes[t]);
            active.h = parts[0];
            rest.h = parts[1];
            if (!c.is_null()) {
                parts = Cut(state.c, sizes[t]);
                active.c = parts[0];
                rest.c = parts[1];
            }
        }
        active = StepOf(layer.cell, zs[t], u, b, active);
        ys[t] = active.h;
        state = {WithRest(active.h, rest.h), c.is_null() ? Array{} : WithRest(active.c, rest.c)};
    }
    return {Concatenate(ys, 0), state.h, state.c};
}

// ---- the operation -----------------------------------------------------------------------------

struct SavedLayer {
    RecurrentLayer layer;
    Saved z;
    Saved u;
    Saved b;
    Saved h;
    Saved c;
    Saved ys;
    Array cs;
    Array saved;
    int8_t n_inputs;
    int8_t place_b;  // among the inputs; -1 if there is none
    int8_t place_c;

    void operator()(GradContext& context) const;

 private:
    void Compute(GradContext& context) const;
    void Differentiate(GradContext& context, const std::vector<Array>& inputs) const;
};

Array Contiguous(const Array& x) { return AsContiguous(Detached(x)); }

Array None(const Array& like) { return EmptyUnchecked(Shape{0}, like.dtype(), like.device()); }

// A copy that a kernel writes to.
Array CopyOf(const Array& x) { return Copy(Detached(x)); }

void SavedLayer::operator()(GradContext& context) const {
    std::vector<Array> inputs{z(), u(), h()};
    if (place_b >= 0) inputs.push_back(b());
    if (place_c >= 0) inputs.push_back(c());
    bool is_recorded = std::ranges::any_of(inputs, IsBackpropRequiredAny);
    for (int i = 0; i < context.output_count(); ++i) {
        is_recorded |= context.HasOutputGrad(i) && IsBackpropRequiredAny(context.output_grad(i));
    }
    if (is_recorded) {
        Differentiate(context, inputs);
    } else {
        Compute(context);
    }
}

// Gradients that have gradients: those of the composition.
void SavedLayer::Differentiate(GradContext& context, const std::vector<Array>& inputs) const {
    const ForceBackpropModeScope force{*inputs[0].device().context()};
    std::vector<Array> views;
    std::vector<ConstArrayRef> targets;
    std::vector<int> places;
    for (const Array& x : inputs) views.push_back(MakeView(x));
    for (int i = 0; i < n_inputs; ++i) {
        if (!context.IsInputGradRequired(i)) continue;
        views[static_cast<size_t>(i)].RequireGrad();
        targets.emplace_back(views[static_cast<size_t>(i)]);
        places.push_back(i);
    }
    const auto view = [&](int8_t place) {
        return place < 0 ? Array{} : views[static_cast<size_t>(place)];
    };
    const RecurrentResult y =
        Composed(layer, views[0], views[1], view(place_b), views[2], view(place_c));
    const Array* outputs[] = {&y.ys, &y.h, &y.c};
    std::vector<ConstArrayRef> from;
    std::vector<std::optional<Array>> grads;
    for (int i = 0; i < context.output_count(); ++i) {
        if (!context.HasOutputGrad(i)) continue;
        from.emplace_back(*outputs[i]);
        grads.emplace_back(context.output_grad(i));
    }
    if (from.empty()) return;
    const std::vector<std::optional<Array>> found =
        Grad(from, targets, std::nullopt, DoubleBackpropOption::kEnable, false, false, grads);
    for (size_t i = 0; i < found.size(); ++i) {
        if (found[i]) context.SetInputGrad(places[i], *found[i]);
    }
}

void SavedLayer::Compute(GradContext& context) const {
    const Array states = ys();
    Device& device = states.device();
    const Array weights = Contiguous(u());
    const Array h0 = Contiguous(h());
    const Array none = None(h0);
    const Array c0 = place_c < 0 ? none : Contiguous(c());
    const auto grad_of = [&](int i, const Array& like) {
        return context.HasOutputGrad(i) ? CopyOf(context.output_grad(i)) : ZerosLike(like);
    };
    const Array gys = context.HasOutputGrad(0) ? Contiguous(context.output_grad(0)) : none;
    const Array gh = grad_of(1, h0);
    const Array gc = place_c < 0 ? none : grad_of(2, c0);
    const Array gz =
        EmptyUnchecked({states.shape()[0], weights.shape()[0]}, states.dtype(), device);
    const Array gu = context.IsInputGradRequired(1)
                         ? EmptyUnchecked(weights.shape(), states.dtype(), device)
                         : none;
    const bool has_gb = place_b >= 0 && context.IsInputGradRequired(place_b);
    const Array gb = has_gb ? EmptyUnchecked(Shape{h0.shape()[1]}, states.dtype(), device) : none;
    CallOn<kernels::RecurrenceGrad>(device, weights, layer.sizes, layer.cell, layer.reverse, h0, c0,
                                    Detached(states), cs, saved, gys, gh, gc, gz, gu, gb);
    const auto set = [&](int i, const Array& gx) {
        if (context.IsInputGradRequired(i)) context.SetInputGrad(i, gx);
    };
    set(0, gz);
    set(1, gu);
    set(2, gh);
    if (place_b >= 0) set(place_b, gb);
    if (place_c >= 0) set(place_c, gc);
}

}  // namespace

RecurrentResult RecordedRecurrence(const RecurrentLayer& layer, const Array& z, const Array& u,
                                   const Array& b, const Array& h, const Array& c) {
    Device& device = z.device();
    const bool has_kernels =
        HasKernel<kernels::Recurrence>(device) && HasKernel<kernels::RecurrenceGrad>(device);
    if (!has_kernels || z.GetTotalSize() == 0) return Composed(layer, z, u, b, h, c);

    std::vector<ConstArrayRef> inputs{z, u, h};
    const int8_t place_b = b.is_null() ? int8_t{-1} : static_cast<int8_t>(inputs.size());
    if (!b.is_null()) inputs.emplace_back(b);
    const int8_t place_c = c.is_null() ? int8_t{-1} : static_cast<int8_t>(inputs.size());
    if (!c.is_null()) inputs.emplace_back(c);
    const bool is_recorded = std::ranges::any_of(
        inputs, [](const ConstArrayRef& x) { return IsBackpropRequiredAny(x.get()); });

    const int64_t rows = z.shape()[0];
    const int64_t units = h.shape()[1];
    const Array none = None(z);
    const auto empty = [&](bool wanted, int64_t width) {
        return wanted && width != 0 ? EmptyUnchecked({rows, width}, z.dtype(), device) : none;
    };
    const RecurrentResult y{empty(true, units), CopyOf(h), c.is_null() ? Array{} : CopyOf(c)};
    const Array cs = empty(is_recorded && !c.is_null(), units);
    const Array saved = empty(is_recorded, CountSaved(layer.cell) * units);
    CallOn<kernels::Recurrence>(device, Contiguous(z), Contiguous(u),
                                b.is_null() ? none : Contiguous(b), layer.sizes, layer.cell,
                                layer.reverse, y.h, c.is_null() ? none : y.c, y.ys, cs, saved);
    if (!is_recorded) return y;
    const Array outputs[] = {y.ys, y.h, y.c};
    const std::span<const Array> made{outputs, c.is_null() ? size_t{2} : size_t{3}};
    if (Record rec{kRecurrence, inputs, made}) {
        rec.GradAll(SavedLayer{layer, rec.Save(z), rec.Save(u), b.is_null() ? Saved{} : rec.Save(b),
                               rec.Save(h), c.is_null() ? Saved{} : rec.Save(c),
                               rec.SaveOutput(y.ys), cs, saved, static_cast<int8_t>(inputs.size()),
                               place_b, place_c});
    }
    return y;
}

}  // namespace chainerx::internal

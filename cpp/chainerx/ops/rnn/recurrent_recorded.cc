#include "chainerx/ops/rnn/recurrent_recorded.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "chainerx/kernels/rnn/recurrent.h"
#include "chainerx/ops/elementwise/composed_grad.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

constexpr OpInfo kRecurrence{"recurrence", &kernels::Recurrence::kInfo};

// ---- composition of other operations ------------------------------------------------------------

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

// Splits x into the first n rows, and the others.
std::vector<Array> Cut(const Array& x, int64_t n) { return Split(x, std::vector<int64_t>{n}, 0); }

Array WithRest(const Array& first, const Array& rest) {
    return rest.is_null() ? first : Concatenate(std::vector<Array>{first, rest}, 0);
}

RecurrentResult Composed(const RecurrentLayer& layer, const RecurrentInputs& in) {
    const auto& [x, w, bias, u, h, b, c, apart, kept] = in;
    const Array z = Linear(x, w, bias);
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

// Indices of the inputs of the node; b and c may be missing.
enum Place : int { kX, kW, kBias, kU, kH, kB, kC, kPlaces };

struct SavedLayer {
    RecurrentLayer layer;
    Saved inputs[kPlaces];
    int8_t places[kPlaces];  // -1 for missing inputs
    Saved ys;
    Array cs;
    Array saved;

    void operator()(GradContext& context) const;

 private:
    bool Has(Place place) const { return places[place] >= 0; }
    bool Wants(const GradContext& context, Place place) const {
        return Has(place) && context.IsInputGradRequired(places[place]);
    }
    void Compute(GradContext& context, const Array (&in)[kPlaces]) const;
    void Differentiate(GradContext& context, const Array (&in)[kPlaces]) const;
};

Array Contiguous(const Array& x) { return AsContiguous(Detached(x)); }

Array None(const Array& like) { return EmptyUnchecked(Shape{0}, like.dtype(), like.device()); }

// Returns a copy for a kernel to write to.
Array CopyOf(const Array& x) { return Copy(Detached(x)); }

void SavedLayer::operator()(GradContext& context) const {
    Array in[kPlaces];
    bool is_recorded = false;
    for (int i = 0; i < kPlaces; ++i) {
        if (places[i] < 0) continue;
        in[i] = inputs[i]();
        is_recorded |= IsBackpropRequiredAny(in[i]);
    }
    for (int i = 0; i < context.output_count(); ++i) {
        is_recorded |= context.HasOutputGrad(i) && IsBackpropRequiredAny(context.output_grad(i));
    }
    if (is_recorded) {
        Differentiate(context, in);
    } else {
        Compute(context, in);
    }
}

// Computes differentiable gradients, by differentiating the composition.
void SavedLayer::Differentiate(GradContext& context, const Array (&in)[kPlaces]) const {
    std::vector<Array> inputs;
    for (const Array& x : in) {
        if (!x.is_null()) inputs.push_back(x);
    }
    GradOfComposition(context, inputs, [this](const std::vector<Array>& views) {
        const auto at = [&](Place place) {
            return Has(place) ? views[static_cast<size_t>(places[place])] : Array{};
        };
        const RecurrentResult y =
            Composed(layer, {at(kX), at(kW), at(kBias), at(kU), at(kH), at(kB), at(kC)});
        return std::vector<Array>{y.ys, y.h, y.c};
    });
}

void SavedLayer::Compute(GradContext& context, const Array (&in)[kPlaces]) const {
    const Array states = ys();
    Device& device = states.device();
    const Array weights = Contiguous(in[kU]);
    const Array h0 = Contiguous(in[kH]);
    const Array none = None(h0);
    const Array c0 = Has(kC) ? Contiguous(in[kC]) : none;
    const auto grad_of = [&](int i, const Array& like) {
        return context.HasOutputGrad(i) ? CopyOf(context.output_grad(i)) : ZerosLike(like);
    };
    const auto wanted = [&](Place place, const Shape& shape) {
        return Wants(context, place) ? EmptyUnchecked(shape, states.dtype(), device) : none;
    };
    const Array gys = context.HasOutputGrad(0) ? Contiguous(context.output_grad(0)) : none;
    const Array gh = grad_of(1, h0);
    const Array gc = Has(kC) ? grad_of(2, c0) : none;
    const Array gz =
        EmptyUnchecked({states.shape()[0], weights.shape()[0]}, states.dtype(), device);
    const Array gu = wanted(kU, weights.shape());
    const Array gb = wanted(kB, Shape{h0.shape()[1]});
    CallOn<kernels::RecurrenceGrad>(device, weights, layer.sizes, layer.cell, layer.reverse, h0, c0,
                                    Detached(states), cs, saved, gys, gh, gc, gz, gu, gb);
    const auto set = [&](Place place, const auto& gx) {
        if (Wants(context, place)) context.SetInputGrad(places[place], gx());
    };
    set(kX, [&] { return Matmul(gz, Detached(in[kW])); });
    set(kW, [&] { return Matmul(Transpose(gz), Detached(in[kX])); });
    set(kBias, [&] { return Sum(gz, Axes{0}); });
    set(kU, [&] { return gu; });
    set(kH, [&] { return gh; });
    set(kB, [&] { return gb; });
    set(kC, [&] { return gc; });
}

void CallStep(RecurrentCell cell, const Array& x, const RecurrentParameters& parameters,
              const Array& h, const Array& c, const Array& ys, const Array& cs,
              const Array& saved) {
    const size_t n = parameters.ws.size();
    std::vector<Array> made;  // converted copies of what the kernel can't take directly
    made.reserve(2 * n);
    std::vector<ConstArrayRef> refs;
    refs.reserve(2 * n);
    for (const auto* list : {&parameters.ws, &parameters.bs}) {
        for (const Array& a : *list) {
            if (a.IsContiguous() && a.dtype() == x.dtype()) {
                refs.emplace_back(a);
            } else {
                refs.emplace_back(made.emplace_back(AsType(Contiguous(a), x.dtype(), false)));
            }
        }
    }
    const std::span<const ConstArrayRef> all{refs};
    CallOn<kernels::RecurrenceStep>(x.device(), Contiguous(x), all.first(n), all.subspan(n), cell,
                                    h, c, ys, cs, saved);
}

}  // namespace

bool IsForStep(Device& device, int64_t n_steps, int64_t rows, int64_t units) {
    constexpr int64_t kMaxRows = 16;
    return n_steps == 1 && rows != 0 && rows <= kMaxRows && units != 0 &&
           HasKernel<kernels::RecurrenceStep>(device);
}

RecurrentResult RunStep(RecurrentCell cell, const Array& x, const RecurrentParameters& parameters,
                        const Array& h, const Array& c) {
    const Array none = None(x);
    const RecurrentResult y{EmptyUnchecked({x.shape()[0], h.shape()[1]}, x.dtype(), x.device()),
                            CopyOf(h), c.is_null() ? Array{} : CopyOf(c)};
    CallStep(cell, x, parameters, y.h, c.is_null() ? none : y.c, y.ys, none, none);
    return y;
}

RecurrentResult RecordedRecurrence(const RecurrentLayer& layer, const RecurrentInputs& in) {
    const auto& [x, w, bias, u, h, b, c, apart, kept] = in;
    Device& device = x.device();
    const bool has_kernels =
        HasKernel<kernels::Recurrence>(device) && HasKernel<kernels::RecurrenceGrad>(device);
    const int64_t rows = x.shape()[0];
    const int64_t units = h.shape()[1];
    if (!has_kernels || rows == 0 || units == 0) return Composed(layer, in);

    const Array* const all[] = {&x, &w, &bias, &u, &h, &b, &c};
    std::vector<ConstArrayRef> inputs;
    SavedLayer keep{};
    bool is_recorded = false;
    for (int i = 0; i < kPlaces; ++i) {
        keep.places[i] = all[i]->is_null() ? int8_t{-1} : static_cast<int8_t>(inputs.size());
        if (all[i]->is_null()) continue;
        inputs.emplace_back(*all[i]);
        is_recorded |= IsBackpropRequiredAny(*all[i]);
    }
    const Array none = None(x);
    const auto empty = [&](bool is_wanted, int64_t width) {
        return is_wanted && width != 0 ? EmptyUnchecked({rows, width}, x.dtype(), device) : none;
    };
    const RecurrentResult y{empty(true, units), CopyOf(h), c.is_null() ? Array{} : CopyOf(c)};
    keep.cs = empty(is_recorded && !c.is_null(), units);
    keep.saved = empty(is_recorded, CountSaved(layer.cell) * units);
    const Array& cells = c.is_null() ? none : y.c;
    if (apart != nullptr) {
        CallStep(layer.cell, x, *apart, y.h, cells, y.ys, keep.cs, keep.saved);
    } else {
        const Array z = Linear(Detached(x), Detached(w), Detached(bias));
        CallOn<kernels::Recurrence>(device, z, Contiguous(u), b.is_null() ? none : Contiguous(b),
                                    layer.sizes, kept.is_null() ? none : kept, layer.cell,
                                    layer.reverse, y.h, cells, y.ys, keep.cs, keep.saved);
    }
    if (!is_recorded) return y;
    const Array outputs[] = {y.ys, y.h, y.c};
    const std::span<const Array> made{outputs, c.is_null() ? size_t{2} : size_t{3}};
    if (Record rec{kRecurrence, inputs, made}) {
        keep.layer = layer;
        for (int i = 0; i < kPlaces; ++i) {
            if (!all[i]->is_null()) keep.inputs[i] = rec.Save(*all[i]);
        }
        keep.ys = rec.SaveOutput(y.ys);
        rec.GradAll(std::move(keep));
    }
    return y;
}

}  // namespace chainerx::internal

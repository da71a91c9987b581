// Single steps of recurrent cells with given gates: one kernel for forward, one for backward.
#include <utility>
#include <vector>

#include "chainerx/kernels/rnn/recurrent.h"
#include "chainerx/ops/elementwise/composed_grad.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/rnn/recurrent.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using Arrays = std::vector<Array>;
using ArrayRefs = std::vector<ConstArrayRef>;

// ---- checks ------------------------------------------------------------------------------------

void CheckFloat(const char* op, const char* name, const Array& x, const Array& first) {
    CheckSameDevice(op, first.device(), x.device());
    CheckDtype(IsFloat(x.dtype()), op, name, x.dtype(), "a real float");
}

[[noreturn]] CX_COLD void ThrowGates(const char* op, const char* name, const Array& x, int64_t n,
                                     const Array& c) {
    throw DimensionError{
        op,        ": ",          name, ".shape is ",
        x.shape(), ", expected ", n,    " gates of each unit on axis 1, where cells have shape ",
        c.shape()};
}

// Checks that x has n gates for each unit of c, for at most as many rows, or exactly as many.
void CheckGates(const char* op, const char* name, const Array& x, int64_t n, const Array& c,
                bool may_be_fewer) {
    bool fits = x.ndim() == c.ndim() && c.ndim() >= 2;
    if (!fits) ThrowGates(op, name, x, n, c);
    const int64_t rows = x.shape()[0];
    fits = may_be_fewer ? rows <= c.shape()[0] : rows == c.shape()[0];
    fits &= x.shape()[1] % n == 0 && x.shape()[1] / n == c.shape()[1];
    for (int8_t i = 2; i < c.ndim(); ++i) fits &= x.shape()[i] == c.shape()[i];
    if (!fits) ThrowGates(op, name, x, n, c);
}

void CheckSameShape(const char* op, const char* name, const Array& c, const Array& first) {
    if (c.shape() == first.shape()) return;
    throw DimensionError{op,        ": ",          name,          ".shape is ",
                         c.shape(), ", expected ", first.shape(), ", as that of the first"};
}

// ---- composition of other operations ------------------------------------------------------------

// Splits gates that are adjacent for each unit.
Arrays GatesOfUnits(const Array& x) {
    Shape shape{x.shape()[0], x.shape()[1] / 4, 4};
    for (int8_t i = 2; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    Arrays gates;
    for (const Array& gate : Split(Reshape(x, shape), 4, 2)) {
        gates.push_back(Squeeze(gate, Axes{2}));
    }
    return gates;
}

LstmState ComposedByUnit(const Arrays& cs, const Arrays& xs) {
    const int64_t n = xs[0].shape()[0];
    const bool is_all = n == cs[0].shape()[0];
    Array c;
    Array o;
    for (size_t k = 0; k < cs.size(); ++k) {
        const Arrays g = GatesOfUnits(xs[k]);
        const Array before = is_all ? cs[k] : Split(cs[k], std::vector<int64_t>{n}, 0)[0];
        const Array next = Sigmoid(g[2]) * before + Sigmoid(g[1]) * Tanh(g[0]);
        c = k == 0 ? next : c + next;
        o = k == 0 ? g[3] : o + g[3];
    }
    const Array h = Sigmoid(o) * Tanh(c);
    if (is_all) return {c, h};
    return {Concatenate(Arrays{c, Split(cs[0], std::vector<int64_t>{n}, 0)[1]}, 0), h};
}

LstmState ComposedByGate(const Arrays& cs, const Array& x) {
    const Arrays g = Split(x, static_cast<int64_t>(cs.size()) + 3, 1);
    Array c = Tanh(g[0]) * Sigmoid(g[1]);
    for (size_t k = 0; k < cs.size(); ++k) c = c + Sigmoid(g[k + 3]) * cs[k];
    return {c, Sigmoid(g[2]) * Tanh(c)};
}

LstmState Composed(GateOrder order, const Arrays& cs, const Arrays& xs) {
    return order == GateOrder::kByUnit ? ComposedByUnit(cs, xs) : ComposedByGate(cs, xs[0]);
}

// ---- the operation -----------------------------------------------------------------------------

constexpr OpInfo kLstm{"lstm", &kernels::GatedCell::kInfo};
constexpr OpInfo kSLstm{"slstm", &kernels::GatedCell::kInfo};
constexpr OpInfo kTreeLstm{"tree_lstm", &kernels::GatedCell::kInfo};

// Converts operands for kernels.
Arrays Operands(const Arrays& arrays) {
    Arrays operands;
    operands.reserve(arrays.size());
    for (const Array& x : arrays) operands.push_back(AsContiguous(internal::Detached(x)));
    return operands;
}
ArrayRefs RefsOf(const Arrays& arrays) { return {arrays.begin(), arrays.end()}; }

Array None(const Array& like) { return EmptyUnchecked(Shape{0}, like.dtype(), like.device()); }

struct SavedCell {
    GateOrder order;
    size_t n_cells;
    std::vector<Saved> inputs;  // cells, then gates
    Saved c;

    void operator()(GradContext& context) const {
        Arrays in;
        in.reserve(inputs.size());
        for (const Saved& x : inputs) in.push_back(x());
        if (!internal::IsGradRecorded(context, in)) {
            Compute(context, in);
            return;
        }
        internal::GradOfComposition(context, in, [this](const Arrays& views) {
            const auto end = views.begin() + static_cast<std::ptrdiff_t>(n_cells);
            const LstmState y = Composed(order, {views.begin(), end}, {end, views.end()});
            return Arrays{y.c, y.h};
        });
    }

 private:
    void Compute(GradContext& context, const Arrays& in) const {
        const Array cell = internal::Detached(c());
        const Array none = None(cell);
        const auto grad_of = [&](int i) {
            return context.HasOutputGrad(i)
                       ? AsContiguous(internal::Detached(context.output_grad(i)))
                       : none;
        };
        const Arrays operands = Operands(in);
        Arrays grads;
        for (size_t i = 0; i < in.size(); ++i) {
            grads.push_back(context.IsInputGradRequired(static_cast<int>(i))
                                ? EmptyUnchecked(in[i].shape(), cell.dtype(), cell.device())
                                : none);
        }
        const ArrayRefs refs = RefsOf(operands);
        const ArrayRefs grad_refs = RefsOf(grads);
        const std::span<const ConstArrayRef> all{refs};
        const std::span<const ConstArrayRef> all_grads{grad_refs};
        CallOn<kernels::GatedCellGrad>(cell.device(), order, all.first(n_cells),
                                       all.subspan(n_cells), cell, grad_of(0), grad_of(1),
                                       all_grads.first(n_cells), all_grads.subspan(n_cells));
        for (size_t i = 0; i < in.size(); ++i) {
            const int place = static_cast<int>(i);
            if (context.IsInputGradRequired(place)) context.SetInputGrad(place, grads[i]);
        }
    }
};

// `given` has the cells, then the gates.
LstmState Run(const OpInfo& op, GateOrder order, const Arrays& given, size_t n_cells,
              const Shape& shape_of_h) {
    Dtype dtype = given[0].dtype();
    for (const Array& x : given) dtype = PromoteTypes(dtype, x.dtype());
    Arrays inputs;
    inputs.reserve(given.size());
    for (const Array& x : given) inputs.push_back(AsType(x, dtype, false));
    Device& device = inputs[0].device();
    bool is_empty = false;
    for (int64_t n : shape_of_h) is_empty |= n == 0;
    if (is_empty || !HasKernel<kernels::GatedCell>(device) ||
        !HasKernel<kernels::GatedCellGrad>(device)) {
        const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(n_cells);
        return Composed(order, {inputs.begin(), end}, {end, inputs.end()});
    }
    const LstmState y{EmptyUnchecked(inputs[0].shape(), dtype, device),
                      EmptyUnchecked(shape_of_h, dtype, device)};
    const Arrays operands = Operands(inputs);
    const ArrayRefs refs = RefsOf(operands);
    const std::span<const ConstArrayRef> all{refs};
    CallOn<kernels::GatedCell>(device, order, all.first(n_cells), all.subspan(n_cells), y.c, y.h);
    const Array outputs[] = {y.c, y.h};
    if (Record rec{op, RefsOf(inputs), outputs}) {
        SavedCell keep{order, n_cells, {}, rec.SaveOutput(y.c)};
        for (const Array& x : inputs) keep.inputs.push_back(rec.Save(x));
        rec.GradAll(std::move(keep));
    }
    return y;
}

}  // namespace

LstmState Lstm(const Array& c, const Array& x) {
    const char* op = kLstm.name;
    CheckFloat(op, "c", c, c);
    CheckFloat(op, "x", x, c);
    CheckGates(op, "x", x, 4, c, true);
    Shape shape = c.shape();
    shape[0] = x.shape()[0];
    return Run(kLstm, GateOrder::kByUnit, {c, x}, 1, shape);
}

LstmState SLstm(const Array& c1, const Array& c2, const Array& x1, const Array& x2) {
    const char* op = kSLstm.name;
    CheckFloat(op, "c1", c1, c1);
    CheckFloat(op, "c2", c2, c1);
    CheckFloat(op, "x1", x1, c1);
    CheckFloat(op, "x2", x2, c1);
    CheckSameShape(op, "c2", c2, c1);
    CheckGates(op, "x1", x1, 4, c1, false);
    CheckGates(op, "x2", x2, 4, c1, false);
    return Run(kSLstm, GateOrder::kByUnit, {c1, c2, x1, x2}, 2, c1.shape());
}

LstmState TreeLstm(const std::vector<Array>& cs, const Array& x) {
    const char* op = kTreeLstm.name;
    if (cs.empty()) throw DimensionError{op, ": there is no cell, expected at least 1, and x"};
    for (const Array& c : cs) {
        CheckFloat(op, "a cell", c, cs[0]);
        CheckSameShape(op, "a cell", c, cs[0]);
    }
    CheckFloat(op, "x", x, cs[0]);
    CheckGates(op, "x", x, static_cast<int64_t>(cs.size()) + 3, cs[0], false);
    Arrays given = cs;
    given.push_back(x);
    return Run(kTreeLstm, GateOrder::kByGate, given, cs.size(), cs[0].shape());
}

}  // namespace chainerx

#include "chainerx/python/engine/links/link_ops.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/rnn/recurrent.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/engine/few.h"
#include "chainerx/python/engine/noise.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

// ---- arrays -------------------------------------------------------------------------------------

Array ArrayOps::Layer(size_t i, const Array& x) const {
    return Linear(x, layers[i].w, layers[i].b, 1);
}
Array ArrayOps::Add(const Array& a, const Array& b) { return a + b; }
Array ArrayOps::Multiply(const Array& a, const Array& b) { return a * b; }
Array ArrayOps::Sigmoid(const Array& x) { return chainerx::Sigmoid(x); }
Array ArrayOps::Tanh(const Array& x) { return chainerx::Tanh(x); }

// As LinearInterpolate in functions/math/linear_interpolate.py.
Array ArrayOps::Interpolate(const Array& p, const Array& x, const Array& y) {
    return p * x + (y - p * y);
}

Array ArrayOps::Concat(const Array& a, const Array& b) {
    const ConstArrayRef both[] = {a, b};
    return Concatenate(both, 1);
}

Array ArrayOps::ConcatAll(std::span<const Array> all) {
    const std::vector<ConstArrayRef> refs(all.begin(), all.end());
    return Concatenate(refs, 1);
}

void ArrayOps::TreeLstm(std::span<const Array> cells, const Array& gates, Array& c, Array& h) {
    LstmState y = chainerx::TreeLstm({cells.begin(), cells.end()}, gates);
    c = std::move(y.c);
    h = std::move(y.h);
}

// As Zoneout in functions/noise/zoneout.py.
Array ArrayOps::Zoneout(size_t i, const Array& h, const Array& x) const {
    return ratios == nullptr ? x : Where(ZoneoutFlags(h, ratios[i]), h, x);
}

std::array<Array, 2> ArrayOps::SplitAt(const Array& x, int64_t column) {
    auto parts = Split(x, std::vector<int64_t>{column}, 1);
    return {std::move(parts[0]), std::move(parts[1])};
}

std::array<Array, 3> ArrayOps::Thirds(const Array& x) {
    auto parts = Split(x, int64_t{3}, 1);
    return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

void ArrayOps::Lstm(const Array& gates, Array& c, Array& h) {
    LstmState y = chainerx::Lstm(c, gates);
    c = std::move(y.c);
    h = std::move(y.h);
}

std::array<Array, 4> ArrayOps::Gates(const Array& x) {
    const int64_t n = x.shape()[0];
    const auto parts = Split(Reshape(x, Shape{n, x.shape()[1] / 4, 4}), 4, 2);
    std::array<Array, 4> gates;
    std::ranges::transform(parts, gates.begin(),
                           [](const Array& part) { return Squeeze(part, Axes{2}); });
    return gates;
}

// ---- variables ----------------------------------------------------------------------------------

namespace {

template <typename... Args>
Ref Call(const VariableOps& ops, CellFunction f, Args... args) {
    PyObject* all[] = {args...};
    return Ref{CallEntry(ops.Function(f), all, std::size(all))};
}

Ref Item(const Ref& tuple, Py_ssize_t i) {
    return Ref{Py_NewRef(PyTuple_GET_ITEM(tuple.get(), i))};
}

}  // namespace

Ref VariableOps::Layer(size_t i, const Ref& x) const {
    PyObject* all[] = {x.get(), layers[i].w.get(), layers[i].b.get()};
    return Ref{CallEntry(LinearFunction(), all, 3)};
}

Ref VariableOps::Add(const Ref& a, const Ref& b) { return Check(PyNumber_Add(a.get(), b.get())); }

Ref VariableOps::Multiply(const Ref& a, const Ref& b) {
    return Check(PyNumber_Multiply(a.get(), b.get()));
}

Ref VariableOps::Sigmoid(const Ref& x) const {
    return Call(*this, CellFunction::kSigmoid, x.get());
}
Ref VariableOps::Tanh(const Ref& x) const { return Call(*this, CellFunction::kTanh, x.get()); }

Ref VariableOps::Interpolate(const Ref& p, const Ref& x, const Ref& y) const {
    return Call(*this, CellFunction::kInterpolate, p.get(), x.get(), y.get());
}

Ref VariableOps::Concat(const Ref& a, const Ref& b) const {
    const Ref axis = Check(PyLong_FromLong(1));
    return Call(*this, CellFunction::kConcat, a.get(), b.get(), axis.get());
}

Ref VariableOps::ConcatAll(std::span<const Ref> all) const {
    const Ref axis = Check(PyLong_FromLong(1));
    Pointers args{all.size() + 1};
    std::ranges::transform(all, args.begin(), &Ref::get);
    args[all.size()] = axis.get();
    return Ref{CallEntry(Function(CellFunction::kConcat), args.data(), args.size())};
}

void VariableOps::TreeLstm(std::span<const Ref> cells, const Ref& gates, Ref& c, Ref& h) const {
    Pointers args{cells.size() + 1};
    std::ranges::transform(cells, args.begin(), &Ref::get);
    args[cells.size()] = gates.get();
    const Ref y{CallEntry(Function(CellFunction::kTreeLstm), args.data(), args.size())};
    c = Item(y, 0);
    h = Item(y, 1);
}

Ref VariableOps::Zoneout(size_t i, const Ref& h, const Ref& x) const {
    if (ratios == nullptr) return Share(x);
    return Call(*this, CellFunction::kZoneout, h.get(), x.get(), ratios[i].get(), Py_None);
}

std::array<Ref, 2> VariableOps::SplitAt(const Ref& x, int64_t column) const {
    const Ref indices = Check(Py_BuildValue("(L)", static_cast<long long>(column)));
    const Ref axis = Check(PyLong_FromLong(1));
    const Ref parts =
        Call(*this, CellFunction::kSplit, x.get(), indices.get(), Py_None, axis.get());
    return {Item(parts, 0), Item(parts, 1)};
}

std::array<Ref, 3> VariableOps::Thirds(const Ref& x) const {
    const Ref sections = Check(PyLong_FromLong(3));
    const Ref axis = Check(PyLong_FromLong(1));
    const Ref parts =
        Call(*this, CellFunction::kSplit, x.get(), Py_None, sections.get(), axis.get());
    return {Item(parts, 0), Item(parts, 1), Item(parts, 2)};
}

void VariableOps::Lstm(const Ref& gates, Ref& c, Ref& h) const {
    const Ref y = Call(*this, CellFunction::kLstm, c.get(), gates.get());
    c = Item(y, 0);
    h = Item(y, 1);
}

std::array<Ref, 4> VariableOps::Gates(const Ref& x) const {
    const Shape shape = RecordOf("reshape", AsVariable(x.get())).shape();
    const Ref wanted =
        Check(Py_BuildValue("(LLi)", static_cast<long long>(shape[0]), shape[1] / 4LL, 4));
    const Ref axis = Check(PyLong_FromLong(2));
    const Ref units = Call(*this, CellFunction::kReshape, x.get(), wanted.get());
    const Ref parts = Call(*this, CellFunction::kSeparate, units.get(), axis.get());
    return {Item(parts, 0), Item(parts, 1), Item(parts, 2), Item(parts, 3)};
}

}  // namespace chainerx::python::engine

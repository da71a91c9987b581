// What the steps of recurrent links (link_cells.h), and the nodes of trees (link_trees.h), are
// computed with.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/links/link_cells.h"
#include "chainerx/python/engine/links/link_layers.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

// Arrays, of which nothing is recorded.
struct ArrayOps {
    using Value = Array;
    struct Parameters {
        Array w;
        std::optional<Array> b;
    };
    const Parameters* layers;
    const double* ratios{nullptr};  // null: nothing is kept at random

    static Array Share(const Array& x) { return x; }
    Array Layer(size_t i, const Array& x) const;
    static Array Add(const Array& a, const Array& b);
    static Array Multiply(const Array& a, const Array& b);
    static Array Sigmoid(const Array& x);
    static Array Tanh(const Array& x);
    static Array Interpolate(const Array& p, const Array& x, const Array& y);
    static Array Concat(const Array& a, const Array& b);
    static Array ConcatAll(std::span<const Array> all);
    static void Lstm(const Array& gates, Array& c, Array& h);
    static void TreeLstm(std::span<const Array> cells, const Array& gates, Array& c, Array& h);
    Array Zoneout(size_t i, const Array& h, const Array& x) const;
    static std::array<Array, 2> SplitAt(const Array& x, int64_t column);
    static std::array<Array, 3> Thirds(const Array& x);
    static std::array<Array, 4> Gates(const Array& x);  // those of a unit stand side by side
};

// Variables, by chainer's functions.
struct VariableOps {
    using Value = Ref;
    const LinearLayer* layers;
    EntryObject* const* functions;
    const Ref* ratios{nullptr};

    EntryObject* Function(CellFunction f) const { return functions[static_cast<size_t>(f)]; }
    static Ref Share(const Ref& x) { return Ref{Py_NewRef(x.get())}; }
    Ref Layer(size_t i, const Ref& x) const;
    static Ref Add(const Ref& a, const Ref& b);
    static Ref Multiply(const Ref& a, const Ref& b);
    Ref Sigmoid(const Ref& x) const;
    Ref Tanh(const Ref& x) const;
    Ref Interpolate(const Ref& p, const Ref& x, const Ref& y) const;
    Ref Concat(const Ref& a, const Ref& b) const;
    Ref ConcatAll(std::span<const Ref> all) const;
    void Lstm(const Ref& gates, Ref& c, Ref& h) const;
    void TreeLstm(std::span<const Ref> cells, const Ref& gates, Ref& c, Ref& h) const;
    Ref Zoneout(size_t i, const Ref& h, const Ref& x) const;
    std::array<Ref, 2> SplitAt(const Ref& x, int64_t column) const;
    std::array<Ref, 3> Thirds(const Ref& x) const;
    std::array<Ref, 4> Gates(const Ref& x) const;
};

}  // namespace chainerx::python::engine

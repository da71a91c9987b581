// What the steps of recurrent links (link_cells.h) are computed with.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/link_cells.h"
#include "chainerx/python/engine/link_layers.h"
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

    Array Layer(size_t i, const Array& x) const;
    static Array Add(const Array& a, const Array& b);
    static Array Multiply(const Array& a, const Array& b);
    static Array Sigmoid(const Array& x);
    static Array Tanh(const Array& x);
    static Array Interpolate(const Array& p, const Array& x, const Array& y);
    static Array Concat(const Array& a, const Array& b);
    static void Lstm(const Array& gates, Array& c, Array& h);
    static std::array<Array, 4> Gates(const Array& x);  // those of a unit stand side by side
};

// Variables, by chainer's functions.
struct VariableOps {
    using Value = Ref;
    const LinearLayer* layers;
    EntryObject* const* functions;

    Ref Layer(size_t i, const Ref& x) const;
    static Ref Add(const Ref& a, const Ref& b);
    static Ref Multiply(const Ref& a, const Ref& b);
    Ref Sigmoid(const Ref& x) const;
    Ref Tanh(const Ref& x) const;
    Ref Interpolate(const Ref& p, const Ref& x, const Ref& y) const;
    Ref Concat(const Ref& a, const Ref& b) const;
    void Lstm(const Ref& gates, Ref& c, Ref& h) const;
    std::array<Ref, 4> Gates(const Ref& x) const;
};

}  // namespace chainerx::python::engine

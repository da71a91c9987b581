// Units of recurrent layers: iteration, gates, and their gradients.
#pragma once

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// A batch of units, or the first n of one.
template <typename T, bool kPart>
struct Units {
    int64_t n;

    Batch<T> Get(const T* x) const {
        if constexpr (kPart) {
            return LoadPart(x, n);
        } else {
            return Batch<T>::load_unaligned(x);
        }
    }
    void Set(T* x, const Batch<T>& y) const {
        if constexpr (kPart) {
            StorePart(x, y, n);
        } else {
            y.store_unaligned(x);
        }
    }
    void SetIf(T* x, int64_t at, const Batch<T>& y) const {
        if (x != nullptr) Set(x + at, y);
    }
};

// Calls f(units, row, first unit).
template <typename T, typename F>
void ForUnits(int64_t rows, int64_t units, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    for (int64_t r = 0; r < rows; ++r) {
        int64_t j = 0;
        for (; j + kSize <= units; j += kSize) f(Units<T, false>{kSize}, r, j);
        if (j < units) f(Units<T, true>{units - j}, r, j);
    }
}

// Derivatives of sigmoid and tanh, from their values.
template <typename B>
B SigmoidSlope(const B& y) {
    return y * (B(1) - y);
}
template <typename B>
B TanhSlope(const B& y) {
    return B(1) - y * y;
}

// The inputs of a cell except for the previous cell: values after sigmoid and tanh; or their
// gradients before these.
template <typename B>
struct CellGates {
    B i;
    B f;
    B a;
};

template <typename B>
B CellOf(const CellGates<B>& g, const B& c) {
    return g.f * c + g.i * g.a;
}
template <typename B>
CellGates<B> GateGrads(const CellGates<B>& g, const B& c, const B& gc) {
    return {gc * g.a * SigmoidSlope(g.i), gc * c * SigmoidSlope(g.f), gc * g.i * TanhSlope(g.a)};
}

// Gradients of the output o tanh(c), where t = tanh(c).
template <typename B>
B OfCell(const B& gh, const B& o, const B& t) {
    return gh * o * TanhSlope(t);
}
template <typename B>
B OfOutputGate(const B& gh, const B& o, const B& t) {
    return gh * t * SigmoidSlope(o);
}

}  // namespace
}  // namespace chainerx::native::CX_ISA

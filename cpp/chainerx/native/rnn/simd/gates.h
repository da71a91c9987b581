// Gates of recurrent layers, and their gradients.
#pragma once

namespace chainerx::native::CX_ISA {
namespace {

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

// Loops of recurrent layers: gates, and their gradients.
#pragma once

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/rnn/simd/gates.h"
#include "chainerx/native/rnn/simd/units.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
void Lstm(const RecurrentStep<T>& s) {
    ForUnits<T>(s.rows, s.units, [&](const auto& at, int64_t r, int64_t j) {
        const int64_t row = r * s.size + j;
        const int64_t gates = r * s.size * 4 + j;
        const T* product = s.product + r * s.width * 4 + j;
        const auto gate = [&](int k) {
            return at.Get(s.z + gates + k * s.size) + at.Get(product + k * s.width);
        };
        const Batch<T> i = math::Sigmoid(gate(0));
        const Batch<T> f = math::Sigmoid(gate(1));
        const Batch<T> a = math::Tanh(gate(2));
        const Batch<T> o = math::Sigmoid(gate(3));
        const Batch<T> c = CellOf<Batch<T>>({i, f, a}, at.Get(s.c + row));
        const Batch<T> h = o * math::Tanh(c);
        at.Set(s.c + row, c);
        at.Set(s.h + row, h);
        at.Set(s.ys + row, h);
        at.SetIf(s.cs, row, c);
        at.SetIf(s.saved, gates, i);
        at.SetIf(s.saved, gates + s.size, f);
        at.SetIf(s.saved, gates + 2 * s.size, a);
        at.SetIf(s.saved, gates + 3 * s.size, o);
    });
}

template <typename T>
void LstmGrad(const RecurrentGradStep<T>& s) {
    ForUnits<T>(s.rows, s.units, [&](const auto& at, int64_t r, int64_t j) {
        const int64_t row = r * s.size + j;
        const int64_t gates = r * s.size * 4 + j;
        const Batch<T> i = at.Get(s.saved + gates);
        const Batch<T> f = at.Get(s.saved + gates + s.size);
        const Batch<T> a = at.Get(s.saved + gates + 2 * s.size);
        const Batch<T> o = at.Get(s.saved + gates + 3 * s.size);
        const Batch<T> t = math::Tanh(at.Get(s.cs + row));
        Batch<T> gh = at.Get(s.gh + row);
        if (s.gys != nullptr) gh += at.Get(s.gys + row);
        const Batch<T> gc = at.Get(s.gc + row) + OfCell(gh, o, t);
        const CellGates<Batch<T>> g = GateGrads<Batch<T>>({i, f, a}, at.Get(s.c + row), gc);
        at.Set(s.gz + gates, g.i);
        at.Set(s.gz + gates + s.size, g.f);
        at.Set(s.gz + gates + 2 * s.size, g.a);
        at.Set(s.gz + gates + 3 * s.size, OfOutputGate(gh, o, t));
        at.Set(s.gc + row, gc * f);
        at.Set(s.gh + row, Batch<T>(T(0)));
    });
}

template <typename T>
void Gru(const RecurrentStep<T>& s) {
    ForUnits<T>(s.rows, s.units, [&](const auto& at, int64_t r, int64_t j) {
        const int64_t row = r * s.size + j;
        const T* z = s.z + r * s.size * 3 + j;
        const T* product = s.product + r * s.width * 3 + j;
        const Batch<T> reset = math::Sigmoid(at.Get(z) + at.Get(product));
        const Batch<T> keep = math::Sigmoid(at.Get(z + s.size) + at.Get(product + s.width));
        const Batch<T> q = at.Get(product + 2 * s.width) + at.Get(s.bias + j);
        const Batch<T> n = math::Tanh(at.Get(z + 2 * s.size) + reset * q);
        const Batch<T> h = (Batch<T>(T(1)) - keep) * n + keep * at.Get(s.h + row);
        at.Set(s.h + row, h);
        at.Set(s.ys + row, h);
        const int64_t saved = r * s.size * 4 + j;
        at.SetIf(s.saved, saved, reset);
        at.SetIf(s.saved, saved + s.size, keep);
        at.SetIf(s.saved, saved + 2 * s.size, n);
        at.SetIf(s.saved, saved + 3 * s.size, q);
    });
}

template <typename T>
void GruGrad(const RecurrentGradStep<T>& s) {
    ForUnits<T>(s.rows, s.units, [&](const auto& at, int64_t r, int64_t j) {
        const int64_t row = r * s.size + j;
        const int64_t gates = r * s.size * 3 + j;
        const T* saved = s.saved + r * s.size * 4 + j;
        const Batch<T> reset = at.Get(saved);
        const Batch<T> keep = at.Get(saved + s.size);
        const Batch<T> n = at.Get(saved + 2 * s.size);
        const Batch<T> q = at.Get(saved + 3 * s.size);
        Batch<T> gh = at.Get(s.gh + row);
        if (s.gys != nullptr) gh += at.Get(s.gys + row);
        const Batch<T> gn = gh * (Batch<T>(T(1)) - keep) * TanhSlope(n);
        const Batch<T> of_reset = gn * q * SigmoidSlope(reset);
        const Batch<T> of_keep = gh * (at.Get(s.h + row) - n) * SigmoidSlope(keep);
        at.Set(s.gz + gates, of_reset);
        at.Set(s.gz + gates + s.size, of_keep);
        at.Set(s.gz + gates + 2 * s.size, gn);
        at.Set(s.gp + gates, of_reset);
        at.Set(s.gp + gates + s.size, of_keep);
        at.Set(s.gp + gates + 2 * s.size, gn * reset);
        at.Set(s.gh + row, gh * keep);
    });
}

template <typename T, bool kTanh>
void Plain(const RecurrentStep<T>& s) {
    ForUnits<T>(s.rows, s.units, [&](const auto& at, int64_t r, int64_t j) {
        const int64_t row = r * s.size + j;
        const Batch<T> x = at.Get(s.z + row) + at.Get(s.product + r * s.width + j);
        const Batch<T> h = kTanh ? math::Tanh(x) : math::Max(x, Batch<T>(T(0)));
        at.Set(s.h + row, h);
        at.Set(s.ys + row, h);
    });
}

template <typename T, bool kTanh>
void PlainGrad(const RecurrentGradStep<T>& s) {
    ForUnits<T>(s.rows, s.units, [&](const auto& at, int64_t r, int64_t j) {
        const int64_t row = r * s.size + j;
        const Batch<T> y = at.Get(s.ys + row);
        const Batch<T> zero(T(0));
        Batch<T> gh = at.Get(s.gh + row);
        if (s.gys != nullptr) gh += at.Get(s.gys + row);
        at.Set(s.gz + row, kTanh ? gh * TanhSlope(y) : math::Where(y > zero, gh, zero));
        at.Set(s.gh + row, zero);
    });
}

}  // namespace
}  // namespace chainerx::native::CX_ISA

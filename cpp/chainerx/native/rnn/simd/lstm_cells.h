// Loops of LSTM cells whose gates are given.
#pragma once

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/rnn/simd/gates.h"
#include "chainerx/native/rnn/simd/units.h"

namespace chainerx::native::CX_ISA {
namespace {

// Calls f(units, access to groups, offset of their cells, offset of their first gate).
template <typename T, GateLayout kLayout, typename S, typename F>
void ForGates(const S& s, const F& f) {
    const int64_t n_gates = kLayout == GateLayout::kRows ? s.n_cells + 3 : 4;
    ForUnits<T>(s.rows, s.n, [&]<bool kPart>(const Units<T, kPart>& at, int64_t r, int64_t j) {
        const int64_t gate = kLayout == GateLayout::kAdjacent ? 4 * j : j;
        f(at, GateAccess<T, kLayout, kPart>{at, s.size}, s.cell_at + r * s.size + j,
          s.gate_at + r * s.size * n_gates + gate);
    });
}

template <typename T, GateLayout kLayout, typename S>
void Cells(const S& s) {
    using B = UnitBatch<T>;
    ForGates<T, kLayout>(s, [&](const auto& at, const auto& access, int64_t cell, int64_t gate) {
        B c(0.0F);
        B o(0.0F);
        if constexpr (kLayout == GateLayout::kRows) {
            const T* x = s.xs[0] + gate;
            c = math::Tanh(at.Get(x)) * math::Sigmoid(at.Get(x + s.size));
            o = at.Get(x + 2 * s.size);
            for (int64_t k = 0; k < s.n_cells; ++k) {
                c += math::Sigmoid(at.Get(x + (3 + k) * s.size)) * at.Get(s.cs[k] + cell);
            }
        } else {
            for (int64_t k = 0; k < s.n_cells; ++k) {
                const FourGates<B> x = access.Get(s.xs[k] + gate);
                const CellGates<B> g{math::Sigmoid(x.gate[1]), math::Sigmoid(x.gate[2]),
                                     math::Tanh(x.gate[0])};
                const B y = CellOf(g, at.Get(s.cs[k] + cell));
                c = k == 0 ? y : c + y;
                o = k == 0 ? x.gate[3] : o + x.gate[3];
            }
        }
        at.Set(s.c + cell, c);
        at.Set(s.h + cell, math::Sigmoid(o) * math::Tanh(c));
    });
}

template <typename T, GateLayout kLayout, typename S>
void CellsGrad(const S& s) {
    using B = UnitBatch<T>;
    ForGates<T, kLayout>(s, [&](const auto& at, const auto& access, int64_t cell, int64_t gate) {
        const B t = math::Tanh(at.Get(s.c + cell));
        const B gh = s.gh != nullptr ? at.Get(s.gh + cell) : B(0.0F);
        const auto of_cell = [&](const B& o) {
            const B g = OfCell(gh, o, t);
            return s.gc != nullptr ? at.Get(s.gc + cell) + g : g;
        };
        if constexpr (kLayout == GateLayout::kRows) {
            const T* x = s.xs[0] + gate;
            T* gx = s.gxs[0] == nullptr ? nullptr : s.gxs[0] + gate;
            const B a = math::Tanh(at.Get(x));
            const B i = math::Sigmoid(at.Get(x + s.size));
            const B o = math::Sigmoid(at.Get(x + 2 * s.size));
            const B gc = of_cell(o);
            at.SetIf(gx, 0, gc * i * TanhSlope(a));
            at.SetIf(gx, s.size, gc * a * SigmoidSlope(i));
            at.SetIf(gx, 2 * s.size, OfOutputGate(gh, o, t));
            CX_UNIT_LOOP
            for (int64_t k = 0; k < s.n_cells; ++k) {
                const B f = math::Sigmoid(at.Get(x + (3 + k) * s.size));
                const B c = at.Get(s.cs[k] + cell);
                at.SetIf(gx, (3 + k) * s.size, gc * c * SigmoidSlope(f));
                at.SetIf(s.gcs[k], cell, gc * f);
            }
        } else {
            B sum = access.Get(s.xs[0] + gate).gate[3];
            for (int64_t k = 1; k < s.n_cells; ++k) sum += access.Get(s.xs[k] + gate).gate[3];
            const B o = math::Sigmoid(sum);
            const B gc = of_cell(o);
            const B go = OfOutputGate(gh, o, t);
            for (int64_t k = 0; k < s.n_cells; ++k) {
                const FourGates<B> x = access.Get(s.xs[k] + gate);
                const CellGates<B> g{math::Sigmoid(x.gate[1]), math::Sigmoid(x.gate[2]),
                                     math::Tanh(x.gate[0])};
                at.SetIf(s.gcs[k], cell, gc * g.f);
                if (s.gxs[k] == nullptr) continue;
                const CellGates<B> gx = GateGrads(g, at.Get(s.cs[k] + cell), gc);
                access.Set(s.gxs[k] + gate, {{gx.a, gx.i, gx.f, go}});
            }
        }
    });
}

}  // namespace
}  // namespace chainerx::native::CX_ISA

// SIMD loops of LSTM cells whose gates are given.
#pragma once

#include "chainerx/native/rnn/recurrent_loops.h"
#include "chainerx/native/rnn/simd/gates.h"

namespace chainerx::native::CX_ISA {
namespace {

// Gates a, i, f, o of a group.
template <typename B>
struct FourGates {
    B gate[4];
};

// Four gates of n units, interleaved.
template <typename T>
FourGates<Batch<T>> Deinterleave(const T* x, int64_t n) {
    alignas(64) T transposed[4][Batch<T>::size] = {};
    for (int64_t j = 0; j < n; ++j) {
        for (int k = 0; k < 4; ++k) transposed[k][j] = x[4 * j + k];
    }
    FourGates<Batch<T>> y;
    for (int k = 0; k < 4; ++k) y.gate[k] = Batch<T>::load_aligned(transposed[k]);
    return y;
}
template <typename T>
void StoreInterleaved(const FourGates<Batch<T>>& y, int64_t n, T* x) {
    alignas(64) T transposed[4][Batch<T>::size];
    for (int k = 0; k < 4; ++k) y.gate[k].store_aligned(transposed[k]);
    for (int64_t j = 0; j < n; ++j) {
        for (int k = 0; k < 4; ++k) x[4 * j + k] = transposed[k][j];
    }
}

#if defined(CX_ISA_AVX512)
// Deinterleaves 16 units in registers: first halves of two gates, then whole ones.
inline FourGates<BatchF> Deinterleave16(const float* x) {
    const __m512i ai = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    const __m512i fo = _mm512_add_epi32(ai, _mm512_set1_epi32(2));
    const __m512 x0 = _mm512_loadu_ps(x);
    const __m512 x1 = _mm512_loadu_ps(x + 16);
    const __m512 x2 = _mm512_loadu_ps(x + 32);
    const __m512 x3 = _mm512_loadu_ps(x + 48);
    const __m512 ai0 = _mm512_permutex2var_ps(x0, ai, x1);
    const __m512 ai1 = _mm512_permutex2var_ps(x2, ai, x3);
    const __m512 fo0 = _mm512_permutex2var_ps(x0, fo, x1);
    const __m512 fo1 = _mm512_permutex2var_ps(x2, fo, x3);
    return {{_mm512_shuffle_f32x4(ai0, ai1, 0x44), _mm512_shuffle_f32x4(ai0, ai1, 0xee),
             _mm512_shuffle_f32x4(fo0, fo1, 0x44), _mm512_shuffle_f32x4(fo0, fo1, 0xee)}};
}
inline void StoreInterleaved16(const FourGates<BatchF>& y, float* x) {
    const __m512i first =
        _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(4));
    const __m512 ai0 = _mm512_shuffle_f32x4(y.gate[0], y.gate[1], 0x44);
    const __m512 ai1 = _mm512_shuffle_f32x4(y.gate[0], y.gate[1], 0xee);
    const __m512 fo0 = _mm512_shuffle_f32x4(y.gate[2], y.gate[3], 0x44);
    const __m512 fo1 = _mm512_shuffle_f32x4(y.gate[2], y.gate[3], 0xee);
    _mm512_storeu_ps(x, _mm512_permutex2var_ps(ai0, first, fo0));
    _mm512_storeu_ps(x + 16, _mm512_permutex2var_ps(ai0, second, fo0));
    _mm512_storeu_ps(x + 32, _mm512_permutex2var_ps(ai1, first, fo1));
    _mm512_storeu_ps(x + 48, _mm512_permutex2var_ps(ai1, second, fo1));
}
template <typename T, bool kPart>
constexpr bool kInRegisters = sizeof(T) == 4 && !kPart;
#endif

template <typename T, GateLayout kLayout, bool kPart>
struct GateAccess {
    using B = Batch<T>;

    Units<T, kPart> at;
    int64_t step;  // stride between gates, if they are not adjacent

    FourGates<B> Get(const T* x) const {
        if constexpr (kLayout != GateLayout::kAdjacent) {
            FourGates<B> y;
            for (int k = 0; k < 4; ++k) y.gate[k] = at.Get(x + k * step);
            return y;
#if defined(CX_ISA_AVX512)
        } else if constexpr (kInRegisters<T, kPart>) {
            return Deinterleave16(x);
#endif
        } else {
            return Deinterleave<T>(x, at.n);
        }
    }
    void Set(T* x, const FourGates<B>& y) const {
        if constexpr (kLayout != GateLayout::kAdjacent) {
            for (int k = 0; k < 4; ++k) at.Set(x + k * step, y.gate[k]);
#if defined(CX_ISA_AVX512)
        } else if constexpr (kInRegisters<T, kPart>) {
            StoreInterleaved16(y, x);
#endif
        } else {
            StoreInterleaved<T>(y, at.n, x);
        }
    }
};

// Calls f(units, access to groups, offset of their cells, offset of their first gate).
template <typename T, GateLayout kLayout, typename F>
void ForGates(const LstmCells<T>& s, const F& f) {
    const int64_t n_gates = kLayout == GateLayout::kRows ? s.n_cells + 3 : 4;
    ForUnits<T>(s.rows, s.n, [&]<bool kPart>(const Units<T, kPart>& at, int64_t r, int64_t j) {
        const int64_t gate = kLayout == GateLayout::kAdjacent ? 4 * j : j;
        f(at, GateAccess<T, kLayout, kPart>{at, s.size}, s.cell_at + r * s.size + j,
          s.gate_at + r * s.size * n_gates + gate);
    });
}

template <typename T, GateLayout kLayout>
void Cells(const LstmCells<T>& s) {
    using B = Batch<T>;
    ForGates<T, kLayout>(s, [&](const auto& at, const auto& access, int64_t cell, int64_t gate) {
        B c(T(0));
        B o(T(0));
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

template <typename T, GateLayout kLayout>
void CellsGrad(const LstmCells<T>& s) {
    using B = Batch<T>;
    ForGates<T, kLayout>(s, [&](const auto& at, const auto& access, int64_t cell, int64_t gate) {
        const B t = math::Tanh(at.Get(s.c + cell));
        const B gh = s.gh != nullptr ? at.Get(s.gh + cell) : B(T(0));
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

// Access to units of recurrent layers, a batch at a time, and to the gates of groups. Devices have
// a text of their own (cuda/rnn/device/units.h).
#pragma once

#include "chainerx/native/rnn/recurrent_units.h"
#include "chainerx/native/strided/simd/batch.h"

// Before loops that a device would unroll beyond its registers.
#define CX_UNIT_LOOP

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
using UnitBatch = Batch<T>;

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

}  // namespace
}  // namespace chainerx::native::CX_ISA

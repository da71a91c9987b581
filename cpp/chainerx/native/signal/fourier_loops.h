// FFT of rows: exported by the unit fourier for each instruction set.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

// Steps and offsets count elements: complex or real ones, according to the operand.
template <typename T>
struct FourierRows {
    const void* plan;
    int64_t n;  // length of the transform
    int64_t rows;
    bool forward;  // sign of exp(-2 pi i j k / n)
    T scale;       // factor of all results
    T inside;      // real transforms: factor of numbers that stand for conjugate pairs
    const T* in;
    int64_t in_step;       // stride in a row
    const int64_t* in_at;  // offset of each row
    T* out;
    int64_t out_step;
    const int64_t* out_at;
    // Complex transforms: null, or factors of the results, at the offsets of `out`; conjugated if
    // the transform is backward.
    const T* twiddles;
    void* work;  // of work(n) bytes, 64-byte aligned
};

// The kind of a plan: kComplex, or kReal between real numbers and the nonredundant half of their
// transform. All functions but `release` may throw std::bad_alloc.
enum FourierPlanKind : int { kFourierComplex, kFourierReal };

template <typename T>
struct FourierLoops {
    void* (*make[2])(int64_t n);
    void (*release[2])(void* plan);
    int64_t (*work)(int64_t n);
    int64_t lanes;  // rows that are computed at once
    void (*complex)(const FourierRows<T>& rows);
    void (*from_real)(const FourierRows<T>& rows);
    void (*to_real)(const FourierRows<T>& rows);
};

using FourierUnit = FloatLoops<FourierLoops>;

const FourierUnit& fourier_loops();

}  // namespace chainerx::native

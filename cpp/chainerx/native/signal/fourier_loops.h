// Fourier transforms of rows, as the unit fourier has them for each instruction set.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Steps and places count elements: a complex number or a real one, as the operand is.
template <typename T>
struct FourierRows {
    const void* plan;
    int64_t n;  // of the complex or real numbers that are transformed
    int64_t rows;
    bool forward;  // the sign of exp(-2 pi i j k / n)
    T scale;       // of all results
    T inside;      // between complex and real: of what stands for two numbers, besides
    const T* in;
    int64_t in_step;       // from number to number
    const int64_t* in_at;  // of the first number of each row
    T* out;
    int64_t out_step;
    const int64_t* out_at;
    // Complex to complex: null, or factors of the results, at the places of `out`; conjugated
    // where the transform goes backward.
    const T* twiddles;
    void* work;  // of work(n) bytes, aligned to 64
};

// A plan is what a length needs: kComplex, or kReal between real numbers and the first half of
// their transform. std::bad_alloc may come from all but `release`.
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

struct FourierUnit {
    FourierLoops<float> f32;
    FourierLoops<double> f64;
};

const FourierUnit& fourier_loops();

}  // namespace chainerx::native

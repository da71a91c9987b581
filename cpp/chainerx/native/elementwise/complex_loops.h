// Complex loops: exported by elementwise/simd/complex.cc.
#pragma once

#include <complex>
#include <cstdint>

#include "chainerx/native/elementwise/loops.h"

namespace chainerx::native {

// The sum of a[q] b[q], or of conj(a[q]) b[q], over q < k
template <typename T>
struct ComplexDots {
    using Loop = std::complex<T> (*)(int64_t k, const std::complex<T>* a, const std::complex<T>* b);
    Loop plain;
    Loop conjugate;
};

struct ComplexLoops {
    // Indexed by the dtype of a part.
    UnaryLoops absolute;
    UnaryLoops conjugate;
    ComplexDots<float> f32;
    ComplexDots<double> f64;

    template <typename T>
    const ComplexDots<T>& Dots() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return f32;
        } else {
            return f64;
        }
    }
};

const ComplexLoops& complex_loops();

}  // namespace chainerx::native

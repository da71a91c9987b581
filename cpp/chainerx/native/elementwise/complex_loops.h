// Complex loops: exported by elementwise/simd/complex.cc.
#pragma once

#include <complex>
#include <cstdint>

#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/unit.h"

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
    FloatLoops<ComplexDots> dots;

    template <typename T>
    const ComplexDots<T>& Dots() const {
        return dots.Of<T>();
    }
};

const ComplexLoops& complex_loops();

}  // namespace chainerx::native

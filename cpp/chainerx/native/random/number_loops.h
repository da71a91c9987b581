// Loops of random numbers and dropout: exported by random/simd/random.cc.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/unit.h"

namespace chainerx::native {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// Random numbers from the Philox blocks first, ..., first + n - 1 (native/random/random.h), 16
// bytes of each.
template <typename T>
struct RandomLoops {
    // Uniform in [0, 1).
    void (*uniform)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out);
    void (*normal)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out);
    // Uniform unsigned integers of the same width.
    void (*bits)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, BitsOf<T>* out);
    // Dropout: y = x * scale, or x * 0 if a random number is below `threshold`, over n groups of
    // eight Philox blocks of 32 numbers in total; the last `missing` elements do not exist.
    void (*dropout)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, int64_t missing,
                    uint32_t threshold, T scale, const T* x, T* y);
};

using RandomUnit = FloatLoops<RandomLoops>;

const RandomUnit& random_loops();

}  // namespace chainerx::native

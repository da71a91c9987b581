// The innermost loops of elementwise kernels, as raw function pointers: what a family's unit of an
// instruction set exports, and what the drivers call.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Contiguous operands and results of one compute type. A step is 1, or 0 for one value that meets
// all n elements. `out` may be one of the operands itself, not overlap it otherwise.
using UnaryLoop = void (*)(const void* x, void* out, int64_t n);
using BinaryLoop = void (*)(const void* x1, int64_t step1, const void* x2, int64_t step2, void* out,
                            int64_t n);
using TernaryLoop = void (*)(const void* x1, int64_t step1, const void* x2, int64_t step2,
                             const void* x3, int64_t step3, void* out, int64_t n);

// One row of a table: null where the row's dtype rule excludes floats. The results of predicates
// and comparisons are bytes, 0 or 1.
struct UnaryLoops {
    UnaryLoop f32;
    UnaryLoop f64;
};
struct BinaryLoops {
    BinaryLoop f32;
    BinaryLoop f64;
};
struct TernaryLoops {
    TernaryLoop f32;
    TernaryLoop f64;
};

// Conversions that need instructions of their own: 16-bit floats, back with rounding to nearest
// even, and whole numbers by truncation, INT32_MIN for what int32 can't hold.
struct CastLoops {
    UnaryLoop float16_to_float32;
    UnaryLoop float32_to_float16;
    UnaryLoop bfloat16_to_float32;
    UnaryLoop float32_to_bfloat16;
    UnaryLoop float32_to_int32;
    UnaryLoop float64_to_int32;
};

}  // namespace chainerx::native

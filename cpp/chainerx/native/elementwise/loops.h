// Inner loops of elementwise kernels: exported by the SIMD units of a family, called by the
// drivers.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Loops over contiguous operands of one compute type. A step is 1, or 0 for a single value that is
// broadcast to n elements. `out` may be one of the operands, and must not overlap them otherwise.
using UnaryLoop = void (*)(const void* x, void* out, int64_t n);
using BinaryLoop = void (*)(const void* x1, int64_t step1, const void* x2, int64_t step2, void* out,
                            int64_t n);
using TernaryLoop = void (*)(const void* x1, int64_t step1, const void* x2, int64_t step2,
                             const void* x3, int64_t step3, void* out, int64_t n);

// Loops of one table row over floats and complex numbers; null where its dtype rule excludes them,
// or complex numbers have no loops in this family. Predicates and comparisons write bytes, 0 or 1.
template <typename Loop>
struct LoopsOfFloats {
    Loop f32;
    Loop f64;
    Loop c64{nullptr};
    Loop c128{nullptr};
};
using UnaryLoops = LoopsOfFloats<UnaryLoop>;
using BinaryLoops = LoopsOfFloats<BinaryLoop>;
using TernaryLoops = LoopsOfFloats<TernaryLoop>;

}  // namespace chainerx::native

// The drivers of elementwise kernels: from strided operands of any dtype to the innermost loops.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dtype.h"
#include "chainerx/native/loops.h"

namespace chainerx::native {

// The loops of one row for each dtype; null where the row's rule excludes it. Those of the 16-bit
// floats are the ones of float32, around which the driver converts.
struct UnaryKernel {
    UnaryLoop loops[kNumDtypes];
    bool is_heavy;  // many instructions per element: worth more threads sooner
};
struct BinaryKernel {
    BinaryLoop loops[kNumDtypes];
    bool is_heavy;
};
struct TernaryKernel {
    TernaryLoop loops[kNumDtypes];
    bool is_heavy;
};

// The inputs are of one dtype in which the row computes, and their shapes broadcast to that of
// `out`.
void RunUnary(const UnaryKernel& kernel, const Array& x, const Array& out);
void RunBinary(const BinaryKernel& kernel, const Operand& x1, const Operand& x2, const Array& out);
void RunTernary(const TernaryKernel& kernel, const Operand& x1, const Operand& x2,
                const Operand& x3, const Array& out);

}  // namespace chainerx::native

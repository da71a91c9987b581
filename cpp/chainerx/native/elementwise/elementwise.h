// The drivers of elementwise kernels: from strided operands of any dtype to the innermost loops.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/loops.h"

namespace chainerx::native {

// Of an element, which says how many make a block of a thread: a step or two; some tens of
// instructions, worth more threads sooner; up to microseconds, between which signals are looked at.
enum class Cost : uint8_t { kLight, kHeavy, kSlow };

// The loops of one row for each dtype; null where the row's rule excludes it. Those of the 16-bit
// floats are the ones of float32, around which the driver converts.
struct UnaryKernel {
    UnaryLoop loops[kNumDtypes];
    Cost cost;
};
struct BinaryKernel {
    BinaryLoop loops[kNumDtypes];
    Cost cost;
};
struct TernaryKernel {
    TernaryLoop loops[kNumDtypes];
    Cost cost;
};

// The inputs are of one dtype in which the row computes, and their shapes broadcast to that of
// `out`.
void RunUnary(const UnaryKernel& kernel, const Array& x, const Array& out);
void RunBinary(const BinaryKernel& kernel, const Operand& x1, const Operand& x2, const Array& out);
void RunTernary(const TernaryKernel& kernel, const Operand& x1, const Operand& x2,
                const Operand& x3, const Array& out);

}  // namespace chainerx::native

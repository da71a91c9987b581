// Drivers of elementwise kernels: from strided operands of any dtype to inner loops.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/loops.h"

namespace chainerx::native {

// Cost of an element, which decides the chunk of a thread: light is one or two instructions; heavy
// is some tens, so that threads pay earlier; slow is up to microseconds, so that signals are
// checked in between.
enum class Cost : uint8_t { kLight, kHeavy, kSlow };

// The loops of one table row for each dtype; null where the row's dtype rule excludes it. 16-bit
// floats use the loops of float32; the driver converts.
template <typename Loop>
struct ElementwiseKernel {
    Loop loops[kNumDtypes];
    Cost cost;
};
using UnaryKernel = ElementwiseKernel<UnaryLoop>;
using BinaryKernel = ElementwiseKernel<BinaryLoop>;
using TernaryKernel = ElementwiseKernel<TernaryLoop>;

// Inputs have one dtype, in which the row computes, and their shapes broadcast to that of `out`.
void RunUnary(const UnaryKernel& kernel, const Array& x, const Array& out);
void RunBinary(const BinaryKernel& kernel, const Operand& x1, const Operand& x2, const Array& out);
void RunTernary(const TernaryKernel& kernel, const Operand& x1, const Operand& x2,
                const Operand& x3, const Array& out);

}  // namespace chainerx::native

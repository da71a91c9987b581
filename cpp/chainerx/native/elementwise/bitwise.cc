#include "chainerx/kernels/elementwise/bitwise.h"

#define CX_FAMILY bitwise
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/bitwise.def"
#define CX_FAMILY_COST kLight
#define CX_FAMILY_WHOLE
#include "chainerx/native/elementwise/family.h"

// Floats have no bitwise operations, so the family has no SIMD unit of its own.
const chainerx::native::FamilyLoops_bitwise& chainerx::native::bitwise_loops() {
    static constexpr FamilyLoops_bitwise kNone{};
    return kNone;
}

#include "chainerx/kernels/bitwise.h"
#include "chainerx/native/loops.h"

namespace chainerx::native {
namespace {

// Floats have no bitwise operations, so the family has no unit of an instruction set.
constexpr UnaryLoops kNoUnary[8] = {};
constexpr BinaryLoops kNoBinary[8] = {};
constexpr FamilyLoops kNone = {kNoUnary, kNoUnary, kNoBinary, kNoBinary};
const FamilyLoops& bitwise_loops() { return kNone; }

}  // namespace
}  // namespace chainerx::native

#define CX_FAMILY_DEF "chainerx/ops/bitwise.def"
#define CX_FAMILY_LOOPS bitwise_loops
#define CX_FAMILY_HEAVY false
#include "chainerx/native/family.h"

// Expands a family's table into its float loops for one instruction set. A unit defines CX_FAMILY
// and CX_FAMILY_DEF, the table, and includes this once.
//
// It uses no std containers or algorithms (see cmake/isa.cmake), and an anonymous namespace for
// everything: two instruction sets must not share a function.
#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/elementwise/simd/loop_templates.h"

#define CX_OP_TABLE_NAMESPACE CX_ISA
#include "chainerx/native/elementwise/op_table.h"

namespace chainerx::native::CX_ISA {

extern "C" {
__attribute__((visibility("hidden"))) extern const CX_FAMILY_LOOPS CX_UNIT_ENTRY;
const CX_FAMILY_LOOPS CX_UNIT_ENTRY = {
#define CX_UNARY(Name, ...) UnaryRow<rows::Name>(),
#define CX_UNARY_ATTR(Name, ...) BinaryRow<rows::Name>(),
#define CX_PREDICATE(Name, ...) PredicateRow<rows::Name>(),
#define CX_BINARY(Name, ...) BinaryRow<rows::Name>(),
#define CX_COMPARE(Name, ...) CompareRow<rows::Name>(),
#define CX_TERNARY(Name, ...) TernaryRow<rows::Name>(),
#include CX_FAMILY_DEF
#undef CX_UNARY
#undef CX_UNARY_ATTR
#undef CX_PREDICATE
#undef CX_BINARY
#undef CX_COMPARE
#undef CX_TERNARY
};
}

}  // namespace chainerx::native::CX_ISA

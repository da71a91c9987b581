// Expands a family's table into its float loops for one instruction set. A unit defines CX_FAMILY
// and CX_FAMILY_DEF, the table, and includes this once.
//
// It uses no std containers or algorithms (see cmake/isa.cmake), and an anonymous namespace for
// everything: two instruction sets must not share a function.
#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/elementwise/simd/loop_templates.h"

#define CX_OP_TABLE_NAMESPACE CX_ISA
#include "chainerx/native/elementwise/op_table.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {

CX_EXPORT_LOOPS(CX_FAMILY_LOOPS){
#define CX_UNARY(Name, ...) UnaryRow<rows::Name>(),
#define CX_UNARY_ATTR(Name, ...) BinaryRow<rows::Name>(),
#define CX_PREDICATE(Name, ...) PredicateRow<rows::Name>(),
#define CX_BINARY(Name, ...) BinaryRow<rows::Name>(),
#define CX_COMPARE(Name, ...) CompareRow<rows::Name>(),
#define CX_TERNARY(Name, ...) TernaryRow<rows::Name>(),
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
};

}  // namespace chainerx::native::CX_ISA

// Expands the table of a family into a type: IntegerLoops_<family>, its integer and bool loops.
// Include after native/elementwise/op_table.h, in the family's units.
#include "chainerx/native/elementwise/loops_by_dtype.h"

#define CX_INTEGER_LOOPS CX_JOIN(IntegerLoops_, CX_FAMILY)

namespace chainerx::native {

struct CX_INTEGER_LOOPS {
#define CX_UNARY(Name, ...) LoopsByDtype<UnaryLoop> Name;
#define CX_UNARY_ATTR(Name, ...) LoopsByDtype<BinaryLoop> Name;
#define CX_PREDICATE(Name, ...) LoopsByDtype<UnaryLoop> Name;
#define CX_BINARY(Name, ...) LoopsByDtype<BinaryLoop> Name;
#define CX_COMPARE(Name, ...) LoopsByDtype<BinaryLoop> Name;
#define CX_TERNARY(Name, ...) LoopsByDtype<TernaryLoop> Name;
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
};

}  // namespace chainerx::native

// Expands a family's table into its float loops for one instruction set. A unit defines CX_FAMILY
// and CX_FAMILY_DEF, the table, and includes this once; with CX_FAMILY_COMPLEX there are loops over
// complex numbers as well, and with CX_FAMILY_LANES some that leave their parts interleaved.
//
// It uses no std containers or algorithms (see cmake/isa.cmake), and an anonymous namespace for
// everything: two instruction sets must not share a function.
#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/elementwise/simd/loop_templates.h"
#if defined(CX_FAMILY_COMPLEX)
#include "chainerx/native/elementwise/simd/complex_parts.h"
#endif

#define CX_OP_TABLE_NAMESPACE CX_ISA
#include "chainerx/native/elementwise/op_table.h"
#include "chainerx/native/unit.h"
#if defined(CX_FAMILY_LANES)
#include "chainerx/native/elementwise/simd/complex_rows.h"
#endif

namespace chainerx::native::CX_ISA {
namespace {

template <typename Row>
constexpr UnaryLoops AllUnary() {
    UnaryLoops loops = UnaryRow<Row>();
#if defined(CX_FAMILY_COMPLEX)
    loops.c64 = ComplexUnary<Row, float>();
    loops.c128 = ComplexUnary<Row, double>();
#endif
    return loops;
}
template <typename Row>
constexpr BinaryLoops AllBinary() {
    BinaryLoops loops = BinaryRow<Row>();
#if defined(CX_FAMILY_COMPLEX)
    loops.c64 = ComplexBinary<Row, float>();
    loops.c128 = ComplexBinary<Row, double>();
#endif
    return loops;
}

}  // namespace

CX_EXPORT_LOOPS(CX_FAMILY_LOOPS){
#define CX_UNARY(Name, ...) AllUnary<rows::Name>(),
#define CX_UNARY_ATTR(Name, ...) BinaryRow<rows::Name>(),
#define CX_PREDICATE(Name, ...) PredicateRow<rows::Name>(),
#define CX_BINARY(Name, ...) AllBinary<rows::Name>(),
#define CX_COMPARE(Name, ...) CompareRow<rows::Name>(),
#define CX_TERNARY(Name, ...) TernaryRow<rows::Name>(),
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
};

}  // namespace chainerx::native::CX_ISA

// Expands a family's table into its loops over integers and bool for one instruction set: the
// scalar loops, auto-vectorized. A unit defines CX_FAMILY and CX_FAMILY_DEF, the table, and
// includes this once; with CX_INTEGER_COMPLEX, some rows have complex loops as well.
#include "chainerx/native/elementwise/scalar_loops.h"

#define CX_OP_TABLE_NAMESPACE CX_ISA
#include "chainerx/native/elementwise/op_table.h"
#include "chainerx/native/elementwise/op_table_integer.h"
#if defined(CX_INTEGER_COMPLEX)
#include "chainerx/native/elementwise/simd/complex_rows.h"
#endif

namespace chainerx::native::CX_ISA {
namespace {

#if !defined(CX_INTEGER_COMPLEX)
template <typename Row, typename T>
constexpr UnaryLoop ComplexUnary() {
    return nullptr;
}
template <typename Row, typename T>
constexpr BinaryLoop ComplexBinary() {
    return nullptr;
}
#endif

template <typename Row, typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && ComputesIn(Row::kRule, kDtypeOf<T>);

// Bitwise operations treat unsigned integers as signed: the compiler does widen unsigned ones for
// the promotion to int.
template <typename Row, typename T>
struct ItemOf {
    using Type = T;
};
template <typename Row, typename T>
    requires(Row::kRule == DtypeRule::kBits && std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
struct ItemOf<Row, T> {
    using Type = std::make_signed_t<T>;
};

template <typename Row, typename T, bool kToBool>
constexpr UnaryLoop IntegerUnary() {
    using Item = typename ItemOf<Row, T>::Type;
    if constexpr (kIsInteger<Row, T>)
        return &ScalarUnary<Row, Item, std::conditional_t<kToBool, bool, Item>>;
    else
        return ComplexUnary<Row, T>();
}
template <typename Row, typename T, bool kToBool>
constexpr BinaryLoop IntegerBinary() {
    if constexpr (kIsInteger<Row, T>)
        return &ScalarBinary<Row, T, std::conditional_t<kToBool, bool, T>>;
    else
        return ComplexBinary<Row, T>();
}
template <typename Row, typename T>
constexpr TernaryLoop IntegerTernary() {
    if constexpr (kIsInteger<Row, T>)
        return &ScalarTernary<Row, T>;
    else
        return nullptr;
}

template <typename Row, bool kToBool = false>
constexpr LoopsByDtype<UnaryLoop> UnaryRow() {
#define CX_LOOP(Enum, Type, name, code, kind) IntegerUnary<Row, Type, kToBool>(),
    return {{CX_DTYPE_LIST(CX_LOOP)}};
#undef CX_LOOP
}
template <typename Row, bool kToBool = false>
constexpr LoopsByDtype<BinaryLoop> BinaryRow() {
#define CX_LOOP(Enum, Type, name, code, kind) IntegerBinary<Row, Type, kToBool>(),
    return {{CX_DTYPE_LIST(CX_LOOP)}};
#undef CX_LOOP
}
template <typename Row>
[[maybe_unused]] constexpr LoopsByDtype<TernaryLoop> TernaryRow() {
#define CX_LOOP(Enum, Type, name, code, kind) IntegerTernary<Row, Type>(),
    return {{CX_DTYPE_LIST(CX_LOOP)}};
#undef CX_LOOP
}

}  // namespace

extern "C" {
__attribute__((visibility("hidden"))) extern const CX_INTEGER_LOOPS CX_UNIT_ENTRY;
const CX_INTEGER_LOOPS CX_UNIT_ENTRY = {
#define CX_UNARY(Name, ...) UnaryRow<rows::Name>(),
#define CX_UNARY_ATTR(Name, ...) BinaryRow<rows::Name>(),
#define CX_PREDICATE(Name, ...) UnaryRow<rows::Name, true>(),
#define CX_BINARY(Name, ...) BinaryRow<rows::Name>(),
#define CX_COMPARE(Name, ...) BinaryRow<rows::Name, true>(),
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

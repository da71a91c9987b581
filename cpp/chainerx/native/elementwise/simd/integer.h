// Expands a family's table into its loops over integers and bool for one instruction set: the
// scalar loops, auto-vectorized. A unit defines CX_FAMILY and CX_FAMILY_DEF, the table, and
// includes this once.
#include "chainerx/native/elementwise/scalar_loops.h"

#define CX_OP_TABLE_NAMESPACE CX_ISA
#include "chainerx/native/elementwise/op_table.h"
#include "chainerx/native/elementwise/op_table_integer.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

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

template <typename Loop, typename Row, typename T, bool kToBool>
constexpr Loop IntegerLoop() {
    if constexpr (std::is_same_v<Loop, UnaryLoop>) {
        using Item = typename ItemOf<Row, T>::Type;
        if constexpr (kIsInteger<Row, T>)
            return &ScalarUnary<Row, Item, std::conditional_t<kToBool, bool, Item>>;
        else
            return nullptr;
    } else if constexpr (std::is_same_v<Loop, BinaryLoop>) {
        if constexpr (kIsInteger<Row, T>)
            return &ScalarBinary<Row, T, std::conditional_t<kToBool, bool, T>>;
        else
            return nullptr;
    } else if constexpr (kIsInteger<Row, T>) {
        return &ScalarTernary<Row, T>;
    } else {
        return nullptr;
    }
}

template <typename Loop, typename Row, bool kToBool = false>
constexpr LoopsByDtype<Loop> LoopsOfRow() {
#define CX_LOOP(Enum, Type, name, code, kind) IntegerLoop<Loop, Row, Type, kToBool>(),
    return {{CX_DTYPE_LIST(CX_LOOP)}};
#undef CX_LOOP
}

}  // namespace

CX_EXPORT_LOOPS(CX_INTEGER_LOOPS){
#define CX_UNARY(Name, ...) LoopsOfRow<UnaryLoop, rows::Name>(),
#define CX_UNARY_ATTR(Name, ...) LoopsOfRow<BinaryLoop, rows::Name>(),
#define CX_PREDICATE(Name, ...) LoopsOfRow<UnaryLoop, rows::Name, true>(),
#define CX_BINARY(Name, ...) LoopsOfRow<BinaryLoop, rows::Name>(),
#define CX_COMPARE(Name, ...) LoopsOfRow<BinaryLoop, rows::Name, true>(),
#define CX_TERNARY(Name, ...) LoopsOfRow<TernaryLoop, rows::Name>(),
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
};

}  // namespace chainerx::native::CX_ISA

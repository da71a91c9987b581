// Expands an elementwise family's table into types, for the baseline unit
// (native/elementwise/family.h) and the SIMD units (native/elementwise/simd/family.h), which name
// it by CX_FAMILY and CX_FAMILY_DEF. Each row becomes rows::<Name>, with its scalar expression, and
// a member of FamilyLoops_<family>, its loops for float32 and float64.
#include <type_traits>

#include "chainerx/kernels/dtype_rule.h"
#include "chainerx/native/elementwise/loops.h"

#define CX_JOIN_OF(a, b) a##b
#define CX_JOIN(a, b) CX_JOIN_OF(a, b)
#define CX_FAMILY_LOOPS CX_JOIN(FamilyLoops_, CX_FAMILY)

namespace chainerx::native {

struct CX_FAMILY_LOOPS {
#define CX_UNARY(Name, ...) UnaryLoops Name;
#define CX_UNARY_ATTR(Name, ...) BinaryLoops Name;
#define CX_PREDICATE(Name, ...) UnaryLoops Name;
#define CX_BINARY(Name, ...) BinaryLoops Name;
#define CX_COMPARE(Name, ...) BinaryLoops Name;
#define CX_TERNARY(Name, ...) TernaryLoops Name;
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
};

namespace CX_OP_TABLE_NAMESPACE {
namespace {
namespace rows {

#define CX_ROW(Name, rule, Result, params, ...)             \
    struct Name {                                           \
        static constexpr DtypeRule kRule = DtypeRule::rule; \
        template <typename T>                               \
        static Result Apply params {                        \
            return static_cast<Result>(__VA_ARGS__);        \
        }                                                   \
    };
#define CX_UNARY(Name, rule, gx, ...) CX_ROW(Name, rule, T, (const T& x), __VA_ARGS__)
#define CX_UNARY_ATTR(Name, rule, attr, gx, ...) \
    CX_ROW(Name, rule, T, (const T& x, const T& attr), __VA_ARGS__)
#define CX_PREDICATE(Name, rule, ...) CX_ROW(Name, rule, bool, (const T& x), __VA_ARGS__)
#define CX_COMPARE(Name, rule, ...) \
    CX_ROW(Name, rule, bool, (const T& x1, const T& x2), __VA_ARGS__)
#define CX_TERNARY(Name, rule, gx1, gx2, gx3, ...) \
    CX_ROW(Name, rule, T, (const T& x1, const T& x2, const T& x3), __VA_ARGS__)
// WithScalar() exists if the expression has special loops for a scalar x2.
#define CX_BINARY(Name, rule, gx1, gx2, ...)                                                     \
    struct Name {                                                                                \
        static constexpr DtypeRule kRule = DtypeRule::rule;                                      \
        template <typename T>                                                                    \
        static T Apply(const T& x1, const T& x2) {                                               \
            return static_cast<T>(__VA_ARGS__);                                                  \
        }                                                                                        \
        template <typename T, typename X2>                                                       \
        static auto WithScalar([[maybe_unused]] const T& x1, [[maybe_unused]] const X2& x2)      \
            -> std::enable_if_t<std::is_same_v<decltype(__VA_ARGS__), BinaryLoop>, BinaryLoop> { \
            return __VA_ARGS__;                                                                  \
        }                                                                                        \
    };
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
#undef CX_ROW

}  // namespace rows
}  // namespace
}  // namespace CX_OP_TABLE_NAMESPACE
}  // namespace chainerx::native

#undef CX_OP_TABLE_NAMESPACE

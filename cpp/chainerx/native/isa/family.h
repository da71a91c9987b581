// Makes a family's loops for one instruction set out of its table. Include it once, with
// CX_FAMILY_DEF naming the table; the including file ends with CX_EXPORT_FAMILY.
//
// No std containers or algorithms here (see cmake/isa.cmake), and everything in an anonymous
// namespace: two instruction sets must not share a function.

#include "chainerx/kernels/dtype_rule.h"
#include "chainerx/native/isa/loop_templates.h"
#include "chainerx/native/loops.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

namespace rows {
#define CX_UNARY(Name, rule, gx, ...)                       \
    struct Name {                                           \
        static constexpr DtypeRule kRule = DtypeRule::rule; \
        template <typename T>                               \
        static T Apply(const T& x) {                        \
            return __VA_ARGS__;                             \
        }                                                   \
    };
#define CX_PREDICATE(Name, rule, ...)                       \
    struct Name {                                           \
        static constexpr DtypeRule kRule = DtypeRule::rule; \
        template <typename T>                               \
        static bool Apply(const T& x) {                     \
            return __VA_ARGS__;                             \
        }                                                   \
    };
#define CX_BINARY(Name, rule, gx1, gx2, ...)                \
    struct Name {                                           \
        static constexpr DtypeRule kRule = DtypeRule::rule; \
        template <typename T>                               \
        static T Apply(const T& x1, const T& x2) {          \
            return __VA_ARGS__;                             \
        }                                                   \
    };
#define CX_COMPARE(Name, rule, ...)                         \
    struct Name {                                           \
        static constexpr DtypeRule kRule = DtypeRule::rule; \
        template <typename T>                               \
        static bool Apply(const T& x1, const T& x2) {       \
            return __VA_ARGS__;                             \
        }                                                   \
    };
#include CX_FAMILY_DEF
#undef CX_UNARY
#undef CX_PREDICATE
#undef CX_BINARY
#undef CX_COMPARE
}  // namespace rows

#define CX_SKIP(...)
#define CX_ROW(Name, ...) Row<rows::Name>(),

#define CX_UNARY CX_ROW
#define CX_PREDICATE CX_SKIP
#define CX_BINARY CX_SKIP
#define CX_COMPARE CX_SKIP
#define Row UnaryRow
constexpr UnaryLoops kUnary[] = {
#include CX_FAMILY_DEF
    {nullptr, nullptr}};
#undef CX_UNARY
#undef CX_PREDICATE
#undef Row

#define CX_UNARY CX_SKIP
#define CX_PREDICATE CX_ROW
#define Row PredicateRow
constexpr UnaryLoops kPredicate[] = {
#include CX_FAMILY_DEF
    {nullptr, nullptr}};
#undef CX_PREDICATE
#undef CX_BINARY
#undef Row

#define CX_PREDICATE CX_SKIP
#define CX_BINARY CX_ROW
#define Row BinaryRow
constexpr BinaryLoops kBinary[] = {
#include CX_FAMILY_DEF
    {nullptr, nullptr}};
#undef CX_BINARY
#undef CX_COMPARE
#undef Row

#define CX_BINARY CX_SKIP
#define CX_COMPARE CX_ROW
#define Row CompareRow
constexpr BinaryLoops kCompare[] = {
#include CX_FAMILY_DEF
    {nullptr, nullptr}};
#undef CX_UNARY
#undef CX_PREDICATE
#undef CX_BINARY
#undef CX_COMPARE
#undef Row
#undef CX_ROW
#undef CX_SKIP

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

#define CX_EXPORT_FAMILY                                                                 \
    extern "C" {                                                                         \
    __attribute__((                                                                      \
        visibility("hidden"))) extern const chainerx::native::FamilyLoops CX_UNIT_ENTRY; \
    const chainerx::native::FamilyLoops CX_UNIT_ENTRY = {                                \
        chainerx::native::CX_ISA::kUnary, chainerx::native::CX_ISA::kPredicate,          \
        chainerx::native::CX_ISA::kBinary, chainerx::native::CX_ISA::kCompare};          \
    }

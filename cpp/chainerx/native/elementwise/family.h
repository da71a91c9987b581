// Expands a family's table into native kernels. A family's unit defines CX_FAMILY (its name),
// CX_FAMILY_DEF (the table) and CX_FAMILY_COST, and includes this once.
//
// Floats have loops in each instruction set (native/elementwise/simd/family.h), and so have complex
// numbers if CX_FAMILY_COMPLEX is defined; else they are computed here. So are integers and bool,
// unless CX_FAMILY_INTEGER is defined: then they have loops per instruction set too (native/
// elementwise/simd/integer.h).
// CX_FAMILY_NO_FLOATS means that no loops exist for floats, as for bitwise operations.

#include <type_traits>

#include "chainerx/native/elementwise/elementwise.h"
#include "chainerx/native/elementwise/scalar_loops.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"

#define CX_OP_TABLE_NAMESPACE baseline
#include "chainerx/native/elementwise/op_table.h"
#include "chainerx/native/elementwise/op_table_integer.h"

namespace chainerx::native {

// The family's loops of the chosen instruction set.
#if defined(CX_FAMILY_NO_FLOATS)
const CX_FAMILY_LOOPS& CX_JOIN(CX_FAMILY, _loops)() {
    static constexpr CX_FAMILY_LOOPS kNone{};
    return kNone;
}
#else
CX_DISPATCH(CX_FAMILY, CX_FAMILY_LOOPS)
#endif
#if defined(CX_FAMILY_INTEGER)
CX_DISPATCH(CX_JOIN(integer_, CX_FAMILY), CX_INTEGER_LOOPS)
#endif

namespace {

namespace rows = baseline::rows;

#if defined(CX_FAMILY_INTEGER)
constexpr bool kHasIntegerUnit = true;
#else
constexpr bool kHasIntegerUnit = false;
#endif
#if defined(CX_FAMILY_COMPLEX)
constexpr bool kHasComplexUnit = true;
#else
constexpr bool kHasComplexUnit = false;
#endif
// Dtypes with SIMD loops.
template <typename T>
inline constexpr bool kHasUnit =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Float16> ||
    std::is_same_v<T, BFloat16> || (kHasIntegerUnit && std::is_integral_v<T>) ||
    (kHasComplexUnit && kIsComplexType<T>);

template <typename Loop, typename Row, typename T, bool kToBool>
constexpr Loop ScalarLoopOf() {
    using Result = std::conditional_t<kToBool, bool, T>;
    if constexpr (kHasUnit<T> || !ComputesIn(Row::kRule, kDtypeOf<T>))
        return nullptr;
    else if constexpr (std::is_same_v<Loop, UnaryLoop>)
        return &ScalarUnary<Row, T, Result>;
    else if constexpr (std::is_same_v<Loop, BinaryLoop>)
        return &ScalarBinary<Row, T, Result>;
    else
        return &ScalarTernary<Row, T>;
}

template <typename Loop, typename Row, bool kToBool = false>
ElementwiseKernel<Loop> MakeKernel(const LoopsOfFloats<Loop>& floats,
                                   const LoopsByDtype<Loop>& integers) {
#define CX_LOOP(Enum, Type, name, code, kind) ScalarLoopOf<Loop, Row, Type, kToBool>(),
    ElementwiseKernel<Loop> kernel{{CX_DTYPE_LIST(CX_LOOP)}, Cost::CX_FAMILY_COST};
#undef CX_LOOP
    const auto set = [&](Dtype dtype, Loop loop) { kernel.loops[static_cast<int>(dtype)] = loop; };
    if (ComputesIn(Row::kRule, Dtype::kFloat32)) {
        for (const Dtype dtype : {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32}) {
            set(dtype, floats.f32);
        }
        set(Dtype::kFloat64, floats.f64);
    }
    if (kHasComplexUnit) {
        set(Dtype::kComplex64, floats.c64);
        set(Dtype::kComplex128, floats.c128);
    }
    for (int i = 0; i < kNumDtypes; ++i) {
        if (integers.of[i] != nullptr) kernel.loops[i] = integers.of[i];
    }
    return kernel;
}

#if defined(CX_FAMILY_INTEGER)
#define CX_INTEGER_OF(Name) CX_JOIN(CX_JOIN(integer_, CX_FAMILY), _loops)().Name
#else
#define CX_INTEGER_OF(Name) \
    {                       \
    }
#endif
#define CX_LOOPS_OF(Name) CX_JOIN(CX_FAMILY, _loops)().Name, CX_INTEGER_OF(Name)
#define CX_DEFINE_UNARY(Name, to_bool)                                               \
    const UnaryKernel kKernel##Name =                                                \
        MakeKernel<UnaryLoop, rows::Name, to_bool>(CX_LOOPS_OF(Name));               \
    void Name(const Array& x, const Array& out) { RunUnary(kKernel##Name, x, out); } \
    CX_NATIVE_KERNEL(Name)
#define CX_DEFINE_BINARY(Name, to_bool)                                 \
    const BinaryKernel kKernel##Name =                                  \
        MakeKernel<BinaryLoop, rows::Name, to_bool>(CX_LOOPS_OF(Name)); \
    void Name(const Operand& x1, const Operand& x2, const Array& out) { \
        RunBinary(kKernel##Name, x1, x2, out);                          \
    }                                                                   \
    CX_NATIVE_KERNEL(Name)
#define CX_UNARY(Name, ...) CX_DEFINE_UNARY(Name, false)
#define CX_PREDICATE(Name, ...) CX_DEFINE_UNARY(Name, true)
#define CX_BINARY(Name, ...) CX_DEFINE_BINARY(Name, false)
#define CX_COMPARE(Name, ...) CX_DEFINE_BINARY(Name, true)
// A single value that is broadcast: the operand of a binary loop with a scalar.
#define CX_UNARY_ATTR(Name, ...)                                                              \
    const BinaryKernel kKernel##Name = MakeKernel<BinaryLoop, rows::Name>(CX_LOOPS_OF(Name)); \
    void Name(const Array& x, double attr, const Array& out) {                                \
        RunBinary(kKernel##Name, Operand{x}, Operand{Scalar{attr}}, out);                     \
    }                                                                                         \
    CX_NATIVE_KERNEL(Name)
#define CX_TERNARY(Name, ...)                                                                   \
    const TernaryKernel kKernel##Name = MakeKernel<TernaryLoop, rows::Name>(CX_LOOPS_OF(Name)); \
    void Name(const Operand& x1, const Operand& x2, const Operand& x3, const Array& out) {      \
        RunTernary(kKernel##Name, x1, x2, x3, out);                                             \
    }                                                                                           \
    CX_NATIVE_KERNEL(Name)
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
#undef CX_LOOPS_OF
#undef CX_INTEGER_OF
#undef CX_DEFINE_UNARY
#undef CX_DEFINE_BINARY

}  // namespace
}  // namespace chainerx::native

// Defines the routines of a family, with their gradients, out of its table. Include it once, with
// CX_FAMILY_DEF naming the table.
#include <span>
#include <type_traits>
#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/gradient_terms.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

// Stands for what a gradient may mention. What it does mention is saved: an expression that
// compiles with x absent needs no x.
struct Absent {};

template <typename G>
inline constexpr bool kHasGrad1 =
    !std::is_same_v<std::invoke_result_t<G, const Array&, const Array&, const Array&>, NoGrad>;

template <typename G>
void RecordUnary(const OpInfo& op, const Array& x, const Array& y, G) {
    if constexpr (kHasGrad1<G>) {
        constexpr bool kNeedsX = !std::is_invocable_v<G, Absent, const Array&, const Array&>;
        constexpr bool kNeedsY = !std::is_invocable_v<G, const Array&, Absent, const Array&>;
        if (Record rec{op, {x}, y}) {
            if constexpr (kNeedsX && kNeedsY) {
                rec.Grad(0, [sx = rec.Save(x), sy = rec.SaveOutput(y)](const Array& gy) -> Array {
                    return G{}(sx(), sy(), gy);
                });
            } else if constexpr (kNeedsX) {
                rec.Grad(0, [sx = rec.Save(x)](const Array& gy) -> Array {
                    return G{}(sx(), Absent{}, gy);
                });
            } else if constexpr (kNeedsY) {
                rec.Grad(0, [sy = rec.SaveOutput(y)](const Array& gy) -> Array {
                    return G{}(Absent{}, sy(), gy);
                });
            } else {
                rec.Grad(0, [](const Array& gy) -> Array { return G{}(Absent{}, Absent{}, gy); });
            }
        }
    }
}

// An operand of a binary operation, kept for its gradient: an array, a scalar, or nothing.
struct KeptArray {
    Saved saved;
    Array operator()() const { return saved(); }
};
struct KeptScalar {
    Scalar scalar;
    const Scalar& operator()() const { return scalar; }
};
struct KeptNothing {
    Absent operator()() const { return {}; }
};

template <bool kNeeded, typename X>
auto KeepInput([[maybe_unused]] Record& rec, [[maybe_unused]] const X& x) {
    if constexpr (!kNeeded)
        return KeptNothing{};
    else if constexpr (std::is_same_v<X, Array>)
        return KeptArray{rec.Save(x)};
    else
        return KeptScalar{x};
}
template <bool kNeeded>
auto KeepOutput([[maybe_unused]] Record& rec, [[maybe_unused]] const Array& y) {
    if constexpr (!kNeeded)
        return KeptNothing{};
    else
        return KeptArray{rec.SaveOutput(y)};
}

// A gradient that also sees the attribute of its operation.
template <typename G>
void RecordUnaryAttr(const OpInfo& op, const Array& x, const Array& y, double attr) {
    using A = const Array&;
    constexpr bool kNeedsX = !std::is_invocable_v<G, Absent, A, A, double>;
    constexpr bool kNeedsY = !std::is_invocable_v<G, A, Absent, A, double>;
    if (Record rec{op, {x}, y}) {
        rec.Grad(0,
                 [kx = KeepInput<kNeedsX>(rec, x), ky = KeepOutput<kNeedsY>(rec, y),
                  attr](const Array& gy) -> Array { return G{}(kx(), ky(), gy, attr); });
    }
}

template <typename G, typename X1, typename X2>
inline constexpr bool kHasGrad =
    !std::is_same_v<std::invoke_result_t<G, const X1&, const X2&, const Array&, const Array&>,
                    NoGrad>;

template <typename G1, typename G2>
inline constexpr bool kHasAnyGrad = kHasGrad<G1, Array, Array> || kHasGrad<G2, Array, Array>;

template <typename G, typename X1, typename X2>
void AddGrad(Record& rec, int input, const X1& x1, const X2& x2, const Array& y) {
    if constexpr (kHasGrad<G, X1, X2>) {
        using A = const Array&;
        if (!rec.IsInputGradRequired(input)) return;
        rec.Grad(input,
                 [k1 = KeepInput<!std::is_invocable_v<G, Absent, const X2&, A, A>>(rec, x1),
                  k2 = KeepInput<!std::is_invocable_v<G, const X1&, Absent, A, A>>(rec, x2),
                  ky = KeepOutput<!std::is_invocable_v<G, const X1&, const X2&, Absent, A>>(
                      rec, y)](const Array& gy) -> Array { return G{}(k1(), k2(), ky(), gy); });
    }
}

template <typename G1, typename G2>
void RecordBinary(const OpInfo& op, const Array& x1, const Array& x2, const Array& y) {
    if constexpr (kHasAnyGrad<G1, G2>) {
        if (Record rec{op, {x1, x2}, y}) {
            AddGrad<G1>(rec, 0, x1, x2, y);
            AddGrad<G2>(rec, 1, x1, x2, y);
        }
    }
}
template <typename G1, typename>
void RecordBinary(const OpInfo& op, const Array& x1, const Scalar& x2, const Array& y) {
    if constexpr (kHasGrad<G1, Array, Scalar>) {
        if (Record rec{op, {x1}, y}) AddGrad<G1>(rec, 0, x1, x2, y);
    }
}
template <typename, typename G2>
void RecordBinary(const OpInfo& op, const Scalar& x1, const Array& x2, const Array& y) {
    if constexpr (kHasGrad<G2, Scalar, Array>) {
        if (Record rec{op, {x2}, y}) AddGrad<G2>(rec, 0, x1, x2, y);
    }
}

// A quicker way to the same result for some operands, null for all others. Families overload it.
struct NoShortcut {};
template <typename Grad1, typename X1, typename X2>
NoShortcut Shortcut(const Grad1&, const X1&, const X2&) {
    return {};
}

template <typename G1, typename G2, typename X1, typename X2>
Array CallAndRecord(const internal::ElementwiseOp& op, const X1& x1, const X2& x2) {
    using Quick = decltype(Shortcut(G1{}, x1, x2));
    if constexpr (!std::is_same_v<Quick, NoShortcut>) {
        if (Quick y = Shortcut(G1{}, x1, x2); !y.is_null()) return y;
    }
    Array y = internal::CallBinary(op, x1, x2);
    RecordBinary<G1, G2>(op, x1, x2, y);
    return y;
}

// A gradient expression is linear in gy, so with the tangent of its input in the place of gy it is
// that input's part of the tangent of y.
template <typename G>
Array ForwardUnary(std::span<const Array> x, const Array& y, std::span<const Array> tangents) {
    internal::CheckForward(x, y, tangents, 1);
    if (tangents[0].is_null()) return {};
    return G{}(x[0], y, tangents[0]);
}

template <typename G>
Array ForwardPart(std::span<const Array> x, const Array& y, const Array& tangent) {
    if constexpr (kHasGrad<G, Array, Array>) {
        if (!tangent.is_null()) {
            return G{}(x[0], x[1], y, BroadcastTo(tangent, y.shape()));
        }
    }
    return {};
}

template <typename G1, typename G2>
Array ForwardBinary(std::span<const Array> x, const Array& y, std::span<const Array> tangents) {
    internal::CheckForward(x, y, tangents, 2);
    const Array part1 = ForwardPart<G1>(x, y, tangents[0]);
    const Array part2 = ForwardPart<G2>(x, y, tangents[1]);
    if (part1.is_null()) return part2;
    return part2.is_null() ? part1 : part1 + part2;
}

template <typename G>
constexpr ForwardDerivative* ForwardOf() {
    if constexpr (kHasGrad1<G>)
        return &ForwardUnary<G>;
    else
        return nullptr;
}
template <typename G1, typename G2>
constexpr ForwardDerivative* ForwardOf() {
    if constexpr (kHasAnyGrad<G1, G2>)
        return &ForwardBinary<G1, G2>;
    else
        return nullptr;
}

#define CX_OP(Name, rule, to_bool, forward)                                         \
    constexpr internal::SnakeName kName##Name{#Name};                               \
    constexpr internal::ElementwiseOp kOp##Name{                                    \
        {kName##Name.text, &kernels::Name::kInfo, Batching::kElementwise, forward}, \
        DtypeRule::rule,                                                            \
        to_bool};

#define CX_UNARY(Name, rule, gx, ...)                                                       \
    struct Grad##Name {                                                                     \
        template <typename X, typename Y, typename G>                                       \
        auto operator()([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y,           \
                        [[maybe_unused]] const G& gy) const -> std::decay_t<decltype(gx)> { \
            return gx;                                                                      \
        }                                                                                   \
    };                                                                                      \
    CX_OP(Name, rule, false, ForwardOf<Grad##Name>())
#define CX_UNARY_ATTR(Name, rule, attr, gx, ...)                                          \
    struct Grad##Name {                                                                   \
        template <typename X, typename Y, typename G>                                     \
        auto operator()([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y,         \
                        [[maybe_unused]] const G& gy, [[maybe_unused]] double attr) const \
            -> std::decay_t<decltype(gx)> {                                               \
            return gx;                                                                    \
        }                                                                                 \
    };                                                                                    \
    CX_OP(Name, rule, false, nullptr)
#define CX_BINARY_GRAD(Struct, expression)                                               \
    struct Struct {                                                                      \
        template <typename X1, typename X2, typename Y, typename G>                      \
        auto operator()([[maybe_unused]] const X1& x1, [[maybe_unused]] const X2& x2,    \
                        [[maybe_unused]] const Y& y, [[maybe_unused]] const G& gy) const \
            -> std::decay_t<decltype(expression)> {                                      \
            return expression;                                                           \
        }                                                                                \
    };
#define CX_PREDICATE(Name, rule, ...) CX_OP(Name, rule, true, nullptr)
#define CX_BINARY(Name, rule, gx1, gx2, ...) \
    CX_BINARY_GRAD(Grad1##Name, gx1)         \
    CX_BINARY_GRAD(Grad2##Name, gx2)         \
    CX_OP(Name, rule, false, (ForwardOf<Grad1##Name, Grad2##Name>()))
#define CX_COMPARE(Name, rule, ...) CX_OP(Name, rule, true, nullptr)
#include CX_FAMILY_DEF
#undef CX_UNARY
#undef CX_UNARY_ATTR
#undef CX_PREDICATE
#undef CX_BINARY
#undef CX_COMPARE
#undef CX_BINARY_GRAD
#undef CX_OP

}  // namespace

#define CX_UNARY(Name, ...)                          \
    Array Name(const Array& x) {                     \
        Array y = internal::CallUnary(kOp##Name, x); \
        RecordUnary(kOp##Name, x, y, Grad##Name{});  \
        return y;                                    \
    }
#define CX_UNARY_ATTR(Name, ...)                            \
    Array Name(const Array& x, double attr) {               \
        Array y = internal::CallUnary(kOp##Name, x, attr);  \
        RecordUnaryAttr<Grad##Name>(kOp##Name, x, y, attr); \
        return y;                                           \
    }
#define CX_PREDICATE(Name, ...) \
    Array Name(const Array& x) { return internal::CallUnary(kOp##Name, x); }

#define CX_BINARY_FORM(Name, T1, T2)                                       \
    Array Name(const T1& x1, const T2& x2) {                               \
        return CallAndRecord<Grad1##Name, Grad2##Name>(kOp##Name, x1, x2); \
    }
#define CX_BINARY(Name, ...)                                                                     \
    CX_BINARY_FORM(Name, Array, Array)                                                           \
    CX_BINARY_FORM(Name, Array, Scalar)                                                          \
    CX_BINARY_FORM(Name, Scalar, Array)                                                          \
    void internal::I##Name(const Array& x1, const Array& x2) { CallInPlace(kOp##Name, x1, x2); } \
    void internal::I##Name(const Array& x1, const Scalar& x2) { CallInPlace(kOp##Name, x1, x2); }

#define CX_COMPARE_FORM(Name, T1, T2) \
    Array Name(const T1& x1, const T2& x2) { return internal::CallBinary(kOp##Name, x1, x2); }
#define CX_COMPARE(Name, ...)            \
    CX_COMPARE_FORM(Name, Array, Array)  \
    CX_COMPARE_FORM(Name, Array, Scalar) \
    CX_COMPARE_FORM(Name, Scalar, Array)
#include CX_FAMILY_DEF
#undef CX_UNARY
#undef CX_UNARY_ATTR
#undef CX_PREDICATE
#undef CX_BINARY
#undef CX_BINARY_FORM
#undef CX_COMPARE
#undef CX_COMPARE_FORM

}  // namespace chainerx

// Defines the routines of a family, with their gradients, out of its table. Include it once, with
// CX_FAMILY_DEF naming the table.
//
// Rows of any arity are treated alike. An operand is an array, which is an input in the graph, or a
// Scalar, or an attribute, which is a double; attributes come last.
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/ops/elementwise/elementwise.h"
#include "chainerx/ops/elementwise/gradient_terms.h"
#include "chainerx/ops/elementwise/ternary_forms.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx {
namespace {

template <typename X>
inline constexpr bool kIsInput = std::is_same_v<X, Array>;
template <typename X>
inline constexpr bool kIsAttribute = std::is_same_v<X, double>;

// ---- gradients: a G for each operand, called with the operands, y and gy ------------------------

// The gradient of an attribute.
struct NoGradient {
    NoGrad operator()(const auto&...) const { return {}; }
};

template <typename G, typename X, typename... Xs>
constexpr bool HasGrad() {
    if constexpr (kIsInput<X>) {
        using Result = std::invoke_result_t<G, const Xs&..., const Array&, const Array&>;
        return !std::is_same_v<Result, NoGrad>;
    } else {
        return false;
    }
}

// Stands for an argument that a gradient does not mention. All that it mentions is saved: if the
// expression compiles with x absent, x need not be saved.
struct Absent {};

template <size_t kPlace, typename G, typename... Args>
inline constexpr bool kMentions = []<size_t... kI>(std::index_sequence<kI...>) {
    return !std::is_invocable_v<G, std::conditional_t<kI == kPlace, Absent, const Args&>...>;
}(std::index_sequence_for<Args...>{});

// A saved argument of a gradient: an array, a number, or nothing.
struct KeptArray {
    Saved saved;
    Array operator()() const { return saved(); }
};
template <typename X>
struct KeptNumber {
    X number;
    const X& operator()() const { return number; }
};
struct KeptNothing {
    Absent operator()() const { return {}; }
};

template <bool kNeeded, bool kIsOutput, typename X>
auto Keep([[maybe_unused]] Record& rec, [[maybe_unused]] const X& x) {
    if constexpr (!kNeeded)
        return KeptNothing{};
    else if constexpr (kIsInput<X>)
        return KeptArray{kIsOutput ? rec.SaveOutput(x) : rec.Save(x)};
    else
        return KeptNumber<X>{x};
}

// A gradient function with all saved arguments; it takes gy.
template <typename G, typename... Kept>
struct KeptGrad {
    std::tuple<Kept...> kept;

    Array operator()(const Array& gy) const {
        return std::apply([&](const auto&... k) -> Array { return G{}(k()..., gy); }, kept);
    }
};
template <typename G, size_t... kI, typename... Args>
auto KeepFor(Record& rec, std::index_sequence<kI...>, const Args&... args) {
    const auto make = []<typename... Kept>(Kept... kept) {
        return KeptGrad<G, Kept...>{{std::move(kept)...}};
    };
    return make(Keep<kMentions<kI, G, Args..., Array>, kI + 1 == sizeof...(Args)>(rec, args)...);
}

// Adds the gradient of the operand X, if it is an input; `next` is its input number.
template <typename G, typename X, typename... Xs>
void AddGrad(Record& rec, [[maybe_unused]] int& next, const Array& y, const Xs&... xs) {
    if constexpr (kIsInput<X>) {
        const int input = next++;
        if constexpr (HasGrad<G, X, Xs...>()) {
            if (!rec.IsInputGradRequired(input)) return;
            rec.Grad(input, KeepFor<G>(rec, std::index_sequence_for<Xs..., Array>{}, xs..., y));
        }
    }
}

// Returns a tuple of one T if `kIs`, else an empty one.
template <bool kIs, typename T, typename X>
auto Chosen([[maybe_unused]] const X& x) {
    if constexpr (kIs)
        return std::tuple<T>{x};
    else
        return std::tuple<>{};
}
template <typename... Xs>
Record BeginRecord(const OpInfo& op, const Array& y, const Xs&... xs) {
    return std::apply([&](const auto&... inputs) { return Record{op, {inputs...}, y}; },
                      std::tuple_cat(Chosen<kIsInput<Xs>, ConstArrayRef>(xs)...));
}

template <typename... Gs, typename... Xs>
void RecordRow(const OpInfo& op, const Array& y, const Xs&... xs) {
    if constexpr ((HasGrad<Gs, Xs, Xs...>() || ...)) {
        if (Record rec = BeginRecord(op, y, xs...)) {
            int next = 0;
            (AddGrad<Gs, Xs>(rec, next, y, xs...), ...);
            if constexpr ((kIsAttribute<Xs> || ...)) {
                std::apply([&](auto... attributes) { rec.SetAttributes({attributes...}); },
                           std::tuple_cat(Chosen<kIsAttribute<Xs>, double>(xs)...));
            }
        }
    }
}

// ---- forward derivatives ------------------------------------------------------------------------

// A gradient expression is linear in gy: with an input's tangent in the place of gy it gives that
// input's contribution to the tangent of y.
template <typename Operands, typename... Gs>
struct Forward;
template <typename... Xs, typename... Gs>
struct Forward<std::tuple<Xs...>, Gs...> {
    static constexpr size_t kInputs = (size_t{kIsInput<Xs>} + ...);
    static constexpr size_t kAttributes = sizeof...(Xs) - kInputs;
    static_assert(kAttributes <= internal::Attributes::kMax);

    template <typename G, typename X>
    static void AddPart(Array& sum, [[maybe_unused]] size_t input,
                        [[maybe_unused]] const ForwardInputs& f) {
        if constexpr (HasGrad<G, X, Xs...>()) {
            if (f.tangents[input].is_null()) return;
            const Array t = BroadcastTo(f.tangents[input], f.y.shape());
            Array part = [&]<size_t... kI, size_t... kA>(std::index_sequence<kI...>,
                                                         std::index_sequence<kA...>) -> Array {
                return G{}(f.x[kI]..., f.attributes[kA]..., f.y, t);
            }(std::make_index_sequence<kInputs>{}, std::make_index_sequence<kAttributes>{});
            sum = sum.is_null() ? std::move(part) : sum + part;
        }
    }

    static Array Run(const ForwardInputs& f) {
        internal::CheckForward(f, kInputs, kAttributes);
        Array sum;
        size_t next = 0;
        (AddPart<Gs, Xs>(sum, next++, f), ...);
        return sum;
    }

    static constexpr OpInfo Info(const char* name, const KernelInfo* kernel) {
        const bool any = (HasGrad<Gs, Xs, Xs...>() || ...);
        return {name, kernel, Batching::kElementwise, any ? &Run : nullptr,
                static_cast<int8_t>(kInputs)};
    }
};
// For rows without a gradient.
struct NoForward {
    static constexpr OpInfo Info(const char* name, const KernelInfo* kernel) {
        return {name, kernel, Batching::kElementwise};
    }
};

// ---- the table ----------------------------------------------------------------------------------

// A shortcut computes the result in another way for some operands, and returns null for others.
// Families overload it.
struct NoShortcut {};
NoShortcut Shortcut(const auto&, const auto&) { return {}; }
NoShortcut Shortcut(const auto&, const auto&, const auto&) { return {}; }

template <typename G>
Array CallAndRecord(const internal::ElementwiseOp& op, const Array& x) {
    using Quick = decltype(Shortcut(G{}, x));
    if constexpr (!std::is_same_v<Quick, NoShortcut>) {
        if (Quick y = Shortcut(G{}, x); !y.is_null()) return y;
    }
    Array y = internal::CallUnary(op, x);
    RecordRow<G>(op, y, x);
    return y;
}
template <typename G1, typename G2, typename X1, typename X2>
Array CallAndRecord(const internal::ElementwiseOp& op, const X1& x1, const X2& x2) {
    using Quick = decltype(Shortcut(G1{}, x1, x2));
    if constexpr (!std::is_same_v<Quick, NoShortcut>) {
        if (Quick y = Shortcut(G1{}, x1, x2); !y.is_null()) return y;
    }
    Array y = internal::CallBinary(op, x1, x2);
    RecordRow<G1, G2>(op, y, x1, x2);
    return y;
}

#define CX_OP(Name, rule, to_bool, forward)                                                \
    constexpr internal::SnakeName kName##Name{#Name};                                      \
    constexpr internal::ElementwiseOp kOp##Name{                                           \
        CX_UNPACK forward::Info(kName##Name.text, &kernels::Name::kInfo), DtypeRule::rule, \
        to_bool};
#define CX_ARG(Type, x) [[maybe_unused]] const Type& x
#define CX_UNPACK(...) __VA_ARGS__
// `types` and `params` are those of the operands, in parentheses.
#define CX_GRADIENT(Struct, types, params, expression)                       \
    struct Struct {                                                          \
        template <CX_UNPACK types, typename Y, typename G>                   \
        auto operator()(CX_UNPACK params, CX_ARG(Y, y), CX_ARG(G, gy)) const \
            -> std::decay_t<decltype(expression)> {                          \
            return expression;                                               \
        }                                                                    \
    };

#define CX_UNARY(Name, rule, gx, ...)                         \
    CX_GRADIENT(Grad##Name, (typename X), (CX_ARG(X, x)), gx) \
    CX_OP(Name, rule, false, (Forward<std::tuple<Array>, Grad##Name>))
#define CX_UNARY_ATTR(Name, rule, attr, gx, ...)                                           \
    CX_GRADIENT(Grad##Name, (typename X, typename A), (CX_ARG(X, x), CX_ARG(A, attr)), gx) \
    CX_OP(Name, rule, false, (Forward<std::tuple<Array, double>, Grad##Name, NoGradient>))
#define CX_PREDICATE(Name, rule, ...) CX_OP(Name, rule, true, (NoForward))
#define CX_BINARY_GRADIENT(Struct, gx) \
    CX_GRADIENT(Struct, (typename X1, typename X2), (CX_ARG(X1, x1), CX_ARG(X2, x2)), gx)
#define CX_BINARY(Name, rule, gx1, gx2, ...) \
    CX_BINARY_GRADIENT(Grad1##Name, gx1)     \
    CX_BINARY_GRADIENT(Grad2##Name, gx2)     \
    CX_OP(Name, rule, false, (Forward<std::tuple<Array, Array>, Grad1##Name, Grad2##Name>))
#define CX_COMPARE(Name, rule, ...) CX_OP(Name, rule, true, (NoForward))
#define CX_TERNARY_GRADIENT(Struct, gx)                          \
    CX_GRADIENT(Struct, (typename X1, typename X2, typename X3), \
                (CX_ARG(X1, x1), CX_ARG(X2, x2), CX_ARG(X3, x3)), gx)
#define CX_TERNARY(Name, rule, gx1, gx2, gx3, ...) \
    CX_TERNARY_GRADIENT(Grad1##Name, gx1)          \
    CX_TERNARY_GRADIENT(Grad2##Name, gx2)          \
    CX_TERNARY_GRADIENT(Grad3##Name, gx3)          \
    CX_OP(Name, rule, false,                       \
          (Forward<std::tuple<Array, Array, Array>, Grad1##Name, Grad2##Name, Grad3##Name>))
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
#undef CX_BINARY_GRADIENT
#undef CX_TERNARY_GRADIENT
#undef CX_GRADIENT
#undef CX_UNPACK
#undef CX_ARG
#undef CX_OP

}  // namespace

#define CX_FIND(Name) \
    const internal::ElementwiseOp& internal::Op##Name() { return kOp##Name; }

#define CX_UNARY(Name, ...) \
    CX_FIND(Name)           \
    Array Name(const Array& x) { return CallAndRecord<Grad##Name>(kOp##Name, x); }
#define CX_UNARY_ATTR(Name, ...)                                  \
    CX_FIND(Name)                                                 \
    Array Name(const Array& x, double attr) {                     \
        Array y = internal::CallUnary(kOp##Name, x, attr);        \
        RecordRow<Grad##Name, NoGradient>(kOp##Name, y, x, attr); \
        return y;                                                 \
    }
#define CX_PREDICATE(Name, ...) \
    CX_FIND(Name)               \
    Array Name(const Array& x) { return internal::CallUnary(kOp##Name, x); }

#define CX_BINARY_FORM(Name, T1, T2)                                       \
    Array Name(const T1& x1, const T2& x2) {                               \
        return CallAndRecord<Grad1##Name, Grad2##Name>(kOp##Name, x1, x2); \
    }
#define CX_BINARY(Name, ...)                                                                     \
    CX_FIND(Name)                                                                                \
    CX_BINARY_FORM(Name, Array, Array)                                                           \
    CX_BINARY_FORM(Name, Array, Scalar)                                                          \
    CX_BINARY_FORM(Name, Scalar, Array)                                                          \
    void internal::I##Name(const Array& x1, const Array& x2) { CallInPlace(kOp##Name, x1, x2); } \
    void internal::I##Name(const Array& x1, const Scalar& x2) { CallInPlace(kOp##Name, x1, x2); }

#define CX_COMPARE_FORM(Name, T1, T2) \
    Array Name(const T1& x1, const T2& x2) { return internal::CallBinary(kOp##Name, x1, x2); }
#define CX_COMPARE(Name, ...)            \
    CX_FIND(Name)                        \
    CX_COMPARE_FORM(Name, Array, Array)  \
    CX_COMPARE_FORM(Name, Array, Scalar) \
    CX_COMPARE_FORM(Name, Scalar, Array)

#define CX_TERNARY_FORM(Name, T1, T2, T3)                                           \
    Array Name(const T1& x1, const T2& x2, const T3& x3) {                          \
        Array y = internal::CallTernary(kOp##Name, x1, x2, x3);                     \
        RecordRow<Grad1##Name, Grad2##Name, Grad3##Name>(kOp##Name, y, x1, x2, x3); \
        return y;                                                                   \
    }
#define CX_TERNARY(Name, ...) CX_FIND(Name) CX_TERNARY_FORMS(CX_TERNARY_FORM, Name)
#include CX_FAMILY_DEF
#include "chainerx/ops/elementwise/tables/undefine_rows.def"
#undef CX_BINARY_FORM
#undef CX_COMPARE_FORM
#undef CX_TERNARY_FORM
#undef CX_FIND

}  // namespace chainerx

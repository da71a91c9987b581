// Auto-vectorized reductions: integers, bool and complex numbers, floats in wider types, and
// any/all of all dtypes.
#include "chainerx/native/reduce/argminmax.h"
#include "chainerx/native/reduce/reduce_isa.h"
#include "chainerx/native/reduce/reduce_policies.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename P>
constexpr FoldLoops LoopsOf() {
    if constexpr (P::kBuilt == Built::kPerSet)
        return Loops<P>::Table();
    else
        return {};
}
template <>
constexpr FoldLoops LoopsOf<NoPolicy>() {
    return {};
}

template <template <typename> typename Policy>
constexpr FoldTable MakeTable() {
#define CX_ENTRY(Enum, Type, name, code, kind) LoopsOf<Policy<Type>>(),
    return {{CX_DTYPE_LIST(CX_ENTRY)}};
#undef CX_ENTRY
}

template <typename T, bool kLargest, bool kIgnoresNan>
constexpr ArgBlockLoops ArgLoopsOf() {
    if constexpr (kIsComplexType<T> || kHasBatches<T> || std::is_same_v<T, bool>) {
        return {};
    } else {
        using E = Extreme<T, kLargest, kIgnoresNan && kIsFloatingType<T>>;
        return {&FoldBlock<E>, &FindInBlock<T, typename E::Acc>, &TakeRowOfBlock<E>};
    }
}

}  // namespace

CX_EXPORT_LOOPS(ReduceAutoLoops){MakeTable<SumPolicy>(),
                                 MakeTable<MeanPolicy>(),
                                 MakeTable<WideSumPolicy>(),
                                 MakeTable<MaxPolicy>(),
                                 MakeTable<MinPolicy>(),
                                 MakeTable<AllPolicy>(),
                                 MakeTable<AnyPolicy>(),
                                 MakeTable<CountPolicy>(),
                                 {
#define CX_ARG(Enum, Type, name, code, kind)                              \
    {{ArgLoopsOf<Type, false, false>(), ArgLoopsOf<Type, false, true>()}, \
     {ArgLoopsOf<Type, true, false>(), ArgLoopsOf<Type, true, true>()}},
                                     CX_DTYPE_LIST(CX_ARG)
#undef CX_ARG
                                 }};

}  // namespace chainerx::native::CX_ISA

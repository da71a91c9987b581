// Makes a kernel from a policy: tables of loops by dtype, and the call of the driver.
#pragma once

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/reduce/reduce.h"
#include "chainerx/native/reduce/reduce_isa.h"
#include "chainerx/native/reduce/reduce_policies.h"
#include "chainerx/native/reduce/reduce_stores.h"

namespace chainerx::native {
namespace {

// The loops of `Family<T>` for each dtype.
template <template <typename> typename Family>
constexpr ReduceTable MakeTable() {
    ReduceTable table;
#define CX_ENTRY(Enum, Type, name, code, kind) \
    table.loops[static_cast<int>(Dtype::Enum)] = Family<Type>::Make();
    CX_DTYPE_LIST(CX_ENTRY)
#undef CX_ENTRY
    return table;
}

template <typename P>
constexpr FoldLoops OnceBuilt() {
    if constexpr (P::kBuilt == Built::kOnce)
        return Loops<P>::Table();
    else
        return {};
}

template <template <typename> typename Policy, template <typename> typename Store>
struct FamilyOf {
    template <typename T>
    struct Of {
        static constexpr ReduceLoops Make() {
            using P = Policy<T>;
            if constexpr (std::is_same_v<P, NoPolicy>) {
                return {};
            } else {
                return {OnceBuilt<P>(), &Store<T>::template Run<typename P::Acc>};
            }
        }
    };
};

template <template <typename> typename Policy, template <typename> typename Store>
constinit ReduceTable g_table = MakeTable<FamilyOf<Policy, Store>::template Of>();

// Fills missing entries with the loops of the chosen instruction set. Runs while the library loads.
[[maybe_unused]] bool UseIsa(ReduceTable& table, const FoldTable& isa) {
    for (int i = 0; i < kNumDtypes; ++i) {
        FoldLoops& loops = table.loops[i];
        if (loops.runs == nullptr) loops = isa.of[i];
    }
    return true;
}

// Fills `out` with the identity if x is empty, and returns whether it is.
inline bool FillIfEmpty(const Array& x, const Array& out, const Scalar& identity) {
    if (x.GetTotalSize() != 0) return false;
    CallOn<kernels::Fill>(out.device(), out, identity);
    return true;
}

inline void Reduce(const Array& x, const Axes& axes, const Array& out, const ReduceTable& table,
                   const Scalar& identity) {
    const ReduceLoops& loops = table[x.dtype()];
    const int64_t n = x.GetTotalSize();
    // Fast path for full reductions of small contiguous arrays, such as the loss of a training
    // step. Also for larger ones whose first elements may decide.
    if (x.IsContiguous() && out.GetTotalSize() == 1 && n > 0 &&
        (n <= kReduceBlock || loops.is_final != nullptr)) [[likely]] {
        alignas(16) char acc[16];
        loops.runs(x.raw_data(), 0, 1, n < kReduceBlock ? n : kReduceBlock, nullptr, acc);
        if (n <= kReduceBlock || loops.is_final(acc)) {
            loops.store(acc, 1, n, nullptr, out.raw_data(), 0);
            return;
        }
    }
    if (FillIfEmpty(x, out, identity)) return;
    RunReduce(ReducePlan{x, axes, out}, loops);
}

// Makes a kernel for all dtypes from a policy and a store.
#define CX_REDUCE(Name, Policy, Store, identity)                        \
    void Name(const Array& x, const Axes& axes, const Array& out) {     \
        Reduce(x, axes, out, g_table<Policy, Store>, Scalar{identity}); \
    }                                                                   \
    CX_NATIVE_KERNEL(Name)

}  // namespace
}  // namespace chainerx::native

// From a policy to a kernel: tables of loops by dtype, and the way from a call to the driver.
#pragma once

#include "chainerx/kernels/memory.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/reduce.h"
#include "chainerx/native/reduce_isa.h"
#include "chainerx/native/reduce_policies.h"

namespace chainerx::native {
namespace {

// The loops that `Family<T>` has for each dtype.
template <template <typename> typename Family>
constexpr ReduceTable MakeTable() {
    ReduceTable table;
#define CX_ENTRY(Enum, Type, name, code, kind) \
    table.loops[static_cast<int>(Dtype::Enum)] = Family<Type>::Make();
    CX_DTYPE_LIST(CX_ENTRY)
#undef CX_ENTRY
    return table;
}

template <template <typename> typename Policy, template <typename> typename Store>
struct FamilyOf {
    template <typename T>
    struct Of {
        static constexpr ReduceLoops Make() {
            using P = Policy<T>;
            return Loops<P>::Table(&Store<T>::template Run<typename P::Acc>);
        }
    };
};

template <template <typename> typename Policy, template <typename> typename Store>
constinit ReduceTable g_table = MakeTable<FamilyOf<Policy, Store>::template Of>();

// Takes the loops of the chosen instruction set. While the library loads.
[[maybe_unused]] bool UseIsa(ReduceTable& table, const ReduceIsaOp& op) {
    const auto use = [&](Dtype dtype, const ReduceIsaPair& pair) {
        ReduceLoops& loops = table.loops[static_cast<int>(dtype)];
        loops.run = pair.run;
        loops.runs = pair.runs;
        loops.rows = pair.rows;
    };
    use(Dtype::kFloat32, op.float32);
    use(Dtype::kFloat64, op.float64);
    return true;
}

// Whether nothing but the identity comes out.
inline bool FillIfEmpty(const Array& x, const Array& out, const Scalar& identity) {
    if (x.GetTotalSize() != 0) return false;
    CallOn<kernels::Fill>(out.device(), out, identity);
    return true;
}

inline void Reduce(const Array& x, const Axes& axes, const Array& out, const ReduceTable& table,
                   const Scalar& identity) {
    const ReduceLoops& loops = table[x.dtype()];
    const int64_t n = x.GetTotalSize();
    // All of a small adjacent array: most reductions of a training step's loss are this.
    if (x.IsContiguous() && out.GetTotalSize() == 1 && n <= kReduceBlock && n > 0) [[likely]] {
        alignas(16) char acc[16];
        const Nest nest = Line(n, loops.item_size);
        loops.run(x.raw_data(), nest, 0, n, nullptr, acc);
        loops.store(acc, 1, n, nullptr, out.raw_data(), 0);
        return;
    }
    if (FillIfEmpty(x, out, identity)) return;
    RunReduce(ReducePlan{x, axes, out}, loops);
}

// A kernel for all dtypes out of a policy and a way to store.
#define CX_REDUCE(Name, Policy, Store, identity)                        \
    void Name(const Array& x, const Axes& axes, const Array& out) {     \
        Reduce(x, axes, out, g_table<Policy, Store>, Scalar{identity}); \
    }                                                                   \
    CX_NATIVE_KERNEL(Name)

}  // namespace
}  // namespace chainerx::native

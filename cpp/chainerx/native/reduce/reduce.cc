// Sum and product.
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/reduce/reduce_kernel.h"

namespace chainerx::native {

CX_DISPATCH(reduce, ReduceIsaLoops)
CX_DISPATCH(reduce_auto, ReduceAutoLoops)

namespace {

CX_REDUCE(Sum, SumPolicy, StoreTotal, 0)
CX_REDUCE(WideSum, WideSumPolicy, StoreWide, 0)
CX_REDUCE(SumSquares, SquareSumPolicy, StoreSame, 0)
CX_REDUCE(NanSum, NanSumPolicy, StoreTotal, 0)
CX_REDUCE(Prod, ProdPolicy, StoreTotal, 1)

[[maybe_unused]] const bool kSumIsa =
    UseIsa(g_table<SumPolicy, StoreTotal>, reduce_loops().sum) &&
    UseIsa(g_table<SumPolicy, StoreTotal>, reduce_auto_loops().sum) &&
    UseIsa(g_table<WideSumPolicy, StoreWide>, reduce_auto_loops().wide_sum) &&
    UseIsa(g_table<SquareSumPolicy, StoreSame>, reduce_loops().square_sum) &&
    UseIsa(g_table<NanSumPolicy, StoreTotal>, reduce_auto_loops().sum);

}  // namespace
}  // namespace chainerx::native

// Sums, products and means.
#include "chainerx/kernels/reduction.h"
#include "chainerx/native/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(Sum, SumPolicy, StoreTotal, 0)
CX_REDUCE(NanSum, NanSumPolicy, StoreTotal, 0)
CX_REDUCE(Prod, ProdPolicy, StoreTotal, 1)
CX_REDUCE(Mean, MeanPolicy, StoreMean, std::numeric_limits<double>::quiet_NaN())

[[maybe_unused]] const bool kSumIsa = UseIsa(g_table<SumPolicy, StoreTotal>, reduce_loops().sum);
[[maybe_unused]] const bool kMeanIsa = UseIsa(g_table<MeanPolicy, StoreMean>, reduce_loops().sum);

}  // namespace
}  // namespace chainerx::native

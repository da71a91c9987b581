// Sums, products and means.
#include "chainerx/native/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(Sum, SumPolicy, StoreTotal, 0)
CX_REDUCE(NanSum, NanSumPolicy, StoreTotal, 0)
CX_REDUCE(Prod, ProdPolicy, StoreTotal, 1)
CX_REDUCE(Mean, MeanPolicy, StoreMean, std::numeric_limits<double>::quiet_NaN())

}  // namespace
}  // namespace chainerx::native

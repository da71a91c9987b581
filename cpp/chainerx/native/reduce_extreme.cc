// Extremes.
#include "chainerx/kernels/reduction.h"
#include "chainerx/native/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(Max, MaxPolicy, StoreSame, 0)
CX_REDUCE(Min, MinPolicy, StoreSame, 0)

[[maybe_unused]] const bool kMaxIsa = UseIsa(g_table<MaxPolicy, StoreSame>, reduce_loops().max);
[[maybe_unused]] const bool kMinIsa = UseIsa(g_table<MinPolicy, StoreSame>, reduce_loops().min);

}  // namespace
}  // namespace chainerx::native

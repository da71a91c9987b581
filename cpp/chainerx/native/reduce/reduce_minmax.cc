// Minimum and maximum.
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/reduce/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(Max, MaxPolicy, StoreSame, 0)
CX_REDUCE(Min, MinPolicy, StoreSame, 0)
CX_REDUCE(NanMax, NanMaxPolicy, StoreSame, 0)
CX_REDUCE(NanMin, NanMinPolicy, StoreSame, 0)

[[maybe_unused]] const bool kExtremeIsa =
    UseIsa(g_table<MaxPolicy, StoreSame>, reduce_loops().max) &&
    UseIsa(g_table<MaxPolicy, StoreSame>, reduce_auto_loops().max) &&
    UseIsa(g_table<MinPolicy, StoreSame>, reduce_loops().min) &&
    UseIsa(g_table<MinPolicy, StoreSame>, reduce_auto_loops().min) &&
    UseIsa(g_table<NanMaxPolicy, StoreSame>, reduce_loops().nan_max) &&
    UseIsa(g_table<NanMinPolicy, StoreSame>, reduce_loops().nan_min);

}  // namespace
}  // namespace chainerx::native

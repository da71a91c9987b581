// any and all.
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/reduce/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(All, AllPolicy, StoreBool, true)
CX_REDUCE(Any, AnyPolicy, StoreBool, false)
CX_REDUCE(CountNonzero, CountPolicy, StoreCount, 0)

[[maybe_unused]] const bool kLogicIsa =
    UseIsa(g_table<AllPolicy, StoreBool>, reduce_auto_loops().all) &&
    UseIsa(g_table<AnyPolicy, StoreBool>, reduce_auto_loops().any) &&
    UseIsa(g_table<CountPolicy, StoreCount>, reduce_auto_loops().count);

}  // namespace
}  // namespace chainerx::native

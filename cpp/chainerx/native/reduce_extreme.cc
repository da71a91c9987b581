// Extremes.
#include "chainerx/native/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(Max, MaxPolicy, StoreSame, 0)
CX_REDUCE(Min, MinPolicy, StoreSame, 0)

}  // namespace
}  // namespace chainerx::native

// Truth values.
#include "chainerx/kernels/reduction.h"
#include "chainerx/native/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(All, AllPolicy, StoreBool, true)
CX_REDUCE(Any, AnyPolicy, StoreBool, false)
CX_REDUCE(CountNonzero, CountPolicy, StoreCount, 0)

}  // namespace
}  // namespace chainerx::native

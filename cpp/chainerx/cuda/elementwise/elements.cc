// The kernels that compute each element by itself, by id.
#include "chainerx/cuda/elementwise/elementwise.h"

namespace chainerx::cuda {
namespace {

constinit ChooseElement g_elements[kKernelTableSize]{};

}  // namespace

ChooseElement FindElement(const KernelInfo& kernel) { return g_elements[kernel.id]; }

void SetElement(const KernelInfo& kernel, ChooseElement choose) { g_elements[kernel.id] = choose; }

}  // namespace chainerx::cuda

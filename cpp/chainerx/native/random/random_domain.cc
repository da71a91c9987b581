#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/random/random.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

void CheckDomain(const Array& x, const char* op, const char* argument, const Domain& domain) {
    const auto* values = reinterpret_cast<const double*>(x.raw_data());
    ForChunks(x.GetTotalSize(), [&](int64_t begin, int64_t end) {
        bool all = true;
        for (int64_t i = begin; i < end; ++i) all &= domain.Has(values[i]);
        if (all) return;
        for (int64_t i = begin; i < end; ++i) {
            const double value = values[i];
            if (domain.Has(value)) continue;
            const int64_t position = x.ndim() == 0 ? -1 : i;
            Fail(KernelError::Domain(op, argument, position, value, domain.expected));
        }
    });
}
CX_NATIVE_KERNEL(CheckDomain)

}  // namespace
}  // namespace chainerx::native

// The one place that knows every kernel.
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/kernels/all.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx {
namespace {

template <int... kNumbers>
std::vector<const KernelInfo*> Collect(std::integer_sequence<int, kNumbers...>) {
    std::vector<const KernelInfo*> all;
    const auto add = [&]<int kNumber>() {
        if constexpr (requires { kernels::FamilyAt<kNumber>::kKernels; }) {
            for (const KernelInfo* kernel : kernels::FamilyAt<kNumber>::kKernels) {
                all.push_back(kernel);
            }
        }
    };
    (add.template operator()<kNumbers>(), ...);
    return all;
}

}  // namespace

std::span<const KernelInfo* const> GetKernels() {
    static constinit internal::Lazy<const std::vector<const KernelInfo*>> kernels;
    return kernels.Get([] {
        return new std::vector{Collect(std::make_integer_sequence<int, kMaxKernelFamilies>{})};
    });
}

const KernelInfo* internal::FindKernel(const KernelInfo& built) {
    for (const KernelInfo* kernel : GetKernels()) {
        if (std::string_view{kernel->name} != built.name) continue;
        return kernel->signature_hash == built.signature_hash ? kernel : nullptr;
    }
    return nullptr;
}

const KernelInfo& internal::FindKernelOrThrow(const KernelInfo& built) {
    if (const KernelInfo* found = FindKernel(built)) return *found;
    throw ChainerxError{"kernel ", built.name,
                        " has other operands now, or is gone; build anew what uses it"};
}

}  // namespace chainerx

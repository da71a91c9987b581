// The one place that knows every kernel.
#include <vector>

#include "chainerx/core/plugin.h"
#include "chainerx/kernels/all.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/kernels/plugin.h"

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

const bool kRegistered = [] {
    internal::SetAbiHash([]() { return internal::kAbiHash; });
    return true;
}();

}  // namespace

std::span<const KernelInfo* const> GetKernels() {
    static const std::vector<const KernelInfo*> kernels =
        Collect(std::make_integer_sequence<int, kMaxKernelFamilies>{});
    return kernels;
}

}  // namespace chainerx

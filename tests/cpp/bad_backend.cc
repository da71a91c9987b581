// Libraries that are not valid backends, one defect per macro; see CMakeLists.txt.
#include <array>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/plugin.h"
#include "chainerx/kernels/strided/memory.h"

namespace {

using chainerx::PluginInfo;
namespace internal = chainerx::internal;

chainerx::Backend* Create(chainerx::Context&) {
#if defined(THROWING)
    throw chainerx::BackendError{"no such hardware"};
#else
    return nullptr;
#endif
}

[[maybe_unused]] PluginInfo MakeInfo() {
    static std::vector<chainerx::LayoutInfo> layouts{internal::LayoutAccess::All().begin(),
                                                     internal::LayoutAccess::All().end()};
    const internal::KernelUse* uses = nullptr;
#if defined(WRONG_LAYOUT)
    layouts[0].hash += 1;
#elif defined(LACKS_LAYOUT)
    layouts.pop_back();
#elif defined(UNKNOWN_KERNEL)
    static constexpr chainerx::KernelInfo gone{"Forgotten", "memory", 0, 1, nullptr, 0};
    static const internal::KernelUse use{&gone, internal::FindKernel(gone), nullptr};
    uses = &use;
#endif
#if defined(WRONG_CONTRACT)
    const uint32_t contract = chainerx::kPluginContract + 1;
#else
    const uint32_t contract = chainerx::kPluginContract;
#endif
    return {contract, static_cast<uint32_t>(layouts.size()), layouts.data(), uses, &Create};
}

}  // namespace

#if !defined(NO_ENTRY)
extern "C" CX_API const PluginInfo* ChainerxPlugin() {
#if defined(NO_INFO)
    return nullptr;
#else
    static const PluginInfo info = MakeInfo();
    return &info;
#endif
}
#endif

// Compares a plug-in's description of itself with the library.
#include "chainerx/kernels/plugin.h"

#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/core/plugin.h"

namespace chainerx {
namespace {

void CheckLayouts(const PluginInfo& plugin, const std::string& path) {
    for (const LayoutInfo& ours : internal::LayoutAccess::All()) {
        const LayoutInfo* theirs = nullptr;
        for (uint32_t i = 0; i < plugin.layout_count; ++i) {
            if (std::string_view{plugin.layouts[i].name} == ours.name) theirs = &plugin.layouts[i];
        }
        if (theirs != nullptr && theirs->hash == ours.hash) continue;
        throw BackendError{path, " was built for another version of chainerx, in which ", ours.name,
                           " is laid out differently; build it anew"};
    }
}

void CheckKernels(const PluginInfo& plugin, const std::string& path) {
    std::string changed;
    for (const internal::KernelUse* use = plugin.uses; use != nullptr; use = use->next) {
        if (use->found != nullptr) continue;
        bool known = false;
        for (const KernelInfo* kernel : GetKernels()) {
            known = known || std::string_view{kernel->name} == use->built->name;
        }
        changed += StrCat("\n  ", use->built->name, known ? " has other operands now" : " is gone");
    }
    if (changed.empty()) return;
    throw BackendError{path,
                       " was built for another version of chainerx; build it anew, for of the "
                       "kernels that it uses",
                       changed};
}

Backend* Make(Context& context, const void* info, const std::string& path) {
    const auto& plugin = *static_cast<const PluginInfo*>(info);
    if (plugin.contract != kPluginContract) {
        throw BackendError{path,
                           " was built for another version of chainerx (plug-in contract ",
                           plugin.contract,
                           ", need ",
                           kPluginContract,
                           "); build it anew"};
    }
    CheckLayouts(plugin, path);
    CheckKernels(plugin, path);
    return plugin.create(context);
}

const bool kRegistered = [] {
    internal::SetPluginMaker(&Make);
    return true;
}();

}  // namespace
}  // namespace chainerx

// The contract of a backend in a separate library, which it states when it is loaded. See
// docs/adding_a_backend.md.
//
// Kernels are found by name and signature when the library is loaded. So a plug-in keeps working if
// kernels were added or renumbered since its build; a plug-in that uses a kernel whose operands
// have changed is rejected, with the name of the kernel. The classes that it derives from or
// accesses must have the same layout (kernels/layout.h). Everything else is reached by symbols.
#pragma once

#include <cstdint>

#include "chainerx/core/backend.h"
#include "chainerx/core/context.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/kernels/layout.h"

namespace chainerx {

// The return value of ChainerxPlugin(). The number identifies the format of the rest.
inline constexpr uint32_t kPluginContract = 1;

struct PluginInfo {
    uint32_t contract;
    uint32_t layout_count;
    const LayoutInfo* layouts;
    const internal::KernelUse* uses;  // a list
    Backend* (*create)(Context& context);
};

}  // namespace chainerx

// The entry point, once per library. `Type` is constructed from Context&.
#define CX_BACKEND_PLUGIN(Type)                                                         \
    extern "C" CX_API const ::chainerx::PluginInfo* ChainerxPlugin() {                  \
        static constinit ::chainerx::internal::Lazy<const ::chainerx::PluginInfo> info; \
        return &info.Get([] {                                                           \
            const auto layouts = ::chainerx::internal::LayoutAccess::All();             \
            return new ::chainerx::PluginInfo{                                          \
                ::chainerx::kPluginContract, static_cast<uint32_t>(layouts.size()),     \
                layouts.data(), ::chainerx::internal::g_kernel_uses,                    \
                [](::chainerx::Context& context) -> ::chainerx::Backend* {              \
                    return new Type{context};                                           \
                }};                                                                     \
        });                                                                             \
    }

// Backends in shared libraries of their own, found by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// Opens <folder>/<name>.so, or lib<name>.so, where folder is $CHAINERX_PATH/backends,
// $HOME/.chainerx/backends, or the one of this library; has what it tells of itself checked.
// BackendError lists every path tried, or what is wrong with the library.
std::unique_ptr<Backend> LoadBackendPlugin(Context& context, const std::string& name);

struct LoadedPlugin {
    std::string name;  // of the backend
    std::string path;
};
// Those that this process has opened so far, each file once.
CX_API std::vector<LoadedPlugin> GetLoadedPlugins();

// Makes the backend of what ChainerxPlugin() of the library at `path` returned. Set once by the
// unit that knows kernels (kernels/plugin.cc), which core does not include.
using PluginMaker = Backend* (*)(Context& context, const void* info, const std::string& path);
void SetPluginMaker(PluginMaker make);

}  // namespace chainerx::internal

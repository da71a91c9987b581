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
// $HOME/.chainerx/backends, or that of this library; then checks the plug-in's description.
// BackendError lists every path tried, or the library's defect.
std::unique_ptr<Backend> LoadBackendPlugin(Context& context, const std::string& name);

struct LoadedPlugin {
    std::string name;  // of the backend
    std::string path;
};
// Returns the plug-ins that this process has opened so far, each file once.
CX_API std::vector<LoadedPlugin> GetLoadedPlugins();

// Makes a backend from the result of ChainerxPlugin() of the library at `path`. Set once by
// kernels/plugin.cc, which core does not include.
using PluginMaker = Backend* (*)(Context& context, const void* info, const std::string& path);
void SetPluginMaker(PluginMaker make);

}  // namespace chainerx::internal

#include "chainerx/core/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx::internal {
namespace {

PluginMaker g_make_plugin = nullptr;

struct Plugins {
    ForkMutex mutex;
    std::vector<LoadedPlugin> all;
};

constinit Lazy<Plugins> g_plugins;

std::vector<std::string> CandidatePaths(const std::string& name) {
    std::vector<std::string> folders;
    if (const char* root = std::getenv("CHAINERX_PATH")) {
        folders.push_back(StrCat(root, "/backends"));
    }
    if (const char* home = std::getenv("HOME")) {
        folders.push_back(StrCat(home, "/.chainerx/backends"));
    }
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&CandidatePaths), &info) != 0) {
        const std::string self = info.dli_fname;
        folders.push_back(self.substr(0, self.rfind('/')));
    }
    std::vector<std::string> paths;
    for (const std::string& f : folders) {
        // Ours: libcuda.so would be NVIDIA's.
        if (&f == &folders.back()) paths.push_back(StrCat(f, "/libchainerx_", name, ".so"));
        paths.push_back(StrCat(f, "/", name, ".so"));
        paths.push_back(StrCat(f, "/lib", name, ".so"));
    }
    return paths;
}

void CheckName(const std::string& name) {
    for (char c : name) {
        const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!ok) throw BackendError{"invalid backend name '", name, "'"};
    }
}

template <typename Fn>
Fn* Symbol(void* library, const char* symbol, const std::string& path) {
    void* p = dlsym(library, symbol);
    if (p == nullptr) {
        throw BackendError{"backend library ", path, " does not export '", symbol, "'"};
    }
    return reinterpret_cast<Fn*>(p);
}

// The library stays loaded: its kernels and deleters may be needed for the life of the process.
std::unique_ptr<Backend> Open(Context& context, const std::string& name, const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw BackendError{"backend '", name, "': cannot load ", path, ": ", dlerror()};
    }
    const void* info = Symbol<const void*()>(library, "ChainerxPlugin", path)();
    if (info == nullptr) {
        throw BackendError{"backend '", name, "': ChainerxPlugin of ", path, " returned nothing"};
    }
    Backend* backend = g_make_plugin(context, info, path);
    if (backend == nullptr) {
        throw BackendError{"backend '", name, "': ", path, " made nothing"};
    }
    std::unique_ptr<Backend> made{backend};
    if (made->name() != name) {
        throw BackendError{"backend '",  name, "': ", path, " makes a backend named '",
                           made->name(), "'"};
    }
    Plugins& plugins = g_plugins.Get();
    const std::lock_guard lock{plugins.mutex};
    const auto is_it = [&](const LoadedPlugin& p) { return p.path == path; };
    if (std::ranges::none_of(plugins.all, is_it)) plugins.all.push_back({name, path});
    return made;
}

}  // namespace

std::vector<LoadedPlugin> GetLoadedPlugins() {
    Plugins& plugins = g_plugins.Get();
    const std::lock_guard lock{plugins.mutex};
    return plugins.all;
}

void SetPluginMaker(PluginMaker make) { g_make_plugin = make; }

std::unique_ptr<Backend> LoadBackendPlugin(Context& context, const std::string& name) {
    CheckName(name);
    const std::vector<std::string> paths = CandidatePaths(name);
    for (const std::string& path : paths) {
        if (access(path.c_str(), F_OK) == 0) return Open(context, name, path);
    }
    std::string tried;
    for (const std::string& path : paths) tried += StrCat("\n  ", path);
    const char* const others = name == "cuda" ? "" : "; the CPU is 'native', a GPU 'cuda'";
    throw BackendError{"backend '", name,       "' is neither built in nor found as a plug-in",
                       others,      "; tried:", tried};
}

}  // namespace chainerx::internal

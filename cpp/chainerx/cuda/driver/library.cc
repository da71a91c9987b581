#include "chainerx/cuda/driver/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace {

std::string PathOf(void* handle) {
    // The name under which the loader knows it.
    char origin[4096];
    if (dlinfo(handle, RTLD_DI_ORIGIN, origin) != 0) return "";
    return origin;
}

bool Open(FoundLibrary& found, const std::string& path, int flags, const char* place) {
    const bool is_file = path.find('/') != std::string::npos;
    if (is_file && access(path.c_str(), F_OK) != 0) {
        found.tried += StrCat("\n  ", path, ": no such file");
        return false;
    }
    found.handle = dlopen(path.c_str(), flags);
    if (found.handle == nullptr) {
        if ((flags & RTLD_NOLOAD) == 0) found.tried += StrCat("\n  ", path, ": ", dlerror());
        return false;
    }
    const std::string name = path.substr(path.rfind('/') + 1);
    found.path = StrCat(PathOf(found.handle), "/", name);
    found.tried += StrCat("\n  ", found.path, ": taken", place);
    return true;
}

// The folder site-packages, if this library lies in <it>/chainerx/lib.
std::string SitePackages() {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&SitePackages), &info) == 0) return "";
    std::string path = info.dli_fname;
    for (int up = 0; up < 3; ++up) {
        const size_t slash = path.rfind('/');
        if (slash == std::string::npos) return "";
        path.resize(slash);
    }
    return path;
}

std::vector<std::string> WheelRoots() {
    std::vector<std::string> roots;
    // For builds in place, which do not lie beside wheels.
    if (const char* path = std::getenv("CHAINERX_CUDA_PATH")) {
        std::string rest = path;
        while (!rest.empty()) {
            const size_t colon = rest.find(':');
            if (colon != 0) roots.push_back(rest.substr(0, colon));
            rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
        }
    }
    if (std::string own = SitePackages(); !own.empty()) roots.push_back(std::move(own));
    return roots;
}

}  // namespace

const char* TestDriverFolder() {
    const char* folder = std::getenv("CHAINERX_CUDA_TEST_DRIVER");
    return folder != nullptr && *folder != 0 ? folder : nullptr;
}

FoundLibrary FindLibrary(const LibraryNames& names) {
    FoundLibrary found;
    constexpr int kFlags = RTLD_NOW | RTLD_GLOBAL;
    if (const char* folder = TestDriverFolder()) {
        for (const std::string& soname : names.sonames) {
            if (Open(found, StrCat(folder, "/", soname), RTLD_NOW | RTLD_LOCAL, " (test driver)"))
                break;
        }
        return found;
    }
    for (const std::string& soname : names.sonames) {
        if (Open(found, soname, kFlags | RTLD_NOLOAD, ", already loaded")) return found;
    }
    std::vector<std::string> places;
    for (const std::string& root : WheelRoots()) {
        for (const std::string& folder : names.wheel_folders) {
            places.push_back(StrCat(root, "/", folder, "/"));
        }
    }
    if (const char* conda = std::getenv("CONDA_PREFIX")) places.push_back(StrCat(conda, "/lib/"));
    places.emplace_back();  // where the system's loader looks
    if (const char* home = std::getenv("CUDA_HOME")) places.push_back(StrCat(home, "/lib64/"));
    for (const std::string& place : places) {
        for (const std::string& soname : names.sonames) {
            if (Open(found, place + soname, kFlags, "")) return found;
        }
    }
    return found;
}

void* FindSymbol(const FoundLibrary& library, const char* title, const char* symbol) {
    void* p = dlsym(library.handle, symbol);
    if (p == nullptr) {
        throw BackendError{"cuda: ",
                           title,
                           " (",
                           library.path,
                           ") has no function ",
                           symbol,
                           "; a newer version is needed"};
    }
    return p;
}

}  // namespace chainerx::cuda

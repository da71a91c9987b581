// Finds the libraries of NVIDIA at run time. They are never closed: their threads and handlers may
// outlive any owner.
#pragma once

#include <string>
#include <vector>

#include "chainerx/core/macro.h"

namespace chainerx::cuda {

// One library: how it is called in each place where it may lie.
struct LibraryNames {
    const char* title;                       // "NVRTC", for messages
    std::vector<std::string> sonames;        // newest first
    std::vector<std::string> wheel_folders;  // below site-packages
};

struct FoundLibrary {
    void* handle{nullptr};  // null if not found
    std::string path;       // the file, as the loader resolved it
    std::string tried;      // a line per place that was looked at
};

// In this order: what the process has loaded already, wheels from PyPI, conda, the system's loader,
// $CUDA_HOME. With $CHAINERX_CUDA_TEST_DRIVER only that folder.
FoundLibrary FindLibrary(const LibraryNames& names);

// The folder of the stand-ins for tests, or null.
const char* TestDriverFolder();

// Throws BackendError if the library lacks the symbol.
void* FindSymbol(const FoundLibrary& library, const char* title, const char* symbol);

}  // namespace chainerx::cuda

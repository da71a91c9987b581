#include "chainerx/cuda/driver/cudnn.h"

#include <dlfcn.h>

#include <cstdio>
#include <memory>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/driver.h"

namespace chainerx::cuda {
namespace {

// Parts of the library, each after those that it needs. It opens them by name alone, so that the
// loader may take others of the system, or what another package has loaded.
constexpr const char* kParts[] = {
    "libcudnn_graph.so.9",
    "libcudnn_ops.so.9",
    "libcudnn_cnn.so.9",
    "libcudnn_engines_runtime_compiled.so.9",
    "libcudnn_engines_precompiled.so.9",
    "libcudnn_heuristic.so.9",
};

using GetNumber = size_t (*)();

size_t ReadNumber(void* handle, const char* symbol) {
    const auto read = reinterpret_cast<GetNumber>(dlsym(handle, symbol));
    return read != nullptr ? read() : 0;
}

// 92801 is 9.28.1.
std::string VersionOf(void* handle) {
    const size_t version = ReadNumber(handle, "cudnnGetVersion");
    return StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

std::string FolderOf(void* handle) {
    char origin[4096];
    return dlinfo(handle, RTLD_DI_ORIGIN, origin) == 0 ? origin : "an unknown folder";
}

// cuDNN ends the process if it doesn't find cuBLASLt of its own major version.
void RequireCublasLt(const FoundLibrary& library) {
    const size_t cuda = ReadNumber(library.handle, "cudnnGetCudartVersion") / 1000;
    const int driver = GetDriverVersion() / 1000;
    if (cuda > static_cast<size_t>(driver)) {
        throw BackendError{"cuda: cuDNN (",
                           library.path,
                           ") is for CUDA ",
                           cuda,
                           ", but the driver supports CUDA ",
                           driver,
                           "; `pip install nvidia-cudnn-cu",
                           driver,
                           "` instead, or install a later driver"};
    }
    const LibraryNames names{
        "cuBLASLt",
        {StrCat("libcublasLt.so.", cuda)},
        {cuda >= 13 ? StrCat("nvidia/cu", cuda, "/lib") : "nvidia/cublas/lib"}};
    const FoundLibrary found = FindLibrary(names);
    if (found.handle == nullptr) {
        throw BackendError{"cuda: cuDNN (",
                           library.path,
                           ") needs cuBLASLt of CUDA ",
                           cuda,
                           ", which was not found; `pip install nvidia-cublas",
                           cuda >= 13 ? "" : "-cu12",
                           "` installs it; tried:",
                           found.tried};
    }
}

// Loads the parts that lie beside the library, so that it finds these.
void LoadParts(const FoundLibrary& library) {
    const std::string folder = FolderOf(library.handle);
    for (const char* part : kParts) {
        const std::string path = StrCat(folder, "/", part);
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
        // What the library gets by this name.
        void* used = dlopen(part, RTLD_NOW | RTLD_NOLOAD);
        if (used == nullptr || used == handle) continue;
        throw BackendError{"cuda: parts of cuDNN come from two folders: ",
                           library.path,
                           " (",
                           VersionOf(library.handle),
                           ") would use ",
                           part,
                           " (",
                           VersionOf(used),
                           ") of ",
                           FolderOf(used),
                           ", which the process has loaded already; install one version only, or "
                           "use chainerx first"};
    }
}

void CheckParts(const FoundLibrary& library) {
    const std::string version = VersionOf(library.handle);
    if (void* graph = dlopen(StrCat(FolderOf(library.handle), "/", kParts[0]).c_str(),
                             RTLD_NOW | RTLD_NOLOAD)) {
        if (VersionOf(graph) != version) {
            throw BackendError{"cuda: parts of cuDNN don't match: ",
                               library.path,
                               " is of version ",
                               version,
                               ", ",
                               FolderOf(graph),
                               "/",
                               kParts[0],
                               " of ",
                               VersionOf(graph),
                               "; install it anew"};
        }
    }
    for (const char* check :
         {"cudnnGraphVersionCheck", "cudnnOpsVersionCheck", "cudnnCnnVersionCheck"}) {
        const auto run = reinterpret_cast<int (*)()>(dlsym(library.handle, check));
        if (run == nullptr || run() != CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH) continue;
        throw BackendError{"cuda: parts of cuDNN don't match: ",
                           library.path,
                           " is of version ",
                           version,
                           ", and ",
                           check,
                           " of it finds another one; install it anew"};
    }
}

FoundLibrary FindFile() { return FindLibrary({"cuDNN", {"libcudnn.so.9"}, {"nvidia/cudnn/lib"}}); }

Cudnn* Open(FoundLibrary found) {
    auto cudnn = std::make_unique<Cudnn>();
    cudnn->library = std::move(found);
    void* handle = cudnn->library.handle;
    if (handle == nullptr) {
        throw BackendError{
            "cuda: cuDNN, which computes convolutions, was not found, and kernels of chainerx do; "
            "`pip install nvidia-cudnn-cu",
            GetDriverVersion() >= 13000 ? "13" : "12",
            "` installs it; tried:", cudnn->library.tried};
    }
    RequireCublasLt(cudnn->library);
    LoadParts(cudnn->library);
    CheckParts(cudnn->library);
#define CX_CUDNN(Name, symbol, params) \
    cudnn->Name = reinterpret_cast<int(*) params>(FindSymbol(cudnn->library, "cuDNN", #symbol));
#include "chainerx/cuda/driver/cudnn.def"
#undef CX_CUDNN
    cudnn->GetLastErrorString =
        reinterpret_cast<void (*)(char*, size_t)>(dlsym(handle, "cudnnGetLastErrorString"));
    cudnn->version = VersionOf(handle);
    return cudnn.release();
}

// Null where it can't be used.
struct OptionalCudnn {
    const Cudnn* library;
};

constinit internal::Lazy<const Cudnn> g_cudnn;
constinit internal::Lazy<const OptionalCudnn> g_optional_cudnn;

}  // namespace

const Cudnn& GetCudnn() {
    return g_cudnn.Get([] { return Open(FindFile()); });
}

const Cudnn* FindCudnn() {
    return g_optional_cudnn
        .Get([] {
            if (FindFile().handle == nullptr) return new OptionalCudnn{nullptr};
            try {
                return new OptionalCudnn{&GetCudnn()};
            } catch (const BackendError& e) {
                std::fprintf(stderr, "chainerx: convolutions don't use cuDNN: %s\n", e.what());
                return new OptionalCudnn{nullptr};
            }
        })
        .library;
}

void ThrowCudnnError(const char* function, int status) {
    const Cudnn& cudnn = GetCudnn();
    char text[512] = "";
    if (cudnn.GetLastErrorString != nullptr) cudnn.GetLastErrorString(text, sizeof(text));
    const std::string message =
        StrCat("cuda: ", function, " of ", cudnn.library.path, " failed with status ", status,
               *text != 0 ? ": " : "", text);
    if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) {
        throw OutOfMemoryError{message};
    }
    throw BackendError{message};
}

}  // namespace chainerx::cuda

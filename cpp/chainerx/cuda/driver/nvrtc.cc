#include "chainerx/cuda/driver/nvrtc.h"

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/driver.h"

namespace chainerx::cuda {
namespace {

const LibraryNames kNewest{
    "NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"}, {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}};

// Machine code runs on any driver of the same major version, or a later one.
LibraryNames NamesFor(int driver_version) {
    if (driver_version >= 13000) return kNewest;
    return {"NVRTC", {"libnvrtc.so.12"}, {"nvidia/cuda_nvrtc/lib"}};
}

Nvrtc* Open() {
    auto* nvrtc = new Nvrtc{};
    const int version = GetDriverVersion();
    nvrtc->library = FindLibrary(NamesFor(version));
    if (nvrtc->library.handle == nullptr) {
        if (const FoundLibrary other = FindLibrary(kNewest); other.handle != nullptr) {
            throw BackendError{"cuda: NVRTC, which compiles kernels, is of CUDA 13 (",
                               other.path,
                               "), but the driver supports CUDA ",
                               version / 1000,
                               ".",
                               version % 1000 / 10,
                               " only; update the driver to 580 or later, or `pip install "
                               "chainerx[cuda12]`"};
        }
        throw BackendError{
            "cuda: NVRTC, which compiles kernels, was not found; "
            "`pip install chainerx[cuda",
            version / 1000, "]` installs it; tried:", nvrtc->library.tried};
    }
#define CX_NVRTC(Name, symbol, params) \
    nvrtc->Name =                      \
        reinterpret_cast<nvrtcResult(*) params>(FindSymbol(nvrtc->library, "NVRTC", #symbol));
#include "chainerx/cuda/driver/nvrtc.def"
#undef CX_NVRTC
    nvrtc->Version(&nvrtc->major, &nvrtc->minor);
    int count = 0;
    nvrtc->GetNumSupportedArchs(&count);
    nvrtc->archs.resize(static_cast<size_t>(count));
    nvrtc->GetSupportedArchs(nvrtc->archs.data());
    return nvrtc;
}

constinit internal::Lazy<const Nvrtc> g_nvrtc;

}  // namespace

const Nvrtc& GetNvrtc() { return g_nvrtc.Get(&Open); }

}  // namespace chainerx::cuda

#include "chainerx/cuda/driver/driver.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx::cuda {
namespace {

constexpr int kOldestVersion = 12000;

pid_t g_owner = 0;  // the process that called cuInit

// Why the driver sees no GPU.
std::string AdviceForNoDevice() {
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
        return StrCat("the variable CUDA_VISIBLE_DEVICES is '", visible,
                      "', and GPUs that it does not name are hidden: unset it, or name one that "
                      "nvidia-smi -L lists");
    }
    for (const char* path : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"}) {
        if (access(path, F_OK) == 0 && access(path, R_OK | W_OK) != 0) {
            return StrCat("this process may not open ", path,
                          ": see its permissions, and the groups of the user");
        }
    }
    return "no GPU is visible: see nvidia-smi; a container needs --gpus all, and a GPU in MIG mode "
           "an instance";
}

std::string AdviceFor(CUresult result) {
    switch (result) {
        case CUDA_ERROR_NO_DEVICE:
            return AdviceForNoDevice();
        case CUDA_ERROR_NOT_PERMITTED:
            return "this process may not use the GPU: see the permissions of /dev/nvidia*";
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
            return "the kernel module of another driver is loaded: restart the machine";
        case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
            return "a compatibility library of CUDA is in the way of this GPU's own driver: remove "
                   "it "
                   "from LD_LIBRARY_PATH";
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_FAILED:
            return "a kernel has failed, and nothing more can be computed on this GPU by this "
                   "process";
        default:
            return "";
    }
}

Driver* Open() {
    auto* driver = new Driver{};
    driver->library = FindLibrary({"the driver of CUDA", {"libcuda.so.1"}, {}});
    if (driver->library.handle == nullptr) {
        throw BackendError{
            "cuda: no driver of NVIDIA was found (libcuda.so.1); install one, or use "
            "device='native'; tried:",
            driver->library.tried};
    }
#define CX_DRIVER(Name, symbol, params) \
    driver->Name =                      \
        reinterpret_cast<CUresult(*) params>(FindSymbol(driver->library, "the driver", #symbol));
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER
    if (TestDriverFolder() != nullptr) {
        std::fprintf(stderr, "chainerx: cuda runs on the test driver in %s, on the CPU\n",
                     TestDriverFolder());
    }
    driver->DriverGetVersion(&driver->version);
    if (driver->version < kOldestVersion) {
        throw BackendError{"cuda: the driver (",
                           driver->library.path,
                           ") supports CUDA ",
                           driver->version / 1000,
                           ".",
                           driver->version % 1000 / 10,
                           ", but 12.0 is needed; install a driver of version 525 or later"};
    }
    if (const CUresult result = driver->Init(0); result != CUDA_SUCCESS) {
        const char* name = nullptr;
        driver->GetErrorName(result, &name);
        const std::string advice = result == CUDA_ERROR_UNKNOWN
                                       ? "see dmesg; after a suspend, reload nvidia_uvm"
                                       : AdviceFor(result);
        throw BackendError{"cuda: the driver (",       driver->library.path,
                           ") does not start: ",       name != nullptr ? name : "unknown error",
                           advice.empty() ? "" : "; ", advice};
    }
    g_owner = getpid();
    return driver;
}

constinit internal::Lazy<const Driver> g_driver;

}  // namespace

const Driver& GetDriver() { return g_driver.Get(&Open); }

int GetDriverVersion() {
    try {
        return GetDriver().version;
    } catch (const BackendError&) {
        return 13000;
    }
}

void CheckFailed(CUresult result, const char* function) {
    if (g_owner != 0 && getpid() != g_owner) {
        throw BackendError{
            "cuda: this process was forked from one that had used CUDA, which "
            "can't be used in both; start processes by 'spawn' or 'forkserver', or "
            "fork before the first use (",
            function, ")"};
    }
    const Driver& driver = GetDriver();
    const char* name = nullptr;
    const char* text = nullptr;
    driver.GetErrorName(result, &name);
    driver.GetErrorString(result, &text);
    if (name == nullptr) name = "unknown error";
    if (text == nullptr) text = "no description";
    const std::string advice = AdviceFor(result);
    const std::string message =
        StrCat("cuda: ", function, ": ", name, " (", text, ")", advice.empty() ? "" : "; ", advice);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfMemoryError{message};
    throw BackendError{message};
}

}  // namespace chainerx::cuda

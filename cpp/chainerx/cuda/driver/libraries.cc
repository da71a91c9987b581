#include "chainerx/cuda/driver/libraries.h"

#include <dlfcn.h>

#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/driver.h"

namespace chainerx::cuda {
namespace {

// Where a library comes from. CUDA 13's wheels share a folder.
struct Wheel {
    const char* title;
    const char* use;
    const char* soname13;
    const char* soname12;
    const char* folder12;
    const char* package;
    const char* suffix13{""};  // of the package for CUDA 13
};

constexpr Wheel kCufft{"cuFFT",          "Fourier transforms", "libcufft.so.12",
                       "libcufft.so.11", "nvidia/cufft/lib",   "nvidia-cufft"};
constexpr Wheel kCusolver{"cuSOLVER",          "decompositions of matrices", "libcusolver.so.12",
                          "libcusolver.so.11", "nvidia/cusolver/lib",        "nvidia-cusolver"};

constexpr Wheel kCublasLt{"cuBLASLt",          "products of large matrices", "libcublasLt.so.13",
                          "libcublasLt.so.12", "nvidia/cublas/lib",          "nvidia-cublas"};

constexpr Wheel kNccl{"NCCL",         "sums over several GPUs", "libnccl.so.2",
                      "libnccl.so.2", "nvidia/nccl/lib",        "nvidia-nccl",
                      "-cu13"};

FoundLibrary OpenWheel(const Wheel& wheel) {
    const bool has_cuda13 = GetDriverVersion() >= 13000;
    LibraryNames names{wheel.title, {wheel.soname12}, {wheel.folder12}};
    if (has_cuda13) {
        if (std::string_view{wheel.soname13} != wheel.soname12) {
            names.sonames.insert(names.sonames.begin(), wheel.soname13);
        }
        names.wheel_folders.insert(names.wheel_folders.begin(), "nvidia/cu13/lib");
    }
    FoundLibrary found = FindLibrary(names);
    if (found.handle == nullptr) {
        throw BackendError{"cuda: ",
                           wheel.title,
                           ", which computes ",
                           wheel.use,
                           ", was not found; `pip install ",
                           wheel.package,
                           has_cuda13 ? wheel.suffix13 : "-cu12",
                           "` installs it; tried:",
                           found.tried};
    }
    return found;
}

// 12345 is 12.3.45.
std::string ReadVersion(int (*read)(int* version)) {
    int version = 0;
    if (read == nullptr || read(&version) != 0) return "unknown";
    return StrCat(version / 1000, ".", version / 100 % 10, ".", version % 100);
}

Cufft* OpenCufft() {
    auto* cufft = new Cufft{};
    cufft->library = OpenWheel(kCufft);
#define CX_CUFFT(Name, symbol, params) \
    cufft->Name = reinterpret_cast<int(*) params>(dlsym(cufft->library.handle, #symbol));
#include "chainerx/cuda/driver/cufft.def"
#undef CX_CUFFT
    cufft->version = ReadVersion(cufft->GetVersion);
    return cufft;
}

Cusolver* OpenCusolver() {
    auto* cusolver = new Cusolver{};
    cusolver->library = OpenWheel(kCusolver);
#define CX_CUSOLVER(Name, symbol, params) \
    cusolver->Name = reinterpret_cast<int(*) params>(dlsym(cusolver->library.handle, #symbol));
#include "chainerx/cuda/driver/cusolver.def"
#undef CX_CUSOLVER
    cusolver->version = ReadVersion(cusolver->GetVersion);
    return cusolver;
}

CublasLt* OpenCublasLt() {
    auto* cublaslt = new CublasLt{};
    cublaslt->library = OpenWheel(kCublasLt);
#define CX_CUBLASLT(Name, symbol, params) \
    cublaslt->Name = reinterpret_cast<int(*) params>(dlsym(cublaslt->library.handle, #symbol));
#include "chainerx/cuda/driver/cublaslt.def"
#undef CX_CUBLASLT
    cublaslt->version = "unknown";
    const auto read =
        reinterpret_cast<size_t (*)()>(dlsym(cublaslt->library.handle, "cublasLtGetVersion"));
    if (read != nullptr) {
        const size_t version = read();
        cublaslt->version = StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
    }
    return cublaslt;
}

Nccl* OpenNccl() {
    auto* nccl = new Nccl{};
    nccl->library = OpenWheel(kNccl);
#define CX_NCCL(Name, symbol, params) \
    nccl->Name = reinterpret_cast<int(*) params>(dlsym(nccl->library.handle, #symbol));
#include "chainerx/cuda/driver/nccl.def"
#undef CX_NCCL
    int version = 0;
    if (nccl->GetVersion != nullptr && nccl->GetVersion(&version) == 0) {
        nccl->version = StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
    }
    return nccl;
}

// Whether it is there; null where it is not.
template <typename L>
struct Optional {
    const L* library;
};

template <typename L, const L& (*kGet)()>
Optional<L>* Find() {
    try {
        return new Optional<L>{&kGet()};
    } catch (const BackendError&) {
        return new Optional<L>{nullptr};
    }
}

constinit internal::Lazy<const CublasLt> g_cublaslt;
constinit internal::Lazy<const Optional<CublasLt>> g_optional_cublaslt;
constinit internal::Lazy<const Nccl> g_nccl;
constinit internal::Lazy<const Optional<Nccl>> g_optional_nccl;
constinit internal::Lazy<const Cufft> g_cufft;
constinit internal::Lazy<const Cusolver> g_cusolver;

}  // namespace

const Cufft& GetCufft() { return g_cufft.Get(&OpenCufft); }
const CublasLt& GetCublasLt() { return g_cublaslt.Get(&OpenCublasLt); }
const CublasLt* FindCublasLt() {
    return g_optional_cublaslt.Get(&Find<CublasLt, GetCublasLt>).library;
}
const Nccl& GetNccl() { return g_nccl.Get(&OpenNccl); }
const Nccl* FindNccl() { return g_optional_nccl.Get(&Find<Nccl, GetNccl>).library; }
const Cusolver& GetCusolver() { return g_cusolver.Get(&OpenCusolver); }

cudaDataType DataTypeOf(Dtype dtype) {
    switch (dtype) {
        case Dtype::kFloat16:
            return CUDA_R_16F;
        case Dtype::kBFloat16:
            return CUDA_R_16BF;
        case Dtype::kFloat32:
            return CUDA_R_32F;
        case Dtype::kFloat64:
            return CUDA_R_64F;
        case Dtype::kComplex64:
            return CUDA_C_32F;
        default:
            return CUDA_C_64F;
    }
}

void CheckLibraryFailed(const FoundLibrary& library, const char* function, int status) {
    if (std::string_view{function}.starts_with("nccl")) {
        const auto text =
            reinterpret_cast<const char* (*)(int)>(dlsym(library.handle, "ncclGetErrorString"));
        throw BackendError{"cuda: ",
                           function,
                           " of ",
                           library.path,
                           " failed with status ",
                           status,
                           " (",
                           text != nullptr ? text(status) : "no description",
                           "); NCCL_DEBUG=WARN says more, CHAINERX_CUDA_ALL_REDUCE=copies does "
                           "without it"};
    }
    constexpr int kAllocFailed = 2;  // of all others
    constexpr int kCublasAllocFailed = 3;
    const bool is_cublas = std::string_view{function}.starts_with("cublas");
    const std::string text =
        StrCat("cuda: ", function, " of ", library.path, " failed with status ", status);
    if (status == (is_cublas ? kCublasAllocFailed : kAllocFailed)) {
        throw OutOfMemoryError{StrCat(text, ": out of memory of the device")};
    }
    throw BackendError{text};
}

void ThrowNoFunction(const FoundLibrary& library, const char* function) {
    throw BackendError{"cuda: ", library.path, " has no function ", function,
                       "; a newer version is needed"};
}

}  // namespace chainerx::cuda

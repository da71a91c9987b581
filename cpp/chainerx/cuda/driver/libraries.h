// NVIDIA's libraries beyond the driver and NVRTC, each opened when a kernel first needs it.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

#include "chainerx/core/dtype.h"
#include "chainerx/core/macro.h"
#include "chainerx/cuda/driver/library.h"
#include "chainerx/cuda/driver/library_types.h"

namespace chainerx::cuda {

// Functions that the version at hand lacks are null until one is called.
struct Cufft {
#define CX_CUFFT(Name, symbol, params) int(*Name) params;
#include "chainerx/cuda/driver/cufft.def"
#undef CX_CUFFT
    FoundLibrary library;
    std::string version;
};

struct Cusolver {
#define CX_CUSOLVER(Name, symbol, params) int(*Name) params;
#include "chainerx/cuda/driver/cusolver.def"
#undef CX_CUSOLVER
    FoundLibrary library;
    std::string version;
};

struct CublasLt {
#define CX_CUBLASLT(Name, symbol, params) int(*Name) params;
#include "chainerx/cuda/driver/cublaslt.def"
#undef CX_CUBLASLT
    FoundLibrary library;
    std::string version;
};

struct Nccl {
#define CX_NCCL(Name, symbol, params) int(*Name) params;
#include "chainerx/cuda/driver/nccl.def"
#undef CX_NCCL
    FoundLibrary library;
    std::string version;
};

// Of floating-point and complex dtypes.
cudaDataType DataTypeOf(Dtype dtype);

// They throw BackendError, which names the wheel to install and says where was looked.
const Cufft& GetCufft();
const Cusolver& GetCusolver();
const CublasLt& GetCublasLt();
const Nccl& GetNccl();
// Null if there is none; it was looked for once.
const CublasLt* FindCublasLt();
const Nccl* FindNccl();

// Throws what a status other than 0 means: OutOfMemoryError, or BackendError.
CX_COLD void CheckLibraryFailed(const FoundLibrary& library, const char* function, int status);
[[noreturn]] CX_COLD void ThrowNoFunction(const FoundLibrary& library, const char* function);

template <typename... Params, typename... Args>
void CallLibrary(const FoundLibrary& library, const char* name, int (*function)(Params...),
                 Args... args) {
    if (function == nullptr) [[unlikely]]
        ThrowNoFunction(library, name);
    if (const int status = function(args...); status != 0) [[unlikely]] {
        CheckLibraryFailed(library, name, status);
    }
}

}  // namespace chainerx::cuda

// Calls a function of a library: CX_CUFFT_CALL(SetStream, plan, stream).
#define CX_CUFFT_CALL(Name, ...)                                                       \
    ::chainerx::cuda::CallLibrary(::chainerx::cuda::GetCufft().library, "cufft" #Name, \
                                  ::chainerx::cuda::GetCufft().Name, __VA_ARGS__)
#define CX_CUSOLVER_CALL(Name, ...)                                                            \
    ::chainerx::cuda::CallLibrary(::chainerx::cuda::GetCusolver().library, "cusolverDn" #Name, \
                                  ::chainerx::cuda::GetCusolver().Name, __VA_ARGS__)
#define CX_NCCL_CALL(Name, ...)                                                      \
    ::chainerx::cuda::CallLibrary(::chainerx::cuda::GetNccl().library, "nccl" #Name, \
                                  ::chainerx::cuda::GetNccl().Name __VA_OPT__(, ) __VA_ARGS__)
#define CX_CUBLASLT_CALL(Name, ...)                                                          \
    ::chainerx::cuda::CallLibrary(::chainerx::cuda::GetCublasLt().library, "cublasLt" #Name, \
                                  ::chainerx::cuda::GetCublasLt().Name, __VA_ARGS__)

// CUDA's driver, opened on first use.
#pragma once

#include "chainerx/core/macro.h"
#include "chainerx/cuda/driver/library.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

struct Driver {
#define CX_DRIVER(Name, symbol, params) CUresult(*Name) params;
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER
    FoundLibrary library;
    int version{0};  // of CUDA that it supports: 13000 is 13.0
};

// Throws BackendError, which says what is missing and what to do, if there is none that works here.
const Driver& GetDriver();
// Without a driver, as for compiling for another machine, that of the newest.
int GetDriverVersion();

// Throws what a result other than success means: OutOfMemoryError, or BackendError with the
// function, the name of the error and, where known, what to do.
CX_COLD void CheckFailed(CUresult result, const char* function);

inline void Check(CUresult result, const char* function) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        CheckFailed(result, function);
}

}  // namespace chainerx::cuda

// Calls a function of the driver: CX_CU(MemFree, p).
#define CX_CU(Name, ...) \
    ::chainerx::cuda::Check(::chainerx::cuda::GetDriver().Name(__VA_ARGS__), "cu" #Name)

// cuDNN, by its graph interface; opened when a convolution first needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "chainerx/core/macro.h"
#include "chainerx/cuda/driver/cudnn_types.h"
#include "chainerx/cuda/driver/library.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

struct Cudnn {
#define CX_CUDNN(Name, symbol, params) int(*Name) params;
#include "chainerx/cuda/driver/cudnn.def"
#undef CX_CUDNN
    void (*GetLastErrorString)(char* text, size_t size);  // null before 9.0
    FoundLibrary library;
    std::string version;
};

// Throws BackendError, which names the wheel to install and says where was looked, or why what is
// there can't be used.
const Cudnn& GetCudnn();
// Null if there is none; it was looked for once. What is there and can't be used is said on stderr.
const Cudnn* FindCudnn();

// Throws what a status other than 0 means: OutOfMemoryError, or BackendError.
[[noreturn]] CX_COLD void ThrowCudnnError(const char* function, int status);

template <typename... Params, typename... Args>
void CallCudnn(const char* name, int (*function)(Params...), Args... args) {
    if (const int status = function(args...); status != 0) [[unlikely]] {
        ThrowCudnnError(name, status);
    }
}

}  // namespace chainerx::cuda

// Calls a function of the library: CX_CUDNN_CALL(SetStream, handle, stream).
#define CX_CUDNN_CALL(Name, ...) \
    ::chainerx::cuda::CallCudnn("cudnn" #Name, ::chainerx::cuda::GetCudnn().Name, __VA_ARGS__)

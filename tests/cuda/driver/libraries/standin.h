// What the stand-ins for NVIDIA's libraries share: checks of arguments, and work on the streams of
// the test driver.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "../kernel_abi.h"
#include "../test_api.h"
#include "chainerx/cuda/driver/library_types.h"

#define CX_EXPORT extern "C" [[gnu::visibility("default")]]

namespace chainerx::cuda::standin {

// Where the stand-in, as a kernel, sees memory of the device.
template <typename T>
T* View(T* p) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) + test::kKernelView);
}

// The status of a call, thrown inside of the stand-in.
struct Failure {
    int status;
};

inline void Require(bool condition, const char* what, int status) {
    if (condition) return;
    std::fprintf(stderr, "chainerx test driver: %s\n", what);
    throw Failure{status};
}

// Adds a line to the file $CHAINERX_CUDA_TEST_TRACE, if there is one.
inline void Trace(const std::string& line) {
    const char* path = std::getenv("CHAINERX_CUDA_TEST_TRACE");
    if (path == nullptr) return;
    std::FILE* file = std::fopen(path, "a");
    if (file == nullptr) return;
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
}

// Is it memory of the device, aligned so, of so many bytes?
inline bool IsMemory(const void* p, std::uint64_t nbytes, std::uint64_t alignment) {
    return reinterpret_cast<std::uintptr_t>(p) % alignment == 0 && cx_test_covers(p, nbytes);
}

inline void Enqueue(CUstream stream, std::function<void()> task, int status) {
    auto* const data = new std::function<void()>{std::move(task)};
    const auto run = [](void* p) { (*static_cast<std::function<void()>*>(p))(); };
    const auto drop = [](void* p) { delete static_cast<std::function<void()>*>(p); };
    Require(cx_test_enqueue(stream, run, data, drop) == 0, "the stream takes no work", status);
}

template <typename F>
int Run(const F& f) {
    try {
        f();
        return 0;
    } catch (const Failure& failure) {
        return failure.status;
    }
}

// The bytes of a number of this type, 0 if there is none.
inline std::uint64_t SizeOf(cudaDataType type) {
    switch (type) {
        case CUDA_R_16F:
        case CUDA_R_16BF:
            return 2;
        case CUDA_R_32F:
            return 4;
        case CUDA_R_64F:
        case CUDA_C_32F:
            return 8;
        case CUDA_C_64F:
            return 16;
    }
    return 0;
}

}  // namespace chainerx::cuda::standin

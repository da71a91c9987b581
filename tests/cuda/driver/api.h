// Every exported function starts here: its declaration, the checks that all share, injected
// failures.
#pragma once

#include <new>

#include "chainerx/cuda/driver/types.h"
#include "context.h"

namespace chainerx::cuda {

#pragma GCC visibility push(default)
extern "C" {
#define CX_DRIVER(name, symbol, params) CUresult symbol params;
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER
}
#pragma GCC visibility pop

namespace test {

enum class Api {
#define CX_DRIVER(name, symbol, params) symbol,
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER
};

inline void Require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
    if (!condition) throw otherwise;
}

// Throws what the call has to return at once: after a fork, before cuInit, inside of a host
// function, by CHAINERX_CUDA_TEST_FAIL.
void Enter(Api api);
// Throws unless the thread has a context without error.
CUctx_st& CurrentContext();
CUcontext& CurrentContextHandle();
// The context of a device, which may be in use or not; throws for a wrong number.
CUctx_st& PrimaryContext(CUdevice device);
void RequireInitialized();

// Throws, and invalidates the capture, if this thread captures: for calls that may synchronize.
void ForbidCapture();
// Throws, and invalidates the capture, if the stream is being captured.
void ForbidCapture(CUstream_st& stream);
// Adds the task to the stream's queue, or to the graph that is being captured.
void Enqueue(const std::shared_ptr<CUstream_st>& stream, Task task);

template <typename F>
CUresult Catch(F f) {
    try {
        f();
        return CUDA_SUCCESS;
    } catch (CUresult error) {
        return error;
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

// A call that needs no context.
template <typename F>
CUresult Call(Api api, F f) {
    return Catch([&] {
        Enter(api);
        f();
    });
}

// A call with the current context.
template <typename F>
CUresult CallIn(Api api, F f) {
    return Catch([&] {
        Enter(api);
        f(CurrentContext());
    });
}

}  // namespace test

}  // namespace chainerx::cuda

// The language of device sources: CUDA C++ as NVRTC compiles it without any header, by words that
// the test driver (tests/cuda) can give another meaning, so that it runs the same texts on the CPU.
//
//   CX_KERNEL(Name, Params)        a kernel of up to 256 threads a block; its only parameter is the
//                                  struct Params, named p. CX_KERNEL_OF(Name, Params, threads,
//                                  blocks) has registers for so many blocks of a processor at
//                                  least: else the compiler may spill in order to place more of
//                                  them
//   Ptr<T>                         device memory in Params: dereference, index, add, or convert to
//                                  T*; other structs hold no pointers
//   CX_SHARED(T, name, n)          an array in shared memory; its values are undefined
//   CX_DYNAMIC_SHARED(T, name)     the shared memory that the launch asks for, aligned to 16 bytes
//   CX_BEGIN()                     first in each kernel: waits for the kernels it depends on
//   threadIdx.x, blockIdx, blockDim, gridDim, __syncthreads(), __syncthreads_or(), __syncwarp(),
//   __shfl_sync(), __shfl_up_sync(), __shfl_down_sync(), __shfl_xor_sync(), __ballot_sync(),
//   __any_sync(), __all_sync(), __match_any_sync(), __activemask(), atomicAdd(), atomicCAS(),
//   atomicMax(), atomicMin(), atomicExch(), atomicOr(), __threadfence(), __threadfence_system(),
//   __ldg()                        as in CUDA
#pragma once

namespace chainerx::cuda {

inline constexpr int kBlockThreads = 256;  // but for few kernels
inline constexpr int kMaxDims = 10;        // of an array

}  // namespace chainerx::cuda

#if defined(CX_TEST_DRIVER)
#include <test_prelude.h>
#elif defined(__CUDACC_RTC__)

#define CX_KERNEL_OF(Name, Params, ...) \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__) Name(const __grid_constant__ Params p)
#define CX_SHARED(T, name, n) __shared__ T name[n]
#define CX_DYNAMIC_SHARED(T, name)                             \
    extern __shared__ __align__(16) unsigned char cx_shared[]; \
    T* const name = reinterpret_cast<T*>(cx_shared)

// Kernels are launched with programmatic stream serialization, so a kernel may start before the one
// in front of it has finished.
#if __CUDA_ARCH__ >= 900
#define CX_BEGIN() asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define CX_BEGIN() static_cast<void>(0)
#endif

namespace chainerx::cuda {
template <typename T>
using Ptr = T*;
}

#else  // the host's side of a launch, which only fills in parameters

namespace chainerx::cuda {

template <typename T>
struct Ptr {
    void* address;
    Ptr() = default;
    Ptr(void* p) : address{p} {}  // NOLINT: an address, whatever is there
};

}  // namespace chainerx::cuda

#endif

#if defined(CX_TEST_DRIVER) || defined(__CUDACC_RTC__)
// Threads of a block unless the kernel says otherwise.
#define CX_KERNEL(Name, Params) CX_KERNEL_OF(Name, Params, 256)
#endif

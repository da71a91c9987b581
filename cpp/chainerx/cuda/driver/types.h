// Our own declarations of the types of CUDA's driver API: the values are those of its ABI, which
// NVIDIA keeps stable. No header of NVIDIA is needed to build chainerx.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chainerx::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUmemGenericAllocationHandle = unsigned long long;

#define CX_CUDA_RESULTS(X)                            \
    X(CUDA_SUCCESS, 0)                                \
    X(CUDA_ERROR_INVALID_VALUE, 1)                    \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                    \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                  \
    X(CUDA_ERROR_NO_DEVICE, 100)                      \
    X(CUDA_ERROR_INVALID_DEVICE, 101)                 \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                  \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)              \
    X(CUDA_ERROR_INVALID_HANDLE, 400)                 \
    X(CUDA_ERROR_NOT_FOUND, 500)                      \
    X(CUDA_ERROR_NOT_READY, 600)                      \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)           \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                  \
    X(CUDA_ERROR_NOT_PERMITTED, 800)                  \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)         \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804) \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)     \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)     \
    X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904)        \
    X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905)       \
    X(CUDA_ERROR_CAPTURED_EVENT, 907)                 \
    X(CUDA_ERROR_UNKNOWN, 999)
#define CX_RESULT(name, value) name = value,
enum CUresult : int { CX_CUDA_RESULTS(CX_RESULT) };
#undef CX_RESULT

enum CUdevice_attribute : int {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
};

enum CUfunction_attribute : int { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

enum CUpointer_attribute : int {
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
};

enum CUmemorytype : int { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };

inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
// Handles of the default stream, which waits for all others, and of that of each thread.
inline const auto CU_STREAM_LEGACY = reinterpret_cast<CUstream>(1);
inline const auto CU_STREAM_PER_THREAD = reinterpret_cast<CUstream>(2);
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1;
inline constexpr unsigned CU_MEMHOSTALLOC_DEVICEMAP = 2;

// Virtual memory.
enum CUmemAllocationType : int { CU_MEM_ALLOCATION_TYPE_PINNED = 1 };
enum CUmemLocationType : int { CU_MEM_LOCATION_TYPE_DEVICE = 1 };
enum CUmemAccess_flags : int { CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };
enum CUmemAllocationGranularity_flags : int { CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0 };

struct CUmemLocation {
    CUmemLocationType type;
    int id;
};

struct CUmemAllocationProp {
    CUmemAllocationType type;
    int requestedHandleTypes;
    CUmemLocation location;
    void* win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
};
static_assert(sizeof(CUmemAllocationProp) == 32);

struct CUmemAccessDesc {
    CUmemLocation location;
    CUmemAccess_flags flags;
};
static_assert(sizeof(CUmemAccessDesc) == 12);

// Launches. The last of cuLaunchKernelEx's parameters are pairs of these and a pointer.
inline void* const CU_LAUNCH_PARAM_END = nullptr;
inline void* const CU_LAUNCH_PARAM_BUFFER_POINTER = reinterpret_cast<void*>(1);
inline void* const CU_LAUNCH_PARAM_BUFFER_SIZE = reinterpret_cast<void*>(2);

enum CUlaunchAttributeID : int {
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

struct CUlaunchAttribute {
    CUlaunchAttributeID id;
    char pad[4];
    union {
        char pad[64];
        int programmaticStreamSerializationAllowed;
    } value;
};
static_assert(sizeof(CUlaunchAttribute) == 72);

struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute* attrs;
    unsigned numAttrs;
};
static_assert(sizeof(CUlaunchConfig) == 56);

using CUhostFn = void (*)(void* data);

// Graphs.
enum CUstreamCaptureMode : int { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum CUstreamCaptureStatus : int {
    CU_STREAM_CAPTURE_STATUS_NONE = 0,
    CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
};

// The runtime compiler.
using nvrtcProgram = struct nvrtcProgram_st*;
enum nvrtcResult : int {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
};

}  // namespace chainerx::cuda

// Devices, primary contexts, error names.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <string>

#include "api.h"
#include "memory.h"
#include "settings.h"
#include "shared_memory.h"

namespace chainerx::cuda {

using test::Api, test::Call, test::CallIn, test::PrimaryContext, test::Require;

namespace {

struct ErrorName {
    CUresult error;
    const char* name;
};
#define CX_ERROR(name) \
    ErrorName { name, #name }
constexpr ErrorName kErrorNames[] = {
    CX_ERROR(CUDA_SUCCESS),
    CX_ERROR(CUDA_ERROR_INVALID_VALUE),
    CX_ERROR(CUDA_ERROR_OUT_OF_MEMORY),
    CX_ERROR(CUDA_ERROR_NOT_INITIALIZED),
    CX_ERROR(CUDA_ERROR_NO_DEVICE),
    CX_ERROR(CUDA_ERROR_INVALID_DEVICE),
    CX_ERROR(CUDA_ERROR_INVALID_IMAGE),
    CX_ERROR(CUDA_ERROR_INVALID_CONTEXT),
    CX_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU),
    CX_ERROR(CUDA_ERROR_INVALID_HANDLE),
    CX_ERROR(CUDA_ERROR_NOT_FOUND),
    CX_ERROR(CUDA_ERROR_NOT_READY),
    CX_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS),
    CX_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
    CX_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED),
    CX_ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    CX_ERROR(CUDA_ERROR_LAUNCH_FAILED),
    CX_ERROR(CUDA_ERROR_NOT_PERMITTED),
    CX_ERROR(CUDA_ERROR_NOT_SUPPORTED),
    CX_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
    CX_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
    CX_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
    CX_ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION),
    CX_ERROR(CUDA_ERROR_CAPTURED_EVENT),
    CX_ERROR(CUDA_ERROR_UNKNOWN),
};
#undef CX_ERROR

int Attribute(CUdevice_attribute attribute) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            return 1024;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
            return test::SharedMemory::kStaticLimit;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
            return 32;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
            return 1000000;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return 4;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
            return 0;
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
            return 1000000;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
            return 64;
        case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
            return 1 << 20;
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
            return 2048;
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
            return 1;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return test::GetSettings().arch / 10;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            return test::GetSettings().arch % 10;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
            return 228 << 10;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
            return test::SharedMemory::kLimit;
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
            return 1;
    }
    throw CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuDriverGetVersion(int* version) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 13000;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
    const auto* found = std::find_if(std::begin(kErrorNames), std::end(kErrorNames),
                                     [&](const ErrorName& e) { return e.error == error; });
    *name = found == std::end(kErrorNames) ? nullptr : found->name;
    return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }

CUresult cuDeviceGetCount(int* count) {
    return Call(Api::cuDeviceGetCount, [&] { *count = test::GetSettings().devices; });
}

CUresult cuDeviceGet(CUdevice* device, int index) {
    return Call(Api::cuDeviceGet, [&] { *device = PrimaryContext(index).device; });
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
    return Call(Api::cuDeviceGetName, [&] {
        PrimaryContext(device);
        std::snprintf(name, static_cast<std::size_t>(size), "test driver (CPU)");
    });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    return Call(Api::cuDeviceGetAttribute, [&] {
        PrimaryContext(device);
        *value = Attribute(attribute);
    });
}

CUresult cuDeviceTotalMem_v2(size_t* nbytes, CUdevice device) {
    return Call(Api::cuDeviceTotalMem_v2, [&] {
        PrimaryContext(device);
        *nbytes = test::GetSettings().memory;
    });
}

CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
    return Call(Api::cuDeviceGetPCIBusId, [&] {
        PrimaryContext(device);
        std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", device);
    });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    return Call(Api::cuDevicePrimaryCtxRetain, [&] {
        CUctx_st& primary = PrimaryContext(device);
        ++primary.uses;
        *context = &primary;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return Call(Api::cuDevicePrimaryCtxRelease_v2, [&] {
        CUctx_st& primary = PrimaryContext(device);
        Require(primary.uses > 0, CUDA_ERROR_INVALID_CONTEXT);
        if (--primary.uses == 0) primary.Destroy();
    });
}

CUresult cuCtxSetCurrent(CUcontext context) {
    return Call(Api::cuCtxSetCurrent, [&] { test::CurrentContextHandle() = context; });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
    return Call(Api::cuCtxGetCurrent, [&] { *context = test::CurrentContextHandle(); });
}

CUresult cuCtxSynchronize() {
    return CallIn(Api::cuCtxSynchronize, [](CUctx_st& context) {
        test::ForbidCapture();
        context.Synchronize();
        Require(context.error == CUDA_SUCCESS, context.error);
    });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    return Call(Api::cuDeviceCanAccessPeer,
                [&] { *can = &PrimaryContext(device) != &PrimaryContext(peer); });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    return CallIn(Api::cuCtxEnablePeerAccess, [&](CUctx_st& context) {
        Require(flags == 0 && peer != nullptr && peer != &context);
        const std::lock_guard lock{context.mutex};
        Require(context.peers.insert(peer).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    });
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr p) {
    return CallIn(Api::cuPointerGetAttribute, [&](CUctx_st&) {
        const auto a = test::Memory::Get().Find(p);
        Require(a.has_value());
        const bool pinned = a->kind == test::Allocation::kPinned;
        switch (attribute) {
            case CU_POINTER_ATTRIBUTE_CONTEXT:
                *static_cast<CUcontext*>(value) = &PrimaryContext(a->device);
                return;
            case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
                *static_cast<unsigned*>(value) = pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
                return;
            case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
                *static_cast<CUdeviceptr*>(value) = p;
                return;
            case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
                *static_cast<int*>(value) = a->device;
                return;
        }
        throw CUDA_ERROR_INVALID_VALUE;
    });
}

}  // namespace chainerx::cuda

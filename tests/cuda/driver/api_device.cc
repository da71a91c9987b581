// Devices, primary contexts, error names.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "api.h"
#include "memory.h"
#include "settings.h"
#include "shared_memory.h"

namespace chainerx::cuda {

namespace {

// Names and numbers of the errors that the test driver returns.
#define CX_ERRORS(...)                            \
    constexpr CUresult kErrors[] = {__VA_ARGS__}; \
    constexpr std::string_view kErrorNames = #__VA_ARGS__ ","
CX_ERRORS(CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY,
          CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE,
          CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_NO_BINARY_FOR_GPU,
          CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_READY,
          CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
          CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_NOT_PERMITTED,
          CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
          CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_UNKNOWN);
#undef CX_ERRORS

int Attribute(CUdevice_attribute attribute) {
    static const std::map<int, int> values = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, test::SharedMemory::kStaticLimit},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, test::GetSettings().arch / 10},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, test::GetSettings().arch % 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, test::SharedMemory::kLimit},
        {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1}};
    const auto it = values.find(attribute);
    Require(it != values.end());
    return it->second;
}

}  // namespace

CUctx_st& PrimaryContext(CUdevice device) {
    static auto* const contexts = new std::array<CUctx_st, 8>;
    Require(device >= 0 && device < test::GetSettings().devices, CUDA_ERROR_INVALID_DEVICE);
    CUctx_st& context = (*contexts)[static_cast<std::size_t>(device)];
    context.device = device;
    return context;
}

void impl::cuDriverGetVersion(int* version) { *version = test::GetSettings().version; }

void impl::cuGetErrorName(CUresult error, const char** name) {
    static const auto* const names = [] {
        auto* const made = new std::map<CUresult, std::string>;
        std::string_view rest = kErrorNames;
        for (const CUresult e : kErrors) {
            (*made)[e] = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.find(',') + 2, rest.size()));
        }
        return made;
    }();
    const auto it = names->find(error);
    *name = it == names->end() ? nullptr : it->second.c_str();
    Require(it != names->end());
}

void impl::cuGetErrorString(CUresult error, const char** text) { cuGetErrorName(error, text); }

void impl::cuDeviceGetCount(int* count) { *count = test::GetSettings().devices; }

void impl::cuDeviceGet(CUdevice* device, int index) { *device = PrimaryContext(index).device; }

void impl::cuDeviceGetName(char* name, int size, CUdevice device) {
    PrimaryContext(device);
    std::snprintf(name, static_cast<std::size_t>(size), "test driver (CPU)");
}

void impl::cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    PrimaryContext(device);
    *value = Attribute(attribute);
}

void impl::cuDeviceTotalMem_v2(size_t* nbytes, CUdevice device) {
    PrimaryContext(device);
    *nbytes = test::GetSettings().memory;
}

void impl::cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
    PrimaryContext(device);
    std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", device);
}

void impl::cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    CUctx_st& primary = PrimaryContext(device);
    ++primary.uses;
    *context = &primary;
}

void impl::cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUctx_st& primary = PrimaryContext(device);
    Require(primary.uses > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primary.uses == 0) primary.Destroy();
}

void impl::cuCtxSetCurrent(CUcontext context) { CurrentHandle() = context; }

void impl::cuCtxGetCurrent(CUcontext* context) { *context = CurrentHandle(); }

void impl::cuCtxSynchronize() {
    CUctx_st& context = CurrentContext();
    ForbidCapture();
    context.Synchronize();
    Require(context.error == CUDA_SUCCESS, context.error);
}

void impl::cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    *can = &PrimaryContext(device) != &PrimaryContext(peer);
}

void impl::cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    CUctx_st& context = CurrentContext();
    Require(flags == 0 && peer != nullptr && peer != &context);
    const std::lock_guard lock{context.mutex};
    Require(context.peers.insert(peer).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
}

void impl::cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr p) {
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
}

}  // namespace chainerx::cuda

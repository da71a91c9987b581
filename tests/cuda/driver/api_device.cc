// Devices, primary contexts, error names.
#include <array>
#include <cstdio>
#include <map>

#include "api.h"
#include "memory.h"
#include "settings.h"

namespace chainerx::cuda {

namespace {

int Attribute(CUdevice_attribute attribute) {
    static const std::map<int, int> values = {
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, test::GetSettings().arch / 10},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, test::GetSettings().arch % 10},
        {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1}};
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
    static const std::map<CUresult, const char*> names = {
#define CX_RESULT(name, value) {name, #name},
        CX_CUDA_RESULTS(CX_RESULT)
#undef CX_RESULT
    };
    const auto it = names.find(error);
    *name = it == names.end() ? nullptr : it->second;
    Require(it != names.end());
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

void impl::cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    PrimaryContext(device);
    PrimaryContext(peer);
    *can = device != peer && test::GetSettings().peers ? 1 : 0;
}

void impl::cuDeviceTotalMem_v2(size_t* nbytes, CUdevice device) {
    PrimaryContext(device);
    *nbytes = test::GetSettings().memory;
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
    Require(!context.InvalidateCaptures(false), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    context.Synchronize();
    Require(context.error == CUDA_SUCCESS, context.error);
}

void impl::cuProfilerStart() { CurrentContext(); }

void impl::cuProfilerStop() { CurrentContext(); }

void impl::cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr p) {
    const auto a = test::Memory::Get().Find(p);
    Require(a.has_value());
    const bool pinned = a->kind == test::Allocation::kPinned;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *static_cast<unsigned*>(value) = pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            return;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *static_cast<int*>(value) = a->device;
            return;
    }
    throw CUDA_ERROR_INVALID_VALUE;
}

}  // namespace chainerx::cuda

// Memory, copies, fills, virtual memory.
#include <cstring>
#include <optional>
#include <string>

#include "api.h"
#include "engine.h"
#include "launch_log.h"
#include "memory.h"
#include "settings.h"

namespace chainerx::cuda {

using test::Allocation, test::Memory;

namespace {

const void* HostPointer(CUdeviceptr p) { return reinterpret_cast<const void*>(p); }
CUdeviceptr Address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

void RequireMemory(CUdeviceptr p, std::size_t nbytes) {
    Require(Memory::Get().Covers(p, nbytes, true));
}

// Can this device access memory of that allocation, once it may?
bool IsReachable(const std::optional<Allocation>& a, int device) {
    return a && (a->device == device || test::GetSettings().peers);
}

// Is it of the driver? Then it must be pinned.
bool IsPinned(const void* p) {
    if (!Memory::Get().IsAddress(Address(p))) return false;
    const auto a = Memory::Get().Find(Address(p));
    Require(a && a->kind == Allocation::kPinned);
    return true;
}

// Adds a task that accesses memory of the device; it is checked again that it still exists then.
// Invalid accesses break the context, as kernels' do.
void EnqueueAccess(const std::shared_ptr<CUstream_st>& stream, const char* name, CUdeviceptr dst,
                   CUdeviceptr src, std::size_t nbytes, test::Task task) {
    CUcontext context = stream->context;
    test::LogLaunch(name);
    Enqueue(stream, [=, task = std::move(task)] {
        for (const CUdeviceptr p : {dst, src}) {
            if (p != 0 && !Memory::Get().Covers(p, nbytes, false)) {
                return context->Break(std::string{name} + ": the memory was freed before it ran");
            }
        }
        if (context->error != CUDA_SUCCESS) return;
        if (test::Engine::Get() == nullptr) return task();
        test::Launch launch;
        launch.name = name;
        launch.kernel.run = [](const void* p) { (*static_cast<const test::Task*>(p))(); };
        launch.params =
            std::shared_ptr<void>{std::shared_ptr<void>{}, const_cast<test::Task*>(&task)};
        launch.context = context;
        const std::string fault = test::Engine::Get()->Run(launch);
        if (!fault.empty()) context->Break(fault);
    });
}

void Copy(const std::shared_ptr<CUstream_st>& stream, CUdeviceptr dst, CUdeviceptr src,
          std::size_t nbytes) {
    RequireMemory(dst, nbytes);
    RequireMemory(src, nbytes);
    EnqueueAccess(stream, "copy", dst, src, nbytes,
                  [=] { std::memmove(Memory::View(dst), Memory::View(src), nbytes); });
}

template <typename T>
void Fill(CUdeviceptr dst, T value, std::size_t n, CUstream handle) {
    const auto stream = CurrentContext().Stream(handle);
    Require(dst % sizeof(T) == 0);
    if (n == 0) return;
    RequireMemory(dst, n * sizeof(T));
    EnqueueAccess(stream, "fill", dst, 0, n * sizeof(T), [=] {
        T* p = reinterpret_cast<T*>(Memory::View(dst));
        for (std::size_t i = 0; i < n; ++i) p[i] = value;
    });
}

void Free(Allocation::Kind kind, CUdeviceptr p) {
    CUctx_st& context = CurrentContext();
    ForbidCapture();
    const auto a = Memory::Get().Find(p);
    Require(a && a->address == p && a->accessible);
    PrimaryContext(a->device).Synchronize();
    const std::string fault = Memory::Get().Free(kind, p);
    if (!fault.empty()) context.Break(fault);
    Require(context.error == CUDA_SUCCESS, context.error);
}

}  // namespace

void impl::cuMemGetInfo_v2(size_t* free, size_t* total) {
    CUctx_st& context = CurrentContext();
    *total = test::GetSettings().memory;
    *free = *total - Memory::Get().used(context.device);
}

void impl::cuMemAlloc_v2(CUdeviceptr* p, size_t nbytes) {
    CUctx_st& context = CurrentContext();
    ForbidCapture();
    Require(p != nullptr && nbytes > 0);
    *p = Memory::Get().Allocate(Allocation::kPlain, context.device, nbytes);
}

void impl::cuMemFree_v2(CUdeviceptr p) { Free(Allocation::kPlain, p); }

void impl::cuMemAllocAsync(CUdeviceptr* p, size_t nbytes, CUstream handle) {
    CUctx_st& context = CurrentContext();
    const auto stream = context.Stream(handle);
    ForbidCapture(*stream);
    Require(p != nullptr && nbytes > 0);
    try {
        *p = Memory::Get().Allocate(Allocation::kPlain, context.device, nbytes);
    } catch (CUresult) {
        stream->Synchronize();  // and what it frees
        *p = Memory::Get().Allocate(Allocation::kPlain, context.device, nbytes);
    }
}

void impl::cuMemFreeAsync(CUdeviceptr p, CUstream handle) {
    CUctx_st& context = CurrentContext();
    const auto stream = context.Stream(handle);
    ForbidCapture(*stream);
    Memory::Get().PromiseFree(p);
    Enqueue(stream, [p, owner = &context] {
        const std::string fault = Memory::Get().Free(Allocation::kPlain, p);
        if (!fault.empty()) owner->Break(fault);
    });
}

void impl::cuMemHostAlloc(void** p, size_t nbytes, unsigned flags) {
    CUctx_st& context = CurrentContext();
    ForbidCapture();
    Require(p != nullptr && nbytes > 0 && flags < 8);
    *p = const_cast<void*>(
        HostPointer(Memory::Get().Allocate(Allocation::kPinned, context.device, nbytes)));
}

void impl::cuMemFreeHost(void* p) { Free(Allocation::kPinned, Address(p)); }

void impl::cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* p, unsigned flags) {
    Require(flags == 0 && IsPinned(p));
    *device = Address(p);
}

void impl::cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t nbytes, CUstream handle) {
    CUctx_st& context = CurrentContext();
    const auto stream = context.Stream(handle);
    if (nbytes == 0) return;
    if (IsPinned(src)) return Copy(stream, dst, Address(src), nbytes);
    // The source has been read when the call returns.
    ForbidCapture(*stream);
    RequireMemory(dst, nbytes);
    const std::shared_ptr<char[]> staged{new char[nbytes]};
    std::memcpy(staged.get(), src, nbytes);
    EnqueueAccess(stream, "copy from the host", dst, 0, nbytes,
                  [=] { std::memcpy(Memory::View(dst), staged.get(), nbytes); });
}

void impl::cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t nbytes, CUstream handle) {
    CUctx_st& context = CurrentContext();
    const auto stream = context.Stream(handle);
    if (nbytes == 0) return;
    if (IsPinned(dst)) return Copy(stream, Address(dst), src, nbytes);
    // The target has been written when the call returns.
    ForbidCapture(*stream);
    RequireMemory(src, nbytes);
    EnqueueAccess(stream, "copy to the host", 0, src, nbytes,
                  [=] { std::memcpy(dst, Memory::View(src), nbytes); });
    stream->Synchronize();
    Require(context.error == CUDA_SUCCESS, context.error);
}

void impl::cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t nbytes, CUstream stream) {
    CUctx_st& context = CurrentContext();
    if (nbytes == 0) return;
    for (const CUdeviceptr p : {dst, src}) {
        const auto a = Memory::Get().Find(p);
        if (a && !a->IsFor(context.device)) {
            context.Break("cuMemcpyDtoDAsync: memory of a device that this one may not access");
            throw CUDA_ERROR_ILLEGAL_ADDRESS;
        }
    }
    Copy(context.Stream(stream), dst, src, nbytes);
}

void impl::cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
                             CUcontext src_context, size_t nbytes, CUstream stream) {
    CUctx_st& context = CurrentContext();
    Require(dst_context != nullptr && src_context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    if (nbytes == 0) return;
    const auto d = Memory::Get().Find(dst), s = Memory::Get().Find(src);
    Require(d && s && d->device == dst_context->device && s->device == src_context->device);
    Copy(context.Stream(stream), dst, src, nbytes);
}

void impl::cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream) {
    Fill<std::uint8_t>(dst, value, n, stream);
}

void impl::cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t n, CUstream stream) {
    Fill<std::uint32_t>(dst, value, n, stream);
}

void impl::cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                         CUmemAllocationGranularity_flags /*option*/) {
    Require(granularity != nullptr && prop != nullptr);
    *granularity = Memory::kGranularity;
}

void impl::cuMemAddressReserve(CUdeviceptr* p, size_t nbytes, size_t alignment,
                               CUdeviceptr /*address*/, unsigned long long flags) {
    Require(p != nullptr && flags == 0);
    *p = Memory::Get().Reserve(nbytes, alignment);
}

void impl::cuMemAddressFree(CUdeviceptr p, size_t nbytes) { Memory::Get().Unreserve(p, nbytes); }

void impl::cuMemCreate(CUmemGenericAllocationHandle* handle, size_t nbytes,
                       const CUmemAllocationProp* prop, unsigned long long flags) {
    Require(handle != nullptr && prop != nullptr && flags == 0);
    Require(prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
            prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    *handle = Memory::Get().Create(PrimaryContext(prop->location.id).device, nbytes);
}

void impl::cuMemRelease(CUmemGenericAllocationHandle handle) { Memory::Get().Release(handle); }

void impl::cuMemMap(CUdeviceptr p, size_t nbytes, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags) {
    Require(flags == 0 && offset == 0);
    Memory::Get().Map(p, nbytes, handle);
}

void impl::cuMemUnmap(CUdeviceptr p, size_t nbytes) { Memory::Get().Unmap(p, nbytes); }

void impl::cuMemSetAccess(CUdeviceptr p, size_t nbytes, const CUmemAccessDesc* access,
                          size_t count) {
    Require(access != nullptr && count > 0);
    for (std::size_t i = 0; i < count; ++i) {
        Require(access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        Require(IsReachable(Memory::Get().Find(p), PrimaryContext(access[i].location.id).device));
        Memory::Get().SetAccess(p, nbytes, access[i].location.id);
    }
}

}  // namespace chainerx::cuda

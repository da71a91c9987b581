#include "chainerx/cuda/runtime/cuda_device.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "chainerx/core/backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/runtime/graph_memory.h"
#include "chainerx/cuda/runtime/pinned_pool.h"

namespace chainerx::cuda {
namespace {

constexpr int kOldestArch = 80;
// What is copied to the host by way of pinned memory.
constexpr int64_t kStagedBytes = 64 << 10;

int ReadAttribute(CUdevice device, CUdevice_attribute attribute) {
    int value = 0;
    CX_CU(DeviceGetAttribute, &value, attribute, device);
    return value;
}

CUdeviceptr ToDriver(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

// The inverse of what a kernel is given (cuda/device/error_log.h).
KernelError ToKernelError(const ErrorEntry& entry) {
    KernelError error;
    error.kind = static_cast<KernelError::Kind>(entry.site.kind);
    error.may_ignore = entry.site.may_ignore != 0;
    error.op = reinterpret_cast<const char*>(entry.site.op);
    error.argument = reinterpret_cast<const char*>(entry.site.argument);
    error.position = entry.position;
    error.value = entry.value;
    error.bound = entry.site.bound;
    if (error.kind == KernelError::Kind::kDomain) {
        error.expected = reinterpret_cast<const char*>(entry.site.bound);
    }
    error.ignored = entry.site.ignored;
    error.thread = entry.site.thread;
    return error;
}

}  // namespace

CudaDevice::CudaDevice(Backend* backend, int index)
    : Device{backend, index}, StreamPool{static_cast<Device&>(*this)}, driver_{GetDriver()} {
    CX_CU(DeviceGet, &device_, index);
    arch_ = ReadAttribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
            ReadAttribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (arch_ < kOldestArch) {
        char gpu[256] = "";
        driver_.DeviceGetName(gpu, sizeof(gpu), device_);
        throw BackendError{"cuda: ",
                           name(),
                           ", ",
                           gpu,
                           ", has compute capability ",
                           arch_ / 10,
                           ".",
                           arch_ % 10,
                           ", but 8.0 is needed; use another GPU, or device='native'"};
    }
    CX_CU(DevicePrimaryCtxRetain, &context_, device_);
    const ContextScope scope{*this};
    void* log = nullptr;
    CX_CU(MemHostAlloc, &log, sizeof(ErrorLog),
          CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    error_log_ = static_cast<ErrorLog*>(log);
    std::memset(log, 0, sizeof(ErrorLog));
    CUdeviceptr mapped = 0;
    CX_CU(MemHostGetDevicePointer, &mapped, log, 0);
    error_log_device_ = reinterpret_cast<void*>(mapped);
    SetDefaultStream(&NewStream());
}

// At the end of the process the driver may have ended, too; it frees everything by itself.
CudaDevice::~CudaDevice() = default;

void CudaDevice::Stop() noexcept {
    const ContextScope scope{*this};
    WaitForContext();
}

// The driver refuses that while a stream records, and gives up the recording.
CUresult CudaDevice::WaitForContext() noexcept {
    const std::lock_guard lock{recording_};
    return driver_.CtxSynchronize();
}

void CudaDevice::RecordUse(const Array& x, CudaStream& stream) {
    StreamPool::RecordUse(*x.buffer(), stream);
}

Stream& CudaDevice::NewStream() {
    const std::lock_guard lock{mutex_};
    CudaStream& made = *streams_.emplace_back(std::make_unique<CudaStream>(*this));
    made.holders = 1;  // for ever
    return made;
}

Buffer* CudaDevice::Allocate(int64_t nbytes) {
    if (GraphMemory* graph = current_stream().graph_memory()) return graph->Allocate(nbytes);
    try {
        return StreamPool::Allocate(nbytes);
    } catch (const OutOfMemoryError& e) {
        const int64_t limit = limit_;
        if (limit == INT64_MAX) throw;
        throw OutOfMemoryError{e.what(), "; set_memory_limit() allows ", limit};
    }
}

void* CudaDevice::AllocateBlock(int64_t nbytes) {
    Activate();
    int64_t held = held_;
    do {
        if (held + nbytes > limit_) return nullptr;
    } while (!held_.compare_exchange_weak(held, held + nbytes));
    void* data = nullptr;
    try {
        data = blocks_.Allocate(device_, nbytes, current_stream().handle());
    } catch (...) {
        held_ -= nbytes;
        throw;
    }
    if (data == nullptr) held_ -= nbytes;
    return data;
}

int64_t CudaDevice::ReadFreeBytes() {
    return std::min(GetFreeAndTotal().first, std::max<int64_t>(0, limit_ - held_));
}

void CudaDevice::FreeBlock(void* data, int64_t nbytes) noexcept {
    const ContextScope scope{*this};
    blocks_.Free(data, nbytes);
    held_ -= nbytes;
}

// The driver has read pageable memory when it returns; it may still read pinned memory, whose owner
// could write it then, so the host waits.
void CudaDevice::CopyFromHost(void* dst, const void* src, int64_t nbytes) {
    if (nbytes == 0) return;
    CudaStream& stream = current_stream();
    if (GraphMemory* graph = stream.graph_memory()) {
        return graph->CopyFromHost(dst, src, nbytes, stream);
    }
    internal::TellHostAccess(*this, HostAccess::kWrite, nbytes);
    Activate();
    CX_CU(MemcpyHtoDAsync, ToDriver(dst), src, static_cast<size_t>(nbytes), stream.handle());
    CUmemorytype type{};
    const bool is_pinned = driver_.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                       ToDriver(src)) == CUDA_SUCCESS &&
                           type == CU_MEMORYTYPE_HOST;
    if (is_pinned) stream.WaitForAll();
    if (auto* capture = internal::CurrentCapture()) [[unlikely]]
        capture->CopiedFromHost(*this, dst, src, nbytes);
}

void CudaDevice::ReadToHost(void* dst, const void* src, int64_t nbytes) {
    Activate();
    CudaStream& stream = current_stream();
    const auto wait = [&] {
        WaitWhileBusy(stream.handle());
        stream.WaitForAll();
        ReportErrors();
    };
    // A copy that has been queued can't be stopped, so memory of the caller has to wait until the
    // stream is idle. Small results wait once: the pool keeps their block even if the wait is
    // interrupted.
    if (nbytes > 0 && nbytes <= kStagedBytes) {
        const Array staged = EmptyPinned(Shape{nbytes}, Dtype::kUInt8);
        Activate();  // the pool, which is that of all devices, may have asked another one
        pinned().RecordUse(*staged.buffer(), stream);
        CX_CU(MemcpyDtoHAsync, staged.raw_data(), ToDriver(src), static_cast<size_t>(nbytes),
              stream.handle());
        wait();
        std::memcpy(dst, staged.raw_data(), static_cast<size_t>(nbytes));
        return;
    }
    wait();
    if (nbytes == 0) return;
    CX_CU(MemcpyDtoHAsync, dst, ToDriver(src), static_cast<size_t>(nbytes), stream.handle());
    stream.WaitForAll();
}

// Both streams wait for each other: the target's block may have been freed by work that its stream
// has yet to do, and the source may be written or freed once this returns.
void CudaDevice::CopyFromPeer(const Array& src, const Array& dst) {
    if (src.device().backend() != backend()) return Device::CopyFromPeer(src, dst);
    const auto nbytes = static_cast<size_t>(src.GetNBytes());
    if (nbytes == 0) return;
    auto& other = static_cast<CudaDevice&>(src.device());
    CudaStream& from = other.current_stream();
    CudaStream& to = current_stream();
    RecordUse(dst, to);
    other.RecordUse(src, from);
    from.WaitFor(to, to.Mark());
    other.Activate();
    const CUdeviceptr target = ToDriver(dst.raw_data());
    const CUdeviceptr source = ToDriver(src.raw_data());
    // Else the driver goes through memory of the host, as far as it must.
    if (blocks_.Share(dst.raw_data(), other.device_) &&
        other.blocks_.Share(src.raw_data(), device_)) {
        CX_CU(MemcpyDtoDAsync, target, source, nbytes, from.handle());
    } else {
        CX_CU(MemcpyPeerAsync, target, context_, source, other.context_, nbytes, from.handle());
    }
    to.WaitFor(from, from.Mark());
    AddSender(other);
}

void CudaDevice::Wait(Stream* stream) {
    Activate();
    if (stream != nullptr) {
        auto& waited = static_cast<CudaStream&>(*stream);
        WaitWhileBusy(waited.handle());
        waited.WaitForAll();
    } else {
        for (const CUstream handle : OwnStreams()) WaitWhileBusy(handle);
        Check(WaitForContext(), "cuCtxSynchronize");
    }
    ReportErrors();
}

std::vector<CUstream> CudaDevice::OwnStreams() {
    const std::lock_guard lock{mutex_};
    std::vector<CUstream> handles;
    for (const auto& stream : streams_) {
        if (!stream->is_foreign()) handles.push_back(stream->handle());
    }
    return handles;
}

void CudaDevice::ReportErrors() {
    ReportErrorsTo(*this);
    for (uint64_t rest = senders_; rest != 0; rest &= rest - 1) {
        static_cast<CudaDevice&>(backend()->GetDevice(std::countr_zero(rest)))
            .ReportErrorsTo(*this);
    }
}

// Kernels that still run may add errors meanwhile: those are reported at the next synchronization
// of their stream. A thread whose error another one is just reporting waits for that. Other threads
// find theirs at this device.
void CudaDevice::ReportErrorsTo(CudaDevice& synchronized) {
    std::atomic_ref<unsigned> has_written{error_log_->has_written};
    if (has_written.load(std::memory_order_acquire) == 0 && !is_reporting_.load()) [[likely]]
        return;
    const std::lock_guard lock{mutex_};
    if (has_written.load() == 0) return;
    is_reporting_ = true;  // before the log says that there is nothing
    has_written.store(0);
    for (ErrorEntry& entry : error_log_->entries) {
        std::atomic_ref<unsigned> is_written{entry.is_written};
        if (is_written.load() == 0) continue;
        const KernelError error = ToKernelError(entry);
        const bool is_own = error.thread == internal::GetThreadToken();
        (is_own ? synchronized : *this).Report(error);
        is_written.store(0);
        std::atomic_ref<unsigned long long>{entry.taken}.store(0);
    }
    is_reporting_ = false;
}

}  // namespace chainerx::cuda

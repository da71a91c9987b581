// What devices of this backend have beyond those of others: see cuda/gpu.h.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include "chainerx/core/capture_observer.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/pinned_pool.h"

namespace chainerx::cuda {
namespace {

CUevent ToEvent(void* event) { return static_cast<CUevent>(event); }

CUstream HandleOf(Stream& stream) { return static_cast<CudaStream&>(stream).handle(); }

}  // namespace

PinnedPool& CudaDevice::pinned() const { return static_cast<CudaBackend&>(*backend()).pinned(); }

Stream& CudaDevice::TakeStream(int priority) {
    Activate();
    int least = 0;
    int greatest = 0;
    CX_CU(CtxGetStreamPriorityRange, &least, &greatest);
    priority = std::clamp(priority, greatest, least);
    const std::lock_guard lock{mutex_};
    const auto found = std::ranges::find_if(
        unused_streams_, [&](CudaStream* stream) { return GetPriority(*stream) == priority; });
    if (found != unused_streams_.end()) {
        CudaStream* stream = *found;
        unused_streams_.erase(found);
        ++stream->holders;
        return *stream;
    }
    CudaStream& made = *streams_.emplace_back(std::make_unique<CudaStream>(*this, priority));
    ++made.holders;
    return made;
}

Stream& CudaDevice::WrapStream(void* handle) {
    const auto wanted = handle != nullptr ? static_cast<CUstream>(handle) : CU_STREAM_LEGACY;
    const std::lock_guard lock{mutex_};
    auto found = std::ranges::find_if(
        streams_, [&](const auto& stream) { return stream->handle() == wanted; });
    if (found == streams_.end()) {
        found = streams_.insert(found, std::make_unique<CudaStream>(*this, wanted));
    }
    CudaStream& stream = **found;
    ++stream.holders;
    if (!stream.is_foreign()) {
        std::erase(unused_streams_, &stream);
        return stream;
    }
    // A new stream may have the handle of an old one, whose memory it will use again.
    if (!stream.SetSuccessor(nullptr)) stream.WaitFor(*joined_, joined_->Mark());
    return stream;
}

void CudaDevice::GiveStreamBack(Stream& given) noexcept {
    auto& stream = static_cast<CudaStream&>(given);
    const ContextScope scope{*this};
    const std::lock_guard lock{mutex_};
    if (--stream.holders != 0) return;
    try {
        if (!stream.is_foreign()) {
            if (&stream != default_stream()) unused_streams_.push_back(&stream);
            return;
        }
        CudaStream& joined = JoinedStream();
        joined.WaitFor(stream, stream.Mark());  // the last time that it surely exists
        stream.SetSuccessor(&joined);
    } catch (const std::exception&) {  // of a broken context: it stays unused
    }
}

// With the lock held.
CudaStream& CudaDevice::JoinedStream() {
    if (joined_ == nullptr) {
        joined_ = streams_.emplace_back(std::make_unique<CudaStream>(*this)).get();
    }
    return *joined_;
}

void* CudaDevice::GetHandle(Stream& stream) { return HandleOf(stream); }

int CudaDevice::GetPriority(Stream& stream) {
    Activate();
    int priority = 0;
    CX_CU(StreamGetPriority, HandleOf(stream), &priority);
    return priority;
}

bool CudaDevice::IsIdle(Stream& stream) {
    Activate();
    const CUresult result = driver_.StreamQuery(HandleOf(stream));
    if (result != CUDA_ERROR_NOT_READY) Check(result, "cuStreamQuery");
    return result == CUDA_SUCCESS;
}

void* CudaDevice::CreateEvent(bool timing) {
    Activate();
    CUevent event = nullptr;
    CX_CU(EventCreate, &event, timing ? 0 : CU_EVENT_DISABLE_TIMING);
    return event;
}

void CudaDevice::DestroyEvent(void* event) noexcept {
    const ContextScope scope{*this};
    driver_.EventDestroy(ToEvent(event));
}

void CudaDevice::Record(void* event, Stream& stream) {
    Activate();
    CX_CU(EventRecord, ToEvent(event), HandleOf(stream));
}

bool CudaDevice::IsDone(void* event) {
    Activate();
    const CUresult result = driver_.EventQuery(ToEvent(event));
    if (result != CUDA_ERROR_NOT_READY) Check(result, "cuEventQuery");
    return result == CUDA_SUCCESS;
}

void CudaDevice::WaitForEvent(void* event) {
    Activate();
    WaitWhileNotReady([&] { return driver_.EventQuery(ToEvent(event)); });
    CX_CU(EventSynchronize, ToEvent(event));
}

void CudaDevice::WaitForEvent(Stream& stream, void* event) {
    Activate();
    CX_CU(StreamWaitEvent, HandleOf(stream), ToEvent(event), 0);
}

double CudaDevice::GetMilliseconds(void* start, void* end) {
    Activate();
    float ms = 0;
    const CUresult result = driver_.EventElapsedTime(&ms, ToEvent(start), ToEvent(end));
    if (result == CUDA_ERROR_NOT_READY) {
        throw ChainerxError{"Event.elapsed_time: an event is not done yet; synchronize it first"};
    }
    if (result == CUDA_ERROR_INVALID_HANDLE) {
        throw ChainerxError{"Event.elapsed_time: an event has not been recorded"};
    }
    Check(result, "cuEventElapsedTime");
    return ms;
}

void CudaDevice::ReleaseCachedMemory() {
    Activate();
    Release();
    pinned().Release();
}

std::pair<int64_t, int64_t> CudaDevice::GetFreeAndTotal() {
    Activate();
    size_t free = 0;
    size_t total = 0;
    CX_CU(MemGetInfo, &free, &total);
    return {static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

Array CudaDevice::EmptyPinned(const Shape& shape, Dtype dtype) {
    Activate();
    const int64_t nbytes = CheckedNBytes("empty_pinned", shape, GetItemSize(dtype));
    Buffer* buffer = nullptr;
    try {
        buffer = pinned().Allocate(nbytes);
    } catch (const OutOfMemoryError& e) {
        throw OutOfMemoryError{"empty_pinned: the host has no more page-locked memory: ", e.what()};
    }
    return internal::MakeArray(shape, Strides{shape, GetItemSize(dtype)}, dtype, *buffer->device(),
                               buffer, static_cast<char*>(buffer->data()));
}

bool CudaDevice::IsPinned(const Array& x) {
    Activate();
    CUmemorytype type{};
    return x.device().IsHostAccessible() &&
           driver_.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       reinterpret_cast<CUdeviceptr>(x.raw_data())) ==
               CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_HOST;
}

void CudaDevice::CopyAsync(const Array& src, const Array& dst) {
    constexpr const char* kOp = "copy_async";
    if (src.shape() != dst.shape() || src.dtype() != dst.dtype()) {
        throw DimensionError{kOp,      ": src has shape ", src.shape(), " and dtype ", src.dtype(),
                             ", dst ", dst.shape(),        " and ",     dst.dtype()};
    }
    if (!src.IsContiguous() || !dst.IsContiguous()) {
        throw DimensionError{kOp, ": ", src.IsContiguous() ? "dst" : "src", " is not contiguous"};
    }
    if (src.device().backend() == backend() && dst.device().backend() == backend() &&
        &src.device() != &dst.device()) {
        dst.buffer()->MarkWritten();
        return static_cast<CudaDevice&>(dst.device()).CopyFromPeer(src, dst);
    }
    const bool to_device = &dst.device() == this;
    const Array& host = to_device ? src : dst;
    const Array& own = to_device ? dst : src;
    if (&own.device() != this || !host.device().IsHostAccessible()) {
        throw DeviceError{kOp,
                          ": src is on ",
                          src.device().name(),
                          " and dst on ",
                          dst.device().name(),
                          ", expected ",
                          name(),
                          " and the host or another GPU"};
    }
    internal::CheckMayRead("memory is copied");
    const int64_t nbytes = src.GetNBytes();
    dst.buffer()->MarkWritten();
    if (nbytes == 0) return;
    Activate();
    CudaStream& stream = current_stream();
    RecordUse(own, stream);
    // Only of blocks of the pool it is known that they stay until the copy is done.
    if (!pinned().Owns(*host.buffer())) {
        if (to_device) return CopyFromHost(dst.raw_data(), src.raw_data(), nbytes);
        return CopyToHost(dst.raw_data(), src.raw_data(), nbytes);
    }
    pinned().RecordUse(*host.buffer(), stream);
    const auto device_address = reinterpret_cast<CUdeviceptr>(own.raw_data());
    if (to_device) {
        CX_CU(MemcpyHtoDAsync, device_address, src.raw_data(), static_cast<size_t>(nbytes),
              stream.handle());
    } else {
        CX_CU(MemcpyDtoHAsync, dst.raw_data(), device_address, static_cast<size_t>(nbytes),
              stream.handle());
    }
}

void CudaDevice::Order(void* earlier, void* later) {
    const auto to_handle = [](void* handle) {
        return handle != nullptr ? static_cast<CUstream>(handle) : CU_STREAM_LEGACY;
    };
    if (to_handle(earlier) == to_handle(later)) return;
    Activate();
    const Event event{*this, false};
    CX_CU(EventRecord, ToEvent(event.handle()), to_handle(earlier));
    CX_CU(StreamWaitEvent, to_handle(later), ToEvent(event.handle()), 0);
}

void CudaDevice::WaitForAll() noexcept {
    const ContextScope scope{*this};
    WaitForContext();
}

void CudaDevice::CallLater(void (*f)(void* data), void* data) noexcept {
    const ContextScope scope{*this};
    bool is_idle = true;
    try {
        const std::lock_guard lock{mutex_};
        CudaStream& joined = JoinedStream();
        for (const auto& stream : streams_) {
            if (stream->is_foreign() && stream->holders == 0) continue;
            if (driver_.StreamQuery(stream->handle()) == CUDA_SUCCESS) continue;
            is_idle = false;
            if (stream.get() != &joined) joined.WaitFor(*stream, stream->Mark());
        }
        if (!is_idle && driver_.LaunchHostFunc(joined.handle(), f, data) == CUDA_SUCCESS) return;
    } catch (const ChainerxError&) {  // of a broken context
    }
    if (!is_idle) WaitForContext();
    f(data);
}

int CudaDevice::FindDevice(const void* data) {
    Activate();
    const auto p = reinterpret_cast<CUdeviceptr>(data);
    CUmemorytype type{};
    int index = -1;
    const CUresult result = driver_.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
    if (result == CUDA_ERROR_INVALID_VALUE) return -1;  // of nobody's memory
    Check(result, "cuPointerGetAttribute");
    if (type != CU_MEMORYTYPE_DEVICE) return -1;
    CX_CU(PointerGetAttribute, &index, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
    return index;
}

void* CudaDevice::EnterContext() {
    CUcontext before = nullptr;
    CX_CU(CtxGetCurrent, &before);
    Activate();
    return before;
}

void CudaDevice::LeaveContext(void* before) noexcept {
    driver_.CtxSetCurrent(static_cast<CUcontext>(before));
}

DeviceTimer::Mark CudaDevice::PutMark() {
    Activate();
    CUevent event = nullptr;
    {
        const std::lock_guard lock{mutex_};
        if (!unused_marks_.empty()) {
            event = unused_marks_.back();
            unused_marks_.pop_back();
        }
    }
    if (event == nullptr) CX_CU(EventCreate, &event, 0);
    CX_CU(EventRecord, event, current_stream().handle());
    return event;
}

void CudaDevice::TakeMarks(std::span<const Mark> marks, int64_t* times) {
    if (marks.empty()) return;
    const internal::NoInterruptScope whole;  // callers hold locks
    for (const Mark mark : marks) WaitForEvent(mark);
    // Both clocks are read now; the device's counts from here backwards.
    const Event now{*this};
    Record(now.handle(), *default_stream());
    now.Synchronize();
    const int64_t here = std::chrono::duration_cast<std::chrono::nanoseconds>(
                             std::chrono::steady_clock::now().time_since_epoch())
                             .count();
    for (size_t i = 0; i < marks.size(); ++i) {
        times[i] = here - std::llround(GetMilliseconds(marks[i], now.handle()) * 1e6);
    }
    const std::lock_guard lock{mutex_};
    for (const Mark mark : marks) unused_marks_.push_back(ToEvent(mark));
}

}  // namespace chainerx::cuda

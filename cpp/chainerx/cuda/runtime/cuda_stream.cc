#include "chainerx/cuda/runtime/cuda_stream.h"

#include <mutex>
#include <utility>

#include "chainerx/cuda/driver/driver.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/graph_memory.h"

namespace chainerx::cuda {

CudaStream::CudaStream(CudaDevice& device, int priority) : Stream{device}, is_foreign_{false} {
    device.Activate();
    CX_CU(StreamCreateWithPriority, &handle_, CU_STREAM_NON_BLOCKING, priority);
}

CudaStream::CudaStream(CudaDevice& device, CUstream handle)
    : Stream{device}, handle_{handle}, is_foreign_{true} {}

// At the end of the process the driver may be gone already, so results are not checked.
CudaStream::~CudaStream() {
    const Driver& driver = GetDriver();
    for (const Event& e : events_) driver.EventDestroy(e.event);
    for (CUevent event : unused_) driver.EventDestroy(event);
    if (!is_foreign_) driver.StreamDestroy(handle_);
}

CudaDevice& CudaStream::device() { return static_cast<CudaDevice&>(Stream::device()); }

void* CudaStream::counters() {
    if (graph_memory_ != nullptr) return graph_memory_->counters();
    void* known = counters_.load(std::memory_order_acquire);
    if (known != nullptr) [[likely]]
        return known;
    constexpr size_t kBytes = kCounters * sizeof(uint32_t);
    CUdeviceptr made = 0;
    device().WithRoom([&] { CX_CU(MemAlloc, &made, kBytes); });
    const std::lock_guard lock{mutex_};
    known = counters_.load(std::memory_order_relaxed);
    if (known != nullptr) {
        GetDriver().MemFree(made);
        return known;
    }
    CX_CU(MemsetD8Async, made, 0, kBytes, handle_);
    known = reinterpret_cast<void*>(made);
    counters_.store(known, std::memory_order_release);
    return known;
}

bool CudaStream::SetSuccessor(CudaStream* successor) noexcept {
    const std::lock_guard lock{mutex_};
    return std::exchange(successor_, successor) == nullptr;
}

Stream::Ticket CudaStream::Mark() noexcept {
    const CudaDevice::ContextScope scope{device()};
    const Driver& driver = GetDriver();
    const std::lock_guard lock{mutex_};
    Collect();
    CUevent event = nullptr;
    if (!unused_.empty()) {
        event = unused_.back();
        unused_.pop_back();
    } else if (driver.EventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        event = nullptr;
    }
    CUstream queue = successor_ != nullptr ? successor_->handle_ : handle_;
    // Without an event, waiting here keeps the promise of the ticket.
    if (event == nullptr || driver.EventRecord(event, queue) != CUDA_SUCCESS) {
        driver.StreamSynchronize(queue);
        if (event != nullptr) unused_.push_back(event);
        for (const Event& e : events_) unused_.push_back(e.event);
        events_.clear();
        return done_ = ++marked_;
    }
    events_.push_back({++marked_, event});
    return marked_;
}

void CudaStream::Collect() noexcept {
    const Driver& driver = GetDriver();
    while (!events_.empty() && driver.EventQuery(events_.front().event) != CUDA_ERROR_NOT_READY) {
        done_ = events_.front().ticket;
        unused_.push_back(events_.front().event);
        events_.pop_front();
    }
}

bool CudaStream::IsDone(Ticket ticket) noexcept {
    const CudaDevice::ContextScope scope{device()};
    const std::lock_guard lock{mutex_};
    Collect();
    return done_ >= ticket;
}

CUevent CudaStream::FindEvent(Ticket ticket) {
    for (const Event& e : events_) {
        if (e.ticket >= ticket) return e.event;
    }
    return nullptr;
}

void CudaStream::Wait(Ticket ticket) {
    device().Activate();
    CUevent event;
    {
        const std::lock_guard lock{mutex_};
        Collect();
        event = FindEvent(ticket);
    }
    // If somebody else collects and reuses the event meanwhile, it comes later in the same stream.
    if (event != nullptr) CX_CU(EventSynchronize, event);
}

void CudaStream::WaitFor(Stream& other, Ticket ticket) {
    device().Activate();
    auto& stream = static_cast<CudaStream&>(other);
    const std::lock_guard lock{stream.mutex_};
    stream.Collect();
    if (CUevent event = stream.FindEvent(ticket)) CX_CU(StreamWaitEvent, handle_, event, 0);
}

void CudaStream::WaitForAll() {
    device().Activate();
    CX_CU(StreamSynchronize, handle_);
}

}  // namespace chainerx::cuda

// Streams of CUDA.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/stream.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

class CudaDevice;
class GraphMemory;

// Tickets are events, kept until they have happened.
class CudaStream : public Stream {
 public:
    explicit CudaStream(CudaDevice& device, int priority = 0);
    // A stream that others made, and destroy.
    CudaStream(CudaDevice& device, CUstream handle);
    ~CudaStream() override;

    CUstream handle() const { return handle_; }
    bool is_foreign() const { return is_foreign_; }
    // kCounters 32-bit zeros, from a first call on, for cuda/device/last_block.h: kernels of a
    // stream run one after another, and leave zeros. A graph of kernels that is replayed on any
    // stream has its own.
    static constexpr int64_t kCounters = 4096;
    void* counters();

    // While it records a graph, which keeps what its kernels use; null if it does not.
    void UseMemoryOf(GraphMemory* graph) { graph_memory_ = graph; }
    GraphMemory* graph_memory() const { return graph_memory_; }
    // Throws while it does: for libraries that keep memory of the device, or of the host, which
    // their kernels use, and that may free it before the graph.
    void CheckMayUse(const char* library) const {
        if (graph_memory_ != nullptr) {
            throw ChainerxError{"a call of ", library, " can't be part of a graph"};
        }
    }

    int holders{0};  // who took or wrapped it; with the lock of the device

    // For a foreign stream that may be destroyed from now on: `successor`, which has waited for it,
    // gives its tickets. Returns whether there was none before.
    bool SetSuccessor(CudaStream* successor) noexcept;

    Ticket Mark() noexcept override;
    bool IsDone(Ticket ticket) noexcept override;
    void Wait(Ticket ticket) override;
    void WaitFor(Stream& other, Ticket ticket) override;
    // Waits for all that has been queued.
    void WaitForAll();

 private:
    struct Event {
        Ticket ticket;
        CUevent event;
    };

    CudaDevice& device();
    // Forgets what has happened; with the lock held.
    void Collect() noexcept;
    // The first event at or after the ticket, or null if it has happened.
    CUevent FindEvent(Ticket ticket);

    CUstream handle_{nullptr};
    const bool is_foreign_;
    CudaStream* successor_{nullptr};
    internal::ForkMutex mutex_;
    Ticket marked_{0};
    Ticket done_{0};
    std::deque<Event> events_;  // of tickets in (done_, marked_]
    std::deque<CUevent> unused_;
    std::atomic<void*> counters_{nullptr};
    GraphMemory* graph_memory_{nullptr};  // used by the thread that records
};

}  // namespace chainerx::cuda

// Graphs of kernel calls: a stream records them, and a launch of the graph repeats them all.
#include <array>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/graph_memory.h"
#include "chainerx/cuda/runtime/switches.h"
#include "chainerx/kernels/library_option.h"

namespace chainerx::cuda {
namespace {

// What else than operands decides which kernels a call launches, and with which parameters: errors
// are reported to a thread.
struct Circumstances {
    uint64_t thread;
    bool tf32;
    bool reduced_precision;
    int64_t max_workspace;
    std::array<LibraryChoice, 4> options;

    bool operator==(const Circumstances&) const = default;

    static Circumstances Now() {
        const Switches& switches = GetSwitches();
        return {
            internal::GetThreadToken(),
            switches.tf32.load(std::memory_order_relaxed),
            switches.reduced_precision.load(std::memory_order_relaxed),
            switches.max_workspace.load(std::memory_order_relaxed),
            {GetLibraryOption(LibraryOption::kUse), GetLibraryOption(LibraryOption::kTensorCores),
             GetLibraryOption(LibraryOption::kAutotune),
             GetLibraryOption(LibraryOption::kDeterministic)}};
    }
};

class CudaGraph : public DeviceGraph {
 public:
    explicit CudaGraph(CudaDevice& device)
        : device_{device}, memory_{device, device.current_stream()} {}

    // The driver keeps a graph that still runs until it has ended, and the pool its memory.
    ~CudaGraph() override {
        if (exec_ == nullptr) return;
        const CudaDevice::ContextScope scope{device_};
        GetDriver().GraphExecDestroy(exec_);
    }
    CudaGraph(const CudaGraph&) = delete;
    CudaGraph& operator=(const CudaGraph&) = delete;

    GraphMemory& memory() { return memory_; }

    void Instantiate(CUgraph graph) {
        device_.WithRoom([&] { CX_CU(GraphInstantiate, &exec_, graph, 0); });
    }

    bool IsCurrent() const override { return Circumstances::Now() == circumstances_; }

    void Launch() override {
        device_.Activate();
        CudaStream& stream = device_.current_stream();
        if (&stream != last_) memory_.KeepFor(stream);
        last_ = &stream;
        device_.WithRoom([&] { CX_CU(GraphLaunch, exec_, stream.handle()); });
    }

    int64_t nbytes() const override { return memory_.nbytes(); }

 private:
    CudaDevice& device_;
    GraphMemory memory_;
    const Circumstances circumstances_{Circumstances::Now()};
    CUgraphExec exec_{nullptr};
    CudaStream* last_{nullptr};
};

// Records what is queued to a stream that nobody else uses: what other threads queue meanwhile to
// the current one is not recorded. Calls are restricted as little as possible, since the pool asks
// for events and for memory in between, which have nothing to do with the stream.
class StreamRecording {
 public:
    StreamRecording(CudaStream& stream, GraphMemory& memory) : stream_{stream} {
        CX_CU(StreamBeginCapture, stream.handle(), CU_STREAM_CAPTURE_MODE_RELAXED);
        stream.UseMemoryOf(&memory);
    }
    ~StreamRecording() {
        if (is_recording_) GetDriver().StreamEndCapture(stream_.handle(), &graph_);
        if (graph_ != nullptr) GetDriver().GraphDestroy(graph_);
        stream_.UseMemoryOf(nullptr);
    }
    StreamRecording(const StreamRecording&) = delete;
    StreamRecording& operator=(const StreamRecording&) = delete;

    CUgraph End() {
        CX_CU(StreamEndCapture, stream_.handle(), &graph_);
        is_recording_ = false;
        return graph_;
    }

 private:
    CudaStream& stream_;
    CUgraph graph_{nullptr};
    bool is_recording_{true};
};

}  // namespace

std::unique_ptr<DeviceGraph> CudaDevice::RecordGraph(const std::function<void()>& calls) {
    Activate();
    auto graph = std::make_unique<CudaGraph>(*this);
    const int priority = GetPriority(current_stream());
    // Nobody may wait for the whole context while a stream of it records.
    const std::lock_guard lock{recording_};
    std::unique_ptr<CudaStream>& stream = recorders_[priority];
    if (stream == nullptr) stream = std::make_unique<CudaStream>(*this, priority);
    try {
        StreamRecording recording{*stream, graph->memory()};
        {
            const StreamScope scope{*stream};
            calls();
        }
        graph->Instantiate(recording.End());
    } catch (...) {
        stream = nullptr;  // whatever state it is in
        throw;
    }
    return graph;
}

}  // namespace chainerx::cuda

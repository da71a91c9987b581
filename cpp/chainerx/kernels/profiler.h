// Counts the calls of kernels, the time that they take and the memory that is taken meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/macro.h"
#include "chainerx/kernels/call_signature.h"
#include "chainerx/kernels/hook.h"

namespace chainerx {

// Counts all threads, each in a log of its own.
class CX_API KernelProfiler : public KernelHook {
 public:
    struct Options {
        // Wait for the device after each call. Without, kernels of an asynchronous device count for
        // the time that it takes to launch them.
        bool synchronize{false};
        // How many calls are kept one by one, for Threads(). More are counted as dropped.
        int64_t trace_limit{0};
    };

    // The calls of a kernel on a device with operands of the same dtypes and shapes.
    struct Row {
        const KernelInfo* kernel;
        const Device* device;
        // None: of the calls that came after the first kMaxRows kinds, or had very many operands.
        std::optional<std::vector<OperandSummary>> operands;
        int64_t calls;
        double total;   // seconds, with the kernels that it called
        double self;    // seconds, without
        int64_t bytes;  // taken by its thread since the kernel before had ended, for results mostly
        int64_t peak;   // the most bytes in use meanwhile, above what was when profiling began
    };
    static constexpr int kMaxRows = 10'000;

    struct Event {
        int64_t start;  // nanoseconds of the monotonic clock
        int64_t duration;
        int64_t bytes;
        int64_t row;  // of its thread
    };
    struct Thread {
        int64_t process;
        int64_t thread;  // as the system numbers them
        std::vector<Row> rows;
        std::vector<Event> events;  // in the order in which they ended
    };

    explicit KernelProfiler(bool synchronize = false) : KernelProfiler{Options{synchronize}} {}
    explicit KernelProfiler(const Options& options);
    ~KernelProfiler() override;

    // From now on `profiler` counts, until Stop() was called as often as Start(). Memory is counted
    // only for what was started so, and not by InstallKernelHook() alone.
    static void Start(const std::shared_ptr<KernelProfiler>& profiler);
    // False if it has not been started.
    bool Stop();

    void Run(KernelCall& call) override;

    // Those called since the last Reset(), of all threads together, the longest `self` first.
    std::vector<Row> rows() const;
    // One for each thread that has called a kernel.
    std::vector<Thread> Threads() const;
    // Calls that no event was kept for since there were too many, or no memory was left; of the
    // latter nothing at all is known.
    int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
    void Reset();

 private:
    struct Log;
    struct Frame;

    Log& LogOfThisThread();
    void Finish(Frame& frame, const internal::CallSignature& signature, const KernelCall& call);

    const Options options_;
    const uint64_t id_;  // tells it from those that have gone
    std::atomic<int> started_{0};
    std::atomic<bool> watches_alone_{true};
    std::atomic<int64_t> live_at_start_{0};
    std::atomic<int64_t> events_{0};
    std::atomic<int64_t> dropped_{0};
    std::vector<std::unique_ptr<Log>> logs_;
};

}  // namespace chainerx

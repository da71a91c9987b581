// Counts kernel calls, their time, and the memory they take.
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

// Counts all threads; each has its own log.
class CX_API KernelProfiler : public KernelHook {
 public:
    struct Options {
        // Wait for the device after each call. Otherwise kernels of an asynchronous device count
        // with the time that the device takes, if it can tell (core/device_timer.h), else with
        // their launch time.
        bool synchronize{false};
        // Maximum number of calls that are kept individually, for Threads(). Further ones are
        // counted as dropped.
        int64_t trace_limit{0};
    };

    // The calls of a kernel on a device with operands of equal dtypes and shapes.
    struct Row {
        const KernelInfo* kernel;
        const Device* device;
        // nullopt for calls after the first kMaxRows signatures, and for those with very many
        // operands.
        std::optional<std::vector<OperandSummary>> operands;
        int64_t calls;
        double total;   // seconds, including nested kernels
        double self;    // seconds, excluding nested kernels
        int64_t bytes;  // taken by its thread since the previous kernel ended, mostly for results
        // maximum bytes in use during the call, above those at the start of profiling
        int64_t peak;
        // Of a kernel with several, the one that ran; else null. Each has a row of its own.
        const char* algorithm;
    };
    static constexpr int kMaxRows = 10'000;

    struct Event {
        int64_t start;  // nanoseconds of the monotonic clock
        int64_t duration;
        int64_t bytes;
        int64_t row;  // index into its thread's rows
    };
    // The time of a call on a device.
    struct DeviceEvent {
        int64_t start;
        int64_t duration;
        int64_t stream;  // a number
        int64_t row;
    };
    struct Thread {
        int64_t process;
        int64_t thread;  // the operating system's number
        std::vector<Row> rows;
        std::vector<Event> events;  // in the order in which they ended
        std::vector<DeviceEvent> device_events;
    };

    explicit KernelProfiler(bool synchronize = false) : KernelProfiler{Options{synchronize}} {}
    explicit KernelProfiler(const Options& options);
    ~KernelProfiler() override;

    // Starts counting in `profiler`, until Stop() was called as often as Start().
    // InstallKernelHook() alone does not count memory.
    static void Start(const std::shared_ptr<KernelProfiler>& profiler);
    // Returns false if it has not been started.
    bool Stop();

    void Run(KernelCall& call) override;

    // The calls since the last Reset(), of all threads, in descending order of `self`. Waits for
    // devices that time them, as does the next.
    std::vector<Row> rows() const;
    // One entry for each thread that has called a kernel.
    std::vector<Thread> Threads() const;
    // Number of calls without an event, because there were too many or memory ran out; the latter
    // are not counted in rows either.
    int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
    void Reset();

 private:
    struct Log;
    struct Frame;

    Log& LogOfThisThread();
    void Finish(Frame& frame, const internal::CallSignature& signature, const KernelCall& call);

    const Options options_;
    const uint64_t id_;  // unique, also among destroyed profilers
    std::atomic<int> started_{0};
    std::atomic<bool> watches_alone_{true};
    std::atomic<int64_t> live_at_start_{0};
    std::atomic<int64_t> events_{0};
    std::atomic<int64_t> dropped_{0};
    std::vector<std::unique_ptr<Log>> logs_;
};

}  // namespace chainerx

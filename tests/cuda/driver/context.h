// Contexts, streams, events, graphs: the objects behind the driver's handles.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "chainerx/cuda/driver/types.h"
#include "kernel_abi.h"

namespace chainerx::cuda {

namespace test {

using Task = std::function<void()>;

// What one cuEventRecord waits for.
struct Mark {
    std::atomic<bool> done{false};
    std::chrono::steady_clock::time_point time;
};

// The graph that a capture makes: its tasks in the order of the calls.
struct Capture {
    // Of a stream that joined: how many tasks it has, and how many others have waited for.
    struct Branch {
        std::size_t added = 0, joined = 0;
    };
    CUstream origin = nullptr;
    bool blocks = false;  // the origin waits for the legacy stream, and that for it
    std::atomic<bool> valid{true}, ended{false};
    std::vector<Task> tasks;
    std::map<CUstream, Branch> branches;
};

}  // namespace test

// The primary context of a device.
struct CUctx_st {
    int device = 0;
    std::atomic<int> uses{0};
    std::atomic<CUresult> error{CUDA_SUCCESS};  // sticky
    std::mutex mutex;                           // of what follows
    std::set<std::shared_ptr<CUstream_st>> streams;
    std::vector<std::weak_ptr<CUstream_st>> closed_streams;  // they may still have tasks
    std::shared_ptr<CUstream_st> null_stream;
    std::vector<std::shared_ptr<test::Capture>> captures;  // those that have not ended

    // Prints what is wrong, and makes it the result of every later call.
    void Break(const std::string& what, CUresult code = CUDA_ERROR_ILLEGAL_ADDRESS);
    // The stream of a handle; null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD stand for the null
    // stream, which synchronizes with no other.
    std::shared_ptr<CUstream_st> Stream(CUstream handle);
    // Invalidates captures, if there are any: all, or those that the legacy stream would wait for.
    // Returns whether there were.
    bool InvalidateCaptures(bool only_blocking);
    // Waits for all streams.
    void Synchronize();
    void Destroy();
};

// Runs its tasks in their order on a thread of its own, late at random.
struct CUstream_st {
    explicit CUstream_st(CUcontext owner) : context{owner} {}

    void Push(test::Task task);
    bool Idle();
    void Synchronize();
    // The thread ends after the last task.
    void Close();
    static void Start(const std::shared_ptr<CUstream_st>& stream);

    CUcontext context;
    int priority = 0;                        // which has no effect
    bool blocks = false;                     // as in Capture
    std::shared_ptr<test::Capture> capture;  // changed by the thread that captures

 private:
    void Run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<test::Task> tasks_;
    std::uint64_t pushed_ = 0, finished_ = 0;
    bool closed_ = false;
};

struct CUevent_st {
    CUcontext context = nullptr;
    bool timing = true;
    std::mutex mutex;  // of what follows, which the last record sets
    std::shared_ptr<test::Mark> mark;
    std::shared_ptr<test::Capture> capture;
    CUstream captured_stream = nullptr;
    std::size_t captured_tasks = 0;  // of the branch, which precede it
};

struct CUgraph_st {
    std::vector<test::Task> tasks;
};
struct CUgraphExec_st {
    std::shared_ptr<const std::vector<test::Task>> tasks;
    std::shared_ptr<test::Mark> launched;  // of the last launch, on whichever stream
};

struct CUfunc_st {
    std::string name;
    test::Kernel kernel;
    CUcontext context = nullptr;
    std::atomic<int> dynamic_shared_limit{48 << 10};
};

struct CUmod_st {
    void* library = nullptr;
    CUcontext context = nullptr;
    std::mutex mutex;
    std::vector<std::unique_ptr<CUfunc_st>> functions;
};

}  // namespace chainerx::cuda

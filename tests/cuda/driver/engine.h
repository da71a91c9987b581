// Runs the threads of a grid: blocks one after the other, the threads of a block as fibers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chainerx/cuda/driver/types.h"
#include "fiber.h"
#include "kernel_abi.h"
#include "shared_memory.h"

namespace chainerx::cuda::test {

struct Launch {
    std::string name;
    Kernel kernel;
    Index3 grid, block;
    std::size_t dynamic_shared = 0;
    bool must_begin = false;  // it may overlap the kernel before: CX_BEGIN() has to wait
    CUcontext context = nullptr;
    std::shared_ptr<void> params;
};

// A permutation of the numbers below n that takes no memory.
class Order {
 public:
    explicit Order(std::uint64_t n);
    std::uint64_t operator[](std::uint64_t i) const { return (i * factor_ + first_) % n_; }

 private:
    std::uint64_t n_, factor_ = 1, first_ = 0;
};

// Lanes of a warp that wait for each other.
struct WarpCall {
    WarpOp op;
    unsigned mask, width, line;
    unsigned arrived = 0;
};

struct Warp {
    unsigned live = 0;   // lanes that exist and have not ended
    unsigned epoch = 0;  // counts __syncwarp
    std::vector<WarpCall> calls;
    Fiber* fibers[32];
    std::uint64_t values[32];
    unsigned arguments[32];
};

class Engine : public Current {
 public:
    Engine();
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // The one of this thread; null outside of threads that run kernels.
    static Engine* Get();

    // Returns what is wrong, or an empty string.
    std::string Run(const Launch& launch);

    // Called by kernels.
    std::uint64_t Barrier(int value, unsigned line);
    std::uint64_t CallWarp(WarpOp op, unsigned mask, std::uint64_t value, unsigned argument,
                           unsigned width, unsigned line);
    // Ends the kernel; names the thread that runs.
    [[noreturn]] void Fail(const std::string& what);

    bool running() const { return fiber_ != &main_; }
    const Launch& launch() const { return *launch_; }
    unsigned thread_number() const { return fiber_->thread; }
    std::uint64_t epoch() const { return epoch_; }
    unsigned warp_epoch() const { return warps_[fiber_->thread / 32].epoch; }
    Fiber& fiber() { return *fiber_; }
    std::string Describe(unsigned thread) const;

    SharedMemory shared;

 private:
    void RunBlock();
    [[noreturn]] static void FiberMain();
    void RunThread(unsigned number);
    void EndThread();
    // Lets other threads run until somebody puts this one into ready_.
    void Wait();
    void SwitchTo(Fiber& next);
    Fiber* PopReady();
    Fiber& IdleFiber();
    std::uint64_t ReleaseBarrier();
    void Execute(unsigned warp_number, std::size_t call_number);

    const Launch* launch_ = nullptr;
    Fiber main_;
    Fiber* fiber_ = &main_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber*> idle_, ready_, waiting_;
    std::size_t next_ready_ = 0;
    std::vector<Warp> warps_;
    std::uint64_t epoch_ = 0;  // counts barriers and blocks
    unsigned threads_ = 0, started_ = 0, ended_ = 0;
    unsigned barrier_line_ = 0, barrier_votes_ = 0;
    Order thread_order_{1};
    std::string error_;
};

}  // namespace chainerx::cuda::test

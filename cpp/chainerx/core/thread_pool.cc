#include "chainerx/core/thread_pool.h"

#include <pthread.h>
#include <signal.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "chainerx/core/blocking.h"
#include "chainerx/core/cpu_count.h"
#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/memory_stats.h"

namespace chainerx {
namespace {

constexpr int kMaxThreads = 1024;

// Kernels come in bursts, a few microseconds apart; waking a sleeper costs tens of them.
constexpr std::chrono::microseconds kSpinTime{30};

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Polls `word` until it differs from `old`, or for a while. Returns its last value.
uint32_t Spin(const std::atomic<uint32_t>& word, uint32_t old) {
    const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
    do {
        for (int i = 0; i < 32; ++i) {
            const uint32_t value = word.load(std::memory_order_acquire);
            if (value != old) {
                return value;
            }
            Pause();
        }
    } while (std::chrono::steady_clock::now() < deadline);
    return old;
}

// Returns the value of `word` once it differs from `old`.
uint32_t AwaitChange(const std::atomic<uint32_t>& word, uint32_t old, bool spin) {
    uint32_t value = word.load(std::memory_order_acquire);
    if (value == old && spin) value = Spin(word, old);
    while (value == old) {
        word.wait(old, std::memory_order_acquire);
        value = word.load(std::memory_order_acquire);
    }
    return value;
}

int DefaultNumThreads() {
    const char* text = std::getenv("CHAINERX_NUM_THREADS");
    if (text == nullptr || *text == '\0') {
        return internal::CountCpus(kMaxThreads);
    }
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > kMaxThreads) {
        throw ValueError{"CHAINERX_NUM_THREADS is '", text, "', expected an integer from 1 to ",
                         kMaxThreads};
    }
    return static_cast<int>(value);
}

#ifdef __linux__
// Sleeps until `word` may differ from `old`.
void Sleep(std::atomic<uint32_t>& word, uint32_t old) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
}
// Wakes at most n sleeping threads by one system call.
void Wake(std::atomic<uint32_t>& word, int n) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, n, nullptr, nullptr, 0);
}
#else
void Sleep(std::atomic<uint32_t>& word, uint32_t old) { word.wait(old); }
void Wake(std::atomic<uint32_t>& word, int) { word.notify_all(); }
#endif

// Runs one job at a time. A late worker finds the job closed and waits again, so the caller waits
// only for workers that have really begun.
class Pool {
 public:
    // Returns the pool of this process. It is never freed: a worker may still be leaving a job that
    // has ended.
    static Pool* Get();

    void Run(int64_t n_blocks, internal::BlockFunction function, const void* context,
             int n_threads);

    bool TryAcquire() {
        return !busy_.load(std::memory_order_relaxed) &&
               !busy_.exchange(true, std::memory_order_acquire);
    }
    void Release() { busy_.store(false, std::memory_order_release); }

    void Stop();

 private:
    // The state consists of kOpen, the number of workers that may join the job, and the number
    // inside.
    static constexpr uint32_t kOpen = uint32_t{1} << 31;
    static constexpr int kRoomShift = 16;
    static constexpr uint32_t kInside = (uint32_t{1} << kRoomShift) - 1;
    static_assert(kMaxThreads < 1 << (31 - kRoomShift));

    int Grow(int n_workers);
    void WorkerLoop();
    uint32_t AwaitSignal(uint32_t seen);
    void WakeWorkers(int n);
    int64_t TakeBlock() { return next_.fetch_add(1, std::memory_order_relaxed); }
    bool RunShare(int64_t block);

    alignas(64) std::atomic<bool> busy_{false};
    std::atomic<bool> stopped_{false};
    std::atomic<bool> spin_{true};
    std::vector<std::thread> workers_;  // touched by the holder of busy_ only

    // All workers wait for it to change, so that one call wakes them together.
    alignas(64) std::atomic<uint32_t> signal_{0};
    std::atomic<int> sleepers_{0};

    // The job. It is written while closed with nobody inside, and read by those inside.
    internal::BlockFunction function_{};
    const void* context_{};
    int64_t n_blocks_{};
    MemoryCounter* counter_{};
    std::exception_ptr error_;

    alignas(64) std::atomic<uint32_t> state_{0};
    std::atomic<bool> failed_{false};
    alignas(64) std::atomic<int64_t> next_{0};
};

std::atomic<Pool*> g_pool{nullptr};
std::atomic<int> g_num_threads{0};  // 0: not determined yet

// The threads of the parent don't exist in a forked child, which abandons the parent's pool and
// makes another.
[[maybe_unused]] const int g_fork_handler =
    pthread_atfork(nullptr, nullptr, [] { g_pool.store(nullptr, std::memory_order_relaxed); });

Pool* Pool::Get() {
    Pool* pool = g_pool.load(std::memory_order_acquire);
    if (pool == nullptr) {
        auto fresh = std::make_unique<Pool>();
        if (g_pool.compare_exchange_strong(pool, fresh.get(), std::memory_order_acq_rel)) {
            pool = fresh.release();
        }
    }
    return pool;
}

int Pool::Grow(int n_workers) {
    if (static_cast<int>(workers_.size()) < n_workers) {
        // Signals are for the threads of the application.
        sigset_t all;
        sigset_t old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        try {
            while (static_cast<int>(workers_.size()) < n_workers) {
                workers_.reserve(workers_.size() + 1);
                workers_.emplace_back([this] { WorkerLoop(); });
            }
        } catch (const std::system_error&) {
            // If no more threads can be created, the results are the same with fewer.
        } catch (const std::bad_alloc&) {
        }
        pthread_sigmask(SIG_SETMASK, &old, nullptr);
    }
    return std::min(n_workers, static_cast<int>(workers_.size()));
}

void Pool::WakeWorkers(int n) {
    // Either a worker about to sleep sees the new signal, or we see the sleeper.
    signal_.fetch_add(1, std::memory_order_seq_cst);
    const int sleepers = sleepers_.load(std::memory_order_seq_cst);
    const int awake = static_cast<int>(workers_.size()) - sleepers;
    if (n > awake) Wake(signal_, n - awake);
}

// Returns the signal once it differs from `seen`.
uint32_t Pool::AwaitSignal(uint32_t seen) {
    uint32_t signal = seen;
    if (spin_.load(std::memory_order_relaxed) && (signal = Spin(signal_, seen)) != seen) {
        return signal;
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    while ((signal = signal_.load(std::memory_order_seq_cst)) == seen) Sleep(signal_, seen);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return signal;
}

void Pool::WorkerLoop() {
    internal::SetInterruptFlag(&failed_);
    uint32_t seen = 0;
    while (true) {
        seen = AwaitSignal(seen);
        if (stopped_.load(std::memory_order_acquire)) {
            return;
        }
        // More workers may be awake than the job needs: those of an earlier job, and spinning ones.
        uint32_t state = state_.load(std::memory_order_relaxed);
        bool joined = false;
        while ((state & kOpen) != 0 && (state & kInside) < ((state & ~kOpen) >> kRoomShift) &&
               !joined) {
            joined = state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                                  std::memory_order_relaxed);
        }
        if (joined) {
            internal::t_state.job_counter = counter_;
            RunShare(TakeBlock());
            if ((state_.fetch_sub(1, std::memory_order_seq_cst) & kInside) == 1) {
                state_.notify_one();
            }
        }
    }
}

// Runs a block, and then remaining ones. Returns whether it was interrupted, which the caller of
// the pool handles.
bool Pool::RunShare(int64_t block) {
    try {
        for (; block < n_blocks_; block = TakeBlock()) {
            function_(context_, block);
            internal::CheckInterrupt();
        }
        return false;
    } catch (const InterruptedError&) {
        failed_.store(true, std::memory_order_relaxed);
        next_.store(n_blocks_, std::memory_order_relaxed);
        return true;
    } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed)) {
            error_ = std::current_exception();
        }
        next_.store(n_blocks_, std::memory_order_relaxed);
        return false;
    }
}

void Pool::Run(int64_t n_blocks, internal::BlockFunction function, const void* context,
               int n_threads) {
    const int n_workers = Grow(static_cast<int>(std::min<int64_t>(n_threads, n_blocks)) - 1);
    // If there are more threads than CPUs, a spinning worker would keep another from its work.
    spin_.store(n_workers < internal::CountCpus(kMaxThreads), std::memory_order_relaxed);

    function_ = function;
    context_ = context;
    n_blocks_ = n_blocks;
    counter_ = internal::CounterOfWorkspaces();
    // The first block is for this thread. Otherwise a fast worker might take all blocks before it,
    // and the share of a kernel's own thread would be random (profiler.h).
    next_.store(1, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    state_.store(kOpen + (static_cast<uint32_t>(n_workers) << kRoomShift),
                 std::memory_order_release);
    if (n_workers > 0) WakeWorkers(n_workers);

    const bool interrupted = RunShare(0);

    // Closes the job, so that no more workers join.
    uint32_t state = state_.fetch_and(kInside, std::memory_order_acq_rel) & kInside;
    while (state != 0) {
        state = AwaitChange(state_, state, spin_.load(std::memory_order_relaxed));
    }
    if (failed_.load(std::memory_order_relaxed)) {
        const std::exception_ptr error = std::exchange(error_, nullptr);
        Release();
        // Comes first: the interrupting code has set its own error, which must not be lost.
        if (interrupted) throw InterruptedError{"interrupted"};
        std::rethrow_exception(error);
    }
    Release();
}

void Pool::Stop() {
    // A thread that runs a job now keeps the pool and its workers, until the process ends.
    if (!TryAcquire()) {
        return;
    }
    stopped_.store(true, std::memory_order_release);
    WakeWorkers(kMaxThreads);
    for (std::thread& worker : workers_) {
        worker.join();
    }
    workers_.clear();
    // busy_ stays set: later calls, from other static destructors, run serially.
}

// Joins idle workers when the process ends or the library is unloaded.
struct Shutdown {
    ~Shutdown() {
        if (Pool* pool = g_pool.load(std::memory_order_acquire)) {
            pool->Stop();
        }
    }
} g_shutdown;

}  // namespace

int GetNumThreads() {
    int n = g_num_threads.load(std::memory_order_relaxed);
    if (n == 0) {
        n = DefaultNumThreads();
        int unknown = 0;
        if (!g_num_threads.compare_exchange_strong(unknown, n, std::memory_order_relaxed)) {
            n = unknown;
        }
    }
    return n;
}

void SetNumThreads(int n) {
    if (n < 1 || n > kMaxThreads) {
        throw ValueError{"set_num_threads: n is ", n, ", expected an integer from 1 to ",
                         kMaxThreads};
    }
    g_num_threads.store(n, std::memory_order_relaxed);
}

namespace internal {

void RunBlocks(int64_t n_blocks, BlockFunction function, const void* context) {
    if (n_blocks <= 0) return;
    const BlockingScope blocking;  // several blocks are always long work
    const int n_threads = GetNumThreads();
    if (n_threads > 1) {
        Pool* pool = Pool::Get();
        if (pool->TryAcquire()) {
            pool->Run(n_blocks, function, context, n_threads);
            return;
        }
    }
    for (int64_t block = 0; block < n_blocks; ++block) {
        function(context, block);
        CheckInterrupt();
    }
}

}  // namespace internal
}  // namespace chainerx

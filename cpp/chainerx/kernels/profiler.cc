#include "chainerx/kernels/profiler.h"

#include <pthread.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "chainerx/core/blocking.h"
#include "chainerx/core/device_timer.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/core/stream.h"
#include "chainerx/kernels/algorithm.h"

namespace chainerx {

using internal::CallSignature;

namespace {

int64_t Now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Calls of a thread whose times on a device are read together.
constexpr size_t kMaxPending = 4096;

int64_t ThreadNumber() {
#ifdef __linux__
    return syscall(SYS_gettid);
#else
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(pthread_self()));
#endif
}

// Guards the lists of logs of all profilers, which it outlives.
constinit internal::ForkMutex g_mutex;
// Guard the contents of logs. A log is written by one thread and rarely read, so there is hardly
// any contention; they can't be members, since a lock must outlive its log.
constinit internal::ForkMutex g_log_mutexes[16];

std::atomic<uint64_t> g_profilers{0};
std::atomic<uint64_t> g_forks{0};  // the thread of a child process has another number than before

[[maybe_unused]] const int g_fork_handler =
    pthread_atfork(nullptr, nullptr, [] { g_forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

// The calls of one thread.
struct KernelProfiler::Log {
    struct Entry {
        const KernelInfo* kernel;
        std::vector<int64_t> words;
        uint64_t hash;
        const char* algorithm;
        int64_t calls{0};
        int64_t total{0};  // nanoseconds
        int64_t self{0};
        int64_t bytes{0};
        int64_t peak{0};
    };

    internal::ForkMutex& mutex;
    const int64_t process{getpid()};
    const int64_t thread{ThreadNumber()};
    // Memory use of the thread when its last kernel began or ended, valid during `watch`.
    uint32_t watch{0};
    int64_t taken{0};
    std::vector<Entry> entries;
    std::vector<uint32_t> table = std::vector<uint32_t>(64);  // 1 + the index of an entry
    std::vector<Event> events;
    // Calls whose times on the device are not known yet, in the order in which they ended.
    struct Pending {
        DeviceTimer* timer;
        DeviceTimer::Mark begin;
        DeviceTimer::Mark end;
        int64_t stream;
        int64_t entry;
        uint64_t id;
        uint64_t parent;  // 0 if there is none
    };
    std::vector<Pending> pending;
    std::vector<DeviceEvent> device_events;
    std::map<uint64_t, int64_t> inner;  // nanoseconds of nested calls, by the outer's id
    uint64_t last_id{0};

    // Reads the times of pending calls. A call ends after those that are nested in it.
    void Collect(bool keeps_events) {
        for (const Pending& p : std::exchange(pending, {})) {
            int64_t times[2];
            const DeviceTimer::Mark marks[] = {p.begin, p.end};
            p.timer->TakeMarks(marks, times);
            const int64_t duration = std::max<int64_t>(0, times[1] - times[0]);
            Entry& entry = entries[static_cast<size_t>(p.entry)];
            entry.total += duration;
            entry.self += duration;
            if (const auto nested = inner.extract(p.id)) entry.self -= nested.mapped();
            if (p.parent != 0) inner[p.parent] += duration;
            if (keeps_events) device_events.push_back({times[0], duration, p.stream, p.entry});
        }
    }

    void Know(const internal::WatchedMemory& memory) {
        watch = memory.watch;
        taken = memory.taken;
    }

    explicit Log(size_t number) : mutex{g_log_mutexes[number % std::size(g_log_mutexes)]} {}

    // Returns the slot of the entry, or the free one for it.
    uint32_t& Find(std::span<const int64_t> words, uint64_t hash, const char* algorithm) {
        const size_t mask = table.size() - 1;
        for (size_t i = hash & mask;; i = (i + 1) & mask) {
            if (table[i] == 0) return table[i];
            const Entry& entry = entries[table[i] - 1];
            if (entry.hash == hash && entry.algorithm == algorithm &&
                std::ranges::equal(entry.words, words)) {
                return table[i];
            }
        }
    }

    size_t Place(const CallSignature& signature, const KernelCall& call, const char* algorithm) {
        const uint64_t hash = signature.Hash();
        const std::span<const int64_t> words = signature.words();
        if (const uint32_t place = Find(words, hash, algorithm)) return place - 1;
        if (entries.size() >= kMaxRows && words.size() > 3) {
            return Place(CallSignature::OfKernel(call), call, algorithm);
        }
        if (2 * (entries.size() + 1) > table.size()) {
            std::vector<uint32_t> larger(2 * table.size());
            std::swap(table, larger);
            for (size_t i = 0; i < entries.size(); ++i) {
                const Entry& e = entries[i];
                Find(e.words, e.hash, e.algorithm) = static_cast<uint32_t>(i + 1);
            }
        }
        entries.push_back({&call.kernel(), {words.begin(), words.end()}, hash, algorithm});
        Find(words, hash, algorithm) = static_cast<uint32_t>(entries.size());
        return entries.size() - 1;
    }

    void Clear() {
        Collect(false);
        entries.clear();
        events.clear();
        events.shrink_to_fit();
        device_events.clear();
        std::ranges::fill(table, 0);
    }

    std::vector<Row> Rows() const {
        std::vector<Row> rows;
        for (const Entry& e : entries) {
            rows.push_back({e.kernel, reinterpret_cast<const Device*>(e.words[1]),
                            internal::Summarize(*e.kernel, e.words), e.calls,
                            static_cast<double>(e.total) * 1e-9, static_cast<double>(e.self) * 1e-9,
                            e.bytes, e.peak, e.algorithm});
        }
        return rows;
    }
};

// A call that is being timed. Several profilers may time the same call.
struct KernelProfiler::Frame {
    const KernelProfiler* profiler;
    Log& log;
    Frame* outer;   // of any profiler
    Frame* parent;  // of this profiler
    internal::WatchedMemory before;
    int64_t taken_before;  // by the thread, at the end of the kernel before
    int64_t start{0};
    int64_t inner{0};  // nanoseconds in nested kernels
    int64_t inner_bytes{0};
    DeviceTimer* timer{nullptr};  // null: the host's time counts
    DeviceTimer::Mark begin{nullptr};
    uint64_t id{0};
    const char* const outer_algorithm{std::exchange(internal::t_algorithm, nullptr)};

    static inline thread_local constinit Frame* t_innermost = nullptr;

    Frame(const KernelProfiler* p, Log& l)
        : profiler{p},
          log{l},
          outer{t_innermost},
          parent{outer},
          before{internal::GetWatchedMemory()},
          taken_before{l.watch == before.watch ? l.taken : 0} {
        l.Know(before);
        while (parent != nullptr && parent->profiler != p) parent = parent->outer;
        t_innermost = this;
        start = Now();
    }
    ~Frame() {
        t_innermost = outer;
        internal::t_algorithm = outer_algorithm;
    }

    // For a device that computes later and can tell its times.
    void UseTimerOf(Device& device) {
        timer = device.default_stream() != nullptr ? dynamic_cast<DeviceTimer*>(&device) : nullptr;
        if (timer == nullptr) return;
        id = ++log.last_id;
        begin = timer->PutMark();
        start = Now();
    }

    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
};

KernelProfiler::KernelProfiler(const Options& options)
    : options_{options}, id_{g_profilers.fetch_add(1) + 1} {}

KernelProfiler::~KernelProfiler() = default;

void KernelProfiler::Start(const std::shared_ptr<KernelProfiler>& profiler) {
    if (profiler->started_.fetch_add(1) != 0) return;
    try {
        InstallKernelHook(profiler);
    } catch (...) {
        profiler->started_.fetch_sub(1);
        throw;
    }
    profiler->watches_alone_ = internal::WatchMemory(true);
    const internal::WatchedMemory memory = internal::GetWatchedMemory();
    profiler->live_at_start_ = memory.live;
    profiler->LogOfThisThread().Know(memory);
}

bool KernelProfiler::Stop() {
    int started = started_.load();
    do {
        if (started == 0) return false;
    } while (!started_.compare_exchange_weak(started, started - 1));
    if (started != 1) return true;
    internal::WatchMemory(false);
    RemoveKernelHook(this);
    return true;
}

KernelProfiler::Log& KernelProfiler::LogOfThisThread() {
    struct Known {
        uint64_t profiler;
        uint64_t forks;
        Log* log;
    };
    thread_local constinit Known t_known[4]{};
    thread_local constinit unsigned t_next = 0;
    const uint64_t forks = g_forks.load(std::memory_order_relaxed);
    for (const Known& known : t_known) {
        if (known.profiler == id_ && known.forks == forks) return *known.log;
    }
    const int64_t process = getpid();
    const int64_t thread = ThreadNumber();
    const std::lock_guard lock{g_mutex};
    // More profilers than are cached here, or a number that belonged to another thread.
    auto it = std::ranges::find_if(
        logs_, [&](const auto& l) { return l->process == process && l->thread == thread; });
    if (it == logs_.end()) {
        logs_.push_back(std::make_unique<Log>(logs_.size()));
        it = logs_.end() - 1;
        // If another profiler began to watch earlier, memory taken since then does not belong to
        // this one's first kernel, though that kernel's results do.
        if (!watches_alone_) (*it)->Know(internal::GetWatchedMemory());
    }
    t_known[t_next++ % std::size(t_known)] = {id_, forks, it->get()};
    return **it;
}

void KernelProfiler::Run(KernelCall& call) {
    const CallSignature signature{call};
    Frame frame{this, LogOfThisThread()};
    if (!options_.synchronize) frame.UseTimerOf(call.device());
    try {
        call.Proceed();
        if (options_.synchronize) call.device().Synchronize();
    } catch (...) {  // failed calls take time, too
        Finish(frame, signature, call);
        throw;
    }
    Finish(frame, signature, call);
}

void KernelProfiler::Finish(Frame& frame, const CallSignature& signature, const KernelCall& call) {
    const int64_t duration = Now() - frame.start;
    const internal::WatchedMemory after = internal::GetWatchedMemory();
    const int64_t bytes = after.watch == frame.before.watch ? after.taken - frame.taken_before : 0;
    if (frame.parent != nullptr) {
        frame.parent->inner += duration;
        frame.parent->inner_bytes += bytes;
    }
    Log& log = frame.log;
    const std::lock_guard lock{log.mutex};
    log.Know(after);
    try {
        const size_t place = log.Place(signature, call, internal::t_algorithm);
        Log::Entry& entry = log.entries[place];
        ++entry.calls;
        if (frame.timer == nullptr) {
            entry.total += duration;
            entry.self += duration - frame.inner;
        } else {
            const Stream* stream = GetCurrentStream(call.device());
            log.pending.push_back({frame.timer, frame.begin, frame.timer->PutMark(),
                                   reinterpret_cast<int64_t>(stream), static_cast<int64_t>(place),
                                   frame.id, frame.parent != nullptr ? frame.parent->id : 0});
            if (log.pending.size() >= kMaxPending) log.Collect(options_.trace_limit != 0);
        }
        const int64_t own_bytes = bytes - frame.inner_bytes;
        entry.bytes += own_bytes;
        // A new overall peak occurred during the call; other peaks are seen at both ends only.
        const int64_t live = std::max({frame.before.live, after.live,
                                       after.peak > frame.before.peak ? after.peak : after.live});
        entry.peak = std::max(entry.peak, live - live_at_start_.load(std::memory_order_relaxed));
        if (options_.trace_limit == 0) return;
        if (events_.load(std::memory_order_relaxed) >= options_.trace_limit) {
            dropped_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        log.events.push_back({frame.start, duration, own_bytes, static_cast<int64_t>(place)});
        events_.fetch_add(1, std::memory_order_relaxed);
    } catch (const ChainerxError&) {  // of a device that fails; it will say so by itself
        dropped_.fetch_add(1, std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {  // must not end the profiled call
        dropped_.fetch_add(1, std::memory_order_relaxed);
    }
}

std::vector<KernelProfiler::Thread> KernelProfiler::Threads() const {
    std::vector<Thread> threads;
    const internal::BlockingScope blocking;
    const std::lock_guard lock{g_mutex};
    for (const std::unique_ptr<Log>& log : logs_) {
        const std::lock_guard lock_log{log->mutex};
        log->Collect(options_.trace_limit != 0);
        threads.push_back(
            {log->process, log->thread, log->Rows(), log->events, log->device_events});
    }
    return threads;
}

std::vector<KernelProfiler::Row> KernelProfiler::rows() const {
    std::map<std::pair<std::vector<int64_t>, const char*>, Log::Entry> all;
    {
        const internal::BlockingScope blocking;
        const std::lock_guard lock{g_mutex};
        for (const std::unique_ptr<Log>& log : logs_) {
            const std::lock_guard lock_log{log->mutex};
            log->Collect(options_.trace_limit != 0);
            for (const Log::Entry& e : log->entries) {
                const auto [it, is_new] = all.emplace(std::pair{e.words, e.algorithm}, e);
                if (is_new) continue;
                Log::Entry& sum = it->second;
                sum.calls += e.calls;
                sum.total += e.total;
                sum.self += e.self;
                sum.bytes += e.bytes;
                sum.peak = std::max(sum.peak, e.peak);
            }
        }
    }
    Log merged{0};
    for (auto& [key, entry] : all) merged.entries.push_back(std::move(entry));
    std::ranges::stable_sort(merged.entries, std::greater{}, &Log::Entry::self);
    return merged.Rows();
}

void KernelProfiler::Reset() {
    const std::lock_guard lock{g_mutex};
    for (const std::unique_ptr<Log>& log : logs_) {
        const std::lock_guard lock_log{log->mutex};
        events_.fetch_sub(static_cast<int64_t>(log->events.size()), std::memory_order_relaxed);
        log->Clear();
    }
    dropped_.store(0, std::memory_order_relaxed);
}

}  // namespace chainerx

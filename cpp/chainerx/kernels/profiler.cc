#include "chainerx/kernels/profiler.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "chainerx/core/fork_mutex.h"

namespace chainerx {
namespace {

double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// A call that is being timed. Several profilers may time the same calls.
struct Frame {
    const KernelProfiler* profiler;
    Frame* parent;
    double start{0};
    double inner{0};  // spent in kernels that this one calls
};

thread_local Frame* t_frame = nullptr;

Frame* ParentOf(const KernelProfiler* profiler) {
    Frame* frame = t_frame;
    while (frame != nullptr && frame->profiler != profiler) frame = frame->parent;
    return frame;
}

// Over the rows of all profilers: it outlives them.
constinit internal::ForkMutex g_mutex;

}  // namespace

void KernelProfiler::Run(KernelCall& call) {
    struct Timed : Frame {
        explicit Timed(const KernelProfiler* p) : Frame{p, t_frame, Now()} { t_frame = this; }
        ~Timed() { t_frame = parent; }
    };
    Frame* const outer = ParentOf(this);
    Timed frame{this};
    call.Proceed();
    if (synchronize_) call.device().Synchronize();
    const double total = Now() - frame.start;
    if (outer != nullptr) outer->inner += total;

    const std::lock_guard lock{g_mutex};
    // By id: a plug-in that calls kernels has descriptors of its own.
    const auto it =
        std::ranges::find(rows_, call.kernel().id, [](const Row& r) { return r.kernel->id; });
    Row& row = it != rows_.end() ? *it : rows_.emplace_back(Row{&call.kernel(), 0, 0, 0});
    ++row.calls;
    row.total += total;
    row.self += total - frame.inner;
}

std::vector<KernelProfiler::Row> KernelProfiler::rows() const {
    std::vector<Row> rows;
    {
        const std::lock_guard lock{g_mutex};
        rows = rows_;
    }
    std::ranges::sort(rows, std::greater{}, &Row::self);
    return rows;
}

void KernelProfiler::Reset() {
    const std::lock_guard lock{g_mutex};
    rows_.clear();
}

}  // namespace chainerx

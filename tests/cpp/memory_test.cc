// Memory statistics of a device, in particular of workspaces, which only kernels use.
#include <atomic>
#include <cstring>
#include <thread>

#include "chainerx/core/host_memory.h"
#include "chainerx/core/memory_stats.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/profiler.h"
#include "test.h"

using namespace chainerx;

namespace {

constexpr size_t kSize = size_t{1} << 20;

Device& Used() { return GetDevice("native:2"); }

// Memory that is freed with it, as in a kernel.
class Workspace {
 public:
    explicit Workspace(size_t size) : size_{size}, p_{AllocLarge(size)} {
        std::memset(p_, 1, size);
    }
    ~Workspace() { FreeLarge(p_, size_); }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    void* data() const { return p_; }

 private:
    size_t size_;
    void* p_;
};

}  // namespace

CX_TEST(StatsOfADevice) {
    Device& device = Used();
    ResetPeakMemoryStats(device);
    const MemoryStats before = GetMemoryStats(device);
    CHECK_EQ(before.peak_in_use, before.in_use);
    {
        const Array x = Empty({1000}, Dtype::kFloat32, device);
        const Array y = Empty({3}, Dtype::kFloat32, device);
        const Array view = y.Reshape({3, 1});
        const MemoryStats now = GetMemoryStats(device);
        CHECK_EQ(now.allocations, before.allocations + 2);
        CHECK(now.in_use >= before.in_use + 4064 + 76);
        CHECK_EQ(now.peak_in_use, now.in_use);
    }
    CHECK_EQ(GetMemoryStats(device).in_use, before.in_use);
    CHECK_EQ(GetMemoryStats(device).allocations, before.allocations);
}

CX_TEST(WorkspacesCountForTheDeviceOfTheResults) {
    Device& device = Used();
    Device& other = GetDevice("native:1");
    const Array elsewhere = Empty({3}, Dtype::kFloat32, other);
    const Array result = Empty({3}, Dtype::kFloat32, device);
    ResetPeakMemoryStats(device);
    ResetPeakMemoryStats(other);
    const MemoryStats before = GetMemoryStats(device);
    {
        const Workspace w{kSize};
        CHECK_EQ(reinterpret_cast<uintptr_t>(w.data()) % 64, uintptr_t{0});
        const MemoryStats now = GetMemoryStats(device);
        CHECK(now.workspace >= static_cast<int64_t>(kSize));
        CHECK_EQ(now.in_use, before.in_use + now.workspace);
        CHECK_EQ(now.allocations, before.allocations);  // these are arrays
        CHECK_EQ(GetMemoryStats(other).workspace, int64_t{0});
        // It is returned to its device, though the thread then works for another one.
        const Array more = Empty({3}, Dtype::kFloat32, other);
    }
    const MemoryStats after = GetMemoryStats(device);
    CHECK_EQ(after.workspace, int64_t{0});
    CHECK_EQ(after.in_use, before.in_use);
    CHECK(after.peak_workspace >= static_cast<int64_t>(kSize));
    CHECK(after.peak_in_use >= before.in_use + static_cast<int64_t>(kSize));
    CHECK_EQ(GetMemoryStats(other).peak_workspace, int64_t{0});
    ResetPeakMemoryStats(device);
    CHECK_EQ(GetMemoryStats(device).peak_workspace, int64_t{0});
}

CX_TEST(WorkspacesOfThePoolCountForWhoCalls) {
    const int n_before = GetNumThreads();
    SetNumThreads(3);
    Device& device = Used();
    for (int round = 0; round < 20; ++round) {
        const Array result = Empty({3}, Dtype::kFloat32, device);
        ResetPeakMemoryStats(device);
        std::atomic<int> inside{0};
        ParallelFor(3, [&](int64_t) {
            const Workspace w{kSize};
            ++inside;
            for (int i = 0; i < 2'000'000 && inside < 3; ++i) std::this_thread::yield();
        });
        const MemoryStats now = GetMemoryStats(device);
        CHECK_EQ(now.workspace, int64_t{0});
        CHECK(now.peak_workspace >= static_cast<int64_t>(3 * kSize));
    }
    SetNumThreads(n_before);
}

CX_TEST(WorkspaceOfAThreadThatNeverTookMemory) {
    std::thread{[] { const Workspace w{kSize}; }}.join();
}

CX_TEST(NoMemoryForAWorkspace) {
    const Array result = Empty({3}, Dtype::kFloat32, Used());
    const MemoryStats before = GetMemoryStats(Used());
    CHECK_THROWS(OutOfMemoryError, "out of memory", Workspace{size_t{1} << 50});
    CHECK_EQ(GetMemoryStats(Used()).workspace, before.workspace);
    CHECK_EQ(GetMemoryStats(Used()).in_use, before.in_use);
}

CX_TEST(ProfilerTellsShapesAndEvents) {
    const auto profiler = std::make_shared<KernelProfiler>(KernelProfiler::Options{false, 3});
    const Array x = Ones({2, 3}, Dtype::kFloat32);
    KernelProfiler::Start(profiler);
    KernelProfiler::Start(profiler);
    for (int i = 0; i < 4; ++i) Exp(x);
    CHECK(profiler->Stop());
    Tanh(x);
    CHECK(profiler->Stop());
    CHECK(!profiler->Stop());
    Tanh(x);
    const auto rows = profiler->rows();
    CHECK_EQ(rows.size(), size_t{2});
    for (const KernelProfiler::Row& row : rows) {
        const bool is_exp = std::string{row.kernel->name} == "Exp";
        CHECK_EQ(row.calls, int64_t{is_exp ? 4 : 1});
        CHECK_EQ(row.bytes, int64_t{is_exp ? 96 : 24});
        CHECK_EQ(row.device, &GetDefaultDevice());
        CHECK(row.operands.has_value());
        CHECK_EQ(row.operands->size(), size_t{2});
        CHECK_EQ(*(*row.operands)[1].shape, (Shape{2, 3}));
        CHECK_EQ(*(*row.operands)[1].dtype, Dtype::kFloat32);
    }
    const auto threads = profiler->Threads();
    CHECK_EQ(threads.size(), size_t{1});
    CHECK_EQ(threads[0].events.size(), size_t{3});
    CHECK_EQ(profiler->dropped(), int64_t{2});
    for (size_t i = 1; i < 3; ++i)
        CHECK(threads[0].events[i].start >= threads[0].events[i - 1].start);
}

CX_TEST(WorkspacesAreProfiled) {
    // A kernel with a workspace of a megabyte, as seen by a hook.
    struct Working : KernelHook {
        void Run(KernelCall& call) override {
            const Workspace w{kSize};
            call.Proceed();
        }
    };
    const auto working = std::make_shared<Working>();
    const auto profiler = std::make_shared<KernelProfiler>();
    const Array x = Ones({2, 3}, Dtype::kFloat32);
    InstallKernelHook(working);
    KernelProfiler::Start(profiler);
    Exp(x);
    profiler->Stop();
    RemoveKernelHook(working.get());
    const auto rows = profiler->rows();
    CHECK_EQ(rows.size(), size_t{1});
    CHECK(rows[0].bytes >= static_cast<int64_t>(kSize));
    CHECK(rows[0].peak >= static_cast<int64_t>(kSize));
}

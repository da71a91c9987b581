#include "chainerx/core/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace chainerx::internal {
namespace {

int CountAffinityCpus() {
#ifdef __linux__
    // The mask of a machine with more than CPU_SETSIZE CPUs doesn't fit a plain cpu_set_t.
    constexpr int kMaxCpus = 8192;
    if (cpu_set_t* set = CPU_ALLOC(kMaxCpus)) {
        const size_t size = CPU_ALLOC_SIZE(kMaxCpus);
        CPU_ZERO_S(size, set);
        const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count;
    }
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Returns the text of a short file, "" if there is none. Uses stdio: streams read numbers through
// facets that another libstdc++ of the process may have registered.
std::string ReadText(const std::string& path) {
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    const std::unique_ptr<std::FILE, Close> file{std::fopen(path.c_str(), "re")};
    if (file == nullptr) return {};
    char text[4096];
    return {text, std::fread(text, 1, sizeof(text), file.get())};
}

// Parses a positive integer at the head of a text and advances; nullopt for "max", which means no
// limit.
std::optional<double> TakeCount(const char** text) {
    char* end = nullptr;
    const long long count = std::strtoll(*text, &end, 10);
    if (end == *text || count <= 0) return std::nullopt;
    *text = end;
    return static_cast<double>(count);
}

// Returns the limit by quota and period; `most` if there is none.
double LimitOf(const std::string& quota_text, const std::string& period_text, double most) {
    const char* at = quota_text.c_str();
    const std::optional<double> quota = TakeCount(&at);
    if (!period_text.empty()) at = period_text.c_str();
    const std::optional<double> period = TakeCount(&at);
    return quota && period ? std::min(most, *quota / *period) : most;
}

// CPUs that the cgroup (version 2) of this process or one above it grants, rounded up.
int CountCgroupCpus(int most) {
    double cpus = most;
    const std::string groups = "\n" + ReadText("/proc/self/cgroup");
    if (const size_t at = groups.find("\n0::/"); at != std::string::npos) {
        const size_t begin = at + 4;
        std::string path = groups.substr(begin, groups.find('\n', begin) - begin);
        for (;; path.resize(path.find_last_of('/'))) {
            cpus = LimitOf(ReadText("/sys/fs/cgroup" + path + "/cpu.max"), "", cpus);
            if (path.empty()) break;
        }
    }
    // In a container the path above is often not visible, and cgroup version 1 keeps two files.
    cpus = LimitOf(ReadText("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
                   ReadText("/sys/fs/cgroup/cpu/cpu.cfs_period_us"), cpus);
    return std::max(1, static_cast<int>(cpus + 0.999));
}

// An atomic, not a static local: a fork while another thread initializes it would leave its guard
// locked in the child.
std::atomic<int> g_cpus{0};

}  // namespace

int CountCpus(int most) {
    int count = g_cpus.load(std::memory_order_relaxed);
    if (count == 0) {
        count = std::min(CountAffinityCpus(), CountCgroupCpus(most));
        g_cpus.store(count, std::memory_order_relaxed);
    }
    return std::min(count, most);
}

}  // namespace chainerx::internal

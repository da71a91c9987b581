// Kernels with several algorithms: which one is forced from outside, and which one ran.
//
// A backend keeps one table of algorithms per such kernel and chooses a row by the shapes. The
// table makes its names known by an AlgorithmChoice, so that $CHAINERX_<KERNEL> or
// chainerx.testing.force_algorithm can force a row.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chainerx/core/macro.h"

namespace chainerx {

// Constructed while the library loads, and never destroyed before its last use.
class CX_API AlgorithmChoice {
 public:
    // A row that is forced, if any. A thread forces strictly: where the row can't compute a call,
    // that is an error. The environment prefers: such a call takes the row that it takes otherwise.
    struct Forced {
        int row{-1};
        bool is_strict{false};
    };

    // `kernel` is the name in chainerx.testing, `variable` that in the environment.
    AlgorithmChoice(const char* kernel, const char* variable, std::span<const char* const> names);
    AlgorithmChoice(const AlgorithmChoice&) = delete;
    AlgorithmChoice& operator=(const AlgorithmChoice&) = delete;

    const char* kernel() const { return kernel_; }
    // In order of preference.
    std::span<const char* const> names() const { return names_; }

    // False only if no thread forces a row, nor the environment, which has been read.
    bool MayBeForced() const { return reasons_.load(std::memory_order_relaxed) != 0; }

    // The environment is read once. ValueError names the variable, its value and the names there
    // are.
    Forced forced() const;

    // Forces a row in this thread, or none. Returns the name that was forced before, if any.
    // ValueError lists the names there are.
    std::optional<std::string> Force(const std::optional<std::string>& name) const;

    // Every table of the library, in no particular order.
    static std::span<const AlgorithmChoice* const> All();
    // ValueError lists the kernels there are.
    static const AlgorithmChoice& Find(std::string_view kernel);

 private:
    int FindRow(std::string_view name) const;  // -1 if there is none
    int ReadEnvironment() const;

    static constexpr int kUnread = -2;

    const char* const kernel_;
    const char* const variable_;
    const std::span<const char* const> names_;
    int id_;
    mutable std::atomic<int> environment_{kUnread};
    // The threads that force a row, plus 1 unless the environment is known to force none.
    mutable std::atomic<int> reasons_{1};
};

namespace internal {

// What the innermost kernel of this thread that has several algorithms chose; null if none did.
// Read by the profiler, which sets it back around each call.
extern CX_API constinit thread_local const char* t_algorithm
    __attribute__((tls_model("initial-exec")));

// A kernel tells that it runs an algorithm; `name` must live forever. The last one counts.
inline void NoteAlgorithm(const char* name) { t_algorithm = name; }

}  // namespace internal
}  // namespace chainerx

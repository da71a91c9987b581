#include "chainerx/core/kernel_error.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

#include "chainerx/core/fork_mutex.h"

namespace chainerx {

std::string KernelError::ToString() const {
    switch (kind) {
        case Kind::kIndex:
        case Kind::kUnsignedIndex:
            return StrCat(
                op, ": index ",
                kind == Kind::kIndex ? StrCat(value) : StrCat(static_cast<uint64_t>(value)),
                " is out of range for an axis of length ", bound, ": ", argument, "[", position,
                "]");
        case Kind::kLabel: {
            std::string text =
                StrCat(op, ": ", argument, "[", position, "] is ", value, ", but x1 has ", bound,
                       " classes; expected 0 to ", bound - 1);
            if (may_ignore) text += StrCat(", or ", ignored, " to ignore the row");
            return text;
        }
        case Kind::kLength:
            return StrCat(op, ": ", argument, "[", position, "] is ", value, ", expected 0 to ",
                          bound);
        case Kind::kFewSteps:
            return StrCat(op, ": ", argument, "[", position, "] needs ", value,
                          " steps, but input_length[", position, "] is ", bound);
        case Kind::kSingular:
            return StrCat(op, ": matrix ", position, " of ", argument, " is singular: pivot ",
                          value, " of ", bound, " is 0");
        case Kind::kIndefinite:
            return StrCat(op, ": matrix ", position, " of ", argument,
                          " is not positive definite: its leading minor of order ", value + 1,
                          " of ", bound, " is not positive");
        case Kind::kDomain:
            return StrCat(op, ": ", argument, position < 0 ? "" : StrCat("[", position, "]"),
                          " is ", std::bit_cast<double>(value), ", expected ", expected);
        case Kind::kNotFinite:
            return StrCat(op, ": matrix ", position, " of ", argument,
                          " has NaN or infinite values");
        case Kind::kNoConvergence:
            return StrCat(op, ": the decomposition of matrix ", position, " of ", argument,
                          " did not converge (info is ", value, ", expected 0)");
        case Kind::kNoLapack:
            return StrCat(op,
                          ": the library in use as BLAS has no LAPACK, which this needs; "
                          "chainerx.show_config() names the library");
        case Kind::kNone:
            break;
    }
    return "no error";
}

void Fail(const KernelError& error) { throw KernelCheckError{error}; }

namespace internal {
namespace {

struct LiveThreads {
    ForkMutex mutex;
    std::unordered_set<uint64_t> tokens;
};

constinit Lazy<LiveThreads> g_live_threads;  // threads may end after any static

struct ThreadToken {
    uint64_t value;

    ThreadToken() {
        static std::atomic<uint64_t> next{1};
        value = next++;
        LiveThreads& threads = g_live_threads.Get();
        const std::lock_guard lock{threads.mutex};
        threads.tokens.insert(value);
    }
    ~ThreadToken() {
        LiveThreads& threads = g_live_threads.Get();
        const std::lock_guard lock{threads.mutex};
        threads.tokens.erase(value);
    }
};

}  // namespace

uint64_t GetThreadToken() {
    thread_local const ThreadToken token;
    return token.value;
}

bool IsThreadAlive(uint64_t token) {
    LiveThreads& threads = g_live_threads.Get();
    const std::lock_guard lock{threads.mutex};
    return threads.tokens.contains(token);
}

}  // namespace internal
}  // namespace chainerx

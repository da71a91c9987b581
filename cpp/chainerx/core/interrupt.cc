#include "chainerx/core/interrupt.h"

#include <algorithm>
#include <chrono>

#include "chainerx/core/error.h"

namespace chainerx {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr Clock::duration kInterval = milliseconds{1};
constexpr Clock::duration kLongestInterval = milliseconds{100};
// A hook may wait for a lock under which others compute; so it gets at most 5 % of the time.
constexpr int kCostFactor = 20;

std::atomic<InterruptHook> g_hook{nullptr};

struct Polling {
    Clock::time_point next{};
    int masked{0};
    const std::atomic<bool>* cancelled{nullptr};  // not null in a thread that works for another one
};

constinit thread_local Polling t_polling{};

}  // namespace

void SetInterruptHook(InterruptHook hook) { g_hook.store(hook, std::memory_order_release); }

namespace internal {

void CheckInterrupt() {
    const InterruptHook hook = g_hook.load(std::memory_order_acquire);
    Polling& polling = t_polling;
    if (polling.cancelled != nullptr) {
        if (!polling.cancelled->load(std::memory_order_relaxed)) return;
    } else {
        if (hook == nullptr || polling.masked != 0) return;
        const Clock::time_point now = Clock::now();
        if (now < polling.next) return;
        polling.next = Clock::time_point::max();  // code that the hook calls does not ask again
        const bool stop = hook();
        const Clock::time_point end = Clock::now();
        polling.next = end + std::clamp(kCostFactor * (end - now), kInterval, kLongestInterval);
        if (!stop) return;
    }
    throw InterruptedError{"interrupted"};
}

void SetInterruptFlag(const std::atomic<bool>* cancelled) { t_polling.cancelled = cancelled; }

NoInterruptScope::NoInterruptScope() { ++t_polling.masked; }
NoInterruptScope::~NoInterruptScope() { --t_polling.masked; }

}  // namespace internal
}  // namespace chainerx

// Stopping long work from outside, as Ctrl-C does.
//
// Kernels and backward call CheckInterrupt() about every tenth of a millisecond of work. It asks
// the program's hook about every millisecond, and throws if the answer is yes. The result in
// progress is lost, an array that was being written in place is partly written, and all else is
// unchanged.
#pragma once

#include <atomic>

#include "chainerx/core/macro.h"

namespace chainerx {

// Returns whether the work of the calling thread shall stop. Called on the thread that called the
// routine, never on one of the pool; no lock is held, so it may wait and may call routines of this
// library. A hook that waits long is called less often.
using InterruptHook = bool (*)();

// Sets the hook of the process; null, the default, never stops.
CX_API void SetInterruptHook(InterruptHook hook);

namespace internal {

// Throws InterruptedError if the work shall stop. Takes some 30 ns.
CX_API void CheckInterrupt();

// From now on the calling thread works for another one: it stops when `*cancelled` is set.
void SetInterruptFlag(const std::atomic<bool>* cancelled);

// During its life nothing interrupts the thread: for steps that must all be done.
class CX_API NoInterruptScope {
 public:
    NoInterruptScope();
    ~NoInterruptScope();
    NoInterruptScope(const NoInterruptScope&) = delete;
    NoInterruptScope& operator=(const NoInterruptScope&) = delete;
};

}  // namespace internal
}  // namespace chainerx

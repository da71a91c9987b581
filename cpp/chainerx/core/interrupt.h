// Stopping long work from outside, as Ctrl-C does.
//
// Kernels and backward ask CheckInterrupt() after every tenth of a millisecond or so of work. It
// asks the hook of the program, about every millisecond, and throws if the answer is yes. What was
// being computed is lost, an array that was being written to in place is partly written, and all
// else is as it was.
#pragma once

#include <atomic>

#include "chainerx/core/macro.h"

namespace chainerx {

// Whether the work of the calling thread shall stop. Called on the thread that called the routine,
// never on one of the pool; holds no lock, so it may wait and may call routines of this library.
// One that waits long is asked less often.
using InterruptHook = bool (*)();

// For the whole process; null, as at first: nothing stops.
CX_API void SetInterruptHook(InterruptHook hook);

namespace internal {

// Throws InterruptedError if the work shall stop. Some 30 ns.
CX_API void CheckInterrupt();

// The calling thread works for another one from now on: it stops when `*cancelled` is set.
void SetInterruptFlag(const std::atomic<bool>* cancelled);

// While this lives, nothing stops the thread: around steps that must all be done.
class CX_API NoInterruptScope {
 public:
    NoInterruptScope();
    ~NoInterruptScope();
    NoInterruptScope(const NoInterruptScope&) = delete;
    NoInterruptScope& operator=(const NoInterruptScope&) = delete;
};

}  // namespace internal
}  // namespace chainerx

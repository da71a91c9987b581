// Whether loops ask for memory before its turn comes.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Intel's wait for the third-level cache within long expressions: asked ahead, they take a tenth to
// a fifth less. AMD's bring by themselves what comes next, and take up to a third more, where the
// operands exceed that cache (x + y of float64 in benchmarks/routines.py). Set with the instruction
// set.
extern bool asks_ahead;

// For loops that only read, on all processors: asks for what is read four kilobytes after x[k], once
// for each line of memory. Elements that come from the third-level cache take a fifth less time by
// it, those from memory some hundredths more. Inlined in any case, for GCC takes a function that does
// nothing but ask for one without effects, and drops its calls.
template <typename T>
[[gnu::always_inline]] inline void AskForLater(const T* x, int64_t k) {
    constexpr int64_t kAhead = 4096 / sizeof(T);
    constexpr int64_t kLine = 64 / sizeof(T);
    if (k % kLine == 0) __builtin_prefetch(x + k + kAhead);
}

}  // namespace chainerx::native

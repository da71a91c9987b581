// Whether loops ask for memory before its turn comes.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Intel's wait for the third-level cache within long expressions: asked ahead, they take a tenth to
// a fifth less. AMD's bring by themselves what comes next, and take up to a third more, where the
// operands exceed that cache (x + y of float64 in benchmarks/routines.py). Set with the instruction
// set.
extern bool asks_ahead;

// For loops that only read: how many bytes ahead they ask for memory. Four kilobytes take a fifth
// off the time of elements in the third-level cache of Intel's processors and AMD's Zen 5, and cost
// some hundredths where they come from memory. AMD's Zen 4 takes a quarter more by it, and by AVX2
// up to a half more also where less is asked for; what is read next costs nothing to ask for, where
// a branch costs more than half by AVX2 (sums, extremes and argmax in benchmarks/routines.py). Set
// with the instruction set.
extern int64_t later_bytes;

// Asks for what is read some time after x[k], once for each line of memory. Inlined in any case,
// for GCC takes a function that does nothing but ask for one without effects, and drops its calls.
template <typename T>
[[gnu::always_inline]] inline void AskForLater(const T* x, int64_t k) {
    constexpr int64_t kLine = 64 / sizeof(T);
    if (k % kLine == 0) {
        __builtin_prefetch(reinterpret_cast<const char*>(x + k) + later_bytes);
    }
}

}  // namespace chainerx::native

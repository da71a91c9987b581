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
// some hundredths where they come from memory. AMD's Zen 4 takes a quarter more by it. Where its
// loops begin anew after some kilobytes, as those of sums of floats, they ask for what lies near,
// and else for what is read next, which costs nothing: near ones take up to a half more by AVX2,
// and as much a branch (sums, extremes and argmax in benchmarks/routines.py, sum in
// benchmarks/ops.py). Set with the instruction set.
struct LaterBytes {
    int64_t in_short_run;
    int64_t in_long_run;
};
extern LaterBytes later_bytes;

// Asks for what is read some time after x[k], once for each line of memory. Inlined in any case,
// for GCC takes a function that does nothing but ask for one without effects, and drops its calls.
template <bool kIsLongRun = false, typename T>
[[gnu::always_inline]] inline void AskForLater(const T* x, int64_t k) {
    constexpr int64_t kLine = 64 / sizeof(T);
    if (k % kLine == 0) {
        const int64_t later = kIsLongRun ? later_bytes.in_long_run : later_bytes.in_short_run;
        __builtin_prefetch(reinterpret_cast<const char*>(x + k) + later);
    }
}

}  // namespace chainerx::native

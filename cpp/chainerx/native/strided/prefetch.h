// Software prefetch: whether loops use it, and its distance.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Intel stalls on L3 inside long expressions; prefetching saves 10-20 %. AMD's hardware prefetcher
// suffices, and software prefetch costs up to a third more where operands exceed L3 (x + y of
// float64 in benchmarks/routines.py). Set while the library loads.
extern bool prefetches_ahead;

// Prefetch distance, in bytes, of loops that only read. 4 KiB save a fifth on data in the L3 of
// Intel's processors and AMD's Zen 5, and cost a few percent on data in memory. On AMD's Zen 4
// prefetching costs a quarter more. Where its loops restart after some kilobytes, as float sums do,
// they prefetch a near line instead, and else the line that is read next, which costs nothing: near
// distances cost up to a half more with AVX2, and a branch costs as much (sums, extremes and argmax
// in benchmarks/routines.py, sum in benchmarks/ops.py). Set while the library loads.
struct PrefetchDistance {
    int64_t in_short_run;
    int64_t in_long_run;
};
extern PrefetchDistance prefetch_distance;

// Prefetches the line that is read some time after x[k], once for each cache line. It is always
// inlined: GCC takes a function that only prefetches for one without effects, and drops its calls.
template <bool kIsLongRun = false, typename T>
[[gnu::always_inline]] inline void PrefetchAhead(const T* x, int64_t k) {
    constexpr int64_t kLine = 64 / sizeof(T);
    if (k % kLine == 0) {
        const int64_t later =
            kIsLongRun ? prefetch_distance.in_long_run : prefetch_distance.in_short_run;
        __builtin_prefetch(reinterpret_cast<const char*>(x + k) + later);
    }
}

}  // namespace chainerx::native

#include "chainerx/native/strided/prefetch.h"

namespace chainerx::native {

#if defined(__x86_64__)
bool prefetches_ahead = !__builtin_cpu_is("amd");
PrefetchDistance prefetch_distance = __builtin_cpu_is("amdfam17h") || __builtin_cpu_is("amdfam19h")
                                         ? PrefetchDistance{512, 0}  // Zen to Zen 4
                                         : PrefetchDistance{4096, 4096};
#else
bool prefetches_ahead = true;
PrefetchDistance prefetch_distance = {4096, 4096};
#endif

}  // namespace chainerx::native

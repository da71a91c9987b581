#include "chainerx/native/strided/prefetch.h"

namespace chainerx::native {

#if defined(__x86_64__)
bool asks_ahead = !__builtin_cpu_is("amd");
LaterBytes later_bytes = __builtin_cpu_is("amdfam17h") || __builtin_cpu_is("amdfam19h")
                             ? LaterBytes{512, 0}  // Zen to Zen 4
                             : LaterBytes{4096, 4096};
#else
bool asks_ahead = true;
LaterBytes later_bytes = {4096, 4096};
#endif

}  // namespace chainerx::native

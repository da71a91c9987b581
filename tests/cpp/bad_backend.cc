// Libraries that are no backends, one defect per macro; see CMakeLists.txt.
#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/plugin.h"

extern "C" {
#if !defined(NO_ENTRY)
CX_API uint64_t ChainerxAbiHash() {
#if defined(WRONG_ABI)
    return 1;
#else
    return chainerx::internal::kAbiHash;
#endif
}
#endif
#if !defined(NO_ENTRY) && !defined(NO_CREATE)
CX_API chainerx::Backend* CreateBackend(chainerx::Context&) {
#if defined(THROWING)
    throw chainerx::BackendError{"no such hardware"};
#else
    return nullptr;
#endif
}
CX_API void DestroyBackend(chainerx::Backend* backend) { delete backend; }
#endif
}

// What has to let go of a context's devices before the context goes.
#pragma once

#include "chainerx/core/macro.h"

namespace chainerx {

class Context;

namespace internal {

// From any thread; at most eight.
using ContextCloser = void (*)(Context& context);
CX_API void RegisterContextCloser(ContextCloser closer);

}  // namespace internal
}  // namespace chainerx

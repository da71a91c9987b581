// Callbacks that release devices of a context before it is destroyed.
#pragma once

#include "chainerx/core/macro.h"

namespace chainerx {

class Context;

namespace internal {

// May be registered from any thread; at most eight.
using ContextCloser = void (*)(Context& context);
CX_API void RegisterContextCloser(ContextCloser closer);

}  // namespace internal
}  // namespace chainerx
